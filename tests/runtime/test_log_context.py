"""What each line of a log belongs to, in both formats, and that no secret gets into one."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from referee.accounts.accounts import TOKEN_PREFIX, new_secret_text
from referee.db.engine import Database
from referee.protocol.signing import bot_secret
from referee.runtime import log_context, logging_setup
from referee.runtime.log_context import begin_work, hide_in
from referee.settings import BadSettings, Settings
from tests.surroundings import MASTER_KEY

Log = Callable[..., str]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], io.StringIO]]:
    """Set logging up in a format, and return what is written."""
    root = logging.getLogger()
    before = root.handlers[:], root.level

    def configure(format: str) -> io.StringIO:
        output = io.StringIO()
        monkeypatch.setenv("REFEREE_LOG", format)
        monkeypatch.setattr("sys.stderr", output)
        logging_setup.configure()
        return output

    yield configure
    root.handlers, root.level = before
    log_context._process_fields.clear()
    begin_work()


def test_the_context_is_in_each_line_and_an_event_may_say_otherwise(written: Callable[[str], io.StringIO]) -> None:
    output = written("json")
    log_context.set_process_fields(runner="abc-1")
    begin_work(match="mat_1")
    logging.getLogger("test").info("first")
    logging.getLogger("test").info("second", extra={"match": "mat_2", "bot": "bot_1"})
    begin_work(bot="bot_3")
    logging.getLogger("test").info("third")

    first, second, third = map(json.loads, output.getvalue().splitlines())

    assert (first["runner"], first["match"]) == ("abc-1", "mat_1")
    assert (second["match"], second["bot"]) == ("mat_2", "bot_1")
    assert "match" not in third
    assert third["bot"] == "bot_3"


def test_a_line_for_people_cannot_be_forged(written: Callable[[str], io.StringIO]) -> None:
    output = written("text")

    logging.getLogger("test").warning("odd\nline", extra={"reason": "two words\nand\x1b[2J", "count": 3, "of": "x"})

    (line,) = output.getvalue().splitlines()
    assert line.endswith(r'warning test: odd\nline reason="two words\nand\u001b[2J" count=3 of=x')


def test_a_traceback_is_indented(written: Callable[[str], io.StringIO]) -> None:
    output = written("text")
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("test").exception("failed")

    head, *rest = output.getvalue().splitlines()

    assert head.endswith("error   test: failed")
    assert rest[-1] == "    ValueError: broken"
    assert all(line.startswith("    ") for line in rest)


def test_another_format_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REFEREE_DATA", str(tmp_path))
    monkeypatch.setenv("REFEREE_LOG", "xml")
    with pytest.raises(BadSettings, match="REFEREE_LOG"):
        Settings.load()


@pytest.mark.parametrize("format", ["json", "text"])
def test_E7_planted_secrets_are_not_logged(format: str, written: Callable[[str], io.StringIO]) -> None:
    output, log = written(format), logging.getLogger("test")
    token, secret = new_secret_text(TOKEN_PREFIX), bot_secret(MASTER_KEY, "bot_1", 1)
    planted = {
        token: f"token {token} was given",
        secret: f"{secret} at the end",
        "opaque-token": "Authorization: Bearer opaque-token",
        "hunter2": "postgresql://referee:hunter2@db/referee refused",
        "GARDEN-4711": "{'join_code': 'GARDEN-4711'}",
        "s3cr3t": "https://example.org/?token=s3cr3t&x=1",
        "s3cr3t-2": "https://example.org/?access_token=s3cr3t-2&x=1",
        "s3cr3t-3": "https://example.org/?api_key=s3cr3t-3",
        "s3cr3t-4": "{'client_secret': 's3cr3t-4'}",
        "bm9ib2R5OnMzY3IzdA": "Authorization: Basic bm9ib2R5OnMzY3IzdA==",
        "unter@3": "redis://:h@unter@3@redis:6379/0 refused",
        token[4:]: f"a repeated body, b'x\\n{token}'",
        secret[6:]: f"a repeated body, b'x\\n{secret}'",
        "0pqrstuvwxyzabcd": "Bearer%20ref_0pqrstuvwxyzabcd0123456789abcdefghijklmnopq",
        "0pqrstuvwxyzabcd0123456789abcdef": "{'recovery': 'rcv_0pqrstuvwxyzabcd0123456789abcdef'}",
        "1234/TheToken": "no route to https://discord.com/api/webhooks/1234/TheToken",
        "T0/B1/TheToken": "{'url': 'https://hooks.slack.com/services/T0/B1/TheToken'}",
        "REFEREE-KEY": "REFEREE_MASTER_KEY=REFEREE-KEY",
    }
    for told in planted.values():
        log.error(told, extra={"reason": told})
        try:
            raise ValueError(told)
        except ValueError:
            log.exception("failed")

    found = output.getvalue()

    assert found.count("ValueError") >= len(planted)
    for hidden in planted:
        assert hidden not in found


@pytest.mark.parametrize(
    "said", ["ref_count", "no_certificate: the code is bad", "bot_id=bot_123", "a ref_ b", "12:30"]
)
def test_what_is_no_secret_stays(said: str) -> None:
    assert hide_in(said) == said


@pytest.mark.parametrize("format", ["json", "text"])
def test_E7_secrets_are_hidden_and_long_texts_cut_in_lists_and_objects_and_in_what_is_no_text(
    format: str, written: Callable[[str], io.StringIO]
) -> None:
    output, log = written(format), logging.getLogger("test")
    fields = {
        "reasons": ["postgresql://referee:hunter2@db/referee", {"url": "https://example.org/?token=hunter2"}],
        "error": ValueError("Bearer hunter2"),
        "body": b"token=hunter2",
        "pair": ("token=hunter2", 7),
        "long": ["x" * 100_000],
        "by_bot": {"bot_1": "y" * 100_000},
    }

    log.error("failed", extra=fields)

    assert "hunter2" not in output.getvalue()
    assert "example.org" in output.getvalue()
    assert len(output.getvalue()) < 3_500


def test_errors_of_the_database_do_not_repeat_values(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a.db'}")
    with pytest.raises(OperationalError, match="no such table") as failed, database.write() as session:
        session.execute(text("SELECT :x FROM none"), {"x": "GARDEN"})

    assert "GARDEN" not in str(failed.value)
