"""Replay results on ratings in memory. ``ledger`` reads the entries and stores the ratings.

The rating rules know anchors, daily caps and inherited ratings (``referee.ratings.exchange``). A void takes back what
its result gave; what later results gave stays.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from referee.ratings.elo import START
from referee.ratings.exchange import ANCHORS, INHERITANCE_DAYS, KEPT, Change, Parties, Seat, exchange

RATING_RULES: Final = 3  # the number of these rules, which every ledger entry names


@dataclass(frozen=True, slots=True)
class RatedSeats:
    """Hold the facts of a result from which ratings follow; every list has one entry per seat.

    ``owners`` has None for house players, ``versions`` None for bots that report none, and ``anchors`` the constant
    rating of each anchor in micro-points, None for others.
    """

    bots: Sequence[str]
    placements: Sequence[int]
    rated: Sequence[bool]
    owners: Sequence[str | None]
    versions: Sequence[str | None]
    anchors: Sequence[int | None]


class RatingState(NamedTuple):
    """Hold a rating in micro-points after ``games`` matches that count, and what later changes depend on.

    ``balance`` and ``information`` are those of ``referee.ratings.exchange``: an anchor, whose rating does not change
    and which counts no games, has all its gains in its balance. ``version`` and ``last_day`` are those of the last
    match that counted; the day is a ``date.toordinal``, 0 for none.
    """

    value: int = START
    games: int = 0
    balance: int = 0
    information: int = 0
    version: str | None = None
    last_day: int = 0


class RatingMove(NamedTuple):
    """Hold a change of a bot's rating. ``before`` is the state with which the bot enters the match."""

    bot_id: str
    before: RatingState
    after: RatingState

    def take_back(self, state: RatingState) -> RatingState:
        """Return a later state without what this change gave: points, match and balance. The information stays."""
        return state._replace(
            value=state.value - (self.after.value - self.before.value),
            games=state.games - (self.after.games - self.before.games),
            balance=state.balance - (self.after.balance - self.before.balance),
        )


def utc_day(moment: datetime) -> int:
    """Return the day of an aware time in UTC, as stored: a ``date.toordinal``."""
    return moment.date().toordinal()


@dataclass
class RatingReplay:
    """Apply results to the ratings of a ladder. Missing bots have the starting rating.

    ``exchanged`` has the sums that are capped, of the last result's ``day`` only. ``bots_of`` has the bots of each
    owner, keyed by owner id; it may contain bots that have no rating.
    """

    ratings: dict[str, RatingState] = field(default_factory=dict)
    exchanged: dict[Parties, int] = field(default_factory=dict)
    day: int = 0
    bots_of: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def begin_day(self, day: int) -> None:
        """Drop the sums of another day. Call this before every result, even one that does not count."""
        if day != self.day:
            self.day = day
            self.exchanged.clear()

    def apply_result(self, seats: RatedSeats) -> list[RatingMove]:
        """Apply a result to the ratings of the seats that count, ignoring the others; return the changes."""
        moves = self._rate(seats)
        self._apply_moves(moves)
        return moves

    def take_back(self, given: Iterable[RatingMove]) -> list[RatingMove]:
        """Take back the changes by a result that is void; return the changes that this causes."""
        states = ((move, self.ratings[move.bot_id]) for move in given)
        moves = [RatingMove(move.bot_id, state, move.take_back(state)) for move, state in states]
        moves = [move for move in moves if move.before != move.after]
        self._apply_moves(moves)
        return moves

    def _apply_moves(self, moves: Iterable[RatingMove]) -> None:
        self.ratings.update({move.bot_id: move.after for move in moves})

    def _rate(self, result: RatedSeats) -> list[RatingMove]:
        """Return the changes, one for each bot, and update the day's sums.

        An anchor may have several seats, each of which exchanges by itself; its balance gets their sum.
        """
        anchors = result.anchors
        counted = [seat for seat, rated in enumerate(result.rated) if rated or anchors[seat] is not None]
        before = [self._state_before(result, seat) for seat in counted]
        seats = [
            Seat(
                known.value,
                known.information,
                ANCHORS if anchors[seat] is not None else str(result.owners[seat]),
                result.placements[seat],
            )
            for seat, known in zip(counted, before, strict=True)
        ]
        moves: dict[str, RatingMove] = {}
        for seat, known, change in zip(counted, before, exchange(seats, self.exchanged), strict=True):
            bot_id = result.bots[seat]
            state = moves[bot_id].after if bot_id in moves else known
            after = self._state_after(state, change, is_anchor=anchors[seat] is not None)
            moves[bot_id] = RatingMove(bot_id, known, after)
        return list(moves.values())

    def _state_before(self, result: RatedSeats, seat: int) -> RatingState:
        """Return the state of a bot with the rating, version and information with which it enters the match."""
        bot_id, version, anchor = result.bots[seat], result.versions[seat], result.anchors[seat]
        state = self.ratings.get(bot_id, RatingState())
        if anchor is not None:
            return state._replace(value=anchor)
        owner = str(result.owners[seat])
        if not state.games:
            state = RatingState(self.first_rating(bot_id, owner))
        self.bots_of[owner].add(bot_id)
        if version and state.version and version != state.version:
            state = state._replace(information=min(state.information, KEPT))
        return state._replace(version=version) if version else state

    def first_rating(self, bot_id: str, owner: str) -> int:
        """Return the rating with which a bot of this owner enters the ladder on the current day.

        It is the lowest rating of the owner's bots that played recently, but at most the starting rating.
        """
        others = (self.ratings.get(other, RatingState()) for other in self.bots_of[owner] - {bot_id})
        since = self.day - INHERITANCE_DAYS
        return min([START, *(state.value for state in others if state.games and state.last_day >= since)])

    def _state_after(self, before: RatingState, change: Change, *, is_anchor: bool) -> RatingState:
        balance = before.balance + change.balance
        if is_anchor:
            return before._replace(balance=balance)
        value, information = before.value + change.rating, before.information + change.information
        return RatingState(value, before.games + 1, balance, information, before.version, self.day)
