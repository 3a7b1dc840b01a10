"""Make fields with descriptions, which the OpenAPI document shows."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from marshmallow import fields

from api.fields import describe

F = TypeVar("F", bound=fields.Field[Any])


def of(kind: Callable[..., F], about: str, *parts: Any, null: bool = False, **options: Any) -> F:
    """Return a field of this kind with this description. With ``null``, its value may be null."""
    return kind(*parts, metadata=describe(about), allow_none=null or None, **options)


text = partial(of, fields.String)
integer = partial(of, fields.Integer)
number = partial(of, fields.Float)
flag = partial(of, fields.Boolean)
mapping = partial(of, fields.Dict)
listing = partial(of, fields.List)
nested = partial(of, fields.Nested)
