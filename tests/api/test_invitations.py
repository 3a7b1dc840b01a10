"""Invitations: nobody runs a tournament or the like, and no bot of others is entered, before its owner agrees."""

from typing import Any

import pytest
from sqlalchemy import update
from werkzeug.test import TestResponse

from referee import events
from referee.accounts import co_organisers
from referee.accounts.entry_consent import EntryConsent
from referee.accounts.tables import Account
from referee.db.engine import current_time
from referee.events import AccountEvent, Event
from referee.tournaments.tables import Invitation
from referee.workflows.accounts import invitations
from tests.api.conftest import API, Person, Service, fields_of, told
from tests.api.organised import EXTRA_KINDS, KINDS, create, places
from tests.api.tournaments import drafted, entered, join, opened
from tests.database.tournaments import answer_handshakes, go_on

UNLISTED = {"rated": False, "listed": False}


def name_of(person: Person) -> str:
    return str(person.get("/accounts/me").get_json()["name"])


def waiting_for(person: Person) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = person.get("/invitations?pending=true").get_json()["items"]
    return items


def invite(person: Person, path: str, account: str) -> TestResponse:
    return person.post(f"{path}/organisers", {"account": account})


def invited(person: Person, path: str, *accounts: Person) -> list[str]:
    """Invite the accounts to run the tournament or series at ``path``, and return the ids of the invitations."""
    return [invite(person, path, account.id).get_json()["id"] for account in accounts]


def organisers_of(person: Person, path: str) -> list[str]:
    return [item["id"] for item in person.get(path).get_json()["organisers"]]


@pytest.mark.parametrize("kind", KINDS)
def test_E31_nobody_runs_anything_unasked(
    service: Service, organiser: Person, owner: Person, kind: str, reported_events: list[Event]
) -> None:
    path, stranger = places(organiser)[kind], service.person("organiser")

    first = invite(organiser, path, name_of(owner))
    twice, unknown = (invite(organiser, path, account) for account in (owner.id, "nobody here"))
    (waiting,) = waiting_for(owner)
    before = organisers_of(stranger, path), name_of(owner) in service.anonymous().get(path).text
    powerless = invite(owner, path, stranger.id).status_code
    by_others = [stranger.post(f"/invitations/{waiting['id']}/{verb}").status_code for verb in ("accept", "withdraw")]
    listed = [who.get(f"/invitations?{kind}={waiting[kind]}") for who in (organiser, stranger)]
    accepted, again = (owner.post(f"/invitations/{waiting['id']}/accept") for _ in range(2))

    shown = first.get_json()
    assert (first.status_code, shown["state"], shown["account"]) == (201, "pending", owner.id)
    assert first.headers["Location"] == f"{API}/invitations/{waiting['id']}"
    assert (twice.status_code, "asked already" in twice.get_json()["detail"]) == (409, True)
    assert fields_of(unknown) == {"account"}
    assert (waiting["kind"], waiting[kind], waiting["invited_by"]) == (kind, path.split("/")[-1], organiser.id)
    assert [answer.status_code for answer in listed] == [200, 403]
    assert [item["id"] for item in listed[0].get_json()["items"]] == [waiting["id"]]
    assert (before, powerless, by_others) == (([organiser.id], False), 403, [404, 404])
    assert (accepted.status_code, accepted.get_json()["state"]) == (200, "accepted")
    assert organisers_of(stranger, path) == [organiser.id, owner.id]
    assert (again.status_code, "is accepted" in again.get_json()["detail"]) == (409, True)
    received, decided = (events.InvitationReceived, owner), (events.InvitationDecided, organiser)
    assert [len(told(reported_events, *about)) for about in (received, decided)] == [1, 1]


def test_an_invitation_is_declined_withdrawn_and_private(service: Service, organiser: Person, owner: Person) -> None:
    path, stranger, second = f"/tournaments/{opened(organiser)}", service.person("organiser"), service.person()
    declined, withdrawn = invited(organiser, path, owner, second)
    listed = f"/invitations?tournament={path.split('/')[-1]}"

    owner.post(f"/invitations/{declined}/decline")
    pending = [item["id"] for item in organiser.get(f"{listed}&pending=true").get_json()["items"]]
    organiser.post(f"/invitations/{withdrawn}/withdraw")
    late = second.post(f"/invitations/{withdrawn}/accept")
    asked_again = [invite(organiser, path, who.id) for who in (owner, second)]
    after_all = owner.post(f"/invitations/{declined}/accept")

    assert pending == [withdrawn]
    assert (late.status_code, "is withdrawn" in late.get_json()["detail"]) == (409, True)
    assert [answer.status_code for answer in (*asked_again, after_all)] == [409, 409, 200]
    assert "declined. It can still accept" in asked_again[0].get_json()["detail"]
    assert stranger.get(listed).status_code == 403
    assert [who.get(f"/invitations/{declined}").status_code for who in (owner, organiser, stranger)] == [200, 200, 404]
    assert service.anonymous().get(f"{API}/invitations/{declined}").status_code == 401


def test_an_invitation_lapses_with_the_tournament(service: Service, organiser: Person, owner: Person) -> None:
    path, declining = f"/tournaments/{opened(organiser)}", service.person()
    invitation, declined = invited(organiser, path, owner, declining)
    declining.post(f"/invitations/{declined}/decline")

    organiser.post(f"{path}/cancel", {})
    late = owner.post(f"/invitations/{invitation}/accept")

    assert waiting_for(owner) == []
    assert (late.status_code, "is lapsed" in late.get_json()["detail"]) == (409, True)
    assert invite(organiser, path, owner.id).status_code == 409
    assert owner.get("/invitations?pending=false").get_json()["items"][0]["state"] == "lapsed"
    assert declining.get(f"/invitations/{declined}").get_json()["state"] == "lapsed"


def test_a_co_organiser_takes_over_at_last(service: Service, organiser: Person, owner: Person, admin: Person) -> None:
    path, page = f"/tournaments/{opened(organiser)}", service.anonymous()
    join(organiser, owner, path)

    alone_removed = owner.ask("DELETE", f"{path}/organisers/{organiser.id}")
    left = organiser.ask("DELETE", f"{path}/organisers/{organiser.id}")
    taken_over = owner.get(path).get_json()
    unfinished = owner.ask("DELETE", f"{path}/organisers/{owner.id}")
    owner.post(f"{path}/cancel", {})
    last = owner.ask("DELETE", f"{path}/organisers/{owner.id}")
    shown = owner.get(path).get_json()

    assert (alone_removed.status_code, left.status_code) == (403, 204)
    assert (taken_over["organiser"], [item["id"] for item in taken_over["organisers"]]) == (owner.id, [owner.id])
    assert (unfinished.status_code, "Nobody else runs" in unfinished.get_json()["detail"]) == (409, True)
    assert last.status_code == 204
    assert (shown["organiser"], shown["organisers"]) == (None, [])
    assert [page.get(f"{path}{part}").status_code for part in ("", "/organise")] == [200] * 2
    assert name_of(owner) not in page.get(path).get_data(as_text=True)
    assert admin.ask("DELETE", f"{path}/organisers/{owner.id}").status_code == 404


def test_E31_a_stranger_who_leaves_makes_nobody_responsible(service: Service, owner: Person) -> None:
    stranger = service.person()
    texts = {"description": "Buy pills.", "prizes": "none", "contact": "me"}
    path = f"/tournaments/{drafted(stranger, **UNLISTED, **texts, name='Carol cheats everybody')}"
    stranger.post(f"{path}/open")
    others = [create(stranger, kind, name="Carol again", listed=False) for kind in EXTRA_KINDS]
    for place in (path, *others):
        invite(stranger, place, owner.id)

    deleted = stranger.post("/accounts/me/delete", {"name": name_of(stranger)})

    shown = owner.get(path).get_json()
    assert deleted.status_code == 200
    assert (shown["status"], shown["name"]) == ("cancelled", f"ended tournament {path[-8:]}")
    assert [shown[text] for text in (*texts, "link")] == [None] * 4
    assert owner.id not in [item["id"] for item in shown["organisers"]]
    assert [owner.get(place).status_code for place in others] == [404] * len(others)
    assert waiting_for(owner) == []
    assert owner.post("/accounts/me/delete", {"name": name_of(owner)}).status_code == 200


def test_E31_a_tournament_with_bots_of_others_ends_if_one_insists(service: Service, organiser: Person) -> None:
    tournament_id, _ = entered(service, organiser, 2)

    insisted = organiser.post("/accounts/me/delete", {"name": name_of(organiser), "end_tournaments": True})

    assert insisted.status_code == 200
    shown = service.anonymous().get(f"{API}/tournaments/{tournament_id}").get_json()
    assert shown["status"] == "cancelled"
    assert shown["status_reason"] == "Its organiser deleted their account, and nobody else runs it."


CONSENTS = {  # for each consent: how the direct entry, a batch and an invitation are answered, and how many are entered
    EntryConsent.EVERYBODY: (200, 409, 409, 1),
    EntryConsent.ASK: (409, 409, 201, 0),
    EntryConsent.NOBODY: (403, 403, 403, 0),
}
EVENTS: dict[str, list[type[AccountEvent]]] = {
    EntryConsent.EVERYBODY: [events.BotEntered],
    EntryConsent.ASK: [events.InvitationReceived],
    EntryConsent.NOBODY: [],
}


@pytest.mark.parametrize("consent", EntryConsent)
def test_E31_bots_of_others_need_consent(
    organiser: Person, owner: Person, mine: str, consent: EntryConsent, reported_events: list[Event]
) -> None:
    path = f"/tournaments/{opened(organiser)}"
    set_ = owner.ask("PATCH", "/accounts/me", {"If-Match": "*"}, json={"entry_consent": consent})

    direct = organiser.post(f"{path}/enter", {"bot": mine})
    together = organiser.post(f"{path}/entries", {"bots": [mine]})
    asked = organiser.post(f"{path}/invitations", {"bot": mine})

    number = organiser.get(path).get_json()["entries"]["entered"]
    name, messages = owner.get(f"/bots/{mine}").get_json()["name"], told(reported_events, AccountEvent, owner)
    assert (set_.status_code, owner.get("/accounts/me").get_json()["entry_consent"]) == (200, consent)
    assert (direct.status_code, together.status_code, asked.status_code, number) == CONSENTS[consent]
    assert [(type(event), event.bot_name) for event in messages] == [(kind, name) for kind in EVENTS[consent]]
    match consent:
        case EntryConsent.ASK:
            assert direct.get_json()["code"] == "needs_acceptance"
        case EntryConsent.NOBODY:
            assert name in direct.get_json()["detail"]
            assert "Send the owner the address" in direct.get_json()["detail"]
    assert owner.post(f"{path}/enter", {"bot": mine}).status_code == (409 if number else 200)


def test_an_invitation_lapses_at_the_start(service: Service, organiser: Person, owner: Person, mine: str) -> None:
    tournament_id, _ = entered(service, organiser, 2, format="swiss", late_entry=True)
    path = f"/tournaments/{tournament_id}"
    early = organiser.post(f"{path}/invitations", {"bot": mine}).get_json()["id"]

    organiser.post(f"{path}/start")
    answer_handshakes(service.database)
    go_on(service.database, tournament_id)
    lapsed = owner.post(f"/invitations/{early}/accept")
    late = organiser.post(f"{path}/invitations", {"bot": mine}).get_json()["id"]
    joined = owner.post(f"/invitations/{late}/accept")

    assert (lapsed.status_code, "is lapsed" in lapsed.get_json()["detail"]) == (409, True)
    assert joined.status_code == 200


def test_E31_a_request_agrees_to_one_entry(organiser: Person, owner: Person, mine: str) -> None:
    path = f"/tournaments/{opened(organiser, approval=True)}"
    owner.post(f"{path}/requests", {"bot": mine})

    first = organiser.post(f"{path}/enter", {"bot": mine})
    owner.post(f"{path}/withdraw", {"bot": mine})
    again = organiser.post(f"{path}/enter", {"bot": mine})
    asked_again = owner.post(f"{path}/requests", {"bot": mine})
    refused = organiser.post(f"{path}/requests/{mine}/refuse", {})
    after_all = organiser.post(f"{path}/enter", {"bot": mine})

    assert [answer.status_code for answer in (first, asked_again, refused)] == [200, 201, 200]
    assert [answer.get_json()["code"] for answer in (again, after_all)] == ["needs_acceptance"] * 2


@pytest.fixture
def student(service: Service, admin: Person) -> Person:
    """Return an account of a class of the operator."""
    member = service.person()
    with service.database.write() as session:
        session.get_one(Account, member.id).class_of = admin.id
    return member


def test_E31_withdrawn_bots_need_consent(service: Service, organiser: Person, admin: Person, student: Person) -> None:
    for asking, withdrawing in (admin, student), (organiser, service.person(consent=EntryConsent.EVERYBODY)):
        path, bot = f"/tournaments/{opened(asking)}", {"bot": service.verified_bot(withdrawing)["id"]}
        entered_ = asking.post(f"{path}/enter", bot)
        withdrawing.post(f"{path}/withdraw", bot)
        again = asking.post(f"{path}/enter", bot)
        invited_ = asking.post(f"{path}/invitations", bot)
        accepted = withdrawing.post(f"/invitations/{invited_.get_json()['id']}/accept")
        asking.post(f"{path}/withdraw", bot)

        assert [answer.status_code for answer in (entered_, again, invited_, accepted)] == [200, 409, 201, 200]
        assert again.get_json()["code"] == "needs_acceptance"
        assert "has withdrawn it" in again.get_json()["detail"]
        assert asking.post(f"{path}/enter", bot).status_code == 200


def test_operators_enter_bots_of_a_class(
    service: Service, organiser: Person, admin: Person, student: Person, reported_events: list[Event]
) -> None:
    bot = {"bot": service.verified_bot(student)["id"]}

    ours, theirs = (person.post(f"/tournaments/{opened(person)}/enter", bot) for person in (admin, organiser))

    assert (ours.status_code, theirs.get_json()["code"]) == (200, "needs_acceptance")
    assert len(told(reported_events, events.BotEntered, student)) == 1


def test_E31_an_account_gets_few_invitations_a_day(
    service: Service, organiser: Person, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invitations, "MAX_PER_DAY", 3)
    monkeypatch.setattr(invitations, "MAX_PER_DAY_FROM_ONE", 2)

    def ask(inviter: Person) -> TestResponse:
        draft = f"/tournaments/{drafted(inviter)}"
        answer = invite(inviter, draft, owner.id)
        inviter.ask("DELETE", draft)
        return answer

    other = service.person("organiser")
    answers = [ask(organiser) for _ in range(2)]
    beyond = ask(organiser)
    answers += [ask(other)]
    full = ask(other)
    with service.database.write() as session:
        session.execute(update(Invitation).values(created_at=current_time(session).replace(year=2020)))

    assert {answer.status_code for answer in answers} == {201}
    assert (beyond.get_json()["code"], "from you" in beyond.get_json()["detail"]) == ("quota_exceeded", True)
    assert (full.get_json()["code"], "from you" in full.get_json()["detail"]) == ("quota_exceeded", False)
    assert ask(organiser).status_code == 201


def test_E31_what_was_withdrawn_is_not_asked_again(service: Service, organiser: Person, owner: Person) -> None:
    path = f"/tournaments/{opened(organiser)}"
    service.verified_bot(organiser)

    (first,) = invited(organiser, path, owner)
    organiser.post(f"/invitations/{first}/withdraw")
    soon = invite(organiser, path, owner.id)
    with service.database.write() as session:
        session.execute(update(Invitation).values(decided_at=current_time(session).replace(year=2020)))
    later = invite(organiser, path, owner.id).status_code
    owner.ask("PUT", f"/challengers/{organiser.id}", json={"verdict": "blocked"})
    blocked = invite(organiser, f"/tournaments/{opened(organiser)}", owner.id).status_code

    assert (soon.get_json()["code"], "was withdrawn" in soon.get_json()["detail"]) == ("quota_exceeded", True)
    assert (later, blocked) == (201, 403)


@pytest.mark.parametrize("kind", KINDS)
def test_E31_an_invitation_ends_with_the_power_of_who_sent_it(
    service: Service, organiser: Person, owner: Person, admin: Person, kind: str
) -> None:
    path, leaving = places(organiser)[kind], service.person("organiser")
    join(organiser, leaving, path)
    sent, declined = invited(leaving, path, owner, admin)
    admin.post(f"/invitations/{declined}/decline")

    admin.post(f"/accounts/{leaving.id}/suspend", {"reason": "spam"})
    of_suspended = owner.post(f"/invitations/{sent}/accept")
    organiser.ask("DELETE", f"{path}/organisers/{leaving.id}")
    states = [owner.get(f"/invitations/{sent}"), admin.get(f"/invitations/{declined}")]

    assert (of_suspended.status_code, "is suspended" in of_suspended.get_json()["detail"]) == (409, True)
    assert [answer.get_json()["state"] for answer in states] == ["withdrawn"] * 2
    assert organisers_of(organiser, path) == [organiser.id]


def test_E31_no_suspended_account_takes_over(service: Service, organiser: Person, owner: Person, admin: Person) -> None:
    path, second = f"/tournaments/{opened(organiser)}", service.person("organiser")
    for account in (owner, second):
        join(organiser, account, path)
    admin.post(f"/accounts/{owner.id}/suspend", {"reason": "spam"})

    first_left = organiser.ask("DELETE", f"{path}/organisers/{organiser.id}").status_code
    heir = second.get(path).get_json()["organiser"]
    second_left = second.ask("DELETE", f"{path}/organisers/{second.id}")

    assert (first_left, heir) == (204, second.id)
    assert (second_left.status_code, "Nobody else runs" in second_left.get_json()["detail"]) == (409, True)


def test_as_many_are_asked_as_may_take_part(
    service: Service, organiser: Person, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(co_organisers, "MAX_CO_ORGANISERS", 2)
    path = f"/tournaments/{opened(organiser, bots_per_owner=2)}"
    bots = [service.verified_bot(owner)["id"] for _ in range(3)]

    asked = [organiser.post(f"{path}/invitations", {"bot": bot}) for bot in bots]
    beside = [invite(organiser, path, service.person().id) for _ in range(3)]

    assert [answer.status_code for answer in asked] == [201, 201, 409]
    assert asked[2].get_json()["code"] == "quota_exceeded"
    assert [answer.status_code for answer in beside] == [201] * 2 + [409]


def test_what_is_deleted_takes_invitations_along(organiser: Person, owner: Person, mine: str) -> None:
    paths = [f"/tournaments/{drafted(organiser)}", *(create(organiser, kind) for kind in EXTRA_KINDS)]
    for path in paths:
        invite(organiser, path, owner.id)
    organiser.post(f"/tournaments/{opened(organiser)}/invitations", {"bot": mine})

    for path in paths:
        organiser.ask("DELETE", path)
    kinds = [item["kind"] for item in waiting_for(owner)]
    owner.post(f"/bots/{mine}/delete", {"name": owner.get(f"/bots/{mine}").get_json()["name"]})

    assert (kinds, waiting_for(owner)) == (["entry"], [])


def test_E26_a_token_to_play_accepts_entries(service: Service, organiser: Person, owner: Person, mine: str) -> None:
    made = owner.post("/accounts/me/tokens", {"name": "playing", "scopes": ["play"]}).get_json()
    playing = Person(service.anonymous(), owner.id, made["token"])
    path, entry = f"/tournaments/{opened(organiser)}", {"bot": mine}
    (to_run,) = invited(organiser, path, owner)
    asked, twice = (organiser.post(f"{path}/invitations", entry) for _ in range(2))
    foreign = service.person("organiser").post(f"{path}/invitations", entry)

    answers = [playing.post(f"/invitations/{one}/accept") for one in (to_run, asked.get_json()["id"])]

    shown = asked.get_json()
    assert (shown["kind"], shown["bot"], shown["account"]) == ("entry", mine, owner.id)
    assert (twice.status_code, foreign.status_code) == (409, 403)
    assert [answer.status_code for answer in answers] == [403, 200]
    assert answers[0].get_json()["code"] == "missing_scope"
    assert organiser.get(path).get_json()["entries"]["entered"] == 1
