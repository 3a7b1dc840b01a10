"""How a view is put together: who may ask, what it takes and gives, and in which transaction it runs.

Decorators, outermost first: ``route``, who (``anyone``, ``owner``, …), ``wakes_runner``, ``body`` or ``query``,
``limited``, then ``reads``, ``writes`` or ``idempotent``, ``response``. So a body is read and judged, and rate limits
are asked, before a transaction begins, and a runner is woken after it: nobody waits for the network while a transaction
is open.
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


def record() -> Session:
    """The session of the transaction this view runs in."""
    return cast(Session, g.session)


def master_key() -> bytes:
    """Return the key from which seeds and secrets are derived."""
    return cast(bytes, current_app.config["SETTINGS"].master_key)


class Parser(FlaskParser):
    """Reads arguments with our own JSON loader and reports what is wrong with them as a problem."""

    DEFAULT_UNKNOWN_BY_LOCATION = {**FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION, "json": RAISE, "query": RAISE}  # noqa: RUF012  # as the parent has it

    def load_json(self, req: Request, schema: Schema) -> Any:
        if isinstance(schema, OptionalBody) and not read_body(req):
            return {}
        return super().load_json(req, schema)

    def _raw_load_json(self, req: Request) -> Any:
        return read_json(req)

    def handle_error(self, error: marshmallow.ValidationError, req: Request, schema: Schema, **_: Any) -> NoReturn:
        (messages,) = cast(dict[str, Any], error.messages).values()
        raise invalid(_flat(messages, ""))


def _flat(messages: Any, path: str) -> list[tuple[str, str]]:
    """Pairs of a dotted field and a message from marshmallow's nested report."""
    match messages:
        case dict():
            return [pair for name, inner in messages.items() for pair in _flat(inner, _join_path(path, name))]
        case list():
            return [pair for inner in messages for pair in _flat(inner, path)]
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
    """A blueprint whose views say the same things in the same words."""

    ARGUMENTS_PARSER = Parser()

    def __init__(self, name: str, prefix: str, description: str) -> None:
        super().__init__(name, name, url_prefix=prefix, description=description)

    def route(self, method: str, rule: str = "") -> Callable[[View], View]:
        """The route: ``route("POST", "/<id>/pause")``. The name of the view is that of the operation."""
        add = super().route(rule, methods=[method])

        def decorate(view: View) -> View:
            named = self.doc(operationId=f"{self.name}.{view.__name__}")(view)
            return cast(View, add(named))

        return decorate

    # -- who --

    def anyone(self, view: View) -> View:
        """No token needed; a bad one is refused all the same."""
        return self._who(view, auth.anyone, [{}, {"bearer": []}])

    def owner(self, view: View) -> View:
        """Any account."""
        return self._who(view, auth.account, [{"bearer": []}])

    def organiser(self, view: View) -> View:
        """An account that may hold events."""
        return self._who(view, auth.organiser, [{"bearer": []}])

    def admin(self, view: View) -> View:
        """The operator."""
        return self._who(view, auth.admin, [{"bearer": []}])

    def _who(self, view: View, check: Callable[[], object], security: list[dict[str, list[str]]]) -> View:
        @wraps(view)
        def checked_view(*args: Any, **kwargs: Any) -> Any:
            check()
            queries.check(view)  # not before: who may not ask at all is told so first
            return view(*args, **kwargs)

        return cast(View, self.doc(security=security)(queries.checked_by_itself(checked_view)))

    # -- what goes in and out --

    def body(self, schema: type[Schema]) -> Callable[[View], View]:
        """A JSON body; one of wishes may be left out."""
        needed = not issubclass(schema, OptionalBody)
        return cast(Callable[[View], View], self.arguments(schema, location="json", required=needed))

    def query(self, schema: type[Schema]) -> Callable[[View], View]:
        """Parameters in the query."""
        parse = self.arguments(schema, location="query")
        names = [field.data_key or name for name, field in schema().load_fields.items()]

        def decorate(view: View) -> View:
            return queries.takes(*names)(cast(View, parse(view)))

        return decorate

    def response(
        self, schema: type[Schema] | None, status: int = 200, *, secret: bool = False
    ) -> Callable[[View], View]:
        """The answer's schema and status. A 201 says where the new thing is; a secret is never cached."""
        respond = super().response(status, schema)

        def decorate(view: View) -> View:
            answer = respond(view)

            @wraps(answer)
            def dressed(*args: Any, **kwargs: Any) -> Response:
                g.holds_secret = secret
                response = cast(Response, answer(*args, **kwargs))
                made = g.get("_flask_smorest", {}).get("result_dump")
                if response.status_code == 201 and isinstance(made, dict) and "Location" not in response.headers:
                    response.headers["Location"] = f"{request.path}/{made['id']}"
                if response.status_code == 204:
                    response.set_data(b"")
                    response.headers.pop("Content-Type", None)
                return response

            return dressed

        return decorate

    def file_response(
        self, media_type: str, description: str, schema: dict[str, Any] | type[Schema] | None = None
    ) -> Callable[[View], View]:
        """A file, or a stream of pieces of this schema, that the view hands out as a response of its own."""
        binary = {} if media_type.startswith("text/") else {"format": "binary"}
        schema = schema or {"type": "string", **binary}
        return cast(
            Callable[[View], View],
            super().response(200, schema, content_type=media_type, description=description),
        )

    def documents(self, **parts: Any) -> Callable[[View], View]:
        """What the document of the operation says besides."""
        return cast(Callable[[View], View], self.doc(**parts))

    def conditional(self, view: View) -> View:
        """Documents If-Match; the view itself compares, inside its transaction."""
        return cast(View, self.doc(parameters=[etags.PARAMETER])(view))

    def limited(self, count: Callable[[], None], when: Callable[[Any], bool] | None = None) -> Callable[[View], View]:
        """Count the request by ``count``, which refuses it above the limit; with ``when``, only if the body says so."""

        def decorate(view: View) -> View:
            @wraps(view)
            def counted(*args: Any, **kwargs: Any) -> Any:
                if when is None or when(args[0]):
                    count()
                return view(*args, **kwargs)

            return _outside_transactions(counted)

        return decorate

    # -- in which transaction --

    def reads(self, view: View) -> View:
        """One snapshot of the record."""

        @wraps(view)
        def within(*args: Any, **kwargs: Any) -> Any:
            with database().read() as g.session:
                return view(*args, **kwargs)

        return within

    def writes(self, view: View) -> View:
        """One transaction, for what may be repeated without harm."""
        _refuse_network(view)

        @wraps(view)
        def within(*args: Any, **kwargs: Any) -> Any:
            with database().write() as g.session:
                return view(*args, **kwargs)

        return within

    def idempotent(self, view: View) -> View:
        """One transaction that also keeps the answer under the caller's Idempotency-Key, if one is given."""
        _refuse_network(view)

        @wraps(view)
        def within(*args: Any, **kwargs: Any) -> Any:
            key = idempotency.key_of(request)
            body = read_body(request)
            with database().write() as g.session:
                if key is None:
                    return view(*args, **kwargs)
                return idempotency.answer_once(g.session, key, body, lambda: view(*args, **kwargs))

        return cast(View, self.doc(parameters=[idempotency.PARAMETER])(within))

    def wakes_runner(self, view: View) -> View:
        """After the commit a runner is told to look at the record. It would find out by itself, only later."""

        @wraps(view)
        def announced(*args: Any, **kwargs: Any) -> Any:
            answer = view(*args, **kwargs)
            wake_runner()
            return answer

        return _outside_transactions(announced)


def _outside_transactions(view: View) -> View:
    """Declare that ``view`` uses the network, so that ``_refuse_network`` knows it."""
    view.__dict__["uses_network"] = True
    return view


def _refuse_network(view: View) -> None:
    """Raise ``TypeError`` if a transaction round ``view`` would stay open while the network is used."""
    if view.__dict__.get("uses_network", False):
        raise TypeError(f"{view.__name__}: `limited` and `wakes_runner` belong outside the transaction, above it")


def wake_runner() -> None:
    assert not is_writing(), "a runner woken before the commit does not see what it is woken for"
    connection: Redis | None = current_app.extensions["referee.redis"]
    if connection is not None:
        queues.wake(connection)
