"""Downloads of tournaments and ladders: content, resuming after a break, constant memory."""

import csv
import gzip
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select, update
from werkzeug.test import TestResponse

from api.downloads import files
from referee import schema
from referee.match.verification import verify
from referee.tournaments import result_seats, watching
from referee.workflows.ending import deal_group_closing
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogSelection
from referee.workflows.voids import tournament_cancellation
from tests.api.conftest import API, Person, Service, fields_of
from tests.api.playing import Playing
from tests.database import tournaments
from tests.database.queue import unclosed_groups
from tests.database.world import World, create_group
from tests.surroundings import MASTER_KEY

Json = dict[str, Any]


@pytest.fixture
def event(world: World) -> str:
    """Return a finished tournament of three bots with one match per pair, the second of them void."""
    tournament_id, _ = tournaments.begun(world, 3)
    for claim in world.claim(3):
        world.finish(claim)
    tournaments.go_on(world.database, tournament_id)
    world.void(world.scalars(select(schema.Result.match_id).order_by(schema.Result.seq))[1], "=a bug")
    return tournament_id


def path_of(event: str, file: str = "logs") -> str:
    return f"{API}/tournaments/{event}/{file}"


def in_order(world: World, event: str) -> list[schema.StoredMatch]:
    """Return the matches with results, in the order in which they ended."""
    query = select(schema.StoredMatch).join(schema.Result, schema.Result.match_id == schema.StoredMatch.id)
    with world.database.read() as session:
        return list(session.scalars(query.where(schema.StoredMatch.tournament_id == event).order_by(schema.Result.seq)))


def packed(answer: TestResponse) -> tuple[dict[str, list[bytes]], list[Json]]:
    return split(gzip.decompress(answer.data))


def rows_of(answer: TestResponse) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


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


def test_logs_are_those_of_the_matches_in_the_order_of_their_ends(service: Service, world: World, event: str) -> None:
    client, played = service.anonymous(), in_order(world, event)

    answer = client.get(path_of(event))
    found, remarks = packed(answer)

    assert (answer.headers["Referee-Logs"], answer.headers["Referee-Left-Out"]) == ("3", "0")
    assert answer.headers["Content-Type"] == "application/gzip"
    assert "Content-Encoding" not in answer.headers
    assert list(found) == [match.id for match in played]
    for match_id, lines in found.items():
        assert client.get(f"{API}/matches/{match_id}/log").data.splitlines() == lines
        assert verify(lines).ok
    assert remarks == [{"match": played[1].id, "reason": "=a bug", "type": "void"}]


def test_a_client_that_accepts_octets_gets_the_same_file(world: World, event: str, admin: Person) -> None:
    for path, media_type in [
        (path_of(event), "application/gzip"),
        (f"{API}/matches/{in_order(world, event)[0].id}/log", "application/x-ndjson"),
    ]:
        plain, octets, both = (
            (answer.headers["Content-Type"], answer.data, answer.headers.getlist("Vary"))
            for accepted in ("*/*", "application/octet-stream", f"application/octet-stream, {media_type}")
            for answer in [admin.client.get(path, headers=admin.headers(Accept=accepted))]
        )

        assert (plain[0], octets[0], both[0]) == (media_type, "application/octet-stream", media_type)
        assert plain[1] == octets[1] == both[1]
        assert "Accept" in ", ".join(plain[2]).split(", ")


def test_what_was_cut_anywhere_is_taken_up_to_the_same_bytes(service: Service, world: World, event: str) -> None:
    other, client = world.play(world.bots(2)).match_id, service.anonymous()
    whole = client.get(path_of(event)).data

    for match in in_order(world, event):
        rest = client.get(path_of(event), query_string={"after": match.id})
        assert whole.endswith(rest.data)
        head, _ = split(gzip.decompress(whole[: len(whole) - len(rest.data)]))
        assert next(reversed(head)) == match.id

    assert (rest.data, rest.headers["Referee-Logs"]) == (b"", "0")
    for after in (other, "mat_" + "0" * 26, "x"):
        answer = client.get(path_of(event), query_string={"after": after})
        assert (answer.status_code, fields_of(answer)) == (422, {"after"})
    assert client.get(path_of("trn_" + "0" * 26)).status_code == 404
    empty = tournaments.create(world)
    assert gzip.decompress(client.get(path_of(empty)).data) == b""
    assert client.get(path_of(empty, "results.csv")).data.count(b"\r\n") == 1


def test_a_closed_log_holds_back_those_after_it_and_one_cut_off_comes_last(service: Service, world: World) -> None:
    event, _ = tournaments.begun(world, 4, deal_sharing="common")
    client, claims = service.anonymous(), world.claim(2)
    world.finish(claims[0])
    before = client.get(path_of(event))
    world.finish(claims[1])
    between = client.get(path_of(event))

    (claim,) = world.claim(1)
    cut = Playing(world, claim, world.resumed(claim.match_id)).id
    with service.database.write() as session:
        tournament_cancellation.cancel_tournament(session, event, master_key=MASTER_KEY)
    last = {"after": in_order(world, event)[-1].id}
    not_yet = client.get(path_of(event), query_string=last)
    with world.database.write() as session:  # as the scheduler does after matches were cancelled
        for group_id in unclosed_groups(session):
            deal_group_closing.close_if_over(session, group_id, master_key=MASTER_KEY)
    found, remarks = packed(client.get(path_of(event), query_string=last))

    counts = [(one.headers["Referee-Logs"], one.headers["Referee-Left-Out"]) for one in (before, between, not_yet)]
    assert counts == [("0", "1"), ("2", "0"), ("0", "1")]
    assert before.data == not_yet.data == b""
    assert list(packed(between)[0]) == [match.id for match in in_order(world, event)]
    assert list(found) == [cut]
    assert verify(found[cut]).cut_short  # and the rows that are there are valid
    assert [(one["match"], one["type"]) for one in remarks] == [(cut, "cancelled")]
    assert client.get(path_of(event), query_string={"after": cut}).data == b""


def replace_log(world: World, match_id: str, content: bytes) -> None:
    change = update(schema.MatchLog).where(schema.MatchLog.match_id == match_id)
    world.execute(change.values(gzip_log=content, reveal_line=None))


def test_results_have_a_row_for_each_seat_and_no_formula(service: Service, world: World, event: str) -> None:
    client, played = service.anonymous(), in_order(world, event)
    signs = ["=cmd()", "+1", "-1", "@SUM(A1)", "\ttab", 'a "b", c']
    with service.database.write() as session:
        seats = [(match.id, seat) for match in played for seat in (0, 1)]
        for (match_id, seat), name in zip(seats, signs, strict=True):
            of_seat = schema.MatchSeat.match_id == match_id, schema.MatchSeat.seat == seat
            session.execute(update(schema.MatchSeat).where(*of_seat).values(bot_name=name))
            result = session.scalars(select(schema.Result).where(schema.Result.match_id == match_id)).one()
            versions = enumerate(result.versions or [])
            result.versions = [name if number == seat else version for number, version in versions]

    answer = client.get(path_of(event, "results.csv"))
    rows = rows_of(answer)

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
        group = create_group(session, seated)
        shared = [world.matched(session, pair, group=group, rated=True).id for pair in (seated[:2], seated[2:])]
    (early,) = world.claim(match_id=shared[0])
    world.finish(early)  # it counts when the other match of its group is over
    alone = world.play(world.bots(2), rated=True)
    (late,) = world.claim(match_id=shared[1])
    world.finish(late)
    world.play(world.bots(2), rated=False)
    client = service.anonymous()

    path = f"{API}/ladders/{alone.ladder_id}/results.csv"
    rows = rows_of(client.get(path))

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
    assert all(int(told[name]) == change[name] for name in ("before_micro", "after_micro", "games"))
    assert client.get(f"{API}/ladders/lad_{'0' * 26}/results.csv").status_code == 404


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


def test_nothing_is_read_before_what_precedes_it_is_sent(
    world: World, event: str, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (log_downloads, result_seats):
        monkeypatch.setattr(module, "PAGE_SIZE", 1)
    found = world.read(log_downloads.find_logs, LogSelection(tournament_id=event))
    until = world.read(watching.last_seq)

    for pieces in (
        files.gzip_logs(world.database, found),
        files.results_csv(world.database, result_seats.is_in_tournament(event), until),
    ):
        read = [len(statements) for _ in pieces]
        assert len(set(read)) == len(read) >= 3


def test_logs_of_a_bot_a_ladder_and_a_span_have_the_same_form(service: Service, world: World, event: str) -> None:
    client, played = service.anonymous(), in_order(world, event)
    alone = world.play(world.bots(2), rated=True)
    everything = [*(match.id for match in played), alone.match_id]
    expected = {
        f"bots/{alone.bots[0]}": [alone.match_id],
        f"ladders/{alone.ladder_id}": everything,
        "matches": everything,
    }

    for path, ids in expected.items():
        span = {"finished_since": "2020-01-01"}
        whole = client.get(f"{API}/{path}/logs", query_string=span)
        found, remarks = packed(whole)
        assert list(found) == ids
        assert (whole.headers["Referee-Logs"], whole.headers["Referee-Deleted"]) == (str(len(ids)), "0")
        assert len(remarks) == (played[1].id in ids)  # it is void
        rest = client.get(f"{API}/{path}/logs", query_string={**span, "after": ids[0]})
        assert whole.data.endswith(rest.data)
        assert rest.headers["Referee-Logs"] == str(len(ids) - 1)
        none = client.get(f"{API}/{path}/logs", query_string={**span, "finished_before": "2020-01-02"})
        assert gzip.decompress(none.data) == b""


def test_damaged_logs_are_named_and_deleted_ones_left_out_and_counted(service: Service, world: World) -> None:
    seated = world.bots(2)
    first, second, third = (world.play(seated).match_id for _ in range(3))
    found = world.read(log_downloads.find_logs, LogSelection(bot_id=seated[0]))
    replace_log(world, first, b"")  # during the download
    replace_log(world, third, b"junk")
    meanwhile = b"".join(files.gzip_logs(world.database, found))
    with world.database.write() as session:
        session.get_one(schema.StoredMatch, first).log_deleted_at = datetime.now(UTC)

    answer = service.anonymous().get(f"{API}/bots/{seated[0]}/logs")

    assert (answer.headers["Referee-Logs"], answer.headers["Referee-Deleted"]) == ("2", "1")
    logs, remarks = packed(answer)
    assert list(logs) == list(split(gzip.decompress(meanwhile))[0]) == [second]
    assert [(remark["match"], remark["type"]) for remark in remarks] == [(third, "damaged")]


def test_E4_a_wrong_selection_is_named(service: Service) -> None:
    since = "matches/logs?finished_since"
    for path, field in {
        "matches/logs": "finished_since",
        f"{since}=now": "finished_since",
        f"{since}=2026-01-01&finished_before=": "finished_before",
        f"{since}=2026-01-01&after=mat_{'0' * 26}": "after",
        f"tournaments/trn_{'0' * 26}/logs?finished_since=2026-01-01": "finished_since",
    }.items():
        answer = service.anonymous().get(f"{API}/{path}")
        assert (answer.status_code, fields_of(answer)) == (422, {field}), path
    for path in (f"bots/bot_{'0' * 26}/logs", f"ladders/lad_{'0' * 26}/logs"):
        assert service.anonymous().get(f"{API}/{path}").status_code == 404
