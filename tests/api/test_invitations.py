"""Invitations: nobody runs a tournament or the like, and no bot of others is entered, before its owner agrees."""

from typing import Any

import pytest
from sqlalchemy import update

from referee.accounts.entry_consent import EntryConsent
from referee.db.engine import current_time
from referee.tournaments.tables import Invitation
from referee.workflows.accounts.invitations import MAX_PER_DAY, MAX_PER_DAY_FROM_ONE
from tests.api.conftest import API, Person, Service, fields_of
from tests.api.organised import EXTRA_KINDS, KINDS, create, places
from tests.api.tournaments import CUP, drafted, entered, join, opened
from tests.database.tournaments import answer_handshakes, go_on

UNLISTED = {**CUP, "rated": False, "listed": False}


def name_of(person: Person) -> str:
    return str(person.get("/accounts/me").get_json()["name"])


def inbox_of(person: Person) -> list[tuple[str, str]]:
    items = person.get("/accounts/me/inbox").get_json()["items"]
    return [(item["event"], item["text"]) for item in items]


def waiting_for(person: Person) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = person.get("/invitations?pending=true").get_json()["items"]
    return items


def organisers_of(person: Person, path: str) -> list[str]:
    return [item["id"] for item in person.get(path).get_json()["organisers"]]


@pytest.mark.parametrize("kind", KINDS)
def test_E31_nobody_runs_a_tournament_or_the_like_before_they_accept(
    service: Service, organiser: Person, owner: Person, kind: str
) -> None:
    path, stranger = places(organiser)[kind], service.person("organiser")

    invited = organiser.post(f"{path}/organisers", {"account": name_of(owner)})
    twice = organiser.post(f"{path}/organisers", {"account": owner.id})
    unknown = organiser.post(f"{path}/organisers", {"account": "nobody here"})
    (waiting,) = waiting_for(owner)
    before = organisers_of(stranger, path), name_of(owner) in service.anonymous().get(path).get_data(as_text=True)
    powerless = owner.post(f"{path}/organisers", {"account": stranger.id}).status_code
    by_others = [stranger.post(f"/invitations/{waiting['id']}/{verb}").status_code for verb in ("accept", "withdraw")]
    accepted = owner.post(f"/invitations/{waiting['id']}/accept")
    again = owner.post(f"/invitations/{waiting['id']}/accept")

    assert (invited.status_code, invited.get_json()["state"], invited.get_json()["account"]) == (
        201,
        "pending",
        owner.id,
    )
    assert invited.headers["Location"] == f"{API}/invitations/{waiting['id']}"
    assert (twice.status_code, "asked already" in twice.get_json()["detail"]) == (409, True)
    assert fields_of(unknown) == {"account"}
    assert (waiting["kind"], waiting[kind], waiting["invited_by"]) == (kind, path.split("/")[-1], organiser.id)
    assert before == ([organiser.id], False)
    assert powerless == 403
    assert by_others == [404, 404]
    assert (accepted.status_code, accepted.get_json()["state"]) == (200, "accepted")
    assert organisers_of(stranger, path) == [organiser.id, owner.id]
    assert (again.status_code, "is accepted" in again.get_json()["detail"]) == (409, True)
    assert [event for event, _ in inbox_of(owner)] == ["invitation.received"]
    assert [event for event, _ in inbox_of(organiser)] == ["invitation.decided"]


def test_an_invitation_is_declined_withdrawn_and_seen_by_those_concerned_only(
    service: Service, organiser: Person, owner: Person
) -> None:
    path, stranger, second = places(organiser)["tournament"], service.person("organiser"), service.person()
    declined, withdrawn = (
        organiser.post(f"{path}/organisers", {"account": who.id}).get_json()["id"] for who in (owner, second)
    )
    listed = f"/invitations?tournament={path.split('/')[-1]}"

    owner.post(f"/invitations/{declined}/decline")
    pending = [item["id"] for item in organiser.get(f"{listed}&pending=true").get_json()["items"]]
    organiser.post(f"/invitations/{withdrawn}/withdraw")
    late = second.post(f"/invitations/{withdrawn}/accept")
    asked_again = [organiser.post(f"{path}/organisers", {"account": who.id}) for who in (owner, second)]
    after_all = owner.post(f"/invitations/{declined}/accept")

    assert pending == [withdrawn]
    assert (late.status_code, "is withdrawn" in late.get_json()["detail"]) == (409, True)
    assert [answer.status_code for answer in asked_again] == [409, 409]
    assert "declined. It can still accept" in asked_again[0].get_json()["detail"]
    assert after_all.status_code == 200
    assert stranger.get(listed).status_code == 403
    assert [who.get(f"/invitations/{declined}").status_code for who in (owner, organiser, stranger)] == [200, 200, 404]
    assert service.anonymous().get(f"{API}/invitations/{declined}").status_code == 401


def test_an_invitation_to_organise_lapses_with_the_tournament(
    service: Service, organiser: Person, owner: Person
) -> None:
    path = places(organiser)["tournament"]
    declining = service.person()
    invitation, declined = (
        organiser.post(f"{path}/organisers", {"account": who.id}).get_json()["id"] for who in (owner, declining)
    )
    declining.post(f"/invitations/{declined}/decline")

    organiser.post(f"{path}/cancel", {})
    late = owner.post(f"/invitations/{invitation}/accept")
    again = organiser.post(f"{path}/organisers", {"account": owner.id})

    assert waiting_for(owner) == []
    assert (late.status_code, "is lapsed" in late.get_json()["detail"]) == (409, True)
    assert again.status_code == 409
    assert owner.get("/invitations?pending=false").get_json()["items"][0]["state"] == "lapsed"
    assert declining.get(f"/invitations/{declined}").get_json()["state"] == "lapsed"


def test_organisers_leave_also_when_it_is_over_and_a_co_organiser_takes_over(
    service: Service, organiser: Person, owner: Person, admin: Person
) -> None:
    path, page = places(organiser)["tournament"], service.anonymous()
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
    assert [page.get(f"{path}{part}").status_code for part in ("", "/organise", "/hall")] == [200] * 3
    assert name_of(owner) not in page.get(path).get_data(as_text=True)
    assert admin.ask("DELETE", f"{path}/organisers/{owner.id}").status_code == 404


def test_E31_a_stranger_who_leaves_makes_nobody_responsible(service: Service, owner: Person) -> None:
    stranger = service.person()
    terms = {
        **UNLISTED,
        "name": "Carol cheats everybody",
        "description": "Buy pills.",
        "prizes": "none",
        "contact": "me",
    }
    path = f"/tournaments/{stranger.post('/tournaments', terms).get_json()['id']}"
    stranger.post(f"{path}/open")
    others = [create(stranger, kind, name="Carol again", listed=False) for kind in EXTRA_KINDS]
    for place in (path, *others):
        stranger.post(f"{place}/organisers", {"account": owner.id})

    deleted = stranger.post("/accounts/me/delete", {"name": name_of(stranger)})

    shown = owner.get(path).get_json()
    assert deleted.status_code == 200
    assert (shown["status"], shown["name"]) == ("cancelled", f"ended tournament {path[-8:]}")
    assert [shown[text] for text in ("description", "prizes", "contact", "link")] == [None] * 4
    assert owner.id not in [item["id"] for item in shown["organisers"]]
    assert [owner.get(place).status_code for place in others] == [404] * len(others)
    assert waiting_for(owner) == []
    assert {text.split(" asks ")[0] for _, text in inbox_of(owner)} == {f"deleted account {stranger.id[-8:]}"}
    assert not any("cheats" in text for _, text in inbox_of(owner))
    assert owner.post("/accounts/me/delete", {"name": name_of(owner)}).status_code == 200


def test_E31_a_tournament_with_bots_of_others_ends_only_if_its_organiser_insists(
    service: Service, organiser: Person
) -> None:
    tournament_id, _ = entered(service, organiser, 2)
    body = {"name": name_of(organiser)}

    alone = organiser.post("/accounts/me/delete", body)
    insisted = organiser.post("/accounts/me/delete", {**body, "end_tournaments": True})

    assert (alone.status_code, tournament_id in alone.get_json()["detail"]) == (409, True)
    assert "end_tournaments" in alone.get_json()["detail"]
    assert insisted.status_code == 200
    shown = service.anonymous().get(f"{API}/tournaments/{tournament_id}").get_json()
    assert (shown["status"], shown["status_reason"]) == (
        "cancelled",
        "Its organiser deleted their account, and nobody else runs it.",
    )


def test_E31_who_agreed_to_organise_takes_over(service: Service, organiser: Person, owner: Person) -> None:
    paths = places(organiser)
    for path in paths.values():
        join(organiser, owner, path)

    deleted = organiser.post("/accounts/me/delete", {"name": name_of(organiser)})

    assert deleted.status_code == 200
    assert [organisers_of(owner, path) for path in paths.values()] == [[owner.id]] * len(paths)
    assert owner.get(paths["tournament"]).get_json()["status"] == "open"


@pytest.mark.parametrize("consent", EntryConsent)
def test_E31_an_organiser_enters_bots_of_others_only_if_the_owner_lets_them(
    service: Service, organiser: Person, owner: Person, mine: str, consent: EntryConsent
) -> None:
    path = f"/tournaments/{opened(organiser)}"
    set_ = owner.ask("PATCH", "/accounts/me", {"If-Match": "*"}, json={"entry_consent": consent})

    direct = organiser.post(f"{path}/enter", {"bot": mine})
    together = organiser.post(f"{path}/entries", {"bots": [mine]})
    asked = organiser.post(f"{path}/invitations", {"bot": mine})

    number = organiser.get(path).get_json()["entries"]["entered"]
    assert (set_.status_code, owner.get("/accounts/me").get_json()["entry_consent"]) == (200, consent)
    bot_name = owner.get(f"/bots/{mine}").get_json()["name"]
    match consent:
        case EntryConsent.EVERYBODY:
            assert (direct.status_code, together.status_code, asked.status_code, number) == (200, 409, 409, 1)
            ((event, text),) = inbox_of(owner)
            assert (event, "You can withdraw it" in text, bot_name in text) == ("tournament.entered", True, True)
        case EntryConsent.ASK:
            assert (direct.status_code, together.status_code, asked.status_code, number) == (409, 409, 201, 0)
            assert direct.get_json()["code"] == "needs_acceptance"
            assert [event for event, _ in inbox_of(owner)] == ["invitation.received"]
        case EntryConsent.NOBODY:
            assert (direct.status_code, together.status_code, asked.status_code, number) == (403, 403, 403, 0)
            assert bot_name in direct.get_json()["detail"]
            assert "Send the owner the address" in direct.get_json()["detail"]
            assert inbox_of(owner) == []
    assert owner.post(f"{path}/enter", {"bot": mine}).status_code == (409 if number else 200)


def test_a_bot_is_entered_when_its_owner_accepts_and_withdrawn_in_one_step(
    service: Service, organiser: Person, owner: Person, mine: str
) -> None:
    path = f"/tournaments/{opened(organiser)}"
    asked = organiser.post(f"{path}/invitations", {"bot": mine}).get_json()
    twice = organiser.post(f"{path}/invitations", {"bot": mine})
    foreign = service.person("organiser").post(f"{path}/invitations", {"bot": mine})

    accepted = owner.post(f"/invitations/{asked['id']}/accept")
    number = organiser.get(path).get_json()["entries"]["entered"]
    withdrawn = owner.post(f"{path}/withdraw", {"bot": mine})

    assert (asked["kind"], asked["bot"], asked["account"]) == ("entry", mine, owner.id)
    assert (twice.status_code, foreign.status_code) == (409, 403)
    assert (accepted.status_code, number, withdrawn.status_code) == (200, 1, 200)
    assert organiser.post(f"{path}/enter", {"bot": mine}).get_json()["code"] == "needs_acceptance"


def test_an_invitation_of_a_bot_lapses_when_the_tournament_starts(
    service: Service, organiser: Person, owner: Person, mine: str
) -> None:
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


def test_E31_a_request_to_enter_agrees_to_one_entry(
    service: Service, organiser: Person, owner: Person, mine: str
) -> None:
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


def test_E31_a_bot_that_its_owner_withdrew_is_entered_again_only_if_they_agree(
    service: Service, organiser: Person, admin: Person
) -> None:
    (member,) = admin.post("/accounts/class", {"names": ["Student"]}).get_json()["items"]
    student = Person(service.anonymous(), member["account"]["id"], member["token"]["token"])

    for asking, withdrawing in (admin, student), (organiser, service.person(consent=EntryConsent.EVERYBODY)):
        path, bot = f"/tournaments/{opened(asking)}", {"bot": service.verified_bot(withdrawing)["id"]}
        entered_ = asking.post(f"{path}/enter", bot)
        withdrawing.post(f"{path}/withdraw", bot)
        again = asking.post(f"{path}/enter", bot)
        invited = asking.post(f"{path}/invitations", bot)
        accepted = withdrawing.post(f"/invitations/{invited.get_json()['id']}/accept")
        asking.post(f"{path}/withdraw", bot)

        assert [answer.status_code for answer in (entered_, again, invited, accepted)] == [200, 409, 201, 200]
        assert again.get_json()["code"] == "needs_acceptance"
        assert "has withdrawn it" in again.get_json()["detail"]
        assert asking.post(f"{path}/enter", bot).status_code == 200


def test_the_operator_of_a_class_enters_its_bots_without_asking(service: Service, admin: Person) -> None:
    (member,) = admin.post("/accounts/class", {"names": ["Student"]}).get_json()["items"]
    student = Person(service.anonymous(), member["account"]["id"], member["token"]["token"])
    bot = service.verified_bot(student)["id"]
    other = service.person("organiser")

    ours = admin.post(f"/tournaments/{opened(admin)}/enter", {"bot": bot})
    theirs = other.post(f"/tournaments/{opened(other)}/enter", {"bot": bot})

    assert (ours.status_code, theirs.get_json()["code"]) == (200, "needs_acceptance")
    assert [event for event, _ in inbox_of(student)] == ["tournament.entered"]


def test_E31_an_account_gets_few_invitations_a_day(service: Service, organiser: Person, owner: Person) -> None:
    def invite(inviter: Person) -> Any:
        draft = f"/tournaments/{drafted(inviter)}"
        answer = inviter.post(f"{draft}/organisers", {"account": owner.id})
        inviter.ask("DELETE", draft)
        return answer

    others = [service.person("organiser") for _ in range(7)]
    answers = [invite(organiser) for _ in range(MAX_PER_DAY_FROM_ONE)]
    beyond = invite(organiser)
    answers += [invite(others[n // MAX_PER_DAY_FROM_ONE]) for n in range(MAX_PER_DAY - MAX_PER_DAY_FROM_ONE)]
    full = invite(others[-1])
    with service.database.write() as session:
        session.execute(update(Invitation).values(created_at=current_time(session).replace(year=2020)))

    assert {answer.status_code for answer in answers} == {201}
    assert (beyond.get_json()["code"], "from you" in beyond.get_json()["detail"]) == ("quota_exceeded", True)
    assert (full.get_json()["code"], "from you" in full.get_json()["detail"]) == ("quota_exceeded", False)
    assert invite(organiser).status_code == 201


def test_E31_what_was_withdrawn_is_not_asked_again_for_a_day_and_a_blocked_account_asks_nothing(
    service: Service, organiser: Person, owner: Person
) -> None:
    path, body = places(organiser)["tournament"], {"account": owner.id}
    service.verified_bot(organiser)

    first = organiser.post(f"{path}/organisers", body).get_json()["id"]
    organiser.post(f"/invitations/{first}/withdraw")
    soon = organiser.post(f"{path}/organisers", body)
    with service.database.write() as session:
        session.execute(update(Invitation).values(decided_at=current_time(session).replace(year=2020)))
    later = organiser.post(f"{path}/organisers", body).status_code
    owner.ask("PUT", f"/challengers/{organiser.id}", json={"verdict": "blocked"})
    blocked = organiser.post(f"{places(organiser)['tournament']}/organisers", body).status_code

    assert (soon.get_json()["code"], "was withdrawn" in soon.get_json()["detail"]) == ("quota_exceeded", True)
    assert (later, blocked) == (201, 403)


@pytest.mark.parametrize("kind", KINDS)
def test_E31_an_invitation_ends_with_the_power_of_who_sent_it(
    service: Service, organiser: Person, owner: Person, admin: Person, kind: str
) -> None:
    path, leaving = places(organiser)[kind], service.person("organiser")
    join(organiser, leaving, path)
    sent, declined = (
        leaving.post(f"{path}/organisers", {"account": who.id}).get_json()["id"] for who in (owner, admin)
    )
    admin.post(f"/invitations/{declined}/decline")

    admin.post(f"/accounts/{leaving.id}/suspend", {"reason": "spam"})
    of_suspended = owner.post(f"/invitations/{sent}/accept")
    organiser.ask("DELETE", f"{path}/organisers/{leaving.id}")
    states = [owner.get(f"/invitations/{sent}"), admin.get(f"/invitations/{declined}")]

    assert (of_suspended.status_code, "is suspended" in of_suspended.get_json()["detail"]) == (409, True)
    assert [answer.get_json()["state"] for answer in states] == ["withdrawn"] * 2
    assert organisers_of(organiser, path) == [organiser.id]


def test_E31_no_suspended_account_takes_over(service: Service, organiser: Person, owner: Person, admin: Person) -> None:
    path, second = places(organiser)["tournament"], service.person("organiser")
    for account in (owner, second):
        join(organiser, account, path)
    admin.post(f"/accounts/{owner.id}/suspend", {"reason": "spam"})

    first_left = organiser.ask("DELETE", f"{path}/organisers/{organiser.id}").status_code
    heir = second.get(path).get_json()["organiser"]
    second_left = second.ask("DELETE", f"{path}/organisers/{second.id}")

    assert (first_left, heir) == (204, second.id)
    assert (second_left.status_code, "Nobody else runs" in second_left.get_json()["detail"]) == (409, True)


def test_an_owner_is_asked_about_as_many_bots_as_may_enter(service: Service, organiser: Person, owner: Person) -> None:
    path = f"/tournaments/{opened(organiser, bots_per_owner=2)}"
    bots = [service.verified_bot(owner)["id"] for _ in range(3)]

    answers = [organiser.post(f"{path}/invitations", {"bot": bot}) for bot in bots]

    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert answers[2].get_json()["code"] == "quota_exceeded"


def test_those_who_are_invited_count_towards_the_co_organisers(service: Service, organiser: Person) -> None:
    path = places(organiser)["tournament"]

    answers = [organiser.post(f"{path}/organisers", {"account": service.person().id}) for _ in range(11)]

    assert [answer.status_code for answer in answers] == [201] * 10 + [409]


def test_what_is_deleted_takes_its_invitations_along(
    service: Service, organiser: Person, owner: Person, mine: str
) -> None:
    draft = organiser.post("/tournaments", CUP).get_json()["id"]
    organiser.post(f"/tournaments/{draft}/organisers", {"account": owner.id})
    others = [create(organiser, kind) for kind in EXTRA_KINDS]
    for path in others:
        organiser.post(f"{path}/organisers", {"account": owner.id})
    organiser.post(f"/tournaments/{opened(organiser)}/invitations", {"bot": mine})

    organiser.ask("DELETE", f"/tournaments/{draft}")
    for path in others:
        organiser.ask("DELETE", path)
    kinds = [item["kind"] for item in waiting_for(owner)]
    owner.post(f"/bots/{mine}/delete", {"name": owner.get(f"/bots/{mine}").get_json()["name"]})

    assert (kinds, waiting_for(owner)) == (["entry"], [])


def test_E26_a_token_without_the_scope_to_organise_accepts_entries_only(
    organiser: Person, owner: Person, mine: str, service: Service
) -> None:
    made = owner.post("/accounts/me/tokens", {"name": "playing", "scopes": ["play"]}).get_json()
    playing = Person(service.anonymous(), owner.id, made["token"])
    path = places(organiser)["tournament"]
    to_run = organiser.post(f"{path}/organisers", {"account": owner.id}).get_json()["id"]
    to_enter = organiser.post(f"{path}/invitations", {"bot": mine}).get_json()["id"]

    answers = [playing.post(f"/invitations/{one}/accept") for one in (to_run, to_enter)]

    assert [answer.status_code for answer in answers] == [403, 200]
    assert answers[0].get_json()["code"] == "missing_scope"
