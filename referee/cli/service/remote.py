"""Provide the options, output and error handling that all commands for a service share."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, NamedTuple, TextIO

import click
from click.core import ParameterSource

from referee.cli.plain_text import as_sentence, replace_control_characters
from referee.cli.service import lookup, saved_tokens
from referee.cli.service.api_client import Api, ApiRefusal, ApiUnreachable, BadServiceUrl
from referee.errors import RefereeError
from referee.match.canonical import Json

BUSY = 429
DEFAULT_SERVICE = "http://127.0.0.1:8000"
MAX_EXAMPLE = 76  # characters of a line in the help of a command

ADVICE = {  # by the code of the problem document
    "unauthenticated": "run `referee login`, or pass a valid token with --token-file or $REFEREE_TOKEN",
    "missing_scope": "create a token with this scope on the page /account, or pass another token",
    "not_found": "check the id; `referee tournament list` lists the tournaments",
    "precondition_failed": "run the command again",
    "rate_limited": "wait a minute and run the command again",
    "unavailable": "run the command again in a moment",
}
FLAGS = {  # command-line options for API fields with another name
    "options": "--option",
    "time.budget_ms": "--budget-ms",
    "time.bank_ms": "--bank-ms",
    "rated": "--rated/--unrated",
    "url": "URL",  # of a bot; --url is that of the service
}


class SentToken(NamedTuple):
    """Hold a token and, in words, where it comes from."""

    text: str
    source: str
    is_saved: bool = False  # by `referee login`


@dataclass(frozen=True, slots=True)
class Remote:
    """Hold a client of a service with the token that it sends, and whether to print results as JSON."""

    api: Api
    as_json: bool
    token: SentToken | None = None

    def page(self, path: str) -> str:
        """Return the URL of a page of the service."""
        return f"{self.api.url}/{path}"

    def show(self, document: Json | list[Any], text: str) -> None:
        """Print the result of a command: the JSON document, or the text."""
        click.echo(json.dumps(document) if self.as_json else replace_control_characters(text))


class RequestRefused(click.ClickException):
    """Print a sentence on standard error and exit with status 1."""


class ServiceUnreachable(click.ClickException):
    """Print a sentence on standard error and exit with status 3, because the service cannot be reached."""

    exit_code = 3  # click uses 2 for wrong usage


class ServiceCommand(click.Command):
    """Add the options that select a service to a command, and pass a ``Remote`` to its function.

    The argument ``tournament``, an id or a name, is passed as ``tournament_id``.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params += SERVICE_OPTIONS

    def invoke(self, ctx: click.Context) -> Any:
        options = ctx.params
        as_json, url = options.pop("as_json"), options.pop("url")
        token = _given_token(options.pop("token"), options.pop("token_file"))
        with errors_as_sentences(as_json):
            url = url or saved_tokens.find_service() or DEFAULT_SERVICE
            token = token or _saved_token(url)
            with Api(url, token.text if token else None) as api:
                options["remote"] = Remote(api, as_json, token)
                if "tournament" in options:
                    options["tournament_id"] = lookup.tournament_id(api, options.pop("tournament"))
                return super().invoke(ctx)


SERVICE_OPTIONS = (
    click.Option(
        ["--url"],
        envvar="REFEREE_URL",
        metavar="URL",
        help=f"Service to ask. [default: $REFEREE_URL, else that of `referee login`, else {DEFAULT_SERVICE}]",
    ),
    click.Option(
        ["--token-file"],
        envvar="REFEREE_TOKEN_FILE",
        type=click.File(),
        metavar="FILE",
        help="File with your token; - reads it from standard input. "
        "[default: $REFEREE_TOKEN_FILE, else $REFEREE_TOKEN, else the token that `referee login` saved]",
    ),
    click.Option(
        ["--token"],
        envvar="REFEREE_TOKEN",
        metavar="TOKEN",
        help="Your token. Other users of this machine can see it, so prefer --token-file. [default: $REFEREE_TOKEN]",
    ),
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document instead of text."),
)


def service_command(name: str | None = None) -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator that makes a function a ``ServiceCommand``."""
    return click.command(name, cls=ServiceCommand)


def tournament_command(name: str | None = None, *, example: str = "") -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator that makes a function a ``ServiceCommand`` with the argument ``tournament``.

    The help ends with an example, which is the command for a tournament, followed by ``example``.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        tournament = click.Argument(["tournament"], metavar="TOURNAMENT")
        command = click.command(name, cls=ServiceCommand, params=[tournament])(function)
        line = f'referee tournament {command.name} "Spring cup" {example}'.rstrip()
        if len(line) > MAX_EXAMPLE:
            line = f'referee tournament {command.name} "Spring cup" \\\n      {example}'
        command.help = f"{cleandoc(command.help or '')}\n\n\b\nExample:\n  {line}"
        return command

    return decorate


def _given_token(given: str | None, file: TextIO | None) -> SentToken | None:
    """Return the token of the options or the environment, or None if there is none.

    The command line takes precedence over the environment. Raise ``click.UsageError`` if both options are given or the
    text cannot be a token.
    """
    source_of = click.get_current_context().get_parameter_source
    is_typed, file_is_typed = (source_of(name) is ParameterSource.COMMANDLINE for name in ("token", "token_file"))
    if is_typed and file_is_typed:
        raise click.UsageError("Pass either --token or --token-file, not both.")
    source = "--token" if is_typed else "$REFEREE_TOKEN"
    if file is not None and (file_is_typed or given is None):
        given, source = file.readline(), "--token-file" if file_is_typed else "$REFEREE_TOKEN_FILE"
    text = validate_token((given or "").strip())
    return SentToken(text, source) if text else None


def _saved_token(url: str) -> SentToken | None:
    text = saved_tokens.load(url)
    return SentToken(text, str(saved_tokens.path_of(url)), is_saved=True) if text else None


def validate_token(text: str) -> str:
    """Return the text. Raise ``click.UsageError`` if it cannot be a token."""
    if not (text.isascii() and text.isprintable() and " " not in text):
        raise click.UsageError("This is not a token. A token is ref_ followed by letters and digits.")
    return text


@contextmanager
def errors_as_sentences(as_json: bool) -> Iterator[None]:
    """Report errors of the service and the file system as sentences. With ``as_json``, also print a JSON document."""
    try:
        yield
    except RefereeError as error:
        if as_json:
            click.echo(json.dumps({"error": error_to_json(error)}))
        if isinstance(error, BadServiceUrl | saved_tokens.SeveralServices):
            raise click.UsageError(replace_control_characters(as_sentence(str(error)))) from error
        failure = ServiceUnreachable if is_service_unreachable(error) else RequestRefused
        raise failure(replace_control_characters(as_sentence(error_sentence(error)))) from error
    except BrokenPipeError:
        raise  # the reader of our output has closed it; click exits silently
    except OSError as error:  # for example a full disk
        raise RequestRefused(f"{error.filename or 'output'}: {error.strerror or error}") from error
    except KeyboardInterrupt:
        sys.exit(130)


def is_service_unreachable(error: RefereeError) -> bool:
    """Return whether the service did not answer, or answered with a server error (5xx)."""
    return isinstance(error, ApiUnreachable) or (isinstance(error, ApiRefusal) and error.status >= 500)


def is_transient(error: RefereeError) -> bool:
    """Return whether the same request may succeed in a moment."""
    return is_service_unreachable(error) or (isinstance(error, ApiRefusal) and error.status == BUSY)


def error_to_json(error: RefereeError) -> Json:
    """Return an error as JSON, in the form that the service uses."""
    if not isinstance(error, ApiRefusal):
        return {"code": "unreachable" if isinstance(error, ApiUnreachable) else "refused", "detail": str(error)}
    fields = [{"field": field, "message": message} for field, message in error.fields]
    return {"status": error.status, "code": error.code, "detail": error.detail, "errors": fields}


def error_sentence(error: RefereeError) -> str:
    if isinstance(error, ApiUnreachable):
        return f"{error}. Is it running, and is --url (or REFEREE_URL) right?"
    if not isinstance(error, ApiRefusal):
        return str(error)
    sentence = "; ".join(f"{option_of_field(field)}: {message}" for field, message in error.fields)
    sentence = (sentence or _replace_field_names(error.detail) or f"the service answered {error.status}").rstrip(".")
    advice = ADVICE.get(error.code)
    return f"{sentence}; {advice}" if advice else sentence


def option_of_field(field: str) -> str:
    """Return the command-line option for a field of the API, or the field itself if there is no option."""
    for prefix in ("format_options", "options"):
        if field.startswith(prefix + "."):
            return f"--{prefix.replace('_', '-').removesuffix('s')} {field.removeprefix(prefix + '.')}"
    return FLAGS.get(field) or _flags().get(field, field)


def _replace_field_names(text: str) -> str:
    """Return a sentence of the service with the names of API fields replaced by command-line options."""
    for field, flag in _flags().items():
        text = text.replace(field, flag) if "_" in field else text
    return text


def _flags() -> dict[str, str]:
    """Return the command-line options of the running command, keyed by parameter name."""
    context = click.get_current_context(silent=True)
    options = context.command.params if context else []
    return {str(option.name): option.opts[0] for option in options if isinstance(option, click.Option)}
