"""Draw positions of Prince Albert: write a deck that agrees with the history of the round, and play the round again."""

from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import Final

from referee.games.cards import DECK, UNKNOWN
from referee.games.prince_albert import ALL_IN, BIDS, PrinceAlbert
from referee.games.prince_albert_betting import WAGER
from referee.games.prince_albert_drawing import HAND, PASS
from referee.games.prince_albert_votes import THROW, VOTE
from referee.games.state import Event, Json, Seat

ROUND: Final = "round"


def resample(seen: Json, chance: Random) -> PrinceAlbert:
    """Return a random position in which the asked seat sees this observation."""
    if seen["history"][0]["event"] != ROUND:
        return _replay_votes(seen)
    while True:
        cards = _HiddenCards(seen["players"], chance)
        if cards.follow(seen["history"]):
            return _replay_round(seen, cards)


# -- cards, known and unknown --


@dataclass
class _HiddenCards:
    """Follow the cards of a round by their places in the deck, of which some are known.

    Among the unknown cards of a hand, any may be the one that a discard shows. So the choice is random, and so is the
    choice of a card discarded face down; a later show may contradict the latter.
    """

    players: int
    chance: Random
    deck: list[str | None] = field(default_factory=lambda: [None] * len(DECK))
    hands: dict[Seat, dict[str, list[int]]] = field(default_factory=dict)  # by seat, then "down" or "up"
    piles: dict[Seat, list[int]] = field(default_factory=dict)
    discards: deque[int] = field(default_factory=deque)  # in order

    def follow(self, history: list[Event]) -> bool:
        """Write what the events tell about the deck, and draw the rest of it. Return False after a contradiction."""
        self._top = HAND * self.players
        for event in history:
            match event:
                case {"event": "deal"}:
                    self._deal(event)
                case {"event": "exchange"}:
                    self._exchange(event)
                case {"event": "show"} if not self._show(event):
                    return False
        missing = [card for card in DECK if card not in {*self.deck}]
        self.chance.shuffle(missing)
        self.deck = [card or missing.pop() for card in self.deck]
        return True

    def _deal(self, event: Event) -> None:
        places = [*range(len(self.hands), HAND * self.players, self.players)]
        down = len(event["down"])
        self.hands[event["seat"]] = {"down": places[:down], "up": places[down:]}
        self.piles[event["seat"]] = []
        for place, card in zip(places, event["down"] + event["up"], strict=True):
            self._learn(place, card)

    def _exchange(self, event: Event) -> None:
        cards = self.hands[event["seat"]][event["was"]]
        place = self._find(cards, event["discard"])
        cards.remove(place)
        self.piles[event["seat"]].append(place)
        self.discards.append(place)
        if event["from"] == "deck":
            drawn, self._top = self._top, self._top + 1
        else:
            drawn = self.piles[event["from"]].pop()
        self._learn(drawn, event["drawn"])
        cards.append(drawn)

    def _find(self, cards: list[int], card: str) -> int:
        """Return the place of this card of a hand, or of a random one if it is not known which card it is."""
        if card == UNKNOWN:
            return self.chance.choice(cards)
        for place in cards:
            if self.deck[place] == card:
                return place
        place = self.chance.choice([place for place in cards if self.deck[place] is None])
        self.deck[place] = card
        return place

    def _show(self, event: Event) -> bool:
        places = [place for part in self.hands[event["seat"]].values() for place in part]
        new = [card for card in event["cards"] if card not in {self.deck[place] for place in places}]
        unknown = [place for place in places if self.deck[place] is None]
        if len(new) != len(unknown) or any(card in self.deck for card in new):
            return False
        self.chance.shuffle(new)
        for place, card in zip(unknown, new, strict=True):
            self._learn(place, card)
        return True

    def _learn(self, place: int, card: str) -> None:
        if card != UNKNOWN:
            self.deck[place] = card


# -- the same course, with these cards --


def _replay_round(seen: Json, hidden: _HiddenCards) -> PrinceAlbert:
    began = seen["history"][0]
    state = PrinceAlbert(
        seen["players"],
        seen["options"],
        round=seen["round"] - 1,
        opener=began["opener"],
        points=[*began["scores"]],
        chips=[*began["chips"]],
        history=[*seen["previous"]],
    )
    state.open_votes()  # there are none left, so this opens the round
    state.resolve(hidden.deck)
    for event in seen["history"]:
        match event:
            case {"event": "bid", "seat": seat, "cards": cards}:
                state.apply(seat, BIDS[cards])
            case {"event": "pass", "seat": seat}:
                state.apply(seat, PASS)
            case {"event": "wager", "seat": seat, "type": kind}:
                state.apply(seat, WAGER[kind])
            case {"event": "exchange", "seat": seat, "from": source}:
                card = hidden.deck[hidden.discards.popleft()]
                state.apply(seat, {"type": "exchange", "discard": card, "from": source})
            case {"event": "all_in", "seats": seats}:
                for seat in state.pending():
                    state.apply(seat, ALL_IN["all_in" if seat in seats else "stay"])
    return state


def _replay_votes(seen: Json) -> PrinceAlbert:
    """Return the position during the votes before the first round, which hide nothing but answers still sealed."""
    began, *history = seen["history"]
    state = PrinceAlbert.start(seen["players"], began["options"])
    for event in history:
        match event:
            case {"event": "opener", "seat": seat}:
                state.resolve(seat)
            case {"event": "vote", "votes": votes}:
                for seat, value in enumerate(votes):
                    state.apply(seat, VOTE[value])
            case {"event": "throw", "seats": seats, "signs": signs}:
                for seat, sign in sorted(zip(seats, signs, strict=True)):
                    state.apply(seat, THROW[sign])
            case {"event": "motion", "by": "draw", "value": value}:
                among = (state.chance() or {})["among"]
                state.resolve(next(seat for seat in among if state.votes[seat] == value))
    return state
