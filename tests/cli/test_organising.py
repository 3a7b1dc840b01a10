"""`referee tournament` for organisers: announcements, entries under conditions, and what follows from them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.cli.api_client import Api
from tests.cli.hall import Hall, hall

SHORT = ("--game", "saint-poker", "--seats", "2", "--option", "rounds=1")


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with hall(tmp_path_factory.mktemp("hall")) as opened:
        yield opened


def test_a_preset_is_a_draft_that_can_be_changed_and_deleted(there: Hall) -> None:
    draft = there.json(
        "create", "Quick cup", *SHORT, "--preset", "club_night", "--format-option", "rounds=2", "--budget-ms", "700"
    )
    there.says("open", draft["id"])
    renamed = there.says("edit", draft["id"], "--name", "Slow cup", "--max-entries", "8", "--approval").stdout
    refused = there.says("delete", draft["id"], status=1).stderr
    second = there.json("create", "Never open", *SHORT)["id"]

    assert (draft["format"], draft["format_options"], draft["rated"]) == ("swiss", {"rounds": 2}, False)
    assert draft["time"] == {"budget_ms": 700, "bank_ms": 10_000}
    assert renamed == "Slow cup is changed: approval, max_entries, name\n"
    assert "is open, not draft" in refused
    assert there.says("delete", second).stdout == f"{second} is deleted\n"
    there.says("show", second, status=1)


def test_entries_need_a_code_or_the_approval_of_the_organiser(there: Hall) -> None:
    event = there.json("create", "Students cup", *SHORT, "--max-entries", "2", "--bots-per-owner", "4", "--open")["id"]
    said = there.says("admission", event, "--code", "spring 2030", "--guest", "Owner of Blaise sound").stdout
    without = there.says("enter", event, "Ada sound", token=there.owner, status=1).stderr
    there.says("enter", event, "Ada sound", "--code", "Spring-2030", token=there.owner)
    shown = there.says("show", event).stdout
    opened = there.json("admission", event, "--no-code", "--no-guests")

    asking = there.json("create", "Chosen cup", *SHORT, "--approval", "--unrated", "--unlisted", "--open")["id"]
    asked = there.says("enter", asking, "Ada sound", token=there.owner).stdout
    listed = there.says("requests", asking).stdout
    there.says("approve", asking, "Ada sound")
    hidden = [tournament["id"] for tournament in there.json("list", token="")["items"]]

    assert said == "join code: spring2030\nguests: Owner of Blaise sound\n"
    assert "needs a join code" in without
    assert "at most 2, with a join code, by guests" in shown
    assert opened == {"join_code": None, "guests": []}
    assert asked == "Ada sound: requested\n"
    assert "waits" in listed
    assert there.json("show", asking)["entries"]["entered"] == 1
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

    unwilling = there.as_owner("account", "entries", "nobody")
    skipped = there.says("enter", event, "--all")
    refused = there.says("enter", event, "Ada sound", status=1).stderr
    there.as_owner("account", "entries", "ask")
    asked = there.says("enter", event, "--all").stdout
    again = there.says("enter", event, "--all").stderr
    (invitation,) = json.loads(there.as_owner("invitations", "list", "--json"))["items"]
    said = there.as_owner("invitations", "accept", invitation["id"])
    entered = {entry["name"] for entry in there.json("show", event)["entered"]}
    withdrawn = there.as_owner("tournament", "withdraw", event, "Ada sound")
    there.as_owner("account", "entries", "everybody")

    assert unwilling == "organisers may enter your bots: nobody\n"
    assert "Ada sound" not in skipped.stdout
    assert "Ada sound: skipped; The owner of 'Ada sound' lets no organiser enter it." in skipped.stderr
    assert "Send the owner the address" in refused
    assert asked == "Ada sound: asked, its owner decides\n"
    assert "Ada sound: skipped; The account was asked already" in again
    assert said == "Ada sound is entered in Polite cup\n"
    assert "Ada sound" in entered
    assert withdrawn == "Ada sound: withdrawn\n"


def test_all_bots_are_not_left_out_for_a_reason_that_does_not_concern_single_bots(there: Hall) -> None:
    event = there.json("create", "Strict cup", *SHORT, "--open")["id"]
    with Api(there.up.url, there.token) as organiser:
        playing = organiser.post("/accounts/me/tokens", {"name": "playing", "scopes": ["play"]})["token"]

    without_scope = there.says("enter", event, "--all", token=playing, status=1)
    by_owner = there.says("enter", event, "--all", token=there.owner, status=1)
    there.says("cancel", event)
    closed = there.says("enter", event, "--all", status=1)

    assert "skipped" not in without_scope.stderr + by_owner.stderr + closed.stderr
    assert "token with the scope `organise`" in without_scope.stderr
    assert by_owner.stdout == "Ada sound: entered\n"
    assert "is cancelled" in closed.stderr


def test_a_co_organiser_is_invited_accepts_and_leaves(there: Hall) -> None:
    event = there.json("create", "Shared cup", *SHORT)["id"]
    note = there.says("organisers", event, "--invite", "Owner of Ada sound", "--invite", "Owner of Carl random").stderr
    by_organiser = invitations_of(there, event)
    carl = next(item["id"] for item in by_organiser if item["account_name"] == "Owner of Carl random")
    environment = {"REFEREE_URL": there.up.url, "REFEREE_TOKEN": there.token}
    withdrawn = CliRunner().invoke(main, ["invitations", "withdraw", carl], env=environment).stdout
    (waiting,) = json.loads(there.as_owner("invitations", "list", "--json"))["items"]
    there.as_owner("invitations", "accept", waiting["id"])
    there.as_owner("tournament", "open", event)
    there.as_owner("tournament", "cancel", event)
    left = there.as_owner("tournament", "organisers", event, "--remove", "Owner of Ada sound")

    assert note == "Owner of Ada sound is invited.\nOwner of Carl random is invited.\n"
    assert withdrawn == f"{carl} is withdrawn\n"
    assert "Owner of Ada sound" not in left


def invitations_of(there: Hall, event: str) -> list[dict[str, str]]:
    """Return the invitations of a tournament as its organiser sees them."""
    environment = {"REFEREE_URL": there.up.url, "REFEREE_TOKEN": there.token}
    done = CliRunner().invoke(main, ["invitations", "list", "--tournament", event, "--json"], env=environment)
    items: list[dict[str, str]] = json.loads(done.stdout)["items"]
    return items


def test_a_tournament_is_announced_and_the_announcement_is_changed(there: Hall, tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    text.write_text("# Welcome\n\nBring *one* bot.\n")
    options = (
        "--description-file",
        str(text),
        "--prizes",
        "A mug",
        "--contact",
        "Ada",
        "--link",
        "https://example.org/",
    )

    event = there.json("create", "Announced cup", *SHORT, *options)["id"]
    shown = there.says("show", event).stdout
    there.says("edit", event, "--prizes", "Two mugs", "--contact", "")
    again = there.json("show", event)
    refused = there.says("edit", event, "--link", "javascript:alert(1)", status=1).stderr

    assert "  # Welcome\n  \n  Bring *one* bot." in shown or "  # Welcome\n\n  Bring *one* bot." in shown
    assert "A mug" in shown
    assert (again["prizes"], again["contact"], again["link"]) == ("Two mugs", None, "https://example.org/")
    assert refused.startswith("Error: --link: must ")
