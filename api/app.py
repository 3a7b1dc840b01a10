"""Assemble the Flask application from its resources and pages."""

import hashlib
import hmac
import http
from functools import cache
from typing import Any, cast

from flask import Flask
from flask_smorest import Api
from flask_smorest.utils import prepare_response
from marshmallow import Schema
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from werkzeug.middleware.proxy_fix import ProxyFix

from api import auth, errors, fields, limits, queries, request_log, requests, site
from api.accounts import oversight_resource, own_resource, recovery_resource
from api.accounts import resource as accounts
from api.bots import ladder_resource, owner_resource
from api.bots import resource as bots
from api.chain import resource as chain
from api.downloads import export_resource
from api.downloads import resource as downloads
from api.friendlies import request_resource, rules_resource
from api.games import resource as games
from api.health import resource as health
from api.ids import IdConverter, MonthConverter, id_schema, month_schema
from api.invitations import resource as invitations
from api.ladders import month_resource
from api.ladders import resource as ladders
from api.matches import fault_resource, stream_resource, void_resource
from api.matches import resource as matches
from api.overview import resource as overview
from api.tournaments import (
    act_resource,
    admission_resource,
    bracket_resource,
    entry_resource,
    organiser_resource,
    round_resource,
    standings_resource,
)
from api.tournaments import resource as tournaments
from api.tournaments import stream_resource as tournament_stream_resource
from referee import plugs
from referee.botclient.address_guard import Policy
from referee.db.engine import Database
from referee.master_keys import key_ring
from referee.settings import Settings
from referee.version import RELEASE

REDIS_TIMEOUT_S = 1.0
RESOURCES = (  # in the order of the OpenAPI document: first what every client does; those of extras follow
    *(accounts, bots, standings_resource, matches, own_resource, recovery_resource, oversight_resource, owner_resource),
    *(ladder_resource, fault_resource, games, void_resource, rules_resource, request_resource, invitations, chain),
    *(ladders, tournaments, entry_resource, admission_resource, organiser_resource, act_resource, round_resource),
    *(bracket_resource, tournament_stream_resource, stream_resource, month_resource, overview, downloads),
    *(export_resource, health),
)


def create_app(settings: Settings) -> Flask:
    """Return the application for the database and Redis of ``settings``. The database schema must be up to date."""
    app = Flask(__name__, static_folder=None)
    proxied = ProxyFix(app.wsgi_app, x_for=settings.trusted_proxies, x_proto=0, x_host=0)
    app.wsgi_app = proxied  # type: ignore[method-assign]  # as Flask documents it
    app.url_map.merge_slashes = False
    app.url_map.converters |= {"id": IdConverter, "month": MonthConverter}
    app.json.sort_keys = False  # type: ignore[attr-defined]  # keep the order of the schema
    app.config |= {
        "API_TITLE": "Referee",
        "API_VERSION": RELEASE,
        "OPENAPI_VERSION": "3.1.0",
        "API_SPEC_OPTIONS": {
            "info": {
                "description": "Matches, tournaments and ladders for bots that play cards over HTTP.",
                "license": {"name": "MIT License", "identifier": "MIT"},
                "contact": {"name": "The Referee authors"},
            },
            "servers": [{"url": "/"}],
        },
        "CURSOR_KEYS": derived_keys(settings, "cursor"),
        "SETTINGS": settings,
        "POLICY": Policy.from_settings(settings),
    }
    app.extensions["referee.database"] = Database.from_settings(settings)
    app.extensions["referee.redis"] = _redis(settings)
    request_log.install(app, settings)
    requests.install(app, settings)
    limits.install(app, settings, auth.identify_caller)
    queries.install(app)
    errors.install(app)
    site.install(app)
    _install_resources(app)
    return app


def derived_keys(settings: Settings, purpose: str) -> list[bytes]:
    """Return the keys for ``purpose``, derived from the master keys: the accepted ones, and last the current one."""
    derived = [hmac.digest(key, b"api|" + purpose.encode(), hashlib.sha256) for key in key_ring(settings.master_key)]
    return derived[::-1]


def _redis(settings: Settings) -> Redis | None:
    """Return a Redis client for waking runners, or None without a URL. It never retries, since requests wait for it."""
    if settings.redis_url is None:
        return None
    return Redis.from_url(
        settings.redis_url,
        socket_connect_timeout=REDIS_TIMEOUT_S,
        socket_timeout=REDIS_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
    )


class ProblemSchema(Schema):
    """Describe the format of every error (RFC 9457). ``code`` is stable; ``detail`` is for people."""

    class FieldError(Schema):
        field = fields.String(required=True)
        message = fields.String(required=True)

    type = fields.String(required=True)
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    code = fields.String(f"A stable code, one of: {', '.join(errors.ALL_CODES)}.", required=True)
    detail = fields.String(required=True)
    request_id = fields.String("The id of this request, also in the header X-Request-Id.", required=True)
    errors = fields.List(fields.Nested(FieldError), "The invalid fields, each with a message.")


class ProblemApi(Api):  # type: ignore[misc]  # flask_smorest ships no types
    """Document errors as problem documents, and leave handling them to ``api.errors``."""

    ERROR_SCHEMA = ProblemSchema
    DEFAULT_ERROR_RESPONSE_NAME = None  # generated clients would parse every response that they do not know as an error

    def _register_error_handlers(self) -> None:
        pass

    def _register_responses(self) -> None:
        def register(name: str, description: str) -> None:
            response: dict[str, Any] = {"description": description, "schema": self.ERROR_SCHEMA}
            prepare_response(response, self.spec, errors.MEDIA_TYPE)
            self.spec.components.response(name, response, lazy=True)

        for status in http.HTTPStatus:
            if status >= 400:
                register(status.name, status.phrase)
        register("CLIENT_ERROR", "The request was refused, as a problem document.")
        register("SERVER_ERROR", "The service failed or is not available, as a problem document.")

    def _register_pagination_header(self) -> None:
        pass  # lists have cursors


def _install_resources(app: Flask) -> None:
    of_extras = [plugs.load(resource) for extra in plugs.extras() for resource in extra.resources]
    resources = [*dict.fromkeys(module.resource for module in RESOURCES), *of_extras]  # streams share one
    for resource in resources:
        app.register_blueprint(resource)

    @cache
    def document() -> dict[str, Any]:
        """Return the OpenAPI document, which takes longer than all else that an application needs at its start."""
        api = ProblemApi(app)
        api.register_converter(IdConverter, id_schema)
        api.register_converter(MonthConverter, month_schema)
        api.spec.components.security_scheme(
            "bearer", {"type": "http", "scheme": "bearer", "description": "A token of an account: `ref_…`."}
        )
        for resource in resources:
            resource.register_views_in_doc(api, app, api.spec, name=resource.name, parameters=None)
            api.spec.tag({"name": resource.name, "description": resource.description})
        return cast(dict[str, Any], api.spec.to_dict())

    app.extensions["referee.document"] = document
