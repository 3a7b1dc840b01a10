"""Write the events of a match as text, for ``render`` of the environments."""

from typing import Final

from referee.games import game
from referee.games.state import Event, Seat
from referee.match.log import visible_events
from referee_extras.gym.spaces import check_choice
from referee_extras.gym.table import LearningTable

MODES: Final = ("ansi", "human")


class EventRenderer:
    """Render the events of one match, each once. Raise ``ValueError`` for a mode that is not in ``MODES`` or None."""

    def __init__(self, mode: str | None) -> None:
        if mode is not None:
            check_choice("render_mode", mode, MODES)
        self._mode = mode
        self._told = 0  # events that were rendered

    def render(self, table: LearningTable, viewer: Seat | None) -> str | None:
        """Return the events since the last call that ``viewer`` (a seat, or None for the public) may see.

        In mode "human", print them and return None.
        """
        if self._mode is None:
            return None
        seen = visible_events(game(table.game), table.events, viewer, table.state.options)
        text, self._told = "\n".join(map(_format_event, seen[self._told :])), len(seen)
        if self._mode == "ansi":
            return text
        print(text)  # noqa: T201  # the purpose of the mode
        return None


def _format_event(event: Event) -> str:
    rest = ", ".join(f"{name} {value}" for name, value in event.items() if name != "event")
    return f"{event['event']}: {rest}" if rest else str(event["event"])
