"""Owners are notified of recoveries of their account, and of new recovery codes."""

from tests.api.conftest import Service
from tests.api.test_recovery import Ada, by_bot, by_code, signed_in
from tests.api.test_recovery import ada as ada


def test_the_owner_is_notified_of_a_recovery(service: Service, ada: Ada) -> None:
    bot = ada[2]

    recovered = by_bot(service, bot)
    new, token = signed_in(service, recovered), recovered.get_json()["token"]["id"]
    new = signed_in(service, by_code(service, new.post("/accounts/me/recovery-code").get_json()["recovery_code"]))

    second, made, first = new.get("/accounts/me/inbox").get_json()["items"]
    assert first["event"] == second["event"] == "account.recovered"
    assert made["event"] == "account.recovery_code_made"
    assert f"with the secret of your bot {bot['id']} on 20" in first["text"]
    assert f"with the token {token}. If you did not make it, revoke this token" in made["text"]
    assert second["text"].startswith("Your account was recovered with its recovery code on 20")
