"""Write the events of a match as text, for ``render`` of the environments."""

from referee.games import game
from referee.games.state import Event, Seat
from referee.match.log import visible_events
from referee_extras.gym.table import LearningTable


def format_events(table: LearningTable, viewer: Seat | None, skip: int) -> tuple[str, int]:
    """Return the events that ``viewer`` (a seat, or None for the public) may see, without the first ``skip``.

    Return also the number of all events, which the next call can skip.
    """
    seen = visible_events(game(table.game), table.events, viewer, table.state.options)
    return "\n".join(map(_format_event, seen[skip:])), len(seen)


def _format_event(event: Event) -> str:
    rest = ", ".join(f"{name} {value}" for name, value in event.items() if name != "event")
    return f"{event['event']}: {rest}" if rest else str(event["event"])
