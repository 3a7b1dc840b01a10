"""Define a bot by functions for games and phases. ``serving`` serves it over HTTP; ``replaying`` tests it on a log."""

import logging
import traceback
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from referee.errors import BadOption
from referee.games import catalogue
from referee.match.canonical import Json
from referee.protocol.messages import PROTOCOL
from referee_extras.sdk.rules_pages import phases
from referee_extras.sdk.views import View

Function = TypeVar("Function", bound=Callable[..., Json | None])

LONGEST_ERROR = 1_000  # characters; longer error messages are truncated in answers

log = logging.getLogger("referee_extras.sdk")


class Question:
    """Represent a question of the referee. ``seen`` is your seat's observation; ``legal_actions`` are your choices.

    ``default_action`` is played if there is no valid answer. ``new_events`` are the events since your last question.
    ``number`` is the number of the question in this match for your seat, from 0. ``match`` and ``time`` are the members
    with these names in the protocol. ``legal_actions`` and ``default_action`` are plain JSON that you can return.
    """

    def __init__(self, body: Json) -> None:
        self.match = View(body["match"])
        self.id: str = body["decision"]["id"]
        self.number: int = body["decision"]["question"]
        self.game: str = self.match["game"]
        self.seen = View(body["observation"])
        self.phase: str = self.seen["phase"]
        self.legal_actions: list[Json] = body["legal_actions"]
        self.default_action: Json = body["default_action"]
        self.new_events = tuple(map(View, body["new_events"]))
        self.time = View(body["time"])

    def __repr__(self) -> str:
        return f"<question {self.number} of {self.match['id']}: {self.game}, {self.phase}>"


Decider = Callable[[Question], Json | None]


def decides(game: str, *only: str) -> Callable[[Function], Function]:
    """Mark a method of a ``Bot`` to decide in these phases of the game, or in all phases if none is given.

    Raise ``BadOption`` for an unknown game or phase.
    """
    wanted = _check_phases(game, only)

    def mark(function: Function) -> Function:
        known: tuple[tuple[str, str], ...] = getattr(function, "decides", ())
        function.decides = (*known, *wanted)  # type: ignore[attr-defined]  # functions can have attributes
        return function

    return mark


class Bot:
    """Decide with the function registered for a phase, or else with ``decide``, which plays the default action.

    Subclass it and mark methods with ``@decides(game, phase)``, or create one and decorate functions with
    ``@bot.decides(game, phase)``. A function takes a ``Question`` and returns an action, or None for the default.
    """

    name = "sdk bot"
    version = "1"
    max_concurrent_requests = 8  # questions answered concurrently, each in a thread

    def __init__(self, name: str | None = None, version: str | None = None) -> None:
        self.name = name or self.name
        self.version = version or self.version
        self._deciders: dict[tuple[str, str], Decider] = {}
        for attribute in dir(type(self)):
            for place in getattr(getattr(type(self), attribute), "decides", ()):
                self._register(place, getattr(self, attribute))

    def decides(self, game: str, *only: str) -> Callable[[Function], Function]:
        """Register the decorated function for these phases, like the function ``decides`` of this module."""
        wanted = _check_phases(game, only)

        def register(function: Function) -> Function:
            for place in wanted:
                self._register(place, function)
            return function

        return register

    def decide(self, question: Question) -> Json | None:
        """Decide in phases that have no function. Override this method; None plays the default action."""
        return None

    def on_notice(self, notice: View) -> None:
        """Handle a notice of type ``match_end`` or ``group_end``. Override this method, which does nothing."""

    @property
    def games(self) -> list[str]:
        """Return the games for the manifest: those with functions, or all if none has one.

        If ``decide`` is overridden, return all games, too.
        """
        own = {game for game, _ in self._deciders}
        return sorted(own) if own and type(self).decide is Bot.decide else sorted(catalogue())

    def answer_question(self, question: Question) -> Json:
        """Return the action for a question. Exceptions of the registered function are not caught."""
        action = self._deciders.get((question.game, question.phase), self.decide)(question)
        return question.default_action if action is None else action

    def answer(self, body: Json) -> Json:
        """Return the reply to the body of a call to ``/decide``. If a function raises an exception, log it, report it
        to the bot's owner in the reply, and play the default action."""
        id = body["decision"]["id"]
        try:
            return {"decision": id, "action": self.answer_question(Question(body))}
        except Exception as error:  # the function of the author may raise anything
            log.exception("no decision in %s; the default action is played", id)
            text = "".join(traceback.format_exception_only(error)).strip()[:LONGEST_ERROR]
            return {"decision": id, "action": body["default_action"], "error": text.encode(errors="replace").decode()}

    def manifest(self) -> Mapping[str, Any]:
        """Return the reply to ``GET /``."""
        about = {"name": self.name, "version": self.version, "games": self.games}
        return {"protocol": PROTOCOL, **about, "max_concurrent_requests": self.max_concurrent_requests}

    def _register(self, place: tuple[str, str], decider: Decider) -> None:
        if place in self._deciders:
            raise BadOption("decides", f"phase {place[1]!r} of {place[0]} already has a function")
        self._deciders[place] = decider


def _check_phases(game: str, only: tuple[str, ...]) -> list[tuple[str, str]]:
    if game not in catalogue():
        raise BadOption("game", f"unknown game {game!r}; available: {', '.join(catalogue())}")
    known = phases(game)
    for phase in only:
        if phase not in known:
            raise BadOption("phase", f"unknown phase {phase!r} of {game}; available: {', '.join(known)}")
    return [(game, phase) for phase in only or known]
