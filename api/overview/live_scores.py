"""Read the scores and the round of matches in progress from the rows that everybody may see. Choose close matches."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from sqlalchemy.orm import Session

from api.extended import Extended
from api.matches.match_feed import read_rows
from referee.matches.tables import StoredMatch
from referee.viewer.presentation import presentation
from referee.viewer.sentences import Sentences

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LiveScore:
    """Hold the scores by seat, or None before the first ones, and the title of the round, or "" before the first."""

    scores: list[int] | None
    round: str

    @property
    def gap(self) -> float:
        """Return how far the leader is ahead of the next seat, as a share of the highest score."""
        if self.scores is None:
            return inf
        first, second, *_ = sorted(self.scores, reverse=True)
        return (first - second) / max(1, *map(abs, self.scores))


@dataclass(frozen=True, slots=True)
class LiveMatch:
    """Hold a match in progress and its public score."""

    match: StoredMatch
    live: LiveScore


def choose_matches(session: Session, found: Sequence[StoredMatch], shown: Collection[str] = ()) -> list[LiveMatch]:
    """Return one match of each game, the closest first. A match in ``shown`` is kept, even if others are closer."""
    scored = [LiveMatch(match, read_live_score(match, read_rows(session, match.id))) for match in found]
    scored.sort(key=lambda candidate: (candidate.live.gap, candidate.match.id))
    of_games: dict[str, LiveMatch] = {}
    for candidate in sorted(scored, key=lambda candidate: candidate.match.id not in shown):
        of_games.setdefault(candidate.match.game, candidate)
    return [candidate for candidate in scored if of_games[candidate.match.game] is candidate]


def attach_live_scores(seated: Sequence[Extended], chosen: Sequence[LiveMatch]) -> list[Extended]:
    """Return these matches in the order of ``chosen``, each with its public score as ``live``."""
    return [Extended(match, live=live_match.live) for match, live_match in zip(seated, chosen, strict=True)]


def read_live_score(match: StoredMatch, items: Sequence[Json]) -> LiveScore:
    """Return the newest scores and the newest round in the visible rows of a match.

    Scores are in the member of events that the presentation of the game calls ``score_member``. What seats gained later
    is in the events of its ``score_gains``, which names their members with the seat and with its gain.
    """
    sentences = Sentences(presentation(match.game), lambda seat: f"seat {seat + 1}")
    member, gains = (presentation(match.game).get(name, {}) for name in ("score_member", "score_gains"))
    scores, title, gained = None, "", [0] * match.seats
    for event in (item["event"] for item in reversed(items)):
        if scores is None and event.get(member):
            scores = [score + gain for score, gain in zip(event[member], gained, strict=True)]
        elif scores is None and event["event"] in gains:
            seat, gain = (event[name] for name in gains[event["event"]])
            if seat is not None:
                gained[seat] += gain
        title = title or sentences.round_title(event)
        if scores and title:
            break
    return LiveScore(scores or (gained if any(gained) else None), title)
