"""Who may enter a tournament: caps, closing, codes, guests, approval; and tournaments that are in no list."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from limits import parse
from werkzeug.test import TestResponse

from referee.accounts.entry_consent import EntryConsent
from referee.db.engine import current_time
from referee.events import BotDisqualified, EntryDecided, Event, GuestsInvited, TournamentCancelled
from referee.tournaments import starting
from referee.tournaments.tables import Tournament
from tests.api.conftest import API, Person, Service, fields_of, told
from tests.api.tournaments import drafted, opened, play, started

LATER = "2099-01-01T00:00:00Z"


TWO_ROUNDS: dict[str, Any] = {"rated": False, "format": "swiss", "format_options": {"rounds": 2}}


def enter(person: Person, tournament_id: str, bot: str, **more: Any) -> int:
    return person.post(f"/tournaments/{tournament_id}/enter", {"bot": bot, **more}).status_code


def test_E10_no_race_gets_an_entry_past_the_cap(service: Service, organiser: Person) -> None:
    tournament_id = opened(organiser, max_entries=2)
    owners = [service.person() for _ in range(4)]
    bots = [(owner, str(service.verified_bot(owner)["id"])) for owner in owners]

    with ThreadPoolExecutor(len(bots)) as pool:
        answers = list(pool.map(lambda pair: enter(pair[0], tournament_id, pair[1]), bots))

    assert sorted(answers) == [200] * 2 + [409] * 2
    assert organiser.get(f"/tournaments/{tournament_id}").get_json()["entries"]["entered"] == 2


def test_a_batch_is_entered_whole_or_not_at_all_and_a_place_given_up_is_taken_by_the_next(
    service: Service, organiser: Person
) -> None:
    path = f"/tournaments/{opened(organiser, max_entries=3)}"
    bots = [willing_bot(service) for _ in range(4)]

    def enter_all(*batch: str) -> TestResponse:
        return organiser.post(f"{path}/entries", {"bots": [*batch]})

    too_many = enter_all(*bots)
    none = organiser.get(f"{path}/entries").get_json()["items"]
    entered_ = enter_all(*bots[:3]).get_json()["items"]
    twice, full = enter_all(bots[3], bots[3]), organiser.post(f"{path}/enter", {"bot": bots[3]})
    organiser.post(f"{path}/withdraw", {"bot": bots[0]})

    assert (too_many.status_code, none, twice.status_code) == (409, [], 409)
    assert [item["bot"] for item in entered_] == bots[:3]
    assert (full.status_code, full.get_json()["code"]) == (409, "quota_exceeded")
    assert "at most 3 entries" in full.get_json()["detail"]
    assert [organiser.post(f"{path}/enter", {"bot": bot}).status_code for bot in (bots[3], bots[0])] == [200, 409]


def willing_bot(service: Service) -> str:
    """Return a bot of an owner who lets organisers enter it."""
    return str(service.verified_bot(service.person(consent=EntryConsent.EVERYBODY))["id"])


def test_too_few_entries_cancel_a_tournament(
    service: Service, organiser: Person, owner: Person, mine: str, reported_events: list[Event]
) -> None:
    tournament_id = opened(organiser, starts_at=LATER, min_entries=3)
    enter(owner, tournament_id, mine)

    early = organiser.post(f"/tournaments/{tournament_id}/start")
    let_pass(service, tournament_id, "starts_at")
    with service.database.write() as session:
        starting.start_if_due(session, tournament_id)

    shown = organiser.get(f"/tournaments/{tournament_id}").get_json()
    reason = "Cancelled at its start: at least 3 bots are needed, but only 1 is entered."
    assert (early.status_code, fields_of(early)) == (422, {"entries"})
    assert (shown["status"], shown["status_reason"]) == ("cancelled", reason)
    assert shown["finished_at"] is not None
    assert [event.reason for event in told(reported_events, TournamentCancelled, owner)] == [reason]


def let_pass(service: Service, tournament_id: str, time: str) -> None:
    with service.database.write() as session:
        setattr(session.get_one(Tournament, tournament_id), time, current_time(session) - timedelta(seconds=1))


def test_entries_close_for_owners_only(service: Service, organiser: Person, owner: Person, mine: str) -> None:
    tournament_id = opened(organiser, entries_close_at=LATER)
    let_pass(service, tournament_id, "entries_close_at")

    late = owner.post(f"/tournaments/{tournament_id}/enter", {"bot": mine})

    assert (late.status_code, "Entries closed at" in late.get_json()["detail"]) == (409, True)
    assert enter(organiser, tournament_id, willing_bot(service)) == 200


def test_E5_a_join_code_is_the_organisers(service: Service, organiser: Person, owner: Person, mine: str) -> None:
    tournament_id = opened(organiser)
    path, anonymous = f"/tournaments/{tournament_id}", service.anonymous()
    put = admit(organiser, path, "Spring 2030")

    without = owner.post(f"{path}/enter", {"bot": mine})
    wrong = owner.post(f"{path}/enter", {"bot": mine, "code": "autumn2030"})
    hidden = [owner.get(f"{path}/admission").status_code, anonymous.get(f"{API}{path}/admission").status_code]
    pages = [anonymous.get(f"{path}{page}").text for page in ("", "/entries", "/organise")]
    right = owner.post(f"{path}/enter", {"bot": mine, "code": "spring-2030"})

    assert put.get_json() == {"join_code": "spring2030", "guests": []}
    assert "no-store" in put.headers["Cache-Control"]
    assert [without.status_code, wrong.status_code, *hidden, right.status_code] == [403, 403, 403, 401, 200]
    assert "needs a join code" in without.get_json()["detail"]
    assert "is wrong" in wrong.get_json()["detail"]
    for text in (owner.get(path).text, *pages):
        assert "spring2030" not in text.lower().replace(" ", "")
    assert organiser.get(path).get_json()["requires_code"] is True
    for code in ("short", "x" * 41, "with/slash", "      "):
        assert fields_of(admit(organiser, path, code)) == {"join_code"}


def admit(person: Person, path: str, code: str | None, *guests: str) -> TestResponse:
    return person.ask("PUT", f"{path}/admission", json={"join_code": code, "guests": [*guests]})


def test_guests_alone_enter_without_a_code(service: Service, organiser: Person, owner: Person, mine: str) -> None:
    path, stranger = f"/tournaments/{opened(organiser)}", service.person()
    name = owner.get("/accounts/me").get_json()["name"]

    unknown = admit(organiser, path, None, "nobody here")
    put = admit(organiser, path, None, name, owner.id)
    refused = stranger.post(f"{path}/enter", {"bot": service.verified_bot(stranger)["id"]})

    assert (unknown.status_code, fields_of(unknown)) == (422, {"guests"})
    assert put.get_json()["guests"] == [{"id": owner.id, "name": name}]
    assert (refused.status_code, "Only guests" in refused.get_json()["detail"]) == (403, True)
    assert owner.post(f"{path}/enter", {"bot": mine}).status_code == 200
    assert admit(owner, path, None).status_code == 403


def test_E8_codes_are_not_guessed(organiser: Person, owner: Person, mine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.limits.JOIN_CODES", parse("3 per minute"))
    tournament_id = opened(organiser)
    admit(organiser, f"/tournaments/{tournament_id}", "spring2030")

    answers = [enter(owner, tournament_id, mine, code=f"guess{n:03}") for n in range(4)]

    assert answers == [403] * 3 + [429]


def test_guests_are_notified_once_when_the_tournament_is_open(
    service: Service, organiser: Person, reported_events: list[Event]
) -> None:
    first, second = service.person(), service.person()
    path = f"/tournaments/{drafted(organiser)}"

    admit(organiser, path, None, first.id, organiser.id)
    while_a_draft = [*reported_events]
    organiser.post(f"{path}/open")
    for guests in ([first.id, second.id], [first.id, second.id], [first.id]):
        assert admit(organiser, path, None, *guests).status_code == 200

    assert while_a_draft == told(reported_events, GuestsInvited, organiser) == []
    assert [len(told(reported_events, GuestsInvited, guest)) for guest in (first, second)] == [1, 1]


def test_an_organiser_approves_or_refuses_each_bot(
    service: Service, organiser: Person, owner: Person, reported_events: list[Event]
) -> None:
    path = f"/tournaments/{opened(organiser, approval=True, bots_per_owner=3)}"
    good, bad, gone = (str(service.verified_bot(owner)["id"]) for _ in range(3))

    direct = owner.post(f"{path}/enter", {"bot": good})
    asked = [owner.post(f"{path}/requests", {"bot": bot}).status_code for bot in (good, bad, gone, gone)]
    before = organiser.get(path).get_json()["entries"]["entered"]
    by_owner = owner.post(f"{path}/requests/{good}/approve").status_code
    approved = organiser.post(f"{path}/requests/{good}/approve")
    refused = organiser.post(f"{path}/requests/{bad}/refuse", {"reason": "Too slow."})
    withdrawn = owner.ask("DELETE", f"{path}/requests/{gone}").status_code
    again = owner.post(f"{path}/requests", {"bot": bad})
    stranger = service.person().get(f"{path}/requests").get_json()["items"]

    assert (direct.status_code, "POST …/requests" in direct.get_json()["detail"]) == (409, True)
    assert (asked, before, by_owner, withdrawn) == ([201] * 4, 0, 403, 204)
    assert (approved.status_code, approved.get_json()["bot"]) == (200, good)
    assert refused.get_json()["reason"] == "Too slow."
    assert (again.status_code, "Too slow." in again.get_json()["detail"]) == (409, True)
    assert [item["bot"] for item in owner.get(f"{path}/requests").get_json()["items"]] == [bad]
    assert stranger == []
    decided = [(event.bot, event.approved, event.reason) for event in told(reported_events, EntryDecided, owner)]
    assert decided == [(good, True, None), (bad, False, "Too slow.")]
    assert organiser.post(f"{path}/requests/{gone}/approve").status_code == 404
    assert organiser.post(f"{path}/invitations", {"bot": bad}).status_code == 201  # the organiser may change their mind


def test_E10_two_approvals_of_the_last_place_fill_it_once(service: Service, organiser: Person) -> None:
    path = f"/tournaments/{opened(organiser, approval=True, max_entries=2)}"
    bots = []
    for _ in range(4):
        owner = service.person()
        bots.append(str(service.verified_bot(owner)["id"]))
        assert owner.post(f"{path}/requests", {"bot": bots[-1]}).status_code == 201

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda bot: organiser.post(f"{path}/requests/{bot}/approve").status_code, bots))

    assert sorted(answers) == [200] * 2 + [409] * 2


def test_an_unlisted_one_is_in_no_list(service: Service, organiser: Person, owner: Person, admin: Person) -> None:
    tournament_id = started(service, organiser, rated=False, listed=False, name="Hidden class cup")
    play(service, tournament_id, matches=2)
    client = service.anonymous()
    matches = client.get(f"{API}/tournaments/{tournament_id}/matches").get_json()["items"]
    bot = matches[-1]["seats"][0]["bot"]

    paths = ("tournaments", "matches", "search?q=hidden", "now", "voids", f"matches?bot={bot}")
    pages = (
        "",
        "tournaments",
        "matches",
        "search?q=hidden",
        "games/saint-poker",
        f"bots/{bot}",
        f"bots/{bot}/feed.atom",
    )
    for path in (*(f"{API}/{path}" for path in paths), *(f"/{page}" for page in pages)):
        text = client.get(path).text
        assert "Hidden class cup" not in text, path
        assert tournament_id not in text, path
    page = client.get(f"/tournaments/{tournament_id}").text
    assert "Hidden class cup" in page
    assert '<meta name="robots" content="noindex">' in page
    assert len(matches) == 3
    listed = [person.get("/tournaments").get_json()["items"] for person in (organiser, admin, owner)]
    assert [[item["id"] for item in items] for items in listed] == [[tournament_id], [tournament_id], []]


def test_a_disqualification_is_public(
    service: Service, organiser: Person, owner: Person, mine: str, reported_events: list[Event]
) -> None:
    tournament_id = opened(organiser)
    path = f"/tournaments/{tournament_id}"
    owner.post(f"{path}/enter", {"bot": mine})

    without = organiser.post(f"{path}/disqualify", {"bot": mine})
    by_owner = owner.post(f"{path}/disqualify", {"bot": mine, "reason": "x"}).status_code
    done = organiser.post(f"{path}/disqualify", {"bot": mine, "reason": "Two names."})
    back = owner.post(f"{path}/enter", {"bot": mine})
    page = service.anonymous().get(f"{path}/entries").get_data(as_text=True)
    acts = organiser.get(f"/acts?tournament={tournament_id}&kind=entry.disqualified").get_json()["items"]

    assert (without.status_code, fields_of(without), by_owner, done.status_code) == (422, {"reason"}, 403, 200)
    assert done.get_json()["disqualification_reason"] == "Two names."
    assert (back.status_code, "disqualified: Two names." in back.get_json()["detail"]) == (409, True)
    assert "Two names." in page
    assert [event.reason for event in told(reported_events, BotDisqualified, owner)] == ["Two names."]
    assert [(act["object"], act["reason"]) for act in acts] == [(mine, "Two names.")]


def test_a_page_counts_down_to_the_round_that_waits(service: Service, organiser: Person) -> None:
    path = f"/tournaments/{started(service, organiser, 4, **TWO_ROUNDS, round_minutes=60)}"
    play(service, path.split("/")[-1])

    assert organiser.get(path).get_json()["next_round_at"] is not None
    page = service.anonymous().get(path).text
    assert "data-until=" in page
    assert "2 starts in" in page


def test_rounds_at_given_times_are_set_shown_and_changed(service: Service, organiser: Person) -> None:
    times = ["2090-05-01T18:00:00+02:00", "2090-05-08T18:00:00+02:00"]
    utc = ["2090-05-01T16:00:00.000Z", "2090-05-08T16:00:00.000Z"]
    path = f"/tournaments/{started(service, organiser, 4, **TWO_ROUNDS, round_times=times)}"
    shown = organiser.get(path).get_json()

    def change(wanted: list[str]) -> Any:
        return organiser.ask("PATCH", path, {"If-Match": "*"}, json={"round_times": wanted}).get_json()

    for wrong in ([], times[:1], times[::-1], ["2090-05-01T18:00:00", times[1]], ["2020-05-01T18:00:00Z", times[1]]):
        assert "round_times" in change(wrong)["errors"][0]["field"]
    changed = change([times[0], "2090-05-09T16:00:00Z"])
    page = service.anonymous().get(path).text

    assert (shown["round_times"], shown["next_round_at"]) == (utc, utc[0])
    assert changed["round_times"] == [utc[0], "2090-05-09T16:00:00.000Z"]
    assert all(words in page for words in ("round 1 starts in", "Round times", "2090-05-09T16:00"))
