"""Replace the default messages of marshmallow by sentences that tell people what to give.

``api.fields`` applies them before any schema is defined.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from marshmallow import fields, validate

NOT_AN_OBJECT: Final = 'Must be a JSON object, such as {"name": "value"}.'
SCHEMA_MESSAGES: Final = {
    "type": NOT_AN_OBJECT,
    "unknown": "There is no such field.",  # ``explain_unknown`` adds the accepted ones
}
_AS_PATTERN: Final = NOT_AN_OBJECT.replace("{", "{{").replace("}", "}}")

MESSAGES: Final[dict[type[fields.Field[Any]], dict[str, str]]] = {
    fields.Field: {
        "required": "This field is required.",
        "null": "Must not be null. Give a value, or leave the field out.",
        "validator_failed": "This value is not accepted.",
    },
    fields.String: {"invalid": "Must be text, in quotes in JSON.", "invalid_utf8": "Must be text in UTF-8."},
    fields.Number: {"invalid": "Must be a number, such as 0.5.", "too_large": "This number is too large."},
    fields.Integer: {"invalid": "Must be a whole number, such as 3."},
    fields.Float: {"special": "Must be a number; infinity and nan are not accepted."},
    fields.Boolean: {"invalid": "Must be true or false."},
    fields.List: {"invalid": 'Must be a list, such as ["first", "second"].'},
    fields.Mapping: {"invalid": _AS_PATTERN},
    fields.Nested: {"type": _AS_PATTERN},
}


class Length(validate.Length):
    """Check the length of a text or a list; the message counts characters or items."""

    def _format_error(self, value: Any, message: str) -> str:
        unit = "character" if isinstance(value, str) else "item"
        if self.equal is not None:
            wanted, most = f"{self.equal:,}", self.equal
        elif self.max is None:
            wanted, most = f"at least {self.min:,}", self.min or 0
        else:
            wanted = f"{self.min:,} to {self.max:,}" if self.min is not None else f"at most {self.max:,}"
            most = self.max
        return f"Must have {wanted} {unit}{'' if most == 1 else 's'}, not {len(value):,}."


def list_paths(accepted: Mapping[str, fields.Field[Any]]) -> Iterator[str]:
    """Yield the names of the fields that a request may have. Those in nested objects are paths: ``time.budget_ms``."""
    for attribute, field in accepted.items():
        name = field.data_key or attribute
        if isinstance(field, fields.Nested) and not field.many:
            yield from (f"{name}.{inner}" for inner in list_paths(field.schema.load_fields))
        else:
            yield name


def explain_unknown(name: str, paths: Sequence[str]) -> str:
    """Return the message about a field that is not among ``paths``: where it belongs, and what is accepted."""
    place = next((path for path in paths if "." in path and (path == name or path.endswith(f".{name}"))), None)
    parts = place.split(".") if place else []
    nested = "".join(f'{{"{part}": ' for part in parts) + "…" + "}" * len(parts)
    message = f"There is no such field here; write it as {nested}." if place else SCHEMA_MESSAGES["unknown"]
    return f"{message} Accepted: {', '.join(paths) or 'no field'}."


def replace_defaults() -> None:
    """Replace the messages of the library's fields and of its range."""
    for field, messages in MESSAGES.items():
        field.default_error_messages = {**vars(field).get("default_error_messages", {}), **messages}
    validate.Range.message_min = "Must be at least {{min}}, not {{input}}."
    validate.Range.message_max = "Must be at most {{max}}, not {{input}}."
    validate.Range.message_all = "Must be from {{min}} to {{max}}, not {{input}}."
