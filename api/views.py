"""Declare the endpoints of the API: role, scope, request body or query, rate limit, transaction, response."""

import threading
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, Final, Literal, NoReturn, TypeVar, cast

import marshmallow
from flask import Flask, Request, Response, current_app, g, request
from flask_smorest import Blueprint
from marshmallow import RAISE, Schema, fields
from redis import Redis
from sqlalchemy.orm import Session
from webargs.flaskparser import FlaskParser

from api import auth, etags, idempotency, queries
from api.body import read_body, read_json
from api.errors import invalid
from api.fields import OptionalBody
from api.pagination import PageQuery, envelope, list_of, read_cursor
from referee.accounts.scopes import Scope
from referee.db.engine import Database, is_writing
from workers import queues

View = Callable[..., Any]
Decorator = Callable[[View], View]
Role = Callable[[], object]  # a function of ``api.auth`` that raises unless the caller has the role
Shared = TypeVar("Shared")
Transaction = Literal["read", "write", "idempotent"]

ERRORS: Final = {"4XX": "CLIENT_ERROR", "5XX": "SERVER_ERROR"}  # the responses of every operation, by their names
OCTETS: Final = "application/octet-stream"
_MAKING = threading.RLock()


def current_application() -> Flask:
    """Return the application itself, not Flask's proxy, for threads without a request."""
    return cast(Flask, current_app._get_current_object())  # type: ignore[attr-defined]  # werkzeug's proxy


def get_shared(name: str, make: Callable[[], Shared]) -> Shared:
    """Return the object that requests of this process share under ``name``, created by ``make`` on first use."""
    with _MAKING:
        if name not in current_app.extensions:
            current_app.extensions[name] = make()
        return cast(Shared, current_app.extensions[name])


def database() -> Database:
    return cast(Database, current_app.extensions["referee.database"])


def current_session() -> Session:
    """Return the session of the transaction in which this view runs."""
    return cast(Session, g.session)


def master_key() -> bytes:
    """Return the master key, from which seeds and secrets are derived."""
    return cast(bytes, current_app.config["SETTINGS"].master_key)


class Parser(FlaskParser):
    """Read bodies with ``api.body``, and raise a problem that names the invalid fields."""

    DEFAULT_UNKNOWN_BY_LOCATION = {**FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION, "json": RAISE, "query": RAISE}  # noqa: RUF012  # declared so by the base class

    def load_json(self, req: Request, schema: Schema) -> Any:
        if isinstance(schema, OptionalBody) and not read_body(req):
            return {}
        return read_json(req)

    def handle_error(self, error: marshmallow.ValidationError, req: Request, schema: Schema, **_: Any) -> NoReturn:
        (messages,) = cast(dict[str, Any], error.messages).values()
        raise invalid(flatten_messages(messages, ""))


def flatten_messages(messages: Any, path: str) -> list[tuple[str, str]]:
    """Return pairs of a dotted field name and a message from marshmallow's nested messages."""
    match messages:
        case dict():
            return [
                pair for name, inner in messages.items() for pair in flatten_messages(inner, _join_path(path, name))
            ]
        case list():
            return [pair for inner in messages for pair in flatten_messages(inner, path)]
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
    """Register endpoints, each with its role, scope, request, response and transaction.

    Views that read need the scope ``read``, which every token has, unless they name another; those for operators alone
    need ``all``. All others name their scope.
    """

    ARGUMENTS_PARSER = Parser()

    def __init__(self, name: str, prefix: str, description: str) -> None:
        super().__init__(name, name, url_prefix=prefix, description=description)

    def get(self, rule: str, role: Role | None, response: type[Schema] | None = None, **options: Any) -> Decorator:
        """Register a view that reads. With ``items``, the schema of items, the view returns a ``Page`` of them.

        Such a view gets the query with a decoded cursor, and passes it to the function that reads the list.
        """
        items: type[Schema] | None = options.pop("items", None)
        options = {"transaction": "read", "scope": Scope.ALL if role is auth.admin else Scope.READ} | options
        if items is None:
            return self._endpoint("GET", rule, role, response, **options)
        query: type[Schema] = options.pop("query", PageQuery)
        register = self._endpoint("GET", rule, role, list_of(items), query=query, **options)
        return lambda view: register(_wrap_page(view))

    def post(self, rule: str, role: Role, response: type[Schema], *, scope: Scope, **options: Any) -> Decorator:
        """Register a view that runs once for each Idempotency-Key."""
        return self._endpoint("POST", rule, role, response, scope=scope, **{"transaction": "idempotent"} | options)

    def put(self, rule: str, role: Role, response: type[Schema], *, scope: Scope, **options: Any) -> Decorator:
        """Register a view that replaces a resource."""
        return self._endpoint("PUT", rule, role, response, scope=scope, transaction="write", **options)

    def patch(self, rule: str, role: Role, response: type[Schema], *, scope: Scope, **options: Any) -> Decorator:
        """Register a view that edits a resource. The view compares If-Match itself, inside its transaction."""
        register = self._endpoint("PATCH", rule, role, response, scope=scope, transaction="write", **options)
        return lambda view: register(self.doc(parameters=[etags.PARAMETER])(view))

    def delete(self, rule: str, role: Role, *, scope: Scope) -> Decorator:
        """Register a view that deletes a resource and returns nothing."""
        return self._endpoint("DELETE", rule, role, None, scope=scope, status=204, transaction="write")

    def _endpoint(
        self,
        method: str,
        rule: str,
        role: Role | None,
        response: type[Schema] | None,
        *,
        scope: Scope,
        transaction: Transaction | None,
        body: type[Schema] | None = None,
        query: type[Schema] | None = None,
        status: int = 200,
        secret: bool = False,
        limit: Callable[[], None] | None = None,
        limit_when: Callable[[Any], bool] | None = None,
        wakes_runner: bool = False,
        documents: Mapping[str, Any] | None = None,
    ) -> Decorator:
        """Register a view. Its name becomes part of the operation id.

        ``role`` authenticates the caller, whose token, if there is one, needs the ``scope``. ``body`` (which may be
        missing if it is an ``OptionalBody``) or ``query`` is parsed and passed to the view as its first argument.
        ``limit`` raises a 429 above the rate limit; it is called if ``limit_when`` accepts the body. A ``secret``
        response is never cached, and given only to a token that is still valid when the transaction has begun.
        ``wakes_runner`` wakes a runner after the commit; without it the runner would find the new work later, when it
        polls. ``documents`` are added to the description of the operation.

        The body is validated and the rate limit counted before the transaction begins, and a runner is woken after it
        ends, so that no transaction stays open while the network is used.
        """

        def register(view: View) -> View:
            wrapped = view
            if response is not None or status == 204:
                confirms = secret and transaction is not None and role is not auth.anyone
                wrapped = self._respond(wrapped, response, status, secret=secret, confirms=confirms)
            match transaction:
                case "read" | "write":
                    wrapped = run_in_transaction(wrapped, transaction)
                case "idempotent":
                    wrapped = self.doc(parameters=[idempotency.PARAMETER])(_run_once(wrapped))
            if limit is not None or wakes_runner:
                wrapped = _count_and_wake(wrapped, limit, limit_when, wakes_runner=wakes_runner)
            if body is not None:
                needed = not issubclass(body, OptionalBody)
                wrapped = self.arguments(body, location="json", required=needed)(wrapped)
            if query is not None:
                wrapped = _declare_query(query)(self.arguments(query, location="query")(wrapped))
            wrapped = self.doc(security=[])(wrapped) if role is None else self._require(wrapped, role, scope)
            described = self.doc(operationId=f"{self.name}.{view.__name__}", responses=ERRORS)(wrapped)
            documented = self.doc(**documents or {})(described)
            return cast(View, self.route(rule, methods=[method])(documented))

        return register

    def _require(self, view: View, role: Role, scope: Scope) -> View:
        """Authenticate the caller. Refuse an invalid token, or one without the scope, even if no token is required."""

        @wraps(view)
        def checked_view(*args: Any, **kwargs: Any) -> Any:
            auth.authorize(role, scope)
            queries.check(view)  # after authentication, whose errors take precedence
            return view(*args, **kwargs)

        security: list[dict[str, list[str]]] = [*([{}] if role is auth.anyone else []), {"bearer": [scope.value]}]
        return cast(View, self.doc(security=security)(queries.checks_own_query(checked_view)))

    def _respond(self, view: View, schema: type[Schema] | None, status: int, *, secret: bool, confirms: bool) -> View:
        """Serialise the object that the view returns. A 201 gets a Location header that ends in the body's ``id``."""
        answer = self.response(status, schema)(view)

        @wraps(answer)
        def add_headers(*args: Any, **kwargs: Any) -> Response:
            g.holds_secret = secret
            if confirms:
                auth.confirm_token(current_session())
            response = cast(Response, answer(*args, **kwargs))
            created = g.get("_flask_smorest", {}).get("result_dump")
            if response.status_code == 201 and isinstance(created, dict) and "Location" not in response.headers:
                response.headers["Location"] = f"{request.path}/{created['id']}"
            if response.status_code == 204:
                response.set_data(b"")
                response.headers.pop("Content-Type", None)
            return response

        return add_headers

    def file_response(
        self, media_type: str, description: str, schema: dict[str, Any] | type[Schema] | None = None
    ) -> Decorator:
        """Declare that the view returns a ``Response``: a file, or a text or JSON with this schema.

        A binary file is also declared as octets, the only binary type that some generators of clients know. A client
        that accepts octets, but not the type of the file, gets it as octets.
        """
        declare = partial(self.response, 200, description=description)
        if schema is not None or media_type.startswith("text/"):
            return cast(Decorator, declare(schema or {"type": "string"}, content_type=media_type))
        binary = {"type": "string", "format": "binary"}
        as_octets = declare(binary, content_type=OCTETS)
        as_file = declare(binary, content_type=media_type)
        return lambda view: as_file(as_octets(_accept_octets(view, media_type)))


def _accept_octets(view: View, media_type: str) -> View:
    @wraps(view)
    def send(*args: Any, **kwargs: Any) -> Response:
        response = cast(Response, view(*args, **kwargs))
        response.vary.add("Accept")
        if request.accept_mimetypes.best_match([media_type, OCTETS]) == OCTETS:
            response.content_type = OCTETS
        return response

    return send


def run_in_transaction(view: View, kind: Literal["read", "write"]) -> View:
    """Run the view in a transaction with the session ``current_session()``. Reads see one snapshot of the database."""

    @wraps(view)
    def run(*args: Any, **kwargs: Any) -> Any:
        with database().read() if kind == "read" else database().write() as g.session:
            return view(*args, **kwargs)

    return run


def _run_once(view: View) -> View:
    """Run the view in a write transaction, which also stores the response under the caller's Idempotency-Key."""

    @wraps(view)
    def run(*args: Any, **kwargs: Any) -> Any:
        key = idempotency.read_key(request) if idempotency.HEADER in request.headers else None
        with database().write() as g.session:
            if key is None:
                return view(*args, **kwargs)
            return idempotency.answer_once(g.session, key, read_body(request), lambda: view(*args, **kwargs))

    return run


def _declare_query(query: type[Schema]) -> Decorator:
    """Declare the fields of the schema as query parameters. Those that hold lists may be repeated."""
    known = {field.data_key or name: field for name, field in query().load_fields.items()}
    lists = [name for name, field in known.items() if isinstance(field, fields.List)]
    return queries.query_parameters(*known, repeatable=lists)


def _wrap_page(view: View) -> View:
    """Decode the cursor in the view's query, and put the ``Page`` that the view returns into an envelope."""

    @wraps(view)
    def list_page(query: dict[str, Any], **path: Any) -> dict[str, Any]:
        return envelope(view({**query, "cursor": read_cursor(query)}, **path), query)

    return list_page


def _count_and_wake(
    view: View, limit: Callable[[], None] | None, when: Callable[[Any], bool] | None, *, wakes_runner: bool
) -> View:
    @wraps(view)
    def count_and_run(*args: Any, **kwargs: Any) -> Any:
        if limit is not None and (when is None or when(args[0])):
            limit()
        answer = view(*args, **kwargs)
        if wakes_runner:
            wake_runner()
        return answer

    return count_and_run


def wake_runner() -> None:
    assert not is_writing(), "a runner woken before the commit does not see the new work"
    connection: Redis | None = current_app.extensions["referee.redis"]
    if connection is not None:
        queues.wake(connection)
