"""Accounts, tokens and authentication."""

import pytest

from referee.accounts import accounts
from tests.api.conftest import API, Person, Service, Start, fields_of


def test_an_account_is_opened_with_a_token_that_works(service: Service) -> None:
    client = service.anonymous()

    opened = client.post(f"{API}/accounts", json={"name": "Ann Other"})
    account = opened.get_json()
    person = Person(client, account["id"], account["token"]["token"])

    assert (opened.status_code, account["role"], opened.headers["Cache-Control"]) == (201, "owner", "no-store")
    assert client.get(opened.headers["Location"], headers=person.headers()).get_json()["id"] == account["id"]


def test_closed_self_service_opens_no_account(start: Start) -> None:
    answer = start(self_service=False).anonymous().post(f"{API}/accounts", json={"name": "Ann Other"})

    assert (answer.status_code, answer.get_json()["code"]) == (403, "forbidden")


def test_E4_nobody_makes_himself_more_than_an_owner(service: Service) -> None:
    more = dict.fromkeys(("role", "id", "is_admin", "created_at", "owner_id"), "admin")

    answer = service.anonymous().post(f"{API}/accounts", json={"name": "Ann Other", **more})

    assert (answer.status_code, fields_of(answer)) == (422, {*more})


def test_tokens_are_shown_once_listed_and_revoked(service: Service, owner: Person) -> None:
    made = owner.post("/accounts/me/tokens", {"name": "laptop"})
    token = made.get_json()
    laptop = Person(service.anonymous(), owner.id, token["token"])
    works = laptop.get("/accounts/me").status_code

    listed = owner.get("/accounts/me/tokens")
    revoked = owner.ask("DELETE", f"/accounts/me/tokens/{token['id']}")
    again = owner.ask("DELETE", made.headers["Location"].removeprefix(API))

    assert (made.status_code, works, revoked.status_code, again.status_code) == (201, 200, 204, 204)
    assert {entry["name"] for entry in listed.get_json()["items"]} == {"first", "laptop"}
    assert not [secret for secret in (token["token"], "sha256") if secret in listed.text]
    assert (laptop.get("/accounts/me").status_code, owner.get("/accounts/me").status_code) == (401, 200)


def test_E5_another_owners_token_cannot_be_revoked(service: Service, owner: Person) -> None:
    other = service.person()
    theirs = other.get("/accounts/me/tokens").get_json()["items"][0]["id"]

    assert owner.ask("DELETE", f"/accounts/me/tokens/{theirs}").status_code == 404
    assert other.get("/accounts/me").status_code == 200


def test_the_operator_replaces_a_lost_token(service: Service, owner: Person, admin: Person) -> None:
    given = admin.post(f"/accounts/{owner.id}/tokens", {"name": "replacement"})
    refused = owner.post(f"/accounts/{admin.id}/tokens", {"name": "mine now"})

    again = Person(service.anonymous(), owner.id, given.get_json()["token"])
    assert (given.status_code, refused.status_code) == (201, 403)
    assert again.get("/accounts/me").get_json()["id"] == owner.id
    assert admin.post(f"/accounts/acc_{'0' * 26}/tokens", {"name": "nobody"}).status_code == 404


def test_E6_a_bad_token_is_unauthenticated(service: Service, owner: Person) -> None:
    for authorization in (
        *("", "Bearer", "Bearer x", "Bearer ref_", "Bearer ref_" + "a" * 49, "Bearer ref_" + "é" * 49),
        *("Bearer " + "x" * 1_000_000, "Basic dXNlcjpwYXNz", "Token {token}", "Bearer {token}x", "Bearer {token} x"),
        *("Bearer xyz{token}", "{token}"),
    ):
        header = {"Authorization": authorization.replace("{token}", owner.token)}
        for path in ("/accounts/me", "/bots"):
            answer = service.anonymous().get(API + path, headers=header)
            assert (answer.status_code, answer.get_json()["code"]) == (401, "unauthenticated"), authorization[:24]
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_E6_a_token_in_the_query_or_a_cookie_is_ignored(service: Service, owner: Person) -> None:
    client = service.anonymous()

    for name in ("token", "access_token", "Authorization"):
        client.set_cookie(name, owner.token)
        assert client.get(f"{API}/accounts/me?{name}={owner.token}").status_code == 401


def test_E21_an_account_has_a_limited_number_of_living_tokens(owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    assert accounts.TOKENS_PER_ACCOUNT == 20
    monkeypatch.setattr(accounts, "TOKENS_PER_ACCOUNT", 3)
    made = [owner.post("/accounts/me/tokens", {"name": f"number {n}"}) for n in range(3)]
    owner.ask("DELETE", f"/accounts/me/tokens/{made[0].get_json()['id']}")

    assert [answer.status_code for answer in made] == [201] * 2 + [409]
    assert owner.post("/accounts/me/tokens", {"name": "one more"}).status_code == 201


def test_E14_a_name_that_is_no_name_is_refused(owner: Person, organiser: Person) -> None:
    for name in ("<script>", "‮evil", "x" * 10_000, "a", 5, None):
        refused = [
            owner.client.post(f"{API}/accounts", json={"name": name}),
            owner.post("/accounts/me/tokens", {"name": name}),
            owner.post("/bots", {"name": name, "url": "https://bot.example"}),
            organiser.post("/tournaments", {"name": name, "game": "saint-poker", "seats": 2}),
        ]

        assert [(answer.status_code, fields_of(answer)) for answer in refused] == [(422, {"name"})] * 4, name


def test_E14_names_that_look_alike_or_like_the_house_are_taken(service: Service, owner: Person) -> None:
    def status(name: str) -> tuple[int, int]:
        opened = service.anonymous().post(f"{API}/accounts", json={"name": name})
        return opened.status_code, owner.post("/bots", {"name": name, "url": "https://bot.example"}).status_code

    assert status("Bill Bob") == (201, 201)
    for name in ("Bi\u04cfl Bob", "Bill \u2c82ob", "Referee house", "House s\u2c9eund"):
        assert status(name) == (409, 409), name
