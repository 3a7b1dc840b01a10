"""The files of a game of some forty lines: its rules, page, presentation, heuristics and a table that draws nothing."""

GAME = '''"""Highest Card: deal of two cards each, then all show one together; the highest one wins."""

from dataclasses import dataclass, field
from typing import Any

from referee.errors import IllegalAction
from referee.games.cards import DECK, ORDER, in_order
from referee.games.options import Option
from referee.games.state import Json, Seat, Secret, State, rank_seats


@dataclass
class HighestCard(State):
    """A match of Highest Card for two to four seats."""

    name = "highest-card"
    opening = "deal"
    rules_version = 1
    secrets = (Secret("deal", "deck"), Secret("deal", "hands", by_seat=True))
    seats = range(2, 5)
    standard_seats = 3
    option_specs = (Option("low_wins", "bool", False, "whether the lowest card wins instead"),)

    hands: list[list[str]] = field(default_factory=list)
    stock: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def set_up(self) -> None:
        self.hands = [[] for _ in range(self.players)]
        self.phase = "show"
        self.emit("match_start", game=self.name, players=self.players, options=self.options)
        self.ask_deck(DECK)

    def settle(self, asked: Json, outcome: Any) -> None:
        dealt = 2 * self.players
        self.hands = [in_order(outcome[seat : dealt : self.players]) for seat in range(self.players)]
        self.stock = outcome[dealt:]
        self.emit("deal", deck=outcome, hands=[hand[:] for hand in self.hands])
        self.ask("show", range(self.players), together=True)

    def legal(self, seat: Seat) -> list[Json]:
        return [{"type": "show", "card": card} for card in self.hands[seat]]

    def validate_action(self, seat: Seat, action: Any) -> Json:
        if action not in self.legal(seat):
            raise IllegalAction(f"seat {seat} may not play {str(action)[:200]}")
        return dict(action)

    def act_together(self, actions: dict[Seat, Json]) -> None:
        self.shown = [actions[seat]["card"] for seat in range(self.players)]  # HC-02
        self.phase = "over"
        self.emit("show", cards=self.shown, scores=self.scores())
        self.emit("match_end", placements=self.placements(), scores=self.scores())

    def scores(self) -> list[int]:
        sign = -1 if self.options["low_wins"] else 1
        return [sign * ORDER[card] for card in self.shown] or [0] * self.players  # HC-01

    def returns(self) -> list[int]:
        return self.scores()

    def placements(self) -> list[int]:
        return rank_seats(self.scores())

    def observation(self, seat: Seat) -> Json:
        return {"phase": self.phase, "seat": seat, "hand": self.hands[seat][:], "shown": self.shown[:]}

    @classmethod
    def legal_bound(cls, players: int) -> int:
        return 2

    @classmethod
    def decision_bound(cls, players: int, options: Json) -> int:
        return players
'''

PAGE = """# Highest Card

Show the better one of two cards.

| member | what it is |
| --- | --- |
| `phase`, `seat` | `"show"`, your seat |
| `hand` | your two cards |
| `shown` | what everybody has shown, at the end |

<!-- question: show {"seats": 2, "seed": 1} -->
```json
{"observation": {"phase": "show", "seat": 0}, "legal_actions": [{"type": "show", "card": "2c"}, "…"]}
```

<!-- action: show -->
```json
{"type": "show", "card": "As"}
```

| option | values | default | meaning |
| --- | --- | --- | --- |
| `low_wins` | true or false | false | whether the lowest card wins instead |

## Rulings

| id | ruling |
| --- | --- |
| HC-01 | Suits decide between cards of a rank. |
| HC-02 | All show together. |
"""

PRESENTATION = """{
  "score": "point",
  "lists": { "shown": "{index|name} {item|card}" },
  "events": {
    "deal": { "text": "Everybody is dealt two cards.", "detail": "{hands|each:hand:\\n}" },
    "show": "Shown: {cards|each:shown:, }."
  }
}
"""
HOUSE_PLAYER = '''"""Highest Card by rules of thumb: show the better card."""

from referee.games.cards import ORDER
from referee.house.strategies.heuristics import Json, Worth, WorthByPhase


def show(seen: Json) -> Worth:
    return lambda action: ORDER[action["card"]]


WORTH: WorthByPhase = {"show": show}
'''
TABLE = 'export const highestCard = "the table of Highest Card";\n'
