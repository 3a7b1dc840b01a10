"""Swiss tables of three or more: the fewest repeat meetings and siblings, compared with all possible tables."""

from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.pairing import Bye, Entrant, Leg, PairingInput, PairingRound, PlayedRound, Table, formats
from referee.pairing.history import PairingHistory, read_history
from referee.pairing.table_search import reduce_meetings, sum_costs
from tools.simulate.tables import fewest_meetings

SWISS = formats()["swiss"]
# Entrants in seat order with their placements; behind the bar, the byes.
AVOIDABLE = (
    "0:2 6:4 12:3 18:1, 1:1 7:2 13:3 19:4, 2:4 8:2 14:3 20:1, 3:2 9:4 15:3 21:1, 4:4 10:2 16:1 22:3, "
    "5:3 11:2 17:4 23:1 | 25 24",
    "18:2 1:4 20:3 16:1, 11:3 21:2 7:1 10:4, 23:2 3:4 8:3 0:1, 24:2 13:4 5:3 15:1, 25:2 12:1 22:4 14:3, "
    "6:3 2:4 4:2 9:1 | 19 17",
    "16:1 0:3 21:4 13:2, 7:3 15:4 23:1 12:2, 20:3 25:1 9:2 11:4, 8:3 4:4 18:1 5:2, 10:4 14:1 1:2 3:3, "
    "17:3 19:4 6:1 24:2 | 2 22",
)


def parse_round(text: str) -> PlayedRound:
    tables, byes = text.split(" | ")
    seats = [[member.split(":") for member in table.split()] for table in tables.split(", ")]
    legs = [
        Leg(tuple(f"e{entrant}" for entrant, _ in table), tuple(int(place) for _, place in table), (0,) * len(table))
        for table in seats
    ]
    pairing_round = PairingRound(
        tuple(Table(leg.entrants) for leg in legs), tuple(Bye(f"e{entrant}", "odd") for entrant in byes.split())
    )
    return PlayedRound(pairing_round, tuple((leg,) for leg in legs))


def count_rematches(history: PairingHistory, pairing_round: PairingRound) -> int:
    number = {entrant: player for player, entrant in enumerate(history.ids)}
    return sum_costs(history, [[number[entrant] for entrant in table.entrants] for table in pairing_round.tables])[0]


def history_of(seats: int, tables: int, rounds: int, owners: int, random: Random) -> PairingHistory:
    """Return a history of random tables and results."""
    people = tuple(
        Entrant(f"e{at}", f"owner {random.randrange(owners)}" if owners else "") for at in range(seats * tables)
    )
    tournament = PairingInput(seats, {"rounds": None}, 1, people, (), b"draw" * 8)
    for _ in range(rounds):
        order = random.sample([entrant.id for entrant in people], len(people))
        seated = [tuple(order[at : at + seats]) for at in range(0, len(order), seats)]
        legs = tuple((Leg(table, tuple(random.sample(range(1, seats + 1), seats)), (0,) * seats),) for table in seated)
        played = PlayedRound(PairingRound(tuple(Table(table) for table in seated)), legs)
        tournament = replace(tournament, played=(*tournament.played, played))
    return read_history(tournament)


def test_a_rematch_that_can_be_avoided_is_avoided() -> None:
    people = tuple(Entrant(f"e{at}", seed=at + 1) for at in range(26))
    played = tuple(parse_round(text) for text in AVOIDABLE)
    tournament = PairingInput(4, SWISS.options({"rounds": 4}, 4), 1, people, played, b"draw" * 8)

    pairing_round = SWISS.next_round(tournament)

    assert pairing_round is not None
    assert count_rematches(read_history(tournament), pairing_round) == 0
    assert SWISS.next_round(tournament) == pairing_round


@settings(max_examples=25, deadline=None)
@given(
    size=st.sampled_from([(3, 2), (3, 3), (3, 4), (4, 2), (4, 3), (5, 2), (6, 2)]),
    rounds=st.integers(0, 5),
    owners=st.sampled_from([0, 2, 4]),
    random=st.randoms(use_true_random=False),
)
def test_small_fields_have_the_fewest_rematches_and_siblings(
    size: tuple[int, int], rounds: int, owners: int, random: Random
) -> None:
    seats, count = size
    history = history_of(seats, count, rounds, owners, random)
    people = range(seats * count)
    tables = [[*people[at : at + seats]] for at in range(0, len(people), seats)]
    before = sum_costs(history, tables)

    reduce_meetings(history, tables)

    found = sum_costs(history, tables)
    assert sorted(player for table in tables for player in table) == [*people]
    assert found[:2] == fewest_meetings(history, people, [seats] * count)
    assert found <= before
