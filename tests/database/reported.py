"""Collect the events that the service reports to extras."""

from sqlalchemy.orm import Session

from referee.events import Event
from referee.plugs import Extra

_collected: list[Event] = []


def collect(_: Session, event: Event) -> None:
    _collected.append(event)


def begin() -> list[Event]:
    """Return the events that are reported from now on."""
    _collected.clear()
    return _collected


COLLECTOR = Extra(name="collector", events={Event: f"{__name__}:collect"})
