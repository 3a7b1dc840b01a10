"""Validate and complete the terms that an organiser requests for a tournament."""

from collections.abc import Mapping
from math import factorial
from typing import Any, Final

from referee.db.names import validate_title
from referee.db.texts import validate_texts
from referee.errors import BadOption
from referee.games import game as rules_of
from referee.match.time_limits import Limits
from referee.matches.states import DealSharing
from referee.pairing.formats import formats
from referee.pairing.kinds import SeatOrders, TournamentFormat
from referee.pairing.table_sizes import MIN_SEATS
from referee.tournaments.round_times import complete_times
from referee.tournaments.table_options import fewest_seats, options_at
from referee.tournaments.tables import Tournament
from referee.tournaments.terms import ANNOUNCEMENT, NO_LIMIT, TERMS, TermColumns, max_entries

Json = dict[str, Any]

NAMES: Final = frozenset(TERMS) | {"game", "budget_ms", "bank_ms"}
MAX_ORDERS: Final = 24  # matches in a set of duplicate deals
ONE_SIZE_BY_DEFAULT: Final = (
    TournamentFormat.ROUND_ROBIN,  # smaller tables would take the place of "every set of bots that fills a table"
    TournamentFormat.DOUBLE_ROUND_ROBIN,
)


class Terms(TermColumns):
    """Hold requested terms of a tournament. Terms that are left out have their defaults.

    None stands for a default that depends on other terms: ``deal_sharing`` is ``common`` in rated tournaments,
    otherwise ``own``; ``bots_per_owner`` is 1 in rated tournaments, otherwise ``NO_LIMIT``; with ``min_seats``, tables
    may be as small as the game allows with these options, but in round robins and most formats with duplicate deals all
    have ``seats``.
    """

    def __init__(self, limits: Limits | None = None, **requested: Any) -> None:
        if unknown := set(requested) - NAMES:
            raise TypeError(f"There are no terms {unknown}.")
        times = {} if limits is None else {"budget_ms": limits.budget_ms, "bank_ms": limits.bank_ms}
        vars(self).update({name: term.default for name, term in TERMS.items()} | requested | times)

    @classmethod
    def from_tournament(cls, tournament: Tournament) -> "Terms":
        """Return the terms of a tournament."""
        return cls(**{name: getattr(tournament, name) for name in NAMES})

    def with_changes(self, changes: Mapping[str, Any]) -> "Terms":
        """Return these terms with changes.

        A new format resets the format's options. Default deal sharing, the default number of bots an owner may enter
        and the default smallest table follow the new terms.
        """
        if changes.get("format", self.format) != self.format:
            changes = {"format_options": {}, **changes}
        if "deal_sharing" not in changes and "rated" in changes and self.deal_sharing == self._default_deal_sharing():
            changes = {"deal_sharing": None, **changes}
        if "rated" in changes and self.bots_per_owner == self._default_bots_per_owner():
            changes = {"bots_per_owner": None, **changes}
        if "min_seats" not in changes and {"seats", "options", "format", "deal_sharing", "rated"} & set(changes):
            if self.min_seats == self._default_min_seats(self.options, self._deal_sharing):
                changes = {**changes, "min_seats": None}
            elif self.min_seats == self.seats:
                changes = {**changes, "min_seats": changes.get("seats", self.seats)}
        return Terms(**{**vars(self), **changes})

    def columns(self) -> Json:
        """Return the values of all columns that these terms determine.

        Raise ``NoSuchGame`` for an unknown game, and ``BadOption`` for terms that are invalid or do not fit together.
        The field of the error names the term, for example ``options.rounds``.
        """
        for name in TERMS:
            self._check_bounds(name)
        format_options = formats()[self.format].options(self.format_options, self.seats)
        self._check_cycles(format_options)
        complete = self._complete_options()
        deals = self._deal_sharing
        self._check_deals(deals)
        min_seats = self._complete_min_seats(complete, deals)
        self._check_entries()
        return {
            **vars(self),
            **validate_texts(vars(self), ANNOUNCEMENT),
            "name": validate_title(self.name),
            "options": complete,
            "format_options": format_options,
            "deal_sharing": deals,
            "bots_per_owner": self.bots_per_owner or self._default_bots_per_owner(),
            "min_seats": min_seats,
            "round_times": self._complete_times(format_options),
        }

    def _check_bounds(self, name: str) -> None:
        term, value = TERMS[name], getattr(self, name)
        expected = ""
        if value is not None and term.choices is not None and value not in term.choices:
            expected = f"one of {', '.join(term.choices)}"
        elif value is not None and term.type is int and not term.within[0] <= value <= term.within[1]:
            expected = f"from {term.within[0]} to {term.within[1]}"
        if expected:
            raise BadOption(name, f"must be {'null or ' if term.takes_null else ''}{expected}")

    def _complete_options(self) -> Json:
        try:
            return rules_of(self.game).start(self.seats, self.options).options
        except BadOption as error:
            field = "seats" if error.field == "players" else f"options.{error.field}"
            raise BadOption(field, error.reason) from None

    def _complete_min_seats(self, options: Json, deals: str) -> int:
        if self.min_seats is None:
            return self._default_min_seats(options, deals)
        least = min(MIN_SEATS, self.seats)
        if not least <= self.min_seats <= self.seats:
            raise BadOption("min_seats", f"must be from {least} to {self.seats}, the seats of a table")
        if self.min_seats < self.seats and not self._duplicates_may_be_smaller(deals):
            raise BadOption(
                "min_seats",
                f"must be {self.seats} with duplicate deals: a smaller table plays fewer matches and would bring fewer "
                "points",
            )
        for size in range(self.min_seats, self.seats):
            try:
                options_at(self.game, self.seats, options, size)
            except BadOption as error:
                raise BadOption(
                    "min_seats", f"tables of {size} cannot play with these options ({error.field}: {error.reason})"
                ) from None
        return self.min_seats

    def _default_min_seats(self, options: Mapping[str, Any], deals: str) -> int:
        if self.format in ONE_SIZE_BY_DEFAULT or not self._duplicates_may_be_smaller(deals):
            return self.seats
        return fewest_seats(self.game, self.seats, options)

    def _duplicates_may_be_smaller(self, deals: str) -> bool:
        """Return whether standings do not depend on the number of matches at a table, which is that of its seats."""
        return deals != DealSharing.DUPLICATE or self.format in (TournamentFormat.KNOCKOUT, TournamentFormat.GAUNTLET)

    @property
    def _deal_sharing(self) -> str:
        return self.deal_sharing or self._default_deal_sharing()

    def _default_deal_sharing(self) -> DealSharing:
        return DealSharing.COMMON if self.rated else DealSharing.OWN

    def _default_bots_per_owner(self) -> int:
        return 1 if self.rated else NO_LIMIT

    def _check_cycles(self, format_options: Json) -> None:
        """Raise ``BadOption`` if the format refuses the number of cycles.

        The number of entries is checked at the start.
        """
        try:
            formats()[self.format].check(max_entries(self.format), self.seats, format_options, self.cycles)
        except BadOption as error:
            if error.field == "cycles":
                raise

    def _check_deals(self, deals: str) -> None:
        if deals != DealSharing.DUPLICATE:
            return
        if self.rated and not self.trusted:
            raise BadOption("trusted", "must be true for a rated tournament with duplicate deals")
        if self.orders == SeatOrders.ALL and factorial(self.seats) > MAX_ORDERS:
            raise BadOption("orders", f"must be cyclic: all orders of {self.seats} seats exceed {MAX_ORDERS} matches")

    def _check_entries(self) -> None:
        if self.late_entry and not formats()[self.format].takes_late_entries:
            raise BadOption("late_entry", f"must be false: {self.format} takes no late entries")
        if not self.listed and self.rated:
            raise BadOption("listed", "must be true for a rated tournament: its results are on a public ladder")
        self._check_numbers_of_entries()
        if self.entries_close_at and self.starts_at and self.entries_close_at > self.starts_at:
            raise BadOption("entries_close_at", "must not be later than starts_at")

    def _complete_times(self, format_options: Json) -> list[str] | None:
        if self.round_times is None:
            return None
        if self.round_minutes is not None:
            raise BadOption("round_times", "must be null with round_minutes: rounds have one pace or the other")
        rounds = format_options.get("rounds") if self.format == TournamentFormat.SWISS else None
        return complete_times(self.round_times, rounds=rounds, starts_at=self.starts_at)

    def _check_numbers_of_entries(self) -> None:
        most = max_entries(self.format)
        for name in ("max_entries", "min_entries"):
            if (getattr(self, name) or 0) > most:
                raise BadOption(name, f"must be null or from 2 to {most}")
        if self.min_entries and self.max_entries and self.min_entries > self.max_entries:
            raise BadOption("min_entries", f"must not be larger than max_entries, {self.max_entries}")
