"""Crosstable, opponents, luck-adjusted scores and strengths of a tournament over HTTP."""

import pytest

from tests.api.conftest import Person, Service
from tests.api.test_standings import shown
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
