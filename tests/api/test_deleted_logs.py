"""What people see of a match whose log is no longer kept: a clear answer, and everything else."""

import pytest

from referee.matches.logs import log_pruning
from referee.matches.tables import Result
from tests.api.conftest import Service

HTML = {"Accept": "text/html"}
API = "/api/v1/matches"


@pytest.fixture
def deleted(service: Service) -> Result:
    """Return the result of a match whose log was deleted."""
    result = service.played(service.person(), service.person())
    with service.database.write() as session:
        log_pruning.delete_logs(session, [result.match_id], "logs of official ladders are kept for 7 days")
    return result


@pytest.mark.parametrize("path", ["log", "verification", "decisions/3"])
def test_the_log_is_gone_and_the_answer_says_why(service: Service, deleted: Result, path: str) -> None:
    answer = service.anonymous().get(f"{API}/{deleted.match_id}/{path}")

    assert (answer.status_code, answer.get_json()["code"]) == (410, "log_deleted")
    detail = answer.get_json()["detail"]
    assert "after the time for which this service keeps logs (logs of official ladders are kept for 7 days)" in detail


def test_the_match_says_when_and_its_page_shows_everything_else(service: Service, deleted: Result) -> None:
    client = service.anonymous()

    match = client.get(f"{API}/{deleted.match_id}").get_json()
    page = client.get(f"/matches/{deleted.match_id}", headers=HTML).get_data(as_text=True)

    assert match["log_deleted_at"] is not None
    assert [seat["placement"] for seat in match["seats"]] == deleted.placements
    assert "The log was deleted on" in page
    assert deleted.digest in page or "digest" in page
    assert 'id="viewer"' not in page
    assert "match.js" not in page
    assert f"{deleted.match_id}/log" not in page
    assert all(seat["name"] in page for seat in match["seats"])


def test_a_match_whose_log_is_kept_has_no_date(service: Service) -> None:
    result = service.played(service.person(), service.person())

    assert service.anonymous().get(f"{API}/{result.match_id}").get_json()["log_deleted_at"] is None
