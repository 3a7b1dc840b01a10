"""Refuse query parameters that a route does not have, and repeated ones unless a list is wanted.

Routes validate the values.
"""

import re
from collections.abc import Callable, Collection
from typing import Any, Final, TypeVar

from flask import Flask, current_app, request

from api.errors import FieldError, invalid
from api.requests import is_for_machines

V = TypeVar("V", bound=Callable[..., Any])

# Other sites and mail programs add these to links; pages ignore them.
TRACKING: Final = re.compile(r"utm_[a-z_]+|fbclid|gclid|msclkid|mc_[ce]id")


def query_parameters(*names: str, repeatable: Collection[str] = ()) -> Callable[[V], V]:
    """Declare the query parameters of a view, with those that may be repeated. Without this decorator, it has none."""

    def decorate(view: V) -> V:
        view.__dict__["query_parameters"] = frozenset(names)
        view.__dict__["repeatable_parameters"] = frozenset(repeatable)
        return view

    return decorate


def checks_own_query(view: V) -> V:
    """Declare that ``view`` calls ``check`` itself, after it has authenticated the caller."""
    view.__dict__["checks_query"] = True
    return view


def check(view: Callable[..., Any]) -> None:
    """Raise a 422 that names the parameters of this request that ``view`` does not have or that are repeated."""
    if request.args:
        declared = view.__dict__
        check_names(declared.get("query_parameters", ()), repeatable=declared.get("repeatable_parameters", ()))


def check_names(names: Collection[str], *, repeatable: Collection[str] = ()) -> None:
    """Raise a 422 unless each parameter has one of these names and, if it is not repeatable, is given once."""
    wrong: list[FieldError] = []
    for name, values in request.args.lists():
        if TRACKING.fullmatch(name) and not is_for_machines():
            continue
        shown = name.encode("ascii", "backslashreplace").decode()[:80]
        if name not in names:
            wrong.append((shown, "This parameter is unknown here."))
        elif len(values) > 1 and name not in repeatable:
            wrong.append((shown, "Give this parameter only once."))
    if wrong:
        raise invalid(wrong)


def install(app: Flask) -> None:
    """Check the query of every request that has a route, except for views that check it themselves."""

    @app.before_request
    def check_query() -> None:
        view = current_app.view_functions.get(request.endpoint or "")
        if view is not None and not view.__dict__.get("checks_query", False):
            check(view)
