"""`referee tournament` for organisers: announcements, entries under conditions, and what follows from them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.cli.service.api_client import Api
from tests.cli.hall import Hall, api_hall

SHORT = ("--game", "saint-poker", "--seats", "2", "--option", "rounds=1")


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with api_hall(tmp_path_factory.mktemp("hall")) as opened:
        yield opened


def test_entries_need_a_code_or_the_approval_of_the_organiser(there: Hall) -> None:
    event = there.json("create", "Students cup", *SHORT, "--max-entries", "2", "--bots-per-owner", "4", "--open")["id"]
    with Api(there.url, there.token) as organiser:
        organiser.send("PUT", f"/api/v1/tournaments/{event}/admission", {"join_code": "spring 2030", "guests": []})
    without = there.says("enter", event, "Ada sound", token=there.owner, status=1).stderr
    there.says("enter", event, "Ada sound", "--code", "Spring-2030", token=there.owner)
    shown = there.says("show", event).stdout
    asking = there.json("create", "Chosen cup", *SHORT, "--approval", "--unrated", "--unlisted", "--open")["id"]
    asked = there.says("enter", asking, "Ada sound", token=there.owner).stdout
    with Api(there.url, there.token) as organiser:
        (request,) = organiser.items(f"/tournaments/{asking}/requests")
    hidden = [tournament["id"] for tournament in there.json("list", token="")["items"]]

    assert "needs a join code" in without
    assert re.search(r"max entries +2\n", shown)
    assert re.search(r"join code +required\n", shown)
    assert asked == "Ada sound: requested\n"
    assert request["bot"] == there.bots["Ada sound"]
    assert asking not in hidden
    assert event in hidden


def test_all_bots_that_are_left_are_entered_by_one_option(there: Hall) -> None:
    event = there.json("create", "Everybody", *SHORT, "--bots-per-owner", "4", "--open")["id"]
    there.says("enter", event, "Ada sound")
    neither = there.says("enter", event, status=2).stderr
    both = there.says("enter", event, "Ada sound", "--all", status=2).stderr
    said = there.says("enter", event, "--all").stdout
    again = there.says("enter", event, "--all", status=1).stderr

    bots = {entry["name"] for entry in there.json("show", event)["entered"]}
    assert "Name one or more bots, or pass --all." in neither
    assert "Name one or more bots, or pass --all." in both
    assert {f"{name}: entered" for name in bots - {"Ada sound"}} == set(said.splitlines())
    assert len(bots) > 2
    assert again == "Error: No verified bot that plays saint-poker is left to enter.\n"


def test_owners_are_asked_or_left_out_when_all_bots_are_entered(there: Hall) -> None:
    event = there.json("create", "Polite cup", *SHORT, "--bots-per-owner", "4", "--open")["id"]

    there.as_owner("api", "PATCH", "/accounts/me", "entry_consent=nobody")
    skipped = there.says("enter", event, "--all")
    refused = there.says("enter", event, "Ada sound", status=1).stderr
    there.as_owner("api", "PATCH", "/accounts/me", "entry_consent=ask")
    asked = there.says("enter", event, "--all").stdout
    again = there.says("enter", event, "--all").stderr
    (invitation,) = json.loads(there.as_owner("api", "/invitations?pending=true"))["items"]
    there.as_owner("api", "POST", f"/invitations/{invitation['id']}/accept")
    entered = {entry["name"] for entry in there.json("show", event)["entered"]}
    withdrawn = there.as_owner("tournament", "withdraw", event, "Ada sound")
    there.as_owner("api", "PATCH", "/accounts/me", "entry_consent=everybody")

    assert "Ada sound" not in skipped.stdout
    assert "Ada sound: skipped; The owner of 'Ada sound' lets no organiser enter it." in skipped.stderr
    assert "Send the owner the address" in refused
    assert asked == "Ada sound: asked, its owner decides\n"
    assert "Ada sound: skipped; The account was asked already" in again
    assert "Ada sound" in entered
    assert withdrawn == "Ada sound: withdrawn\n"


def test_all_bots_are_not_left_out_for_a_reason_that_does_not_concern_single_bots(there: Hall) -> None:
    event = there.json("create", "Strict cup", *SHORT, "--open")["id"]
    with Api(there.url, there.token) as organiser:
        playing = organiser.post("/accounts/me/tokens", {"name": "playing", "scopes": ["play"]})["token"]

    without_scope = there.says("enter", event, "--all", token=playing, status=1)
    by_owner = there.says("enter", event, "--all", token=there.owner, status=1)
    there.says("cancel", event, "--reason", "It rained.")
    closed = there.says("enter", event, "--all", status=1)

    assert "skipped" not in without_scope.stderr + by_owner.stderr + closed.stderr
    assert "token with the scope `organise`" in without_scope.stderr
    assert by_owner.stdout == "Ada sound: entered\n"
    assert "is cancelled" in closed.stderr
    assert re.search(r"reason +It rained\.\n", there.says("show", event).stdout)


def test_terms_are_options_that_replace_those_of_a_preset_and_are_shown(there: Hall, tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("# Welcome\n\nBring *one* bot.\n")
    preset = ("--preset", "club_night", "--format-option", "rounds=2", "--budget-ms", "700")
    texts = ("--description-file", str(tmp_path / "text.md"), "--prizes", "A mug", "--contact", "Ada")
    times = ("--round-time", "2090-05-01T18:00:00+02:00", "--round-time", "2090-05-02T18:00:00+02:00")

    draft = there.json("create", "Slow cup", *SHORT, *preset, *texts, *times, "--link", "https://example.org/")
    shown = there.says("show", "Slow cup").stdout
    refused = there.says("create", "Bad link", *SHORT, "--link", "javascript:alert(1)", status=1).stderr

    assert (draft["format"], draft["format_options"], draft["rated"]) == ("swiss", {"rounds": 2}, False)
    assert draft["time"] == {"budget_ms": 700, "bank_ms": 10_000}
    assert draft["round_times"] == ["2090-05-01T16:00:00.000Z", "2090-05-02T16:00:00.000Z"]
    assert re.search(r"  # Welcome\n(  )?\n  Bring \*one\* bot\.", shown)
    assert "A mug" in shown
    assert "round times" in shown
    assert refused.startswith("Error: --link: must ")
