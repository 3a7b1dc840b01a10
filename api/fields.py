"""What all schemas share: unknown fields refused, whole numbers and booleans taken only as such, plain text.

The schemas of a resource stand in the file of its name.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from flask import current_app
from marshmallow import RAISE, Schema, ValidationError, fields, missing, validate

from referee.botclient import address_guard
from referee.db.names import LONGEST, SHORTEST, checked_name
from referee.errors import BadOption, UrlRefused

MAX_INT = 2**53
LONGEST_TIME = 40


def text_of(content: bytes) -> str | None:
    """Return ``content`` as text, None where it is not UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


class Strict(Schema):
    """A body, in or out. Unknown fields are refused."""

    class Meta:
        unknown = RAISE


class OptionalBody(Strict):
    """A body of wishes that may be left out altogether."""


class Query(Schema):
    """Parameters of a query; unknown ones are refused."""

    class Meta:
        unknown = RAISE


class StrictInt(fields.Integer):
    """A JSON whole number: no text, no fraction, no boolean."""

    def __init__(self, low: int = -MAX_INT, high: int = MAX_INT, **options: Any) -> None:
        super().__init__(strict=True, validate=validate.Range(low, high), **options)


class QueryInt(fields.Integer):
    """A whole number in a query, in plain digits."""

    def __init__(self, low: int, high: int, **options: Any) -> None:
        super().__init__(validate=validate.Range(low, high), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        if not re.fullmatch("[0-9]{1,9}", str(value), re.ASCII):
            raise self.make_error("invalid")
        return int(value)


class StrictBool(fields.Boolean):
    """JSON true or false, nothing that looks like it."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Name(fields.String):
    """A name shown to others, brought into its canonical spelling; the record has the rule."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            metadata={
                "minLength": SHORTEST,
                "maxLength": LONGEST,
                "description": "letters, digits, single blanks and the signs - _ .; a letter or digit at both ends",
                **options.pop("metadata", {}),
            },
            **options,
        )

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            return checked_name(text)
        except BadOption as error:
            raise ValidationError(error.reason) from None


class PlainText(fields.String):
    """Plain text on one line, shown to others as it is."""

    def __init__(self, longest: int, **options: Any) -> None:
        super().__init__(validate=[validate.Length(1, longest), self._check], **options)

    @staticmethod
    def _check(text: str) -> None:
        if not text.isprintable() or not text.strip():
            raise ValidationError("plain text on one line")


class Address(fields.String):
    """A URL, rebuilt from its parts by the guard, which judges its form and a literal address. Nothing is looked up."""

    def __init__(self, **options: Any) -> None:
        metadata = {"pattern": "^https?://", "format": "uri", "example": "https://bots.example.org/mine"}
        metadata |= options.pop("metadata", {})
        super().__init__(validate=validate.Length(1, 2048), metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            return address_guard.parse_url(text, address_guard.Policy.from_settings(current_app.config["SETTINGS"])).url
        except UrlRefused as error:
            raise ValidationError(f"{error.code}: {error.reason}") from None


class Id(fields.String):
    """An id of one kind, such as ``bot_…``."""

    def __init__(self, prefix: str, **options: Any) -> None:
        self.pattern = f"^{prefix}_[0-9a-z]{{26}}$"
        super().__init__(
            validate=validate.Regexp(re.compile(self.pattern.replace("$", r"\Z")), error=f"an id {prefix}_…"),
            metadata={"pattern": self.pattern, **options.pop("metadata", {})},
            **options,
        )


class UtcDateTime(fields.Field[datetime]):
    """A time going out: RFC 3339 in UTC with milliseconds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            dump_only=True, metadata={"type": "string", "format": "date-time", **options.pop("metadata", {})}, **options
        )

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        if value is None:
            return None
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return str(moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"))


class NextMinute(UtcDateTime):
    """A time going out, as the next full minute: an estimate that moved at every look would keep all from a 304."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        if value is not None:
            value = value.replace(second=0, microsecond=0) + timedelta(minutes=1)
        return super()._serialize(value, attr, obj, **kwargs)


class Rounded(fields.Float):
    """A number going out with so many decimals."""

    def __init__(self, digits: int, **options: Any) -> None:
        self._digits = digits
        super().__init__(**options)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> float | None:
        return None if value is None else round(value, self._digits)


class Utf8(fields.String):
    """Bytes going out as text; null where they are not UTF-8."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else text_of(value)


class Derived:
    """A field going out that reads the attribute ``of`` of the object, which other fields may read as well."""

    def __init__(self, of: str, **options: Any) -> None:
        self._of = of
        super().__init__(**options)

    def get_value(self, obj: Any, attr: str, accessor: Any = None, default: Any = missing) -> Any:
        return super().get_value(obj, self._of, accessor, default)  # type: ignore[misc]  # of the field it is mixed into


class Exact(Derived, fields.String):
    """A fraction going out as text."""


class Part(fields.Nested):
    """Some attributes of an object, shown as an object of their own inside it."""

    def get_value(self, obj: Any, *_: Any, **__: Any) -> Any:
        return obj


class UtcDateTimeInput(fields.Field[datetime]):
    """A time coming in: RFC 3339 with its distance from UTC."""

    def __init__(self, **options: Any) -> None:
        metadata = {"type": "string", "format": "date-time", "example": "2027-01-31T18:00:00Z"}
        super().__init__(load_only=True, metadata=metadata | options.pop("metadata", {}), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> datetime:
        try:
            moment = datetime.fromisoformat(value if len(value) <= LONGEST_TIME else "")
            if moment.tzinfo is None:
                raise ValueError(value)
            return moment.astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            raise ValidationError("a time such as 2027-01-31T18:00:00Z, with its distance from UTC") from None
