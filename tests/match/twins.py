"""Twin worlds: matches with the same visible events and other hidden cards."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from referee.games.state import Event, Seat
from referee.match.canonical import Json
from referee.match.chance import Chance
from referee.match.log import visible_events
from referee.match.match import Answer, Match, Request
from tests.games.hooks import HOOKS, unseen

Choose = Callable[[Request], Json]


class Swapped:
    """The outcomes of another source, with two cards exchanged in one deck."""

    def __init__(self, source: Chance, deck: int, one: str, other: str) -> None:
        self._source, self._deck = source, deck
        self._exchange = {one: other, other: one}

    def outcome(self, asked: Json, k: int) -> Any:
        outcome = self._source.outcome(asked, k)
        if asked["kind"] == "deck" and k == self._deck:
            return [self._exchange.get(card, card) for card in outcome]
        return outcome


@dataclass(frozen=True)
class Twins:
    """Two matches in which ``viewer`` (None for the public) has seen the same events."""

    viewer: Seat | None
    match: Match
    twin: Match

    @property
    def differ_in_questions(self) -> bool:
        """Return whether the two asked other seats than the viewer a different number of questions."""
        return self.match.n != self.twin.n


def seen(match: Match, viewer: Seat | None) -> list[Event]:
    events = [event for row in match.log.rows for event in row.get("events", [])]
    return visible_events(match.rules, events, viewer, match.header["options"])


def twins(head: Json, source: Chance, choose: Choose, dice: Random) -> Iterator[Twins]:
    """Play a match, and before each answer yield its twins for the seat to be asked and for the public.

    A twin has two cards of the newest deck exchanged that the viewer cannot know yet, and is played along the same
    visible events. Worlds in which that is impossible are left out.
    """
    match, decks = Match(head, source), 0
    match.begin()
    while not match.over:
        chances = [row for row in match.log.rows if row["type"] == "chance" and row["chance"]["kind"] == "deck"]
        decks, deck = len(chances), chances[-1]["outcome"]
        for viewer in (match.requests()[0].seat, None):
            places = unseen(deck, HOOKS[head["game"]].secret(match.state, viewer))
            cards = sorted({deck[place] for place in places})
            if len(cards) < 2:
                continue
            twin = _play_along(head, Swapped(source, decks - 1, *dice.sample(cards, 2)), seen(match, viewer), viewer)
            if twin and twin.state.as_json() != match.state.as_json():
                yield Twins(viewer, match, twin)
        for request in match.requests():
            match.receive(Answer(request.seat, choose(request)))


def _play_along(head: Json, source: Chance, wanted: list[Event], viewer: Seat | None) -> Match | None:
    """Return the match after exactly these visible events, or None if they cannot come about with this source."""
    match = Match(head, source)
    match.begin()
    while True:
        events = seen(match, viewer)
        if events != wanted[: len(events)]:
            return None
        if len(events) == len(wanted):
            return match
        if match.over or not _follow(match, wanted, viewer):
            return None


def _follow(match: Match, wanted: list[Event], viewer: Seat | None) -> bool:
    """Give the first open answer that leads to the wanted events. Return whether there is one."""
    request = match.requests()[0]
    past = seen(match, viewer)
    for action in request.legal_actions:
        state = match.state.clone()
        events = visible_events(match.rules, state.apply_legal(request.seat, action), viewer, match.header["options"])
        if events == wanted[len(past) :][: len(events)]:
            match.receive(Answer(request.seat, action))
            return True
    return False
