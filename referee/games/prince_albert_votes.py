"""Conduct the votes on the options of Prince Albert, one motion at a time. Rock, paper, scissors breaks ties (PA-40).

``prince_albert.py`` selects the options and continues after the last vote.
"""

from dataclasses import dataclass, field

from referee.games.state import Json, Seat, State

THROWS = 5  # ties after which chance decides
MOTIONS: dict[str, tuple[str, str]] = {  # option -> its two values, in the order in which they are voted on
    "forced_bid": ("free", "max"),
    "showing": ("voluntary", "all"),
    "ties": ("push", "lose"),
}
BEATS = {"rock": "scissors", "scissors": "paper", "paper": "rock"}
VOTE: dict[str, Json] = {value: {"type": "vote", "for": value} for pair in MOTIONS.values() for value in pair}
THROW: dict[str, Json] = {sign: {"type": "throw", "sign": sign} for sign in ("rock", "paper", "scissors")}


@dataclass
class Votes(State):
    """Represent the part of a position that concerns votes."""

    opener: Seat | None = None
    motion: str | None = None  # the option being voted on
    motions: list[str] = field(default_factory=list)  # options to vote on afterwards
    votes: list[str] = field(default_factory=list)  # on this motion, by seat
    rival: Seat | None = None  # the seat that throws against the opener
    throws: int = 0  # tied throws of this motion so far

    # -- what the game provides --

    def close_votes(self) -> None:
        """Continue the game after the last vote."""
        raise NotImplementedError

    # -- voting --

    def open_votes(self) -> None:
        if not self.motions:
            self.motion = None
            self.close_votes()
            return
        self.motion = self.motions.pop(0)
        self.ask("vote", range(self.players), together=True)

    def values(self) -> list[str]:
        """Return both values of the option: the configured value, then the other."""
        assert self.motion is not None
        configured = self.options[self.motion]
        return sorted(MOTIONS[self.motion], key=lambda value: value != configured)

    def count_votes(self, votes: list[str]) -> None:
        self.votes = votes
        self.emit("vote", motion=self.motion, votes=votes)
        one, other = self.values()
        if votes.count(one) != votes.count(other):
            self._carry(max((one, other), key=votes.count), "majority")
            return
        first, *others = self._from_the_opener()
        self.rival = next(seat for seat in others if votes[seat] != votes[first])
        self.throws = 0
        self.ask("throw", self._throwers(), together=True)

    def compare_signs(self, signs: dict[Seat, str]) -> None:
        opener, rival = self.opener, self.rival
        assert opener is not None
        assert rival is not None
        self.emit("throw", motion=self.motion, seats=[opener, rival], signs=[signs[opener], signs[rival]])
        if signs[opener] != signs[rival]:
            winner = opener if BEATS[signs[opener]] == signs[rival] else rival
            self._carry(self.votes[winner], "throw")
            return
        self.throws += 1
        if self.throws < THROWS:
            self.ask("throw", self._throwers(), together=True)
        else:
            self.ask_draw("throw", self._throwers())

    def settle_throw(self, winner: Seat) -> None:
        self._carry(self.votes[winner], "draw")

    def _carry(self, value: str, by: str) -> None:
        assert self.motion is not None
        self.options = {**self.options, self.motion: value}
        self.emit("motion", motion=self.motion, value=value, by=by)
        self.votes, self.rival, self.throws = [], None, 0
        self.open_votes()

    def _throwers(self) -> list[Seat]:
        assert self.opener is not None
        assert self.rival is not None
        return sorted((self.opener, self.rival))

    def _from_the_opener(self) -> list[Seat]:
        assert self.opener is not None
        return self.seats_from(self.opener)
