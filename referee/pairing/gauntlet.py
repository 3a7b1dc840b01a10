"""Define the gauntlet, in which one champion plays against all others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from referee.errors import BadOption
from referee.pairing.kinds import TournamentFormat
from referee.pairing.model import Entrant, Json, Leg, PairingInput, PairingRound, Table
from referee.pairing.options import check_fills_a_table, refuse_unknown
from referee.pairing.seating import assign_seats, seat_cost
from referee.pairing.seeded_random import shuffle

MAX_TABLES: Final = 20_000


class Gauntlet:
    """Pair the champion with every other entrant ``cycles`` times, at tables filled up with challengers.

    A round is one table, since the champion sits at every table. Challengers are chosen by the fewest meetings with the
    champion, then the fewest meetings with each other, then the fewest siblings at the table, then at random. The same
    rule fills the last table if necessary, so at most ``seats`` − 2 challengers meet the champion ``cycles`` + 1 times.
    Late entrants play as many tables as the others; inactive entrants play none. The gauntlet ends when the champion
    becomes inactive.
    """

    name = TournamentFormat.GAUNTLET
    takes_late_entries = True
    static = True

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        """Accept ``champion``, the id of an entry; null means the best seed or, without seeds, the first entry."""
        refuse_unknown(given, "champion")
        champion = given.get("champion")
        if champion is not None and not (isinstance(champion, str) and champion):
            raise BadOption("format_options.champion", f"expected the id of an entered bot or null, not {champion!r}")
        return {"champion": champion}

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int) -> None:
        check_fills_a_table(entrants, seats)
        tables = -(-(entrants - 1) * cycles // (seats - 1))
        if tables > MAX_TABLES:
            raise BadOption("entries", f"the gauntlet would need {tables} tables; at most {MAX_TABLES} are allowed")

    def expected_matches(self, tournament: PairingInput) -> int:
        decided = sum(len(played.round.tables) for played in tournament.played)
        champion = champion_of(tournament)
        challengers = _challengers(tournament, champion)
        if champion is None or len(challengers) < tournament.seats - 1:
            return decided
        met = _count_meetings_with(tournament, champion.id)
        due = [max(0, tournament.cycles - met[challenger.id]) for challenger in challengers]
        # Nobody sits twice at the same table, so at least as many tables are played as any one challenger still needs.
        return decided + max(-(-sum(due) // (tournament.seats - 1)), *due)

    def next_round(self, tournament: PairingInput) -> PairingRound | None:
        """Return the champion's next table, or None if the champion met all challengers or too few of them are left."""
        champion = champion_of(tournament)
        challengers = _challengers(tournament, champion)
        if champion is None or len(challengers) < tournament.seats - 1:
            return None
        met = _count_meetings_with(tournament, champion.id)
        if all(met[challenger.id] >= tournament.cycles for challenger in challengers):
            return None
        return PairingRound((Table(_fill_table(tournament, champion, challengers, met)),))

    def more_legs(self, tournament: PairingInput, table: Table, legs: Sequence[Leg]) -> int:
        return 0


def champion_of(tournament: PairingInput) -> Entrant | None:
    """Return the entrant named in the options, or else the best-seeded starter, or else the first starter.

    Return None if this entrant is inactive. Raise ``BadOption`` if the named entrant is not entered.
    """
    starters = [entrant for entrant in tournament.entrants if entrant.first_round == 1]
    named = tournament.options.get("champion")
    if named is not None:
        starters = [entrant for entrant in tournament.entrants if entrant.id == named]
        if not starters:
            raise BadOption("format_options.champion", f"bot {named} is not entered")
    if not starters:
        return None
    best = min(starters, key=lambda entrant: (entrant.seed is None, entrant.seed or 0))
    return best if best.active else None


def _challengers(tournament: PairingInput, champion: Entrant | None) -> list[Entrant]:
    number = len(tournament.played) + 1
    eligible = [entrant for entrant in tournament.entrants if entrant.active and entrant.first_round <= number]
    return shuffle([entrant for entrant in eligible if entrant != champion], tournament.draw_key, "challengers")


def _count_meetings_with(tournament: PairingInput, champion: str) -> Counter[str]:
    """Count each entrant's tables with the champion, including cancelled tables, which are not repeated."""
    return Counter(
        entrant
        for played in tournament.played
        for table in played.round.tables
        if champion in table.entrants
        for entrant in table.entrants
    )


def _fill_table(
    tournament: PairingInput, champion: Entrant, challengers: Sequence[Entrant], met_champion: Counter[str]
) -> tuple[str, ...]:
    meetings: Counter[frozenset[str]] = Counter()
    seat_counts: Counter[tuple[str, int]] = Counter()
    for played in tournament.played:
        for table in played.round.tables:
            seat_counts.update((entrant, seat) for seat, entrant in enumerate(table.entrants))
            meetings.update(
                frozenset((entrant, other)) for entrant in table.entrants for other in table.entrants if entrant < other
            )
    chosen: list[Entrant] = []
    while len(chosen) < tournament.seats - 1:
        chosen.append(
            min(
                (challenger for challenger in challengers if challenger not in chosen),
                key=lambda challenger: (
                    met_champion[challenger.id],
                    sum(meetings[frozenset((challenger.id, other.id))] for other in chosen),
                    sum(challenger.owner == other.owner != "" for other in chosen),
                ),
            )
        )
    people = [champion.id, *(challenger.id for challenger in chosen)]
    costs = [[seat_cost(seat_counts[entrant, seat]) for seat in range(tournament.seats)] for entrant in people]
    return tuple(people[index] for index in assign_seats(costs))
