"""Define the gauntlet, in which one champion plays against all others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from referee.errors import BadOption
from referee.pairing.kinds import TournamentFormat
from referee.pairing.model import Entrant, Format, Json, MatchesPerLeg, PairingInput, PairingRound, Table, count_decided
from referee.pairing.options import check_fills_a_table, refuse_unknown
from referee.pairing.seating import assign_seats, seat_cost
from referee.pairing.seeded_random import shuffle

MAX_TABLES: Final = 20_000


class Gauntlet(Format):
    """Pair the champion with every other entrant ``cycles`` times, at tables filled up with challengers.

    A round is one table, since the champion sits at every table. If smaller tables are allowed and the challengers do
    not fill the tables, the last ones have a seat fewer, so that all meet the champion equally often. Challengers are
    chosen by the fewest meetings with the champion, at a smaller table then by the fewest smaller tables, then the
    fewest meetings with each other, then the fewest siblings at the table, then at random. The same rule fills the last
    table if necessary, so at most ``seats`` − 2 challengers meet the champion ``cycles`` + 1 times. Late entrants play
    as many tables as the others; inactive entrants play none. The gauntlet ends when the champion becomes inactive.
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

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int, min_seats: int = 0) -> None:
        check_fills_a_table(entrants, seats)
        tables = -(-(entrants - 1) * cycles // (seats - 1))
        if tables > MAX_TABLES:
            raise BadOption("entries", f"the gauntlet would need {tables} tables; at most {MAX_TABLES} are allowed")

    def expected_matches(self, tournament: PairingInput, matches_per_leg: MatchesPerLeg) -> int:
        decided = count_decided(tournament, matches_per_leg)
        champion = champion_of(tournament)
        challengers = _challengers(tournament, champion)
        if champion is None or len(challengers) < tournament.least_seats - 1:
            return decided
        sizes = _table_sizes(tournament, challengers, _count_meetings_with(tournament, champion.id))
        return decided + sum(map(matches_per_leg, sizes))

    def next_round(self, tournament: PairingInput) -> PairingRound | None:
        """Return the champion's next table, or None if the champion met all challengers or too few of them are left."""
        champion = champion_of(tournament)
        challengers = _challengers(tournament, champion)
        if champion is None or len(challengers) < tournament.least_seats - 1:
            return None
        met = _count_meetings_with(tournament, champion.id)
        sizes = _table_sizes(tournament, challengers, met)
        return PairingRound((Table(_fill_table(tournament, champion, challengers, met, sizes[0])),)) if sizes else None


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


def _table_sizes(tournament: PairingInput, challengers: Sequence[Entrant], met: Mapping[str, int]) -> list[int]:
    """Return the sizes of the champion's tables to come, given how often each challenger met the champion.

    Nobody sits twice at the same table, so there are at least as many tables as any one challenger still needs.
    """
    due = [max(0, tournament.cycles - met.get(challenger.id, 0)) for challenger in challengers]
    full = tournament.seats - 1
    tables = max(-(-sum(due) // full), *due)
    if tournament.least_seats == tournament.seats:
        return [tournament.seats] * tables
    each, more = divmod(sum(due), max(1, tables))
    return [max(tournament.least_seats, 1 + each + (table < more)) for table in range(tables)]


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
    tournament: PairingInput, champion: Entrant, challengers: Sequence[Entrant], met_champion: Counter[str], size: int
) -> tuple[str, ...]:
    meetings: Counter[frozenset[str]] = Counter()
    small = Counter(
        entrant
        for played in tournament.played
        for table in played.round.tables
        for entrant in table.entrants
        if len(table.entrants) <= size < tournament.seats
    )
    seat_counts: Counter[tuple[str, int]] = Counter()
    for played in tournament.played:
        for table in played.round.tables:
            seat_counts.update((entrant, seat) for seat, entrant in enumerate(table.entrants))
            meetings.update(
                frozenset((entrant, other)) for entrant in table.entrants for other in table.entrants if entrant < other
            )
    chosen: list[Entrant] = []
    while len(chosen) < size - 1:
        chosen.append(
            min(
                (challenger for challenger in challengers if challenger not in chosen),
                key=lambda challenger: (
                    met_champion[challenger.id],
                    small[challenger.id],
                    sum(meetings[frozenset((challenger.id, other.id))] for other in chosen),
                    sum(challenger.owner == other.owner != "" for other in chosen),
                ),
            )
        )
    people = [champion.id, *(challenger.id for challenger in chosen)]
    costs = [[seat_cost(seat_counts[entrant, seat]) for seat in range(size)] for entrant in people]
    return tuple(people[index] for index in assign_seats(costs))
