"""Serve static files, compressed once. Browsers cache them: the path contains a version that depends on the content."""

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Final

from flask import Flask, Response, request, url_for

from api.errors import not_found
from api.requests import DOCS_POLICY
from referee import plugs, viewer
from referee.viewer.presentation import PACKAGED_TABLES

FOLDER: Final = Path(__file__).parent.parent / "static"
TYPES: Final = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
    ".json": "application/json",
}
UNASKED: Final = {  # what browsers request at these paths
    "/favicon.ico": "site/favicon.ico",
    "/apple-touch-icon.png": "site/icon-180.png",
    "/manifest.webmanifest": "site/manifest.webmanifest",
}
CACHE_A_DAY: Final = "public, max-age=86400"
CACHE_FOREVER: Final = "public, max-age=31536000, immutable"
ROBOTS: Final = "".join(  # pages that are only for people who sign in, and files that are large
    f"{line}\n" for line in ("User-agent: *", "Disallow: /account", "Disallow: /organise", "Disallow: /api/")
)
MIN_COMPRESSED_BYTES: Final = 600  # compressing shorter files gains nothing


def install(app: Flask) -> None:
    """Serve the static files at paths with and without their version."""

    @app.get("/static/<path:name>", endpoint="static")
    def file(name: str) -> Response:
        version, _, rest = name.partition("/")
        if version == f"v-{_version()}":
            return send_static_file(rest, CACHE_FOREVER)
        return send_static_file(rest if version.startswith("v-") else name, "no-cache")

    def send_unasked(name: str) -> Response:
        return send_static_file(name, CACHE_A_DAY)

    for path, name in UNASKED.items():
        app.add_url_rule(path, view_func=send_unasked, defaults={"name": name})

    @app.get("/robots.txt")
    def robots() -> Response:
        return Response(ROBOTS, mimetype="text/plain")

    app.jinja_env.globals["url_of_static"] = url_of_static


def url_of_static(name: str) -> str:
    """Return the versioned path of a file. Modules import others by relative paths, so imports are versioned, too.

    Raise ``KeyError`` for an unknown file.
    """
    if name not in _files():
        raise KeyError(f"no static file {name!r}")
    return url_for("static", name=f"v-{_version()}/{name}")


def compress(content: bytes, level: int = 6) -> bytes:
    return gzip.compress(content, level, mtime=0)


def send_static_file(name: str, caching: str) -> Response:
    """Return a response with a static file and this Cache-Control. Raise a 404 for an unknown file."""
    content = _files().get(name)
    if content is None:
        raise not_found()
    response = Response(content, content_type=f"{TYPES[Path(name).suffix]}; charset=utf-8")
    if request.accept_encodings["gzip"] > 0 and (packed := _pack(name)) is not None:
        response.set_data(packed)
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["Cache-Control"] = caching
    response.headers["Content-Security-Policy"] = DOCS_POLICY
    return response


@cache
def _files() -> dict[str, bytes]:
    """Return the contents of all files that are served, keyed by name. Read the files once per process."""
    of_extras = [extra.folder / "static" for extra in plugs.extras()]  # each has a subfolder with its name
    found = {
        f"{below}{path.relative_to(folder)}": path
        for below, folder in (("", FOLDER), ("viewer/", viewer.FOLDER), *(("", folder) for folder in of_extras))
        for path in sorted(folder.rglob("*"))
        if path.suffix in TYPES
    }
    found |= {f"viewer/{name}": path for name, path in PACKAGED_TABLES.items() if path.exists()}
    stored = {name: path.read_bytes() for name, path in found.items()}
    modules = {f"viewer/{name}": module.encode() for name, module in viewer.site_modules().items()}
    pictures = json.dumps(viewer.card_pictures()).encode()  # of all cards, for one request
    return stored | modules | {"viewer/cards.json": pictures}


@cache
def _pack(name: str) -> bytes | None:
    """Return the content of a file gzipped, or None if that is hardly smaller."""
    content = _files()[name]
    if len(content) < MIN_COMPRESSED_BYTES or name.endswith((".png", ".ico")):
        return None
    return compress(content, 9)


@cache
def _version() -> str:
    digest = hashlib.sha256()
    for name, content in _files().items():
        digest.update(hashlib.sha256(name.encode()).digest() + hashlib.sha256(content).digest())
    return digest.hexdigest()[:12]
