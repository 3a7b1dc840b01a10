"""Messages about invalid fields: sentences that tell people what to give."""

from typing import Any

import pytest
from marshmallow import ValidationError

from api import fields
from api.fields import Query, QueryInt, Strict, StrictBool, StrictInt
from api.messages import Length

THEIRS = ("Not a valid", "Invalid input", "Missing data", "Field may not", "Length must", "Unknown field")
ACCEPTED = "text, number, flag, share, names, pair, options, inner.day, items"
UNUSED = ("invalid_awareness",)  # only of times


class Body(Strict):
    text = fields.String(required=True, validate=Length(1, 8))
    number = StrictInt(1, 9)
    flag = StrictBool()
    share = fields.Float()
    names = fields.List(fields.String(), validate=Length(min=2))
    pair = fields.List(fields.String(), validate=Length(equal=1))
    options = fields.Dict()
    inner = fields.Nested(lambda: Inner())
    items = fields.List(fields.Nested(lambda: Inner()))


class Inner(Strict):
    day = StrictInt(1, 31)


class Parameters(Query):
    limit = QueryInt(1, 100)


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({}, "text", "This field is required."),
        ({"text": None}, "text", "Must not be null. Give a value, or leave the field out."),
        ({"text": 3}, "text", "Must be text, in quotes in JSON."),
        ({"text": ""}, "text", "Must have 1 to 8 characters, not 0."),
        ({"text": "123456789"}, "text", "Must have 1 to 8 characters, not 9."),
        ({"number": "3"}, "number", "Must be a whole number, such as 3."),
        ({"number": 10}, "number", "Must be from 1 to 9, not 10."),
        ({"flag": "yes"}, "flag", "Must be true or false."),
        ({"share": "half"}, "share", "Must be a number, such as 0.5."),
        ({"names": "Ada"}, "names", 'Must be a list, such as ["first", "second"].'),
        ({"names": ["Ada"]}, "names", "Must have at least 2 items, not 1."),
        ({"pair": []}, "pair", "Must have 1 item, not 0."),
        ({"options": []}, "options", 'Must be a JSON object, such as {"name": "value"}.'),
        ({"inner": {"day": "tomorrow"}}, "inner.day", "Must be a whole number, such as 3."),
        ({"inner": 1}, "inner._schema", 'Must be a JSON object, such as {"name": "value"}.'),
        ({"nmae": 1}, "nmae", f"There is no such field. Accepted: {ACCEPTED}."),
        (
            {"day": 1},
            "day",
            f'There is no such field here; write it as {{"inner": {{"day": …}}}}. Accepted: {ACCEPTED}.',
        ),
        ({"inner": {"dya": 1}}, "inner.dya", "There is no such field. Accepted: day."),
        ({"items": [{"dya": 1}]}, "items.0.dya", "There is no such field. Accepted: day."),
    ],
)
def test_a_message_tells_what_to_give(given: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Body().load({"text": "Ada", **given} if field != "text" else given)

    found: Any = refused.value.messages
    for name in field.split("."):
        found = found[int(name) if name.isdecimal() else name]
    assert found == [message]


def test_a_parameter_of_a_query_is_explained_like_a_field() -> None:
    with pytest.raises(ValidationError) as refused:
        Parameters().load({"limit": "many"})

    assert refused.value.messages == {"limit": ["Must be a whole number, such as 3."]}


def test_no_field_of_the_api_keeps_a_message_of_the_library() -> None:
    import api.app  # noqa: F401  # defines all schemas

    kept = [
        (type(field).__name__, name, message)
        for schema in all_schemas(Strict) | all_schemas(Query)
        for field in schema().load_fields.values()
        for name, message in field.error_messages.items()
        if name not in UNUSED and isinstance(message, str) and message.startswith(THEIRS)
    ]
    assert kept == []


def all_schemas(base: type[Any]) -> set[type[Any]]:
    return {base, *(deeper for below in base.__subclasses__() for deeper in all_schemas(below))}
