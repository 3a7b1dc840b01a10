"""Replay results on ratings in memory. ``ledger`` reads the entries and stores the ratings.

Each result follows the rating rules of its ledger entry: ``RULES_1`` rates placements alone (``referee.ratings.elo``),
``RULES_2`` also knows anchors, stakes that a new version widens, daily caps and inherited ratings
(``referee.ratings.exchange``). ``RULES_3`` is the same, but a new version has the stake of any other.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from referee.ratings.elo import START, elo_changes
from referee.ratings.exchange import (
    ANCHORS,
    INHERITANCE_DAYS,
    Parties,
    Seat,
    exchange,
    settled_matches,
    stake,
    widens,
)

RULES_1: Final = 1  # of entries that were made before rules 2 existed
RULES_2: Final = 2  # of entries that were made before new versions played immediately
RULES_3: Final = 3


@dataclass(frozen=True, slots=True)
class RatedSeats:
    """Hold the facts of a result from which ratings follow; every list has one entry per seat.

    Results from before rating rules 2 have only the first three. ``owners`` has None for house players, ``versions``
    None for bots that report none, and ``anchors`` the constant rating of each anchor in micro-points, None for others.
    """

    bots: Sequence[str]
    placements: Sequence[int]
    rated: Sequence[bool]
    owners: Sequence[str | None] | None = None
    versions: Sequence[str | None] | None = None
    anchors: Sequence[int | None] | None = None

    @property
    def newest_rules(self) -> int:
        """Return the newest rating rules for which the facts suffice."""
        return RULES_1 if self.owners is None else RULES_3


class RatingState(NamedTuple):
    """Hold a rating in micro-points after ``games`` matches that count, and what later changes depend on.

    ``balance`` is what an anchor gained, which does not change its rating; an anchor counts no games. ``widened_at`` is
    the number of matches before the last new version that widened the stake under rules 2, 0 if none did. ``version``
    and ``last_day`` are those of the last match that counted under rules 2 or 3; the day is a ``date.toordinal``, 0 for
    none.
    """

    value: int = START
    games: int = 0
    balance: int = 0
    widened_at: int = 0
    version: str | None = None
    last_day: int = 0


class RatingMove(NamedTuple):
    """Hold a change of a bot's rating, in micro-points, to the state ``after``."""

    bot_id: str
    before: int
    after: RatingState


def utc_day(moment: datetime) -> int:
    """Return the day of an aware time in UTC, as stored: a ``date.toordinal``."""
    return moment.date().toordinal()


@dataclass
class RatingReplay:
    """Apply results to the ratings of a ladder. Missing bots have the starting rating.

    ``exchanged`` has the sums that rules 2 and 3 cap, of the last result's ``day`` only. ``bots_of`` has the bots of
    each owner, keyed by owner id; it may contain bots that have no rating.
    """

    ratings: dict[str, RatingState] = field(default_factory=dict)
    exchanged: dict[Parties, int] = field(default_factory=dict)
    day: int = 0
    bots_of: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def copy(self) -> "RatingReplay":
        """Return a replay that continues from the same ratings. It shares ``bots_of``, which has facts only."""
        return RatingReplay(dict(self.ratings), dict(self.exchanged), self.day, self.bots_of)

    def begin_day(self, day: int) -> None:
        """Drop the sums of another day. Call this before every result, even one that does not count."""
        if day != self.day:
            self.day = day
            self.exchanged.clear()

    def apply_result(self, seats: RatedSeats, rules: int) -> list[RatingMove]:
        """Apply a result to the ratings of the seats that count, ignoring the others; return the changes."""
        moves = self._rate_pairs(seats) if rules == RULES_1 else self._rate_exchange(seats, rules)
        self.apply_moves(moves)
        return moves

    def apply_moves(self, moves: Iterable[RatingMove]) -> None:
        """Set the ratings to their values after these changes."""
        self.ratings.update({move.bot_id: move.after for move in moves})

    def moves_towards(self, other: "RatingReplay") -> list[RatingMove]:
        """Return the changes that turn these ratings into ``other``, ordered by bot id."""
        return [
            RatingMove(bot_id, before.value, after)
            for bot_id in sorted(self.ratings.keys() | other.ratings.keys())
            if (before := self.ratings.get(bot_id, RatingState()))
            != (after := other.ratings.get(bot_id, RatingState()))
        ]

    def _rate_pairs(self, result: RatedSeats) -> list[RatingMove]:
        """Return the changes under rules 1."""
        seats = [seat for seat, counts in enumerate(result.rated) if counts]
        known = [self.ratings.get(result.bots[seat], RatingState()) for seat in seats]
        changes = elo_changes(
            [rating.value for rating in known],
            [rating.games for rating in known],
            [result.placements[seat] for seat in seats],
        )
        return [
            RatingMove(
                result.bots[seat], known.value, known._replace(value=known.value + change, games=known.games + 1)
            )
            for seat, known, change in zip(seats, known, changes, strict=True)
        ]

    def _rate_exchange(self, result: RatedSeats, rules: int) -> list[RatingMove]:
        """Return the changes under rules 2 or 3, one for each bot, and update the day's sums.

        An anchor may have several seats, each of which exchanges by itself; its balance gets their sum.
        """
        anchors: Sequence[Any] = result.anchors or ()
        counted = [seat for seat, rated in enumerate(result.rated) if rated or anchors[seat] is not None]
        before = [self._state_before(result, seat, rules) for seat in counted]
        gains = exchange(
            [
                _anchor_seat(result, seat) if anchors[seat] is not None else _rated_seat(result, seat, known)
                for seat, known in zip(counted, before, strict=True)
            ],
            self.exchanged,
        )
        moves: dict[str, RatingMove] = {}
        for seat, known, gain in zip(counted, before, gains, strict=True):
            bot_id = result.bots[seat]
            state = moves[bot_id].after if bot_id in moves else known
            after = self._state_after(state, gain, anchors[seat] is not None)
            moves[bot_id] = RatingMove(bot_id, known.value, after)
        return list(moves.values())

    def _state_before(self, result: RatedSeats, seat: int, rules: int) -> RatingState:
        """Return the state of a bot with the stake and the version with which it enters the match."""
        assert result.owners is not None
        assert result.versions is not None
        assert result.anchors is not None
        bot_id, version, anchor = result.bots[seat], result.versions[seat], result.anchors[seat]
        state = self.ratings.get(bot_id, RatingState())
        if anchor is not None:
            return state._replace(value=anchor)
        owner = str(result.owners[seat])
        if not state.games:
            state = RatingState(self.first_rating(bot_id, owner))
        self.bots_of[owner].add(bot_id)
        if not version:
            return state
        is_new = state.version not in (None, version)
        if rules == RULES_2 and is_new and widens(state.games, state.widened_at):
            state = state._replace(widened_at=state.games)
        return state._replace(version=version)

    def first_rating(self, bot_id: str, owner: str) -> int:
        """Return the rating with which a bot of this owner enters the ladder on the current day.

        It is the lowest rating of the owner's bots that played recently, but at most the starting rating.
        """
        others = (self.ratings.get(other, RatingState()) for other in self.bots_of[owner] - {bot_id})
        since = self.day - INHERITANCE_DAYS
        return min([START, *(state.value for state in others if state.games and state.last_day >= since)])

    def _state_after(self, before: RatingState, gain: int, is_anchor: bool) -> RatingState:
        if is_anchor:
            return before._replace(balance=before.balance + gain)
        return before._replace(value=before.value + gain, games=before.games + 1, last_day=self.day)


def _anchor_seat(result: RatedSeats, seat: int) -> Seat:
    assert result.anchors is not None
    return Seat(int(result.anchors[seat] or 0), 0, ANCHORS, result.placements[seat])


def _rated_seat(result: RatedSeats, seat: int, state: RatingState) -> Seat:
    assert result.owners is not None
    k = stake(settled_matches(state.games, state.widened_at))
    return Seat(state.value, k, str(result.owners[seat]), result.placements[seat])
