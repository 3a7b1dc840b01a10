"""Require that callers confirm a deletion by typing a name."""

from api.errors import invalid


def require_typed_name(typed: str, name: str) -> None:
    """Raise a 422 unless ``typed`` is the name."""
    if typed.strip() != name:
        raise invalid([("name", f"To confirm the deletion, this must be the present name: {name}")])
