"""Decorators for the views of the API: role, request body or query, rate limit, transaction, response.

Order, outermost first: ``route``, the role (``anyone``, ``owner``, …), ``wakes_runner``, ``body`` or ``query``,
``limited``, then ``reads``, ``writes`` or ``idempotent``, ``response``. The body is thus validated and the rate limit
checked before the transaction begins, and a runner is woken after it: no transaction stays open while the network is
used.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn, ParamSpec, TypeVar, cast

import marshmallow
from flask import Request, Response, current_app, g, request
from flask_smorest import Blueprint
from marshmallow import RAISE, Schema
from redis import Redis
from sqlalchemy.orm import Session
from webargs.flaskparser import FlaskParser

from api import auth, etags, idempotency, queries
from api.body import read_body, read_json
from api.errors import invalid
from api.fields import OptionalBody
from referee.db.engine import Database, is_writing
from workers import queues

P = ParamSpec("P")
R = TypeVar("R")
View = Callable[..., Any]


def database() -> Database:
    return cast(Database, current_app.extensions["referee.database"])


def current_session() -> Session:
    """Return the session of the transaction in which this view runs."""
    return cast(Session, g.session)


def master_key() -> bytes:
    """Return the master key, from which seeds and secrets are derived."""
    return cast(bytes, current_app.config["SETTINGS"].master_key)


class Parser(FlaskParser):
    """A parser that reads bodies with ``api.body`` and raises a problem that names the invalid fields."""

    DEFAULT_UNKNOWN_BY_LOCATION = {**FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION, "json": RAISE, "query": RAISE}  # noqa: RUF012  # declared so by the base class

    def load_json(self, req: Request, schema: Schema) -> Any:
        if isinstance(schema, OptionalBody) and not read_body(req):
            return {}
        return super().load_json(req, schema)

    def _raw_load_json(self, req: Request) -> Any:
        return read_json(req)

    def handle_error(self, error: marshmallow.ValidationError, req: Request, schema: Schema, **_: Any) -> NoReturn:
        (messages,) = cast(dict[str, Any], error.messages).values()
        raise invalid(_flatten(messages, ""))


def _flatten(messages: Any, path: str) -> list[tuple[str, str]]:
    """Return pairs of a dotted field name and a message from marshmallow's nested messages."""
    match messages:
        case dict():
            return [pair for name, inner in messages.items() for pair in _flatten(inner, _join_path(path, name))]
        case list():
            return [pair for inner in messages for pair in _flatten(inner, path)]
    return [(path or "body", str(messages))]


def _join_path(path: str, name: object) -> str:
    match name:
        case "_schema":
            return path
        case int():
            return f"{path}[{name}]"
    safe = str(name).encode("ascii", "backslashreplace").decode()[:80]
    return f"{path}.{safe}" if path else safe


class Resource(Blueprint):  # type: ignore[misc]  # flask_smorest ships no types
    """A blueprint with the decorators that all views of the API use."""

    ARGUMENTS_PARSER = Parser()

    def __init__(self, name: str, prefix: str, description: str) -> None:
        super().__init__(name, name, url_prefix=prefix, description=description)

    def route(self, method: str, rule: str = "") -> Callable[[View], View]:
        """Register the view, as in ``route("POST", "/<id>/pause")``. Its name becomes part of the operation id."""
        add = super().route(rule, methods=[method])

        def decorate(view: View) -> View:
            documented = self.doc(operationId=f"{self.name}.{view.__name__}")(view)
            return cast(View, add(documented))

        return decorate

    # -- role --

    def anyone(self, view: View) -> View:
        """Require no token; refuse an invalid one nevertheless."""
        return self._require(view, auth.anyone, [{}, {"bearer": []}])

    def owner(self, view: View) -> View:
        """Require an account."""
        return self._require(view, auth.account, [{"bearer": []}])

    def organiser(self, view: View) -> View:
        """Require an account that may organise tournaments."""
        return self._require(view, auth.organiser, [{"bearer": []}])

    def admin(self, view: View) -> View:
        """Require the operator's account."""
        return self._require(view, auth.admin, [{"bearer": []}])

    def _require(self, view: View, check: Callable[[], object], security: list[dict[str, list[str]]]) -> View:
        @wraps(view)
        def checked_view(*args: Any, **kwargs: Any) -> Any:
            check()
            queries.check(view)  # after authentication, whose errors take precedence
            return view(*args, **kwargs)

        return cast(View, self.doc(security=security)(queries.checks_own_query(checked_view)))

    # -- request and response --

    def body(self, schema: type[Schema]) -> Callable[[View], View]:
        """Parse the JSON body and pass it as the first argument. An ``OptionalBody`` may be missing."""
        needed = not issubclass(schema, OptionalBody)
        return cast(Callable[[View], View], self.arguments(schema, location="json", required=needed))

    def query(self, schema: type[Schema]) -> Callable[[View], View]:
        """Parse the query parameters and pass them as the first argument."""
        parse = self.arguments(schema, location="query")
        names = [field.data_key or name for name, field in schema().load_fields.items()]

        def decorate(view: View) -> View:
            return queries.query_parameters(*names)(cast(View, parse(view)))

        return decorate

    def response(
        self, schema: type[Schema] | None, status: int = 200, *, secret: bool = False
    ) -> Callable[[View], View]:
        """Declare the schema and status of the response.

        A 201 gets a Location header from the ``id`` in its body. A ``secret`` response is never cached.
        """
        respond = super().response(status, schema)

        def decorate(view: View) -> View:
            answer = respond(view)

            @wraps(answer)
            def add_headers(*args: Any, **kwargs: Any) -> Response:
                g.holds_secret = secret
                response = cast(Response, answer(*args, **kwargs))
                created = g.get("_flask_smorest", {}).get("result_dump")
                if response.status_code == 201 and isinstance(created, dict) and "Location" not in response.headers:
                    response.headers["Location"] = f"{request.path}/{created['id']}"
                if response.status_code == 204:
                    response.set_data(b"")
                    response.headers.pop("Content-Type", None)
                return response

            return add_headers

        return decorate

    def file_response(
        self, media_type: str, description: str, schema: dict[str, Any] | type[Schema] | None = None
    ) -> Callable[[View], View]:
        """Declare that the view returns a ``Response`` itself: a file, or a stream whose messages have this schema."""
        binary = {} if media_type.startswith("text/") else {"format": "binary"}
        schema = schema or {"type": "string", **binary}
        return cast(
            Callable[[View], View],
            super().response(200, schema, content_type=media_type, description=description),
        )

    def documents(self, **parts: Any) -> Callable[[View], View]:
        """Add ``parts`` to the OpenAPI description of the operation."""
        return cast(Callable[[View], View], self.doc(**parts))

    def conditional(self, view: View) -> View:
        """Document If-Match. The view itself compares it, inside its transaction."""
        return cast(View, self.doc(parameters=[etags.PARAMETER])(view))

    def limited(self, count: Callable[[], None], when: Callable[[Any], bool] | None = None) -> Callable[[View], View]:
        """Call ``count``, which raises a 429 above the rate limit; with ``when``, only if that accepts the body."""

        def decorate(view: View) -> View:
            @wraps(view)
            def count_first(*args: Any, **kwargs: Any) -> Any:
                if when is None or when(args[0]):
                    count()
                return view(*args, **kwargs)

            return _outside_transactions(count_first)

        return decorate

    # -- transaction --

    def reads(self, view: View) -> View:
        """Run the view in a read transaction: one snapshot of the database."""

        @wraps(view)
        def run_in_transaction(*args: Any, **kwargs: Any) -> Any:
            with database().read() as g.session:
                return view(*args, **kwargs)

        return run_in_transaction

    def writes(self, view: View) -> View:
        """Run the view in a write transaction. For requests that may be repeated without harm."""
        _refuse_network(view)

        @wraps(view)
        def run_in_transaction(*args: Any, **kwargs: Any) -> Any:
            with database().write() as g.session:
                return view(*args, **kwargs)

        return run_in_transaction

    def idempotent(self, view: View) -> View:
        """Run the view in a write transaction that also stores the response under the caller's Idempotency-Key."""
        _refuse_network(view)

        @wraps(view)
        def run_in_transaction(*args: Any, **kwargs: Any) -> Any:
            key = idempotency.read_key(request)
            body = read_body(request)
            with database().write() as g.session:
                if key is None:
                    return view(*args, **kwargs)
                return idempotency.answer_once(g.session, key, body, lambda: view(*args, **kwargs))

        return cast(View, self.doc(parameters=[idempotency.PARAMETER])(run_in_transaction))

    def wakes_runner(self, view: View) -> View:
        """Wake a runner after the commit. Without this it would find the new work later, when it polls."""

        @wraps(view)
        def wake_afterwards(*args: Any, **kwargs: Any) -> Any:
            answer = view(*args, **kwargs)
            wake_runner()
            return answer

        return _outside_transactions(wake_afterwards)


def _outside_transactions(view: View) -> View:
    """Declare that ``view`` uses the network, so that ``_refuse_network`` knows it."""
    view.__dict__["uses_network"] = True
    return view


def _refuse_network(view: View) -> None:
    """Raise ``TypeError`` if a transaction around ``view`` would stay open while the network is used."""
    if view.__dict__.get("uses_network", False):
        raise TypeError(
            f"View {view.__name__}: put `limited` and `wakes_runner` above the decorator of the transaction."
        )


def wake_runner() -> None:
    assert not is_writing(), "a runner woken before the commit does not see the new work"
    connection: Redis | None = current_app.extensions["referee.redis"]
    if connection is not None:
        queues.wake(connection)
