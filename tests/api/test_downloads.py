"""Downloads of tournaments and ladders: content, resuming after a break, constant memory."""

import csv
import gzip
import io
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from api.downloads import files
from referee import schema
from referee.cli import main
from referee.db.ids import new_id
from referee.match.verification import verify
from referee.matches.deals import deal_groups
from referee.tournaments import result_seats, watching
from referee.workflows.ending import deal_group_closing
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogSelection
from referee.workflows.voids import tournament_cancellation, voiding
from tests.api.conftest import API, Person, Service, fields_of
from tests.database import tournaments
from tests.database.world import World
from tests.surroundings import MASTER_KEY

Json = dict[str, Any]
VERIFIER = Path(__file__).parents[2] / "docs" / "verify_log.py"


@pytest.fixture
def world(service: Service) -> World:
    return World(service.database)


@pytest.fixture
def event(world: World) -> str:
    return finish_event(world)


def finish_event(world: World) -> str:
    """Return a finished tournament of three bots with one match per pair, the second of them void."""
    tournament_id, _ = tournaments.begun(world, 3)
    for claim in world.claim(3):
        world.finish(claim)
    tournaments.go_on(world.database, tournament_id)
    with world.database.write() as session:
        second = session.scalars(select(schema.Result.match_id).order_by(schema.Result.seq)).all()[1]
        voiding.void_match(session, second, "=a bug", created_by=None, master_key=MASTER_KEY)
    return tournament_id


def path_of(event: str, file: str = "logs") -> str:
    return f"{API}/tournaments/{event}/{file}"


def in_order(world: World, event: str) -> list[schema.StoredMatch]:
    """Return the matches with results, in the order in which they ended."""
    query = select(schema.StoredMatch).join(schema.Result, schema.Result.match_id == schema.StoredMatch.id)
    with world.database.read() as session:
        query = query.where(schema.StoredMatch.tournament_id == event).order_by(schema.Result.seq)
        return list(session.scalars(query))


def split(text: bytes) -> tuple[dict[str, list[bytes]], list[Json]]:
    """Return the logs by match, and the lines that belong to no log."""
    found: dict[str, list[bytes]] = {}
    remarks: list[Json] = []
    for line in text.splitlines():
        row = json.loads(line)
        if row["type"] == "signature":
            found[row["match"]].append(line)
        elif "row" not in row:
            remarks.append(row)
        elif row["row"] == 0:
            found[row["match"]] = [line]
        else:
            found[next(reversed(found))].append(line)
    return found, remarks


def test_the_logs_are_those_of_the_matches_in_the_order_of_their_ends(
    service: Service, world: World, event: str
) -> None:
    client, played = service.anonymous(), in_order(world, event)

    answer = client.get(path_of(event))
    found, remarks = split(gzip.decompress(answer.data))

    assert (answer.headers["Referee-Logs"], answer.headers["Referee-Left-Out"]) == ("3", "0")
    assert answer.headers["Content-Type"] == "application/gzip"
    assert "Content-Encoding" not in answer.headers
    assert list(found) == [match.id for match in played]
    for match_id, lines in found.items():
        assert client.get(f"{API}/matches/{match_id}/log").data.splitlines() == lines
        assert verify(lines).ok
    assert remarks == [{"match": played[1].id, "reason": "=a bug", "type": "void"}]


def test_a_client_that_accepts_only_octets_gets_the_same_file_as_octets(
    service: Service, world: World, event: str, admin: Person
) -> None:
    for path, media_type in [
        (path_of(event), "application/gzip"),
        (f"{API}/matches/{in_order(world, event)[0].id}/log", "application/x-ndjson"),
        (f"{API}/acts.ndjson", "application/x-ndjson"),
    ]:
        plain, octets, both = (
            (answer.headers["Content-Type"], answer.data, answer.headers.getlist("Vary"))
            for accepted in ("*/*", "application/octet-stream", f"application/octet-stream, {media_type}")
            for answer in [admin.client.get(path, headers=admin.headers(Accept=accepted))]
        )

        assert (plain[0], octets[0], both[0]) == (media_type, "application/octet-stream", media_type)
        assert plain[1] == octets[1] == both[1]
        assert "Accept" in ", ".join(plain[2]).split(", ")


def test_the_files_of_an_event_are_verified_as_they_are_served(
    service: Service, world: World, event: str, tmp_path: Path
) -> None:
    client, played = service.anonymous(), in_order(world, event)
    packed, plain = (tmp_path / name for name in ("cup.ndjson.gz", "cup.ndjson"))
    packed.write_bytes(client.get(path_of(event)).data)
    plain.write_bytes(gzip.decompress(packed.read_bytes()))

    for file in (packed, plain):
        ran, listed = (CliRunner().invoke(main, ["verify", str(file), *more]) for more in ((), ("--json",)))
        (summary,) = ran.stdout.splitlines()
        items = json.loads(listed.stdout)["items"]
        assert (ran.exit_code, summary.partition(";")[0]) == (0, "3 of 3 logs are valid")
        assert [item["match"] for item in items] == [match.id for match in played]
        assert [item["finding"].endswith("; void, so it does not count") for item in items] == [False, True, False]
    second = subprocess.run([sys.executable, VERIFIER, packed, plain], capture_output=True, text=True, check=True)
    assert second.stdout.count("links, seed and deals are valid; ") == 6

    plain.write_bytes(plain.read_bytes().replace(b'"ms":', b'"ms":1', 1))  # in the first log
    ran = CliRunner().invoke(main, ["verify", str(plain), str(packed)])
    assert ran.exit_code == 1
    assert [line.split()[0] for line in ran.stdout.splitlines()] == ["FAILED", "5"]
    assert subprocess.run([sys.executable, VERIFIER, plain], capture_output=True, check=False).returncode == 1


def test_what_was_cut_anywhere_is_taken_up_to_the_same_bytes(service: Service, world: World, event: str) -> None:
    client = service.anonymous()
    whole = client.get(path_of(event)).data

    for match in in_order(world, event):
        rest = client.get(path_of(event), query_string={"after": match.id})
        assert whole.endswith(rest.data)
        head, _ = split(gzip.decompress(whole[: len(whole) - len(rest.data)]))
        assert next(reversed(head)) == match.id

    assert rest.data == b""
    assert rest.headers["Referee-Logs"] == "0"


def test_only_matches_of_the_event_can_be_gone_on_from(service: Service, world: World, event: str) -> None:
    other, client = world.play(world.bots(2)).match_id, service.anonymous()

    for after in (other, "mat_" + "0" * 26, "x"):
        answer = client.get(path_of(event), query_string={"after": after})
        assert (answer.status_code, fields_of(answer)) == (422, {"after"})
    assert client.get(path_of("trn_" + "0" * 26)).status_code == 404


def test_a_closed_log_holds_back_those_after_it_and_one_cut_off_comes_last(service: Service, world: World) -> None:
    event, _ = tournaments.begun(world, 4, deal_sharing="common")
    client, claims = service.anonymous(), world.claim(2)
    world.finish(claims[0])
    before = client.get(path_of(event))
    world.finish(claims[1])
    between = client.get(path_of(event))

    (begun,) = world.claim(1)
    match = world.resumed(begun.match_id)
    with service.database.write() as session:
        for row, line in enumerate(match.lines):
            session.add(schema.LogRow(match_id=begun.match_id, row=row, line=line))
    with service.database.write() as session:
        tournament_cancellation.cancel_tournament(session, event, master_key=MASTER_KEY)
    last = {"after": in_order(world, event)[-1].id}
    not_yet = client.get(path_of(event), query_string=last)
    close_groups(world)
    after = client.get(path_of(event), query_string=last)
    found, remarks = split(gzip.decompress(after.data))

    assert [(one.headers["Referee-Logs"], one.headers["Referee-Left-Out"]) for one in (before, between)] == [
        ("0", "1"),
        ("2", "0"),
    ]
    assert before.data == b""
    assert list(split(gzip.decompress(between.data))[0]) == [match.id for match in in_order(world, event)]
    assert (not_yet.data, not_yet.headers["Referee-Left-Out"]) == (b"", "1")
    assert list(found) == [begun.match_id]
    assert verify(found[begun.match_id]).cut_short  # and the rows that are there are valid
    assert [(one["match"], one["type"]) for one in remarks] == [(begun.match_id, "cancelled")]
    assert client.get(path_of(event), query_string={"after": begun.match_id}).data == b""


def close_groups(world: World) -> None:
    """Close deal groups as the scheduler does after matches were cancelled."""
    with world.database.write() as session:
        for group_id in deal_groups.list_unclosed_groups(session):
            deal_group_closing.close_if_over(session, group_id, master_key=MASTER_KEY)


def test_a_damaged_log_is_named_and_does_not_spoil_the_others(service: Service, world: World, event: str) -> None:
    first = in_order(world, event)[0].id
    with service.database.write() as session:
        session.execute(update(schema.MatchLog).where(schema.MatchLog.match_id == first).values(gzip_log=b"junk"))
    client = service.anonymous()

    found, remarks = split(gzip.decompress(client.get(path_of(event)).data))

    assert len(found) == 2
    assert (remarks[0]["match"], remarks[0]["type"]) == (first, "damaged")


def test_results_have_a_row_for_each_seat_and_nothing_a_spreadsheet_computes(
    service: Service, world: World, event: str
) -> None:
    client, played = service.anonymous(), in_order(world, event)
    signs = ["=cmd()", "+1", "-1", "@SUM(A1)", "\ttab", 'a "b", c']
    with service.database.write() as session:
        for (match_id, seat), name in zip(
            [(match.id, seat) for match in played for seat in (0, 1)], signs, strict=True
        ):
            of_seat = schema.MatchSeat.match_id == match_id, schema.MatchSeat.seat == seat
            session.execute(update(schema.MatchSeat).where(*of_seat).values(bot_name=name))
            result = session.scalars(select(schema.Result).where(schema.Result.match_id == match_id)).one()
            result.versions = [
                name if number == seat else version for number, version in enumerate(result.versions or [])
            ]

    answer = client.get(path_of(event, "results.csv"))
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))

    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8; header=present"
    assert answer.data.count(b"\r\n") == answer.data.count(b"\n") == 7
    assert [(row["match"], row["seat"]) for row in rows] == [(one.id, seat) for one in played for seat in ("0", "1")]
    assert [row["name"] for row in rows] == [*(f"'{sign}" for sign in signs[:5]), signs[5]]
    assert [row["version"] for row in rows] == [row["name"] for row in rows]
    assert [(row["status"], row["reason"]) for row in rows[2:4]] == [("void", "'=a bug")] * 2
    shown = client.get(f"{API}/matches/{played[0].id}").get_json()
    for row, seat in zip(rows, shown["seats"], strict=False):
        assert (row["bot"], row["entrant"], row["rated"]) == (seat["bot"], seat["entrant"], "true")
        assert (int(row["placement"]), int(row["returns"])) == (seat["placement"], seat["returns"])
    assert (rows[0]["group"], rows[0]["finished_at"]) == (shown["group_id"], shown["finished_at"])


def test_a_ladder_gives_its_ledger_in_the_order_of_entries(service: Service, world: World, event: str) -> None:
    seated = world.bots(4)
    with world.database.write() as session:
        group = deal_groups.create_group(session, seated, master_key=MASTER_KEY)
        shared = [world.matched(session, pair, group=group, rated=True).id for pair in (seated[:2], seated[2:])]
    (early,) = world.claim(match_id=shared[0])
    world.finish(early)  # it counts when the other match of its group is over
    alone = world.play(world.bots(2), rated=True)
    (late,) = world.claim(match_id=shared[1])
    world.finish(late)
    world.play(world.bots(2), rated=False)
    client = service.anonymous()

    path = f"{API}/ladders/{alone.ladder_id}/results.csv"
    rows = list(csv.DictReader(io.StringIO(client.get(path).text, newline="")))

    first, second, third = in_order(world, event)
    told_by_entry = list(dict.fromkeys((int(row["entry"]), row["kind"], row["match"]) for row in rows))
    assert [one[1:] for one in told_by_entry] == [
        *[("result", match.id) for match in (first, second, third)],
        ("void", second.id),
        *[("result", match_id) for match_id in (alone.match_id, *shared)],
    ]
    assert told_by_entry == sorted(told_by_entry)
    assert {row["tournament"] for row in rows if row["kind"] == "result"} == {event, ""}
    shown = client.get(f"{API}/ladders/{alone.ladder_id}/history", query_string={"bot": alone.bots[0]}).get_json()
    (change,), (told,) = shown["items"], [row for row in rows if row["bot"] == alone.bots[0]]
    assert int(told["entry"]) == change["seq"]
    assert [int(told[name]) for name in ("before_micro", "after_micro", "games")] == [
        change[name] for name in ("before_micro", "after_micro", "games")
    ]
    assert client.get(path).text == client.get(path).text
    assert client.get(f"{API}/ladders/lad_{'0' * 26}/results.csv").status_code == 404


def test_an_event_without_a_match_is_an_empty_file(service: Service, world: World) -> None:
    client, event = service.anonymous(), tournaments.create(world)

    assert gzip.decompress(client.get(path_of(event)).data) == b""
    assert client.get(path_of(event, "results.csv")).data.count(b"\r\n") == 1


def test_few_downloads_at_once_and_a_cut_one_frees_its_place(service: Service, event: str) -> None:
    client = service.anonymous()
    client.environ_base["REMOTE_ADDR"] = "2001:db8:0:7::1"
    held = [client.get(path_of(event)) for _ in range(2)]

    refused = client.get(path_of(event), environ_overrides={"REMOTE_ADDR": "2001:db8:0:7::2"})
    heads = [client.head(path_of(event)).status_code for _ in range(5)]
    for answer in held:
        answer.close()

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "10")
    assert heads == [200] * 5
    for file in ("logs", "results.csv", "logs"):
        with client.get(path_of(event, file)) as again:
            assert again.status_code == 200


def test_memory_does_not_grow_with_the_event(world: World, event: str, monkeypatch: pytest.MonkeyPatch) -> None:
    many = 200
    for module in (log_downloads, result_seats):
        monkeypatch.setattr(module, "PAGE_SIZE", 10)
    which = result_seats.is_in_tournament(event)
    with world.database.write() as session:
        multiply(session, event, many)
        found = log_downloads.find_logs(session, LogSelection(tournament_id=event))
        until = watching.last_seq(session)

    def peak(pieces: Any) -> tuple[int, int]:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        size = sum(len(piece) for piece in pieces)
        return size, tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        peak(files.results_csv(world.database, which, 20))  # what is kept for good is there now
        packed, packed_peak = peak(files.gzip_logs(world.database, found))
        table, table_peak = peak(files.results_csv(world.database, which, until))
    finally:
        tracemalloc.stop()

    assert len(found) == many + 3
    assert packed_peak < packed / 2
    assert table > 70_000
    assert table_peak < 800_000  # what it is made of takes several times as much


def multiply(session: Session, event: str, count: int) -> None:
    """Add copies of the first match."""
    first = session.scalars(select(schema.Result).order_by(schema.Result.seq)).first()
    assert first is not None
    rows = {
        model: dict(session.execute(select(model.__table__).where(column == first.match_id)).mappings().first() or {})
        for model, column in (
            (schema.StoredMatch, schema.StoredMatch.id),
            (schema.Result, schema.Result.match_id),
            (schema.MatchLog, schema.MatchLog.match_id),
        )
    }
    seats = [
        dict(row)
        for row in session.execute(
            select(schema.MatchSeat.__table__).where(schema.MatchSeat.match_id == first.match_id)
        ).mappings()
    ]
    rows[schema.Result].pop("seq")
    ids = [new_id("match") for _ in range(count)]
    session.execute(insert(schema.StoredMatch), [{**rows[schema.StoredMatch], "id": id} for id in ids])
    for model in (schema.Result, schema.MatchLog):
        session.execute(insert(model), [{**rows[model], "match_id": id} for id in ids])
    session.execute(insert(schema.MatchSeat), [{**seat, "match_id": id} for id in ids for seat in seats])
