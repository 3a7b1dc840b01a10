"""What `referee tournament` makes of what is typed and of what a service answers; no service is needed."""

import io
import json
import socket
from datetime import UTC, datetime, timedelta
from typing import Any

import click
import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.cli.api_client import ApiRefusal
from referee.cli.plain_text import replace_control_characters
from referee.cli.tournament import tournament
from referee.cli.tournament.bracket import render_bracket
from referee.cli.tournament.parameters import DateTimeParam, Pair, Seed
from referee.cli.tournament.remote import error_sentence
from referee.cli.tournament.stream import StreamMessage, parse_messages
from referee.match.canonical import Json


def test_every_command_is_explained_with_an_example() -> None:
    context = click.Context(tournament)
    for name in tournament.list_commands(context):
        command = tournament.get_command(context, name)
        assert command
        said = CliRunner().invoke(main, ["tournament", name, "--help"]).output

        assert f"  referee tournament {name} " in said, name
        assert all(option.help for option in command.params if isinstance(option, click.Option)), name


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("rounds=3", 3), ("third_place=true", True), ("seeding=hand", "hand"), ("stages=null", None), ("x=a=b", "a=b")],
)
def test_values_that_are_json_count_as_that(typed: str, meant: Any) -> None:
    assert Pair().convert(typed, None, None)[1] == meant


def test_moments_are_told_in_utc() -> None:
    ahead = datetime.fromisoformat(DateTimeParam().convert("+10m", None, None)) - datetime.now(UTC)

    assert DateTimeParam().convert("2030-05-01T18:00:00+02:00", None, None) == "2030-05-01T16:00:00Z"
    assert timedelta(minutes=9) < ahead <= timedelta(minutes=10)
    assert Seed().convert("Ada=1=2", None, None) == ("Ada=1", 2)
    assert Seed().convert("Ada=-", None, None) == ("Ada", None)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ["create", "Cup", "--game", "pool-nap", "--seats", "3", "--starts-at", "2030-05-01T18:00"],
            "has no UTC offset",
        ),
        (["create", "Cup", "--game", "pool-nap", "--seats", "3", "--starts-at", "tomorrow"], "+10m"),
        (["create", "Cup", "--game", "pool-nap", "--seats", "3", "--option", "rounds"], "NAME=VALUE"),
        (["create", "Cup", "--game", "pool-nap", "--seats", "3", *["--option", "a=1"] * 2], "more than once: a"),
        (["seeds", "Cup", "Ada"], "BOT=NUMBER"),
        (["list", "--token", "no token"], "not a token"),
        (["list", "--token", "a", "--token-file", "-"], "not both"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_asked(arguments: list[str], why: str) -> None:
    said = CliRunner().invoke(main, ["tournament", *arguments])

    assert (said.exit_code, why in said.stderr) == (2, True), said.output


def test_a_service_that_does_not_answer_has_a_status_of_its_own() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"

        said = CliRunner().invoke(main, ["tournament", "show", "Cup", "--json", "--url", url])

    assert (said.exit_code, json.loads(said.stdout)["error"]["code"]) == (3, "unreachable")
    assert said.stderr.startswith(f"Error: {url} does not answer")


def test_a_refusal_names_what_was_typed() -> None:
    fields = [("format_options.stages", "at most 3"), ("time.bank_ms", "too much"), ("name", "taken")]

    said = error_sentence(ApiRefusal(422, "validation_failed", "Not acceptable.", fields))

    assert said == "--format-option stages: at most 3; --bank-ms: too much; name: taken"
    assert replace_control_characters("a\x1b[2J\nb") == "a\N{REPLACEMENT CHARACTER}[2J\nb"
    assert "--token-file" in error_sentence(ApiRefusal(401, "unauthenticated", "A token is needed."))


def test_events_are_read_as_the_standard_has_it() -> None:
    text = b': hello\n\nid: 7\nevent: progress\ndata: {"done":\ndata: 1}\n\ndata: 2\r\n\r\nid: 9\ndata: 3\n'

    assert list(parse_messages(io.BytesIO(text))) == [
        StreamMessage("7", "progress", {"done": 1}),
        StreamMessage("7", "message", 2),
    ]


# -- brackets --


def place(name: str | None, seed: int | None, points: float | None, origin: tuple[int, int | None] | None) -> Json:
    came = None if origin is None else {"stage": origin[0], "table": origin[1]}
    return {"bot": name, "name": name, "seed": seed, "points": points, "advanced": None, "origin": came}


def table(number: int, label: str, best: Json, *others: Json, over: bool = True) -> Json:
    if over:
        best["advanced"] = True
        for other in others:
            other["advanced"] = False
    return {"table": number, "label": label, "legs": 1, "entrants": [best, *others]}


def stage(number: int, label: str, *tables: Json, byes: tuple[Json, ...] = ()) -> Json:
    return {"stage": number, "label": label, "state": "over", "tables": list(tables), "byes": list(byes)}


def five() -> list[Json]:
    """Five in a knockout of pairs: the three best have byes, the second loses the final."""
    byes = tuple(place(name, seed, None, None) | {"reason": "odd"} for seed, name in enumerate(("Ada", "Bob", "Cy"), 1))
    first = table(1, "quarter_final", place("Eve", 5, 1.0, None), place("Dee", 4, 0.0, None))
    semi = table(1, "semi_final", place("Ada", 1, 1.0, (1, None)), place("Eve", 5, 0.0, (1, 1)))
    other = table(2, "semi_final", place("Bob", 2, 0.5, (1, None)), place("Cy", 3, 0.5, (1, None)))
    final = table(1, "final", place("Ada", 1, 1.0, (2, 1)), place("Bob", 2, 0.0, (2, 2)))
    third = table(2, "third_place", place("Cy", 3, 1.0, (2, 2)), place("Eve", 5, 0.0, (2, 1)))
    return [
        stage(1, "quarter_final", first, byes=byes),
        stage(2, "semi_final", semi, other),
        stage(3, "final", final, third),
    ]


def test_a_bracket_of_pairs_is_drawn_as_a_tree() -> None:
    picture = """\
quarter-final    semi-final    final       winner

                 1 Ada  1 ──┐
                            ├─ 1 Ada  1 ┐
4 Dee  0 ─────┐             │           │
              ├─ 5 Eve  0 ──┘           │
5 Eve  1 ─────┘                         ├─ Ada
                                        │
                 2 Bob  0.5 ┐           │
                            ├─ 2 Bob  0 ┘
                 3 Cy  0.5 ─┘

third place: 3 Cy  1 *, 5 Eve  0"""

    assert render_bracket({"stages": five(), "to_come": []}) == picture


def test_a_bracket_tells_nobody_who_plays_a_rated_match() -> None:
    hidden = table(1, "final", place(None, None, None, None), place(None, None, None, None), over=False)

    picture = render_bracket({"stages": [*five()[:2], stage(3, "final", hidden)], "to_come": []})

    assert "Eve" in picture  # how far it is known it is drawn
    assert picture.count("?") == 2


def test_what_is_to_come_is_told_and_larger_tables_are_listed() -> None:
    begun = render_bracket({"stages": five()[:1], "to_come": [{"label": "semi_final", "tables": 2}]})
    four = [place(name, seed, float(4 - seed), None) for seed, name in enumerate(("Ada", "Bob", "Cy", "Dee"), 1)]
    larger = render_bracket({"stages": [stage(1, "final", table(1, "final", *four))], "to_come": []})

    assert begun.endswith("to come (tables): semi-final (2)")
    assert "advances" in begun
    assert larger == "final\n  table 1: 1 Ada  3 *, 2 Bob  2, 3 Cy  1, 4 Dee  0"
