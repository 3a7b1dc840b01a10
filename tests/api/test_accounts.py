"""Accounts, tokens and authentication."""

import pytest

from tests.api.conftest import API, Person, Service, Start, fields_of


def test_an_account_is_opened_with_a_token_that_works(service: Service) -> None:
    client = service.anonymous()

    opened = client.post(f"{API}/accounts", json={"name": "Ann Other"})
    account = opened.get_json()
    person = Person(client, account["id"], account["token"]["token"])

    assert opened.status_code == 201
    assert account["role"] == "owner"
    assert client.get(opened.headers["Location"], headers=person.headers()).get_json()["id"] == account["id"]
    assert opened.headers["Cache-Control"] == "no-store"


def test_closed_self_service_opens_no_account(start: Start) -> None:
    client = start(self_service=False).anonymous()

    answer = client.post(f"{API}/accounts", json={"name": "Ann Other"})

    assert (answer.status_code, answer.get_json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize("field", ["role", "id", "is_admin", "created_at", "owner_id"])
def test_E4_nobody_makes_himself_more_than_an_owner(service: Service, field: str) -> None:
    answer = service.anonymous().post(f"{API}/accounts", json={"name": "Ann Other", field: "admin"})

    assert answer.status_code == 422
    assert fields_of(answer) == {field}


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
    assert token["token"] not in listed.get_data(as_text=True)
    assert "sha256" not in listed.get_data(as_text=True)
    assert laptop.get("/accounts/me").status_code == 401
    assert owner.get("/accounts/me").status_code == 200


def test_E5_another_owners_token_cannot_be_revoked(service: Service, owner: Person) -> None:
    other = service.person()
    theirs = other.get("/accounts/me/tokens").get_json()["items"][0]["id"]

    assert owner.ask("DELETE", f"/accounts/me/tokens/{theirs}").status_code == 404
    assert other.get("/accounts/me").status_code == 200


def test_the_operator_replaces_a_lost_token(service: Service, owner: Person, admin: Person) -> None:
    given = admin.post(f"/accounts/{owner.id}/tokens", {"name": "replacement"})
    refused = owner.post(f"/accounts/{admin.id}/tokens", {"name": "mine now"})

    again = Person(service.anonymous(), owner.id, given.get_json()["token"])
    assert given.status_code == 201
    assert again.get("/accounts/me").get_json()["id"] == owner.id
    assert refused.status_code == 403
    assert admin.post(f"/accounts/acc_{'0' * 26}/tokens", {"name": "nobody"}).status_code == 404


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Bearer ref_",
        "Bearer ref_" + "a" * 49,
        "Bearer ref_" + "é" * 49,
        "Bearer " + "x" * 129,
        "Bearer " + "x" * 1_000_000,
        "Basic dXNlcjpwYXNz",
        "Token {token}",
        "Bearer {token}x",
        "Bearer {token} x",
        "Bearer xyz{token}",
        "{token}",
    ],
    ids=lambda text: text[:24],
)
def test_E6_a_bad_token_is_unauthenticated(service: Service, owner: Person, authorization: str) -> None:
    header = {"Authorization": authorization.replace("{token}", owner.token)}

    for path in ("/accounts/me", "/bots"):
        answer = service.anonymous().get(API + path, headers=header)
        assert (answer.status_code, answer.get_json()["code"]) == (401, "unauthenticated")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("name", ["token", "access_token", "Authorization", "bearer"])
def test_E6_a_token_in_the_query_or_a_cookie_is_ignored(service: Service, owner: Person, name: str) -> None:
    client = service.anonymous()
    client.set_cookie(name, owner.token)

    assert client.get(f"{API}/accounts/me?{name}={owner.token}").status_code == 401


def test_E21_an_account_has_a_limited_number_of_tokens(owner: Person) -> None:
    statuses = [owner.post("/accounts/me/tokens", {"name": f"number {n}"}).status_code for n in range(20)]

    assert statuses == [201] * 19 + [409]


@pytest.mark.parametrize(
    "name",
    ["<script>", '"><img onerror>', "javascript:x", "‮evil", "zero​width", "x" * 10_000, "a", "", " a b ", 5, None],
    ids=lambda name: str(name)[:12],
)
def test_E14_a_name_that_is_no_name_is_refused(service: Service, name: object) -> None:
    answer = service.anonymous().post(f"{API}/accounts", json={"name": name})

    assert answer.status_code == 422
    assert fields_of(answer) == {"name"}


@pytest.mark.parametrize("sign", ["\u115f", "\u1160", "\u3164", "\uffa0", "\u200b", "\u00ad"])
def test_E14_what_draws_nothing_is_in_no_name_of_anything(owner: Person, organiser: Person, sign: str) -> None:
    name = f"Victim{sign}"
    client = owner.client

    refused = [
        client.post(f"{API}/accounts", json={"name": name}),
        owner.post("/accounts/me/tokens", {"name": name}),
        owner.post("/bots", {"name": name, "url": "https://bot.example"}),
        organiser.post("/tournaments", {"name": name, "game": "saint-poker", "seats": 2}),
        client.post(f"{API}/accounts", json={"name": sign * 3}),
    ]

    assert [(answer.status_code, fields_of(answer)) for answer in refused] == [(422, {"name"})] * 5


def test_E14_names_that_look_alike_or_like_the_house_are_taken(service: Service, owner: Person) -> None:
    def opened(name: str) -> int:
        return service.anonymous().post(f"{API}/accounts", json={"name": name}).status_code

    def registered(name: str) -> int:
        return owner.post("/bots", {"name": name, "url": "https://bot.example"}).status_code

    assert (opened("Bill Bob"), registered("Bill Bob")) == (201, 201)
    for name in (
        "Bi\u04cfl Bob",
        "Bill \u2c82ob",
        "Bill Bo\ua7b5",
        "Bill \u13f4ob",
        "Referee house",
        "House s\u2c9eund",
    ):
        assert (opened(name), registered(name)) == (409, 409), name
