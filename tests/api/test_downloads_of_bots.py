"""Downloads of the logs of a bot, of a ladder and of a span of time: which logs they contain."""

import gzip
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select, update

from api.downloads import files
from referee import schema
from referee.match.verification import verify
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogSelection
from tests.api.conftest import API, Service, fields_of
from tests.api.test_downloads import finish_event, in_order, split
from tests.database.world import World

Json = dict[str, Any]


@pytest.fixture
def world(service: Service) -> World:
    return World(service.database)


@pytest.fixture
def event(world: World) -> str:
    return finish_event(world)


def test_the_logs_of_a_bot_a_ladder_and_a_span_have_the_form_of_an_events(
    service: Service, world: World, event: str
) -> None:
    client, played = service.anonymous(), in_order(world, event)
    alone = world.play(world.bots(2), rated=True)
    with world.database.read() as session:
        bots = list(session.scalars(select(schema.Result.bots).order_by(schema.Result.seq)))
    seat = bots[0][0]
    of_seat = [match.id for match, seats in zip(played, bots, strict=False) if seat in seats]
    ladder = f"{API}/ladders/{alone.ladder_id}"
    paths = {
        f"{API}/bots/{seat}": of_seat,
        ladder: [*(match.id for match in played), alone.match_id],
        f"{API}/matches": [*(match.id for match in played), alone.match_id],
    }

    for path, expected in paths.items():
        span = {"finished_since": "2020-01-01"}
        packed = client.get(f"{path}/logs", query_string=span)
        found, remarks = split(gzip.decompress(packed.data))
        assert list(found) == expected
        assert all(verify(lines).ok for lines in found.values())
        assert (packed.headers["Referee-Logs"], packed.headers["Referee-Deleted"]) == (str(len(expected)), "0")
        assert len(remarks) == (played[1].id in expected)  # it is void
        rest = client.get(f"{path}/logs", query_string={**span, "after": expected[0]})
        assert packed.data.endswith(rest.data)
        assert rest.headers["Referee-Logs"] == str(len(expected) - 1)
        none = client.get(f"{path}/logs", query_string={**span, "finished_before": "2020-01-02"})
        assert gzip.decompress(none.data) == b""


def test_deleted_logs_are_left_out_and_counted(service: Service, world: World) -> None:
    seated, client = world.bots(2), service.anonymous()
    first, second = (world.play(seated).match_id for _ in range(2))
    with world.database.write() as session:
        session.execute(
            update(schema.StoredMatch).where(schema.StoredMatch.id == first).values(log_deleted_at=datetime.now(UTC))
        )
        emptied = {"gzip_log": b"", "reveal_line": None}
        session.execute(update(schema.MatchLog).where(schema.MatchLog.match_id == first).values(**emptied))

    answer = client.get(f"{API}/bots/{seated[0]}/logs")

    assert (answer.headers["Referee-Logs"], answer.headers["Referee-Deleted"]) == ("1", "1")
    assert list(split(gzip.decompress(answer.data))[0]) == [second]


def test_a_log_deleted_during_a_download_is_left_out(world: World) -> None:
    seated = world.bots(2)
    first, second = (world.play(seated).match_id for _ in range(2))
    with world.database.read() as session:
        found = log_downloads.find_logs(session, LogSelection(bot_id=seated[0]))
    with world.database.write() as session:
        emptied = {"gzip_log": b"", "reveal_line": None}
        session.execute(update(schema.MatchLog).where(schema.MatchLog.match_id == first).values(**emptied))

    assert list(split(gzip.decompress(b"".join(files.gzip_logs(world.database, found))))[0]) == [second]


@pytest.mark.parametrize(
    ("path", "status", "fields"),
    [
        ("matches/logs", 422, {"finished_since"}),
        ("matches/logs?finished_since=now", 422, {"finished_since"}),
        ("matches/logs?finished_since=2026-01-01&finished_before=", 422, {"finished_before"}),
        (f"matches/logs?finished_since=2026-01-01&after=mat_{'0' * 26}", 422, {"after"}),
        (f"bots/bot_{'0' * 26}/logs", 404, set()),
        (f"ladders/lad_{'0' * 26}/logs", 404, set()),
        (f"tournaments/trn_{'0' * 26}/logs?finished_since=2026-01-01", 422, {"finished_since"}),
    ],
)
def test_E4_a_wrong_selection_is_named(service: Service, path: str, status: int, fields: set[str]) -> None:
    answer = service.anonymous().get(f"{API}/{path}")

    assert answer.status_code == status
    assert status == 404 or fields_of(answer) == fields
