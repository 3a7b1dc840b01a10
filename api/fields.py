"""Define base schemas, which refuse unknown fields, and the fields of the API, which describe and validate values."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import marshmallow
from flask import current_app
from marshmallow import RAISE, Schema, ValidationError, missing, validate, validates_schema

from api.messages import SCHEMA_MESSAGES, Length, explain_unknown, list_paths, replace_defaults
from referee.botclient import address_guard
from referee.db.names import MAX_LENGTH, MAX_TITLE_LENGTH, MIN_LENGTH, SIGNS, TITLE_SIGNS, validate_name, validate_title
from referee.errors import BadOption, UrlRefused
from referee.ratings.elo import MICRO
from referee.timestamps import format_time

replace_defaults()

MAX_INT = 2**53
LONGEST_TIME = 40
ISO_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"


def decode_utf8(content: bytes) -> str | None:
    """Return ``content`` as text, or None if it is not UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def read_time(text: Any) -> datetime:
    """Return a time in RFC 3339 with an offset, in UTC. Raise ``ValueError`` for anything else."""
    try:
        moment = datetime.fromisoformat(text if len(text) <= LONGEST_TIME else "")
        if moment.tzinfo is None:
            raise ValueError(text)
        return moment.astimezone(UTC)
    except (TypeError, OverflowError) as error:
        raise ValueError(text) from error


class Strict(Schema):
    """Describe a request or response body. Refuse unknown fields."""

    error_messages = SCHEMA_MESSAGES

    class Meta:
        unknown = RAISE

    def handle_error(self, error: ValidationError, data: Any, **_: Any) -> None:
        """Name the accepted fields in the message about an unknown one. Nested bodies have done so for their own."""
        for name, messages in error.messages_dict.items():
            if messages == [SCHEMA_MESSAGES["unknown"]]:
                messages[:] = [explain_unknown(name, list(list_paths(self.load_fields)))]


class View(Strict):
    """Describe a response body. It always has all of its fields, except those named in ``optional``."""

    optional: ClassVar[Sequence[str]] = ()

    def on_bind_field(self, field_name: str, field_obj: marshmallow.fields.Field[Any]) -> None:
        field_obj.required = field_name not in self.optional


class OptionalBody(Strict):
    """Describe a request body that may be missing, since all its fields are optional."""


class Changes(Strict):
    """Describe the body of an edit. It names at least one field."""

    @validates_schema
    def check_not_empty(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("Give at least one field to change.")


class Query(Schema):
    """Describe query parameters. Refuse unknown ones."""

    error_messages = SCHEMA_MESSAGES

    class Meta:
        unknown = RAISE


class Described:
    """Take the description of a field, which the OpenAPI document shows, as its first argument."""

    documented: Mapping[str, Any] = {}  # what the document says of all fields of a class

    def __init__(self, about: str = "", *, metadata: Mapping[str, Any] | None = None, **options: Any) -> None:
        described = {**self.documented, **(metadata or {}), **({"description": about} if about else {})}
        super().__init__(metadata=described, **options)  # type: ignore[call-arg]  # of the field it is mixed into


class String(Described, marshmallow.fields.String):
    """Accept and serialise text."""


class Integer(Described, marshmallow.fields.Integer):
    """Serialise a whole number."""


class Float(Described, marshmallow.fields.Float):
    """Serialise a number."""


class Boolean(Described, marshmallow.fields.Boolean):
    """Serialise a truth value."""


class Dict(Described, marshmallow.fields.Dict):
    """Accept and serialise a JSON object."""


class Raw(Described, marshmallow.fields.Raw):
    """Serialise any JSON value."""


class List(Described, marshmallow.fields.List[Any]):
    """Accept and serialise a list."""

    def __init__(self, item: marshmallow.fields.Field[Any], about: str = "", **options: Any) -> None:
        super().__init__(about, cls_or_instance=item, **options)


class Nested(Described, marshmallow.fields.Nested):
    """Accept and serialise a JSON object with a schema of its own."""

    def __init__(self, schema: Any, about: str = "", **options: Any) -> None:
        super().__init__(about, nested=schema, **options)


class OneOf(String):
    """Accept and serialise one of some texts or members of an enum, which the OpenAPI document lists."""

    def __init__(self, members: Iterable[str], about: str = "", **options: Any) -> None:
        super().__init__(about, validate=validate.OneOf([str(member) for member in members]), **options)


class StrictInt(Integer):
    """Accept a JSON integer, but no string, fraction or boolean."""

    def __init__(self, low: int = -MAX_INT, high: int = MAX_INT, about: str = "", **options: Any) -> None:
        super().__init__(about, strict=True, validate=validate.Range(low, high), **options)


class QueryInt(Integer):
    """Accept a non-negative integer in a query, in ASCII digits."""

    def __init__(self, low: int, high: int, about: str = "", **options: Any) -> None:
        super().__init__(about, validate=validate.Range(low, high), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        if not re.fullmatch("[0-9]{1,9}", str(value), re.ASCII):
            raise self.make_error("invalid")
        return int(value)


class QueryBool(Boolean):
    """Accept ``true`` or ``false`` in a query."""

    def __init__(self, about: str = "", **options: Any) -> None:
        super().__init__(about, truthy={"true"}, falsy={"false"}, **options)


class StrictBool(Boolean):
    """Accept JSON true or false, but no string or number."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class CheckedText(String):
    """Accept null, or a text that ``validator`` puts into canonical form."""

    validator: Callable[[str], str]

    def __init__(self, validator: Callable[[str], str], longest: int, about: str) -> None:
        self.validator = validator
        super().__init__(about, allow_none=True, metadata={"maxLength": longest})

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            return self.validator(text)
        except BadOption as error:
            raise ValidationError(error.reason) from None


class Name(CheckedText):
    """Accept a public name, and normalise it with ``referee.db.names``."""

    validator = staticmethod(validate_name)
    documented: Mapping[str, Any] = {
        "minLength": MIN_LENGTH,
        "maxLength": MAX_LENGTH,
        "description": f"Letters, digits, single spaces and {' '.join(SIGNS)} with a letter or a digit at both ends.",
    }

    def __init__(self, about: str = "", **options: Any) -> None:
        String.__init__(self, about, **options)


class Title(Name):
    """Accept the name of a tournament, which need not be unique, and normalise it with ``referee.db.names``."""

    validator = staticmethod(validate_title)
    documented: Mapping[str, Any] = {
        "minLength": MIN_LENGTH,
        "maxLength": MAX_TITLE_LENGTH,
        "description": f"Letters, digits, single spaces and {' '.join(TITLE_SIGNS)}; a letter, a digit or a bracket at "
        "both ends, or one of . ! ? + at the end.",
    }


class PlainText(String):
    """Accept plain text on one line, which is shown to others unchanged."""

    def __init__(self, longest: int, about: str = "", **options: Any) -> None:
        super().__init__(about, validate=[Length(1, longest), self._check], **options)

    @staticmethod
    def _check(text: str) -> None:
        if not text.isprintable() or not text.strip():
            raise ValidationError("Must be printable text on one line, not only spaces.")


class Address(String):
    """Accept a URL that the address guard allows, and rebuild it from its parts. Do not resolve host names.

    Only bots (``is_bot``) may have addresses on the private network that the settings name.
    """

    documented: Mapping[str, Any] = {
        "pattern": "^https?://",
        "format": "uri",
        "example": "https://bots.example.org/mine",
    }

    def __init__(self, about: str = "", *, is_bot: bool = False, **options: Any) -> None:
        self._is_bot = is_bot
        super().__init__(about, validate=Length(1, 2048), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        policy: address_guard.Policy = current_app.config["POLICY"]
        try:
            return address_guard.parse_url(text, policy if self._is_bot else policy.without_private()).url
        except UrlRefused as error:
            raise ValidationError(f"{error.code}: {error.reason}") from None


class Id(String):
    """Accept an id of one kind, such as ``bot_…``."""

    def __init__(self, prefix: str, about: str = "", **options: Any) -> None:
        pattern = f"^{prefix}_[0-9a-z]{{26}}"
        problem = f"Must be an id such as {prefix}_… (26 characters after the underscore)."
        is_id = validate.Regexp(re.compile(rf"{pattern}\Z"), error=problem)
        self.documented = {"pattern": f"{pattern}$"}
        super().__init__(about, validate=is_id, **options)


class UtcDateTime(Described, marshmallow.fields.Field[datetime]):
    """Serialise a time as RFC 3339 in UTC with milliseconds."""

    documented: Mapping[str, Any] = {"type": "string", "format": "date-time"}

    def __init__(self, about: str = "", **options: Any) -> None:
        super().__init__(about, dump_only=True, **options)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        if value is None:
            return None
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        return format_time(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment)


class NextMinute(UtcDateTime):
    """Serialise an estimated time, rounded up to the next minute. Exact estimates would prevent 304 responses."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        if value is not None:
            value = value.replace(second=0, microsecond=0) + timedelta(minutes=1)
        return super()._serialize(value, attr, obj, **kwargs)


class Rounded(Float):
    """Serialise a number rounded to ``digits`` decimals."""

    def __init__(self, digits: int, about: str = "", **options: Any) -> None:
        self._digits = digits
        super().__init__(about, **options)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> float | None:
        return None if value is None else round(float(value), self._digits)


class Utf8(String):
    """Serialise bytes as text, or as null if they are not UTF-8."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else decode_utf8(value)


class Derived(Described):
    """Serialise the attribute that ``of`` names, so that several fields can serialise the same attribute."""

    def __init__(self, of: str, about: str = "", **options: Any) -> None:
        self._of = of
        super().__init__(about, **options)

    def get_value(self, obj: Any, attr: str, accessor: Any = None, default: Any = missing) -> Any:
        return super().get_value(obj, self._of, accessor, default)  # type: ignore[misc]  # of the field it is mixed into


class Exact(Derived, String):
    """Serialise a fraction as text."""


class Part(Nested):
    """Serialise some attributes of an object as a nested object."""

    def get_value(self, obj: Any, *_: Any, **__: Any) -> Any:
        return obj


class UtcDateTimeInput(Described, marshmallow.fields.Field[datetime]):
    """Accept a time in RFC 3339 with an offset from UTC."""

    documented: Mapping[str, Any] = {"type": "string", "format": "date-time", "example": "2027-01-31T18:00:00Z"}
    problem = "Must be a time with an offset from UTC, such as 2027-01-31T18:00:00Z."

    def __init__(self, about: str = "", **options: Any) -> None:
        super().__init__(about, load_only=True, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> datetime:
        try:
            return self._read(value)
        except ValueError:
            raise ValidationError(self.problem) from None

    _read = staticmethod(read_time)


class QueryTime(UtcDateTimeInput):
    """Accept a date, which means its beginning in UTC, or a time in RFC 3339 with an offset from UTC in a query."""

    documented: Mapping[str, Any] = {"type": "string", "example": "2027-01-31"}
    problem = "Must be a date such as 2027-01-31, or a time with an offset from UTC such as 2027-01-31T18:00:00Z."

    @staticmethod
    def _read(value: Any) -> datetime:
        return read_time(f"{value}T00:00:00Z" if re.fullmatch(ISO_DATE, value) else value)


def points(micro: int) -> float:
    """Return a rating in points, to one decimal."""
    return round(micro / MICRO, 1)


class Points(Derived, Float):
    """Serialise a rating, which is stored in millionths of a point, as points."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> float | None:
        return None if value is None else points(value)


class Micro(Derived, Integer):
    """Serialise a rating exactly, in millionths of a point."""
