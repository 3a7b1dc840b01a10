"""Crosstable, opponents, luck-adjusted scores and strengths of a tournament over HTTP."""

import pytest

from referee_extras.analysis import strengths
from tests.api.conftest import Person, Service
from tests.api.test_rounds import shown
from tests.api.tournaments import opened, play, started

NAMES = ("crosstable", "opponents", "luck", "strengths")


def test_the_figures_fit_the_standings(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id = started(service, organiser, 4, cycles=3)
    path = f"/tournaments/{tournament_id}"
    play(service, tournament_id, 16)

    table = shown(owner, f"{path}/standings")
    cross, met, luck, strong = (shown(owner, f"{path}/{name}") for name in NAMES)

    rows = table["items"]
    order = [row["bot"] for row in rows]
    assert {page["as_of_seq"] for page in (cross, met, luck, strong)} == {table["as_of_seq"]}
    assert [row["bot"] for row in cross["items"]] == [row["bot"] for row in met["items"]] == order
    for row, crossed, meeting in zip(rows, cross["items"], met["items"], strict=True):
        assert sum(one["points"] for one in crossed["opponents"]) == row["points"]
        assert sum(meeting["seats"]) == sum(one["matches"] for one in meeting["opponents"]) == row["matches"]
    assert sorted(row["bot"] for row in luck["items"]) == sorted(row["bot"] for row in strong["items"]) == sorted(order)
    assert [row["rank"] for row in strong["items"]] == [1, 2, 3, 4]
    assert strong["items"][0]["low"] <= strong["items"][0]["points"] <= strong["items"][0]["high"]


@pytest.mark.parametrize("name", NAMES)
def test_a_tournament_without_results_has_empty_figures(organiser: Person, name: str) -> None:
    path = f"/tournaments/{opened(organiser)}/{name}"

    assert shown(organiser, path)["items"] == []
    assert organiser.get(f"/tournaments/trn_{'0' * 26}/{name}").status_code == 404
    assert organiser.get(f"{path}?limit=0").status_code == 422
    assert organiser.get(f"{path}?cursor=x").status_code == 422


def test_a_fit_that_takes_too_long_is_refused(service: Service, owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    service.played(owner, service.person())
    ladder = shown(owner, "/ladders")["items"][0]["id"]
    monkeypatch.setattr(strengths, "MOST_FITTED_BOTS", 1)

    refused = owner.get(f"/ladders/{ladder}/strengths")
    monkeypatch.undo()
    fitted = shown(owner, f"/ladders/{ladder}/strengths?limit=1")
    rest = shown(owner, f"/ladders/{ladder}/strengths?limit=1&cursor={fitted['next']}")

    assert (refused.status_code, refused.get_json()["code"]) == (409, "too_large")
    assert (fitted["results"], fitted["left_out"], fitted["converged"]) == (1, 0, True)
    assert [fitted["items"][0]["rank"], rest["items"][0]["rank"]] == [1, 2]
    assert fitted["items"][0]["superior_to_next"] >= 0.5  # it may have been a draw
