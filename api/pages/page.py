"""Render pages from templates over one snapshot of the database. Their content policy forbids foreign scripts."""

from collections.abc import Callable, Collection
from typing import Any, Final, cast
from urllib.parse import quote

from flask import Blueprint, Flask, Response, current_app, g, redirect, render_template, request
from jinja2 import StrictUndefined

import referee
from api.errors import MEDIA_TYPE, Problem
from api.fields import points
from api.pages import formatting
from api.pages.emblem import emblem
from api.pages.renderings import reuse_renderings
from api.pages.static_files import MIN_COMPRESSED_BYTES, compress
from api.queries import TRACKING, query_parameters
from api.requests import is_for_machines
from api.views import run_in_transaction
from referee.games import catalogue

View = Callable[..., Any]

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
EMBED_POLICY: Final = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *").replace(
    "form-action 'self'", "form-action 'none'"
)


class Pages(Blueprint):
    """Group the pages of an area."""

    def view(
        self, rule: str, *parameters: str, repeatable: Collection[str] = (), renews: bool = False
    ) -> Callable[[View], View]:
        """Register a page with these query parameters. Its view runs in a read transaction.

        If it ``renews`` itself while it is open, its readers share renderings.
        """

        def register(view: View) -> View:
            shown = run_in_transaction(view, "read")
            declare = query_parameters(*parameters, repeatable=repeatable)
            return self.get(rule)(declare(reuse_renderings(shown) if renews else shown))

        return register


def install(app: Flask) -> None:
    """Register the template filters and globals, and the page that shows errors."""
    app.jinja_env.undefined = StrictUndefined  # a name that does not exist is an error, not an empty cell
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.policies["json.dumps_kwargs"] = {}  # keep the order of members: the viewer takes the first that fits
    app.jinja_env.filters |= formatting.FILTERS
    app.jinja_env.globals |= {
        "games": catalogue,
        "emblem": emblem,
        "release": referee.__version__,
        "labels": formatting.LABELS,
        "points": points,
        "canonical_url": _canonical_url,
        "page_url": _page_url,
    }
    app.extensions["referee.problem page"] = _problem_page


def page(template: str, status: int = 200, **context: Any) -> Response:
    """Return the rendered template. Strings in ``context`` are escaped."""
    content = render_template(template, **context).encode()
    response = Response(content, status, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Vary"] = "Accept-Encoding"
    if len(content) >= MIN_COMPRESSED_BYTES and request.accept_encodings["gzip"] > 0:
        response.set_data(compress(content))
        response.headers["Content-Encoding"] = "gzip"
    return response


def _page_url() -> str:
    """Return the public URL of this page with its query, as it was requested."""
    query = request.query_string.decode("ascii", "ignore")
    return _public_url(request.path) + (f"?{query}" if query else "")


def _canonical_url(path: str | None = None) -> str | None:
    """Return the public URL of this page, or None if its content depends on the query.

    ``path`` is that of another page with the same content.
    """
    if any(not TRACKING.fullmatch(name) for name in request.args):
        return None
    return _public_url(path or request.path)


def _public_url(path: str) -> str:
    return f"{current_app.config['SETTINGS'].public_url}{quote(path)}"


def _problem_page(problem: Problem) -> Response | None:
    """Return the problem as a page if the client is a browser, else None."""
    if is_for_machines() or request.method not in ("GET", "HEAD"):
        return None
    if request.accept_mimetypes.best_match([MEDIA_TYPE, "text/html"]) != "text/html":
        return None
    if problem.status == 404 and request.path.rstrip("/") and request.path.endswith("/"):
        return _without_slash()
    response = page("problem.html", problem.status, problem=problem, request_id=g.get("request_id", ""))
    response.headers.update(problem.headers)
    return response


def _without_slash() -> Response:
    """Redirect to the same path without trailing slashes.

    The target is a path of this service, even if the request's path begins with two slashes.
    """
    query = request.query_string.decode("ascii", "ignore")
    return cast(Response, redirect(f"/{quote(request.path.strip('/'))}" + (f"?{query}" if query else ""), 308))
