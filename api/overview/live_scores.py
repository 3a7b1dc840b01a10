"""Read the scores and the round of matches in progress from the rows that everybody may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from api.extended import Extended
from api.matches.match_feed import read_rows
from referee.viewer.presentation import presentation
from referee.viewer.sentences import Sentences

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LiveScore:
    """Hold the scores by seat, or None before the first ones, and the title of the round, or "" before the first."""

    scores: list[int] | None
    round: str


def attach_live_scores(session: Session, found: Sequence[Extended]) -> list[Extended]:
    """Return these matches with their public score as ``live``."""
    return [Extended(match, live=read_live_score(match.game, read_rows(session, match.id))) for match in found]


def read_live_score(game: str, items: Sequence[Json]) -> LiveScore:
    """Return the newest scores and the newest round in the visible rows of a match.

    Scores are in the member of events that the presentation of the game calls ``score_member``.
    """
    member = presentation(game).get("score_member")
    sentences = Sentences(presentation(game), lambda seat: f"seat {seat + 1}")
    scores, title = None, ""
    for event in (item["event"] for item in reversed(items)):
        scores = scores or event.get(member)
        title = title or sentences.round_title(event)
        if scores and title:
            break
    return LiveScore(scores, title)
