"""A position of any game as plain data, with the flow all games share: a phase, who is asked, what chance owes.

What is legal and what follows from an action belongs to each game; seeds, clocks and logs to others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from referee.errors import BadOption, IllegalAction, IllegalOutcome
from referee.games.cards import UNKNOWN
from referee.games.options import Option, complete

Json = dict[str, Any]
Seat = int
Event = Json


@dataclass(frozen=True, slots=True)
class Secret:
    """Cards in an event that nobody may see before the match is over. ``by_seat``: each seat may see its own."""

    event: str
    member: str
    by_seat: bool = False

    def hide(self, cards: Sequence[Any], viewer: Seat | None) -> list[Any]:
        if self.by_seat:
            return [own if seat == viewer else hide_cards(own) for seat, own in enumerate(cards)]
        return hide_cards(cards)


@dataclass
class State:
    """Base of every game. Events, actions and observations are JSON objects spelt as the rules page does.

    Either chance owes an outcome (``chance()`` is not None), or seats owe a decision (``pending()`` is not
    empty), or the match is over. Actions and events handed out are never changed afterwards, so they may be
    shared; callers treat them as frozen.
    """

    name: ClassVar[str]
    rules_version: ClassVar[int]
    seats: ClassVar[range]
    option_specs: ClassVar[tuple[Option, ...]]
    opening: ClassVar[str]  # the event with which a round begins, or a deal where deals are what a match is made of
    secrets: ClassVar[tuple[Secret, ...]]  # what ``mask_event`` hides

    players: int
    options: Json
    phase: str = ""
    queue: list[Seat] = field(default_factory=list)  # who owes the decision of this phase, next one first
    together: bool = False  # the whole queue is asked at once, answers stay sealed until the last
    sealed: dict[Seat, Json] = field(default_factory=dict)
    awaiting: Json | None = None  # what chance has been asked for
    unsent: list[Event] = field(default_factory=list)  # brought about, not yet handed out

    # -- what a game provides --

    def set_up(self) -> None:
        """Brings the fresh position to its first chance node or decision."""
        raise NotImplementedError

    def settle(self, asked: Json, outcome: Any) -> None:
        """Applies a checked chance outcome."""
        raise NotImplementedError

    def validate_action(self, seat: Seat, action: Any) -> Json:
        """The action in canonical spelling; raises ``IllegalAction`` and changes nothing when it is not legal."""
        raise NotImplementedError

    def act(self, seat: Seat, action: Json) -> None:
        """Applies a checked action of a seat that acts alone."""
        raise NotImplementedError

    def act_together(self, actions: dict[Seat, Json]) -> None:
        """Applies the checked actions of seats that chose at once."""
        raise NotImplementedError

    def legal(self, seat: Seat) -> list[Json]:
        """All actions of a pending seat, in the canonical order of the rules page."""
        raise NotImplementedError

    def observation(self, seat: Seat) -> Json:
        """What this seat may see, built field by field."""
        raise NotImplementedError

    def scores(self) -> list[int]:
        """Points, chips … by seat, as the rules page counts them."""
        raise NotImplementedError

    def returns(self) -> list[int]:
        """What each seat gained, by seat."""
        raise NotImplementedError

    def placements(self) -> list[int]:
        """1 + number of seats strictly better, by seat."""
        raise NotImplementedError

    @classmethod
    def mask_event(cls, event: Event, viewer: Seat | None) -> Event | None:
        """Return the event as ``viewer`` (a seat, or None for the public) may read it before the match is over.

        None leaves it out. What is secret under some options, or until a later event, is hidden here. Games that
        ``secrets`` cannot describe have their own.
        """
        secrets = [secret for secret in cls.secrets if secret.event == event["event"]]
        return {**event, **{one.member: one.hide(event[one.member], viewer) for one in secrets}} if secrets else event

    @classmethod
    def visible_events(cls, events: Sequence[Event], viewer: Seat | None, options: Json) -> list[Event]:
        """The events, in order of happening, as ``viewer`` may read them in a match of these options.

        Games in which the options, or later events, open what ``mask_event`` hides have their own.
        """
        readings = (cls.mask_event(event, viewer) for event in events)
        return [event for event in readings if event is not None]

    @classmethod
    def legal_bound(cls, players: int) -> int:
        """Return a length that no list of legal actions exceeds in a match of so many seats, whatever its options."""
        raise NotImplementedError

    @classmethod
    def decision_bound(cls, players: int, options: Json) -> int:
        """No match of these options takes more decisions than this."""
        raise NotImplementedError

    # -- what all games share --

    @classmethod
    def start(cls, players: int, options: Mapping[str, Any] | None = None) -> Self:
        """A fresh match; raises ``BadOption`` for a seat count or an option out of bounds."""
        if not isinstance(players, int) or isinstance(players, bool) or players not in cls.seats:
            low, high = cls.seats[0], cls.seats[-1]
            raise BadOption("players", f"{cls.name} is for {low} to {high} seats, got {players!r}")
        state = cls(players, cls.complete_options(players, options or {}))
        state.set_up()
        return state

    @classmethod
    def complete_options(cls, players: int, given: Mapping[str, Any]) -> Json:
        """All options with values; games with bounds that hang together extend this."""
        return complete(cls.option_specs, given)

    def chance(self) -> Json | None:
        """What chance is asked for: a ``deck`` or a ``draw``; None when seats decide or the match is over."""
        return self.awaiting

    def pending(self) -> tuple[Seat, ...]:
        """The seats that owe a decision now, each of them free to answer first."""
        if self.awaiting is not None:
            return ()
        if self.together:
            return tuple(seat for seat in self.queue if seat not in self.sealed)
        return tuple(self.queue[:1])

    def to_act(self) -> list[Seat]:
        """The seats of this decision point; it does not tell who of them has answered."""
        if self.awaiting is not None:
            return []
        return self.queue[:] if self.together else self.queue[:1]

    @property
    def over(self) -> bool:
        return self.awaiting is None and not self.queue

    def default(self, seat: Seat) -> Json:
        """The action played for a seat that fails to give one."""
        return self.legal(seat)[0]

    def forced_action(self, seat: Seat) -> Json | None:
        """The only action of a pending seat where everybody can see that there is no other, else None."""
        return None

    def resolve(self, outcome: Any) -> list[Event]:
        """Applies what chance brought; raises ``IllegalOutcome`` and changes nothing when it was not asked for."""
        asked = self.awaiting
        if asked is None:
            raise IllegalOutcome(f"nothing is drawn in {self.phase!r}")
        check_outcome(asked, outcome)
        self.awaiting = None
        self.settle(asked, outcome)
        return self._handed_out()

    def apply(self, seat: Seat, action: Any) -> list[Event]:
        """Plays an action and gives the events it brought about; ``[]`` while others still choose.

        Raises ``IllegalAction`` and leaves everything as it was when the seat may not do this here.
        """
        if not self._owes(seat):
            raise IllegalAction(f"seat {seat} is not asked in {self.phase!r}; asked are {list(self.pending())}")
        action = self.validate_action(seat, action)
        if not self.together:
            del self.queue[0]
            self.act(seat, action)
            return self._handed_out()
        self.sealed[seat] = action
        if len(self.sealed) < len(self.queue):
            return []
        # By seat, so that the order of arrival cannot matter.
        actions = {chooser: self.sealed[chooser] for chooser in sorted(self.sealed)}
        self.queue, self.sealed, self.together = [], {}, False
        self.act_together(actions)
        return self._handed_out()

    def clone(self) -> Self:
        """A copy that shares nothing changeable with this position.

        Copied are lists, the lists in them (the items of a list are of one kind), objects and sets. What lies
        deeper, such as an object in a list, is a fact: never changed once written, and so shared.
        """
        twin = object.__new__(type(self))
        copied = twin.__dict__ = self.__dict__.copy()
        for name, value in self.__dict__.items():
            kind = type(value)
            if kind is list:
                copied[name] = [*map(list.copy, value)] if value and type(value[0]) is list else value[:]
            elif kind is dict or kind is set:
                copied[name] = value.copy()
        return twin

    def as_json(self) -> Json:
        """Every field of the position, for printing and for comparing positions."""
        sealed = {str(seat): action for seat, action in self.sealed.items()}  # keys of JSON objects are texts
        return {spec.name: getattr(self, spec.name) for spec in fields(self)} | {"sealed": sealed}

    # -- for the games --

    def ask(self, phase: str, seats: Iterable[Seat], *, together: bool = False) -> None:
        """Opens a decision point (or a lap of them) of these seats."""
        self.phase, self.queue, self.together, self.sealed = phase, list(seats), together, {}

    def ask_deck(self, cards: Sequence[str]) -> None:
        """Asks chance for a permutation of the listed cards, top card first."""
        self.awaiting = {"kind": "deck", "cards": list(cards)}

    def ask_draw(self, what: str, among: Sequence[Any], *, ordered: bool = False) -> None:
        """Asks chance for one of ``among``, or with ``ordered`` for an ordering of all of it."""
        self.awaiting = {"kind": "draw", "what": what, "among": list(among)}
        if ordered:
            self.awaiting["ordered"] = True

    def emit(self, event: str, **members: Any) -> None:
        """Adds an event; what is handed in must not be changed afterwards."""
        self.unsent.append({"event": event, **members})

    def seats_from(self, seat: Seat) -> list[Seat]:
        """All seats clockwise, beginning with this one."""
        return [(seat + step) % self.players for step in range(self.players)]

    def _owes(self, seat: Seat) -> bool:
        """Whether this seat is among ``pending()``."""
        if self.awaiting is not None:
            return False
        return seat in self.queue and seat not in self.sealed if self.together else self.queue[:1] == [seat]

    def _handed_out(self) -> list[Event]:
        events, self.unsent = self.unsent, []
        return events


def check_outcome(asked: Json, outcome: Any) -> None:
    """Raises ``IllegalOutcome`` unless the outcome is one that this chance node can have."""
    match asked:
        case {"kind": "deck", "cards": cards}:
            fits = isinstance(outcome, list) and _same_members(outcome, cards)
        case {"ordered": True, "among": among}:
            fits = isinstance(outcome, list) and _same_members(outcome, among)
        case {"among": among}:
            fits = any(outcome == one and type(outcome) is type(one) for one in among)
    if not fits:
        raise IllegalOutcome(f"{asked['kind']} cannot bring {str(outcome)[:200]}")


def hide_cards(cards: Sequence[str]) -> list[str]:
    """As many unknown cards."""
    return [UNKNOWN] * len(cards)


def rank_seats(strengths: Sequence[Any]) -> list[int]:
    """Placements by seat: 1 + number of seats with a strictly greater strength."""
    return [1 + sum(other > own for other in strengths) for own in strengths]


def _same_members(left: list[Any], right: list[Any]) -> bool:
    # Kinds first: True is not 1, and members of different kinds may not compare.
    if {*map(type, left)} != {*map(type, right)}:
        return False
    members = {*right}
    if len(members) == len(right):  # the usual deck: no card twice
        return len(left) == len(right) and {*left} == members
    return sorted(left) == sorted(right)
