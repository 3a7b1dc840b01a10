"""What a process logs is limited, for each cause, and nothing of the rest is lost."""

import logging
from typing import Any

from referee.runtime.log_limits import MAX_TEXT, MAX_TRACEBACK, LineLimit, change_texts, cut, cut_texts


def record(message: str, line: int = 1, error: type[Exception] | None = None, **fields: Any) -> logging.LogRecord:
    raised = None if error is None else (error, error("x"), None)
    made = logging.LogRecord("test", logging.WARNING, "file.py", line, message, (), raised)
    vars(made).update(fields)
    return made


def test_lines_of_a_cause_are_limited_and_counted() -> None:
    clock = [0.0]
    limit = LineLimit(3, seconds=lambda: clock[0])

    first = [limit.filter(record("flood", text=n)) for n in range(10)]
    others = [limit.filter(record("flood", 2)), limit.filter(record("flood", 1, ValueError))]
    clock[0] = 60.0
    later = record("flood")

    assert first == [True] * 3 + [False] * 7
    assert others == [True, True]
    assert limit.filter(later)
    assert vars(later)["dropped_lines"] == 7
    assert not hasattr(record("flood"), "dropped_lines")


def test_a_sentence_says_how_many_were_dropped_and_long_ones_are_cut() -> None:
    clock = [0.0]
    limit = LineLimit(1, seconds=lambda: clock[0])
    long = record("no method " + "A" * 5_000)

    assert limit.filter(long)
    assert not limit.filter(record("again"))
    clock[0] = 60.0
    later = record("and %s")
    later.args = ("again",)

    assert limit.filter(later)
    assert long.getMessage() == "no method " + "A" * (MAX_TEXT - 10) + "… (5010 characters)"
    assert later.getMessage() == "and again (1 such lines were dropped)"


def test_a_line_whose_fields_do_not_fit_is_logged_as_it_is() -> None:
    broken = record("%d bytes")
    broken.args = ("many",)

    assert LineLimit().filter(broken)
    assert "%d bytes" in broken.getMessage()
    assert "many" in broken.getMessage()


def test_fields_that_contain_themselves_end() -> None:
    endless: list[Any] = ["x" * 2 * MAX_TEXT]
    endless.append(endless)

    assert len(str(change_texts(endless, cut))) < 100 * MAX_TEXT


def test_the_texts_of_an_event_are_cut() -> None:
    event = {"event": "failed", "exception": "y" * 30_000, "reason": "x" * 4_000, "count": 3}

    cut_texts(None, "", event)

    assert (event["event"], event["count"]) == ("failed", 3)
    assert event["reason"] == "x" * MAX_TEXT + "… (4000 characters)"
    assert event["exception"] == "y" * MAX_TRACEBACK + "… (30000 characters)"
