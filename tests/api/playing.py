"""Matches that are recorded answer by answer while others look at them."""

from dataclasses import dataclass
from typing import Any

from referee.match.match import Answer, Match
from referee.matches.logs.recording import MatchUpdate, record_batch
from referee.matches.queue.claims import Claim
from tests.database.world import World
from tests.match.playing import public_items


@dataclass
class Playing:
    world: World
    claim: Claim
    match: Match
    recorded: int = 0  # rows

    def __post_init__(self) -> None:
        self.record()

    @property
    def id(self) -> str:
        return self.claim.match_id

    def receive(self, answers: int = 1) -> None:
        """Answer questions with the first legal action, without recording them."""
        for _ in range(answers):
            self.match.receive(Answer(self.match.requests()[0].seat, choice=0))

    def record(self, **more: Any) -> None:
        lines = self.match.lines[self.recorded :]
        with self.world.database.write() as session:
            assert not record_batch(session, [MatchUpdate(self.id, self.claim.epoch, self.recorded, lines, **more)])
        self.recorded = len(self.match.lines)

    def answer(self) -> None:
        """Answer questions until there are new rows, and record them."""
        while len(self.match.lines) == self.recorded:
            self.receive()
        self.record()

    def last_public(self, rows: int | None = None) -> int:
        """Return the number of the last public row of the first rows of the log."""
        return len(public_items(self.match.log.rows[:rows])) - 1

    def end(self) -> None:
        while not self.match.over:
            self.receive()
        self.world.ended(self.claim, self.match, self.recorded)


def begin(world: World, **plan: Any) -> Playing:
    """Return a match in progress with these terms, whose first rows are recorded."""
    (claim,) = world.claim(match_id=world.match(**plan))
    return Playing(world, claim, world.resumed(claim.match_id))
