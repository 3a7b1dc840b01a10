"""The gauntlet: one champion against all others. Who wins it is the standings' to say."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from referee.errors import BadOption
from referee.pairing.model import Entrant, Json, Leg, PairingRound, Table, TournamentState
from referee.pairing.options import check_fills_a_table, refuse_unknown
from referee.pairing.seating import assign_seats, seat_cost
from referee.pairing.seeded_random import shuffle

MAX_TABLES: Final = 20_000


class Gauntlet:
    """The champion meets everybody ``cycles`` times, at tables with as many others as they seat.

    A stage is one table, since the champion sits at every one. Challengers come to it who have met the champion
    least, among them those who have met one another least, siblings last, the rest by lot. When the last table is
    not full, it is filled by the same rule: so at most ``seats`` − 2 challengers meet the champion once more than
    ``cycles`` times. Late entries get all their tables; those not active none; without the champion it is over.
    """

    name = "gauntlet"
    takes_late_entries = True
    static = True

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        """``champion``: the entry's id; null for the best seed, or the first entry where nobody is seeded."""
        refuse_unknown(given, "champion")
        champion = given.get("champion")
        if champion is not None and not (isinstance(champion, str) and champion):
            raise BadOption("format_options.champion", f"the id of an entry or null is expected, not {champion!r}")
        return {"champion": champion}

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int) -> None:
        check_fills_a_table(entrants, seats)
        tables = -(-(entrants - 1) * cycles // (seats - 1))
        if tables > MAX_TABLES:
            raise BadOption("entries", f"the gauntlet would need {tables} tables; at most {MAX_TABLES} are played")

    def expected_matches(self, event: TournamentState) -> int:
        decided = sum(len(played.stage.tables) for played in event.played)
        champion = champion_of(event)
        challengers = _challengers(event, champion)
        if champion is None or len(challengers) < event.seats - 1:
            return decided
        met = _met_champion(event, champion.id)
        due = [max(0, event.cycles - met[challenger.id]) for challenger in challengers]
        # Nobody sits twice at a table, so whoever is due most often sets a least number of tables.
        return decided + max(-(-sum(due) // (event.seats - 1)), *due)

    def next_stage(self, event: TournamentState) -> PairingRound | None:
        """The champion's next table; None when everybody has met the champion or too few are left."""
        champion = champion_of(event)
        challengers = _challengers(event, champion)
        if champion is None or len(challengers) < event.seats - 1:
            return None
        met = _met_champion(event, champion.id)
        if all(met[challenger.id] >= event.cycles for challenger in challengers):
            return None
        return PairingRound((Table(_table(event, champion, challengers, met)),))

    def more_legs(self, event: TournamentState, table: Table, legs: Sequence[Leg]) -> int:
        return 0


def champion_of(event: TournamentState) -> Entrant | None:
    """The entrant named in the options, else the best seeded starter, else the first; None when it is not active.

    Raises ``BadOption`` when the one that is named is not entered.
    """
    starters = [entrant for entrant in event.entrants if entrant.since == 1]
    named = event.options.get("champion")
    if named is not None:
        starters = [entrant for entrant in event.entrants if entrant.id == named]
        if not starters:
            raise BadOption("format_options.champion", f"{named} is not entered")
    if not starters:
        return None
    best = min(starters, key=lambda entrant: (entrant.seed is None, entrant.seed or 0))
    return best if best.active else None


def _challengers(event: TournamentState, champion: Entrant | None) -> list[Entrant]:
    stage = len(event.played) + 1
    able = [entrant for entrant in event.entrants if entrant.active and entrant.since <= stage]
    return shuffle([entrant for entrant in able if entrant != champion], event.draw, "challengers")


def _met_champion(event: TournamentState, champion: str) -> Counter[str]:
    """Tables decided, whether or not they came to count: what is cancelled is not made up for."""
    return Counter(
        one
        for played in event.played
        for table in played.stage.tables
        if champion in table.entrants
        for one in table.entrants
    )


def _table(
    event: TournamentState, champion: Entrant, challengers: Sequence[Entrant], met: Counter[str]
) -> tuple[str, ...]:
    together: Counter[frozenset[str]] = Counter()
    sat: Counter[tuple[str, int]] = Counter()
    for played in event.played:
        for table in played.stage.tables:
            sat.update((one, seat) for seat, one in enumerate(table.entrants))
            together.update(frozenset((one, two)) for one in table.entrants for two in table.entrants if one < two)
    sitting: list[Entrant] = []
    while len(sitting) < event.seats - 1:
        sitting.append(
            min(
                (challenger for challenger in challengers if challenger not in sitting),
                key=lambda one: (
                    met[one.id],
                    sum(together[frozenset((one.id, other.id))] for other in sitting),
                    sum(one.owner == other.owner != "" for other in sitting),
                ),
            )
        )
    people = [champion.id, *(challenger.id for challenger in sitting)]
    costs = [[seat_cost(sat[one, seat]) for seat in range(event.seats)] for one in people]
    return tuple(people[who] for who in assign_seats(costs))
