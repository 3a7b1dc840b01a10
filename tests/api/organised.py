"""What accounts run together, in the service and in its extras: tournaments, and the objects of ``plugs.Organised``."""

from typing import Any

from referee import plugs
from tests.api.conftest import Person
from tests.api.tournaments import opened

EXTRA_KINDS = [organised.kind for organised in plugs.list_organised()]
KINDS = ["tournament", *EXTRA_KINDS]


def create(person: Person, kind: str, **terms: Any) -> str:
    """Return the path of a new object of this kind of an extra."""
    made = person.post(f"/{kind}", {"name": "Season", **terms})
    assert made.status_code == 201, made.get_data(as_text=True)
    return f"/{kind}/{made.get_json()['id']}"


def places(person: Person) -> dict[str, str]:
    """Return the paths of an open tournament and of the other objects that the account runs, by kind."""
    return {"tournament": f"/tournaments/{opened(person)}", **{kind: create(person, kind) for kind in EXTRA_KINDS}}
