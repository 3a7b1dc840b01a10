"""Define the base class of games: a position as plain data, and the flow of decisions that all games share.

Each game defines its legal actions and their consequences. Matches handle seeds, clocks and logs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from referee.errors import BadOption, IllegalAction, IllegalOutcome
from referee.games.cards import UNKNOWN
from referee.games.options import Option, complete, describe_differences

Json = dict[str, Any]
Seat = int
Event = Json


@dataclass(frozen=True, slots=True)
class Secret:
    """Describe cards in an event that are hidden until the match is over. With ``by_seat``, each seat sees its own."""

    event: str
    member: str
    by_seat: bool = False

    def hide(self, cards: Sequence[Any], viewer: Seat | None) -> list[Any]:
        if self.by_seat:
            return [own if seat == viewer else hide_cards(own) for seat, own in enumerate(cards)]
        return hide_cards(cards)


@dataclass
class State:
    """Represent a position of a match. Events, actions and observations are JSON objects as on the rules page.

    At any time, either a chance outcome is due (``chance()`` is not None), or decisions are due (``pending()`` is not
    empty), or the match is over. Returned actions and events may be shared between positions: nobody may modify them.
    """

    name: ClassVar[str]
    rules_version: ClassVar[int]
    seats: ClassVar[range]
    standard_seats: ClassVar[int]  # number of seats at which players are compared and ladders are official
    questions_per_seat: ClassVar[int] = 50  # usual number with the default options, from which durations are estimated
    option_specs: ClassVar[tuple[Option, ...]]
    opening: ClassVar[str]  # the event that begins a round, or a deal if the game consists of deals
    secrets: ClassVar[tuple[Secret, ...]]  # what ``mask_event`` hides

    players: int
    options: Json
    phase: str = ""
    queue: list[Seat] = field(default_factory=list)  # seats that must decide in this phase, the next one first
    together: bool = False  # the seats decide concurrently; their answers are sealed until the last one
    sealed: dict[Seat, Json] = field(default_factory=dict)
    awaiting: Json | None = None  # the chance outcome that is due
    unsent: list[Event] = field(default_factory=list)  # emitted, but not returned yet

    # -- implemented by each game --

    def set_up(self) -> None:
        """Advance the new position until a chance outcome or a decision is due."""
        raise NotImplementedError

    def settle(self, asked: Json, outcome: Any) -> None:
        """Apply a validated chance outcome."""
        raise NotImplementedError

    def validate_action(self, seat: Seat, action: Any) -> Json:
        """Return the action in canonical form. Raise ``IllegalAction`` and change nothing if it is not legal."""
        raise NotImplementedError

    def act(self, seat: Seat, action: Json) -> None:
        """Apply a validated action of a seat that acts alone."""
        raise NotImplementedError

    def act_together(self, actions: dict[Seat, Json]) -> None:
        """Apply the validated actions of seats that chose concurrently."""
        raise NotImplementedError

    def legal(self, seat: Seat) -> list[Json]:
        """Return all legal actions of a pending seat, in the canonical order of the rules page."""
        raise NotImplementedError

    def observation(self, seat: Seat) -> Json:
        """Return everything that this seat may see of the position."""
        raise NotImplementedError

    def scores(self) -> list[int]:
        """Return the score of each seat, in the unit of the rules page, such as points or chips."""
        raise NotImplementedError

    def returns(self) -> list[int]:
        """Return the gain of each seat, negative for a loss, as defined on the rules page."""
        raise NotImplementedError

    def placements(self) -> list[int]:
        """Return the placement of each seat: 1 + the number of strictly better seats."""
        raise NotImplementedError

    @classmethod
    def mask_event(cls, event: Event, viewer: Seat | None) -> Event | None:
        """Return the event as ``viewer`` (a seat, or None for the public) may see it before the match is over.

        Return None to omit it. Hide everything that is secret under any options, or until a later event. Override this
        in games whose secrets ``secrets`` cannot describe.
        """
        secrets = [secret for secret in cls.secrets if secret.event == event["event"]]
        return (
            {**event, **{secret.member: secret.hide(event[secret.member], viewer) for secret in secrets}}
            if secrets
            else event
        )

    @classmethod
    def may_be_forced(cls, event: Event) -> bool:
        """Return whether the rules make this move for a seat in some worlds, while the seat chooses it in others.

        Only hidden facts distinguish these worlds, so nothing that is shown early may do so. ``event`` may be any event
        of the game.
        """
        return False

    @classmethod
    def visible_events(cls, events: Sequence[Event], viewer: Seat | None, options: Json) -> list[Event]:
        """Return the events, which are in order, as ``viewer`` may see them in a match with these options.

        Override this in games in which options or later events reveal what ``mask_event`` hides.
        """
        masked = (cls.mask_event(event, viewer) for event in events)
        return [event for event in masked if event is not None]

    @classmethod
    def legal_bound(cls, players: int) -> int:
        """Return an upper bound on the number of legal actions with this number of seats, for any options."""
        raise NotImplementedError

    @classmethod
    def decision_bound(cls, players: int, options: Json) -> int:
        """Return an upper bound on the number of decisions of a match with these options."""
        raise NotImplementedError

    # -- shared by all games --

    @classmethod
    def start(cls, players: int, options: Mapping[str, Any] | None = None) -> Self:
        """Return a new match. Raise ``BadOption`` for an invalid number of seats or invalid options."""
        if not isinstance(players, int) or isinstance(players, bool) or players not in cls.seats:
            low, high = cls.seats[0], cls.seats[-1]
            raise BadOption("players", f"{cls.name} is for {low} to {high} seats, got {players!r}")
        state = cls(players, cls.complete_options(players, options or {}))
        state.set_up()
        return state

    @classmethod
    def complete_options(cls, players: int, given: Mapping[str, Any]) -> Json:
        """Return all options with given or default values.

        Raise ``BadOption`` for invalid ones. Override this to check options against each other.
        """
        return complete(cls.option_specs, given)

    @classmethod
    def describe_options(cls, players: int, options: Mapping[str, Any]) -> list[str]:
        """Return a sentence for each option that differs from its default in a match of this number of players."""
        return describe_differences(cls.option_specs, options, cls.complete_options(players, {}))

    def chance(self) -> Json | None:
        """Return the request for the chance outcome that is due, a ``deck`` or a ``draw``, or None if none is due."""
        return self.awaiting

    def pending(self) -> tuple[Seat, ...]:
        """Return the seats whose decision is due now, in any order."""
        if self.awaiting is not None:
            return ()
        if self.together:
            return tuple(seat for seat in self.queue if seat not in self.sealed)
        return tuple(self.queue[:1])

    def to_act(self) -> list[Seat]:
        """Return the seats of this decision point, including those that have answered."""
        if self.awaiting is not None:
            return []
        return self.queue[:] if self.together else self.queue[:1]

    @property
    def over(self) -> bool:
        return self.awaiting is None and not self.queue

    def default(self, seat: Seat) -> Json:
        """Return the action that is played if the seat does not return a legal one."""
        return self.legal(seat)[0]

    def forced_action(self, seat: Seat) -> Json | None:
        """Return the only legal action of a pending seat if everyone can know that it is the only one, else None."""
        return None

    def resolve(self, outcome: Any) -> list[Event]:
        """Apply a chance outcome and return its events.

        Raise ``IllegalOutcome`` and change nothing if the outcome is impossible.
        """
        asked = self.awaiting
        if asked is None:
            raise IllegalOutcome(f"no chance outcome is due in {self.phase!r}")
        check_outcome(asked, outcome)
        self.awaiting = None
        self.settle(asked, outcome)
        return self._take_events()

    def apply(self, seat: Seat, action: Any) -> list[Event]:
        """Play an action and return its events, or [] while other seats still have to decide.

        Raise ``IllegalAction`` and change nothing if the action is not legal for the seat.
        """
        if not self._is_pending(seat):
            raise IllegalAction(f"seat {seat} is not asked in {self.phase!r}; asked are {list(self.pending())}")
        return self.apply_legal(seat, self.validate_action(seat, action))

    def apply_legal(self, seat: Seat, action: Json) -> list[Event]:
        """Play one of ``legal(seat)`` for a pending seat, as ``apply`` does, without checking either."""
        if not self.together:
            del self.queue[0]
            self.act(seat, action)
            return self._take_events()
        self.sealed[seat] = action
        if len(self.sealed) < len(self.queue):
            return []
        # Sort by seat, because the order of arrival must not matter.
        actions = {chooser: self.sealed[chooser] for chooser in sorted(self.sealed)}
        self.queue, self.sealed, self.together = [], {}, False
        self.act_together(actions)
        return self._take_events()

    def clone(self) -> Self:
        """Return a copy that shares nothing mutable with this position.

        Copy lists, the lists in them, objects and sets; all items of a list must have the same type. Share deeper
        values, such as objects in a list, which are never modified.
        """
        clone = object.__new__(type(self))
        copied = clone.__dict__ = self.__dict__.copy()
        for name, value in self.__dict__.items():
            kind = type(value)
            if kind is list:
                copied[name] = [*map(list.copy, value)] if value and type(value[0]) is list else value[:]
            elif kind is dict or kind is set:
                copied[name] = value.copy()
        return clone

    def as_json(self) -> Json:
        """Return every field of the position, for printing and comparing."""
        sealed = {str(seat): action for seat, action in self.sealed.items()}  # keys of JSON objects are strings
        return {spec.name: getattr(self, spec.name) for spec in fields(self)} | {"sealed": sealed}

    # -- helpers for games --

    def ask(self, phase: str, seats: Iterable[Seat], *, together: bool = False) -> None:
        """Begin a phase in which these seats decide, one after the other or, with ``together``, concurrently."""
        self.phase, self.queue, self.together, self.sealed = phase, list(seats), together, {}

    def ask_deck(self, cards: Sequence[str]) -> None:
        """Request a permutation of the listed cards from chance, top card first."""
        self.awaiting = {"kind": "deck", "cards": list(cards)}

    def ask_draw(self, what: str, among: Sequence[Any], *, ordered: bool = False) -> None:
        """Request one of ``among`` from chance, or with ``ordered`` a permutation of all of them."""
        self.awaiting = {"kind": "draw", "what": what, "among": list(among)}
        if ordered:
            self.awaiting["ordered"] = True

    def emit(self, event: str, **members: Any) -> None:
        """Add an event. Its members must not be modified afterwards."""
        self.unsent.append({"event": event, **members})

    def seats_from(self, seat: Seat) -> list[Seat]:
        """Return all seats clockwise, beginning with this one."""
        first = seat % self.players
        return [*range(first, self.players), *range(first)]

    def _is_pending(self, seat: Seat) -> bool:
        """Return whether this seat is in ``pending()``."""
        if self.awaiting is not None:
            return False
        return seat in self.queue and seat not in self.sealed if self.together else self.queue[:1] == [seat]

    def _take_events(self) -> list[Event]:
        events, self.unsent = self.unsent, []
        return events


def check_outcome(asked: Json, outcome: Any) -> None:
    """Raise ``IllegalOutcome`` unless the outcome is possible for this chance request."""
    match asked:
        case {"kind": "deck", "cards": cards}:
            fits = isinstance(outcome, list) and _same_members(outcome, cards)
        case {"ordered": True, "among": among}:
            fits = isinstance(outcome, list) and _same_members(outcome, among)
        case {"among": among}:
            fits = any(outcome == member and type(outcome) is type(member) for member in among)
    if not fits:
        raise IllegalOutcome(f"impossible outcome of {asked['kind']}: {str(outcome)[:200]}")


def hide_cards(cards: Sequence[str]) -> list[str]:
    """Return the same number of unknown cards."""
    return [UNKNOWN] * len(cards)


def rank_seats(strengths: Sequence[Any]) -> list[int]:
    """Return the placement of each seat: 1 + the number of seats with a strictly greater strength."""
    return [1 + sum(other > own for other in strengths) for own in strengths]


def _same_members(left: list[Any], right: list[Any]) -> bool:
    # Compare types first, because True equals 1, and members of different types cannot be sorted.
    if {*map(type, left)} != {*map(type, right)}:
        return False
    members = {*right}
    if len(members) == len(right):  # in most cases, no member occurs twice
        return len(left) == len(right) and {*left} == members
    return sorted(left) == sorted(right)
