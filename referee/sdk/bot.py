"""A bot as functions by game and phase. ``serving`` puts it online, ``replaying`` tries it on a log."""

import logging
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, cast

from referee.errors import BadOption
from referee.games import catalogue
from referee.match.canonical import Json
from referee.protocol.messages import PROTOCOL
from referee.sdk.observations import OBSERVATIONS, Observation, phases
from referee.sdk.views import View

Seen = TypeVar("Seen", bound=Observation)
Function = TypeVar("Function", bound=Callable[..., Json | None])

LONGEST_ERROR = 1_000  # characters of an error message that are reported

log = logging.getLogger("referee.sdk")


class Question(Generic[Seen]):
    """A question of the referee. ``seen`` is all that your seat may see, ``legal_actions`` what it may answer.

    ``default_action`` is played if there is no valid answer; ``new_events`` are the events since your last question;
    ``number`` counts the questions of your seat in this match, from 0; ``match`` and ``time`` are the members of these
    names in the protocol. ``legal_actions`` and ``default_action`` are plain JSON, ready to be returned.
    """

    def __init__(self, body: Json) -> None:
        self.match = View(body["match"])
        self.id: str = body["decision"]["id"]
        self.number: int = body["decision"]["question"]
        self.game: str = self.match["game"]
        self.seen = cast(Seen, OBSERVATIONS.get(self.game, Observation)(body["observation"]))
        self.phase: str = self.seen["phase"]
        self.legal_actions: list[Json] = body["legal_actions"]
        self.default_action: Json = body["default_action"]
        self.new_events = tuple(map(View, body["new_events"]))
        self.time = View(body["time"])

    def __repr__(self) -> str:
        return f"<question {self.number} of {self.match['id']}: {self.game}, {self.phase}>"


Decider = Callable[[Question[Any]], Json | None]


def decides(game: str, *only: str) -> Callable[[Function], Function]:
    """Mark a method of a ``Bot`` as the one that decides in these phases of the game (in all if none is named).

    Raise ``BadOption`` for an unknown game or phase.
    """
    wanted = _check_phases(game, only)

    def mark(function: Function) -> Function:
        known: tuple[tuple[str, str], ...] = getattr(function, "decides", ())
        function.decides = (*known, *wanted)  # type: ignore[attr-defined]  # any function takes attributes
        return function

    return mark


class Bot:
    """A bot that decides by the function registered for a phase, else by ``decide``, which plays the default action.

    Subclass it and mark methods with ``@decides(game, phase)``, or create one and decorate functions with
    ``@bot.decides(game, phase)``. A function takes a ``Question`` and returns an action, or None for the default.
    """

    name = "sdk bot"
    version = "1"
    max_concurrent_requests = 8  # questions answered concurrently, in several threads

    def __init__(self, name: str | None = None, version: str | None = None) -> None:
        self.name = name or self.name
        self.version = version or self.version
        self._deciders: dict[tuple[str, str], Decider] = {}
        for attribute in dir(type(self)):
            for place in getattr(getattr(type(self), attribute), "decides", ()):
                self._register(place, getattr(self, attribute))

    def decides(self, game: str, *only: str) -> Callable[[Function], Function]:
        """Register the decorated function for these phases; see ``decides`` in this module."""
        wanted = _check_phases(game, only)

        def register(function: Function) -> Function:
            for place in wanted:
                self._register(place, function)
            return function

        return register

    def decide(self, question: Question[Any]) -> Json | None:
        """Decide in phases without a function of their own. Override this; None plays the default action."""
        return None

    def on_notice(self, notice: View) -> None:
        """Handle a ``match_end`` or ``group_end``. Override this; it does nothing."""

    @property
    def games(self) -> list[str]:
        """The games of the manifest: those with a function of their own, or all."""
        own = {game for game, _ in self._deciders}
        return sorted(own) if own and type(self).decide is Bot.decide else sorted(catalogue())

    def answer_question(self, question: Question[Any]) -> Json:
        """Return the action for a question; raise whatever the registered function raises."""
        action = self._deciders.get((question.game, question.phase), self.decide)(question)
        return question.default_action if action is None else action

    def answer(self, body: Json) -> Json:
        """Return the reply to the body of a ``/decide``. If a function raises, log the error, report it to the bot's
        owner and play the default action."""
        id = body["decision"]["id"]
        try:
            return {"decision": id, "action": self.answer_question(Question(body))}
        except Exception as error:  # whatever the author's function raises
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
