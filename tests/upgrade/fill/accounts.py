"""Create accounts with their tokens, bots in every state, webhooks, and answers kept for repeated requests."""

from referee.bots.guard import Policy
from workers.checking import check_bot
from workers.recorder import Recorder

from referee.store import accounts, checks, house
from tests.api.conftest import Person
from tests.surroundings import MASTER_KEY
from tests.upgrade.fill.filler import PATIENT, Filler, answer_nonsense

OWNERS = ("ada", "bo", "cy", "di", "ed", "fay", "gus", "hal")
KINDS = ("sound", "first", "first", "random", "first", "first", "sound", "first")
ALL_EVENTS = ("match.finished", "bot.unhealthy", "tournament.started", "tournament.held_up", "tournament.finished")


async def open_accounts(filler: Filler) -> None:
    """Open the accounts and register their bots, which are examined and certified."""
    for name, role in (("root", "admin"), ("olga", "organiser"), ("otto", "organiser")):
        filler.people[name] = _with_role(filler, name, role)
    for name in OWNERS:
        made = filler.app.test_client().post("/api/v1/accounts", json={"name": f"Owner {name}"}).get_json()
        filler.people[name] = Person(filler.app.test_client(), made["id"], made["token"]["token"])
    for name, kind in zip(OWNERS, KINDS, strict=True):
        filler.add_bot(name, name, kind)
    for name in ("sleepy", "faulty", "newer", "renewed", "relapsed", "asked", "called", "resting", "gone", "nobody"):
        filler.add_bot(name, "root")
    del filler.server.bots["nobody"]  # does not answer
    await filler.run()
    with filler.database.write() as session:  # as the scheduler does when it starts
        filler.bots["house"] = house.house_bots(session)[0].id
    _add_tokens(filler)


def _with_role(filler: Filler, name: str, role: str) -> Person:
    """Open an account with a role, as the operator does."""
    with filler.database.write() as session:
        account = accounts.create_account(session, name.title(), role)
        _, text = accounts.create_token(session, account.id, "first")
    return Person(filler.app.test_client(), account.id, text)


def _add_tokens(filler: Filler) -> None:
    second = filler.ask("ada", "POST", "/accounts/me/tokens", {"name": "second"})
    revoked = filler.ask("ada", "POST", "/accounts/me/tokens", {"name": "revoked"})
    filler.ask("ada", "DELETE", f"/accounts/me/tokens/{revoked['id']}", status=204)
    filler.notes["second_token"] = {"account": filler.people["ada"].id, "token": second["token"]}
    filler.notes["revoked_token"] = revoked["token"]


async def end_certificates(filler: Filler) -> None:
    """Let one bot pass its examination again and another fail."""
    filler.pass_time(days=1)
    filler.server.bots["relapsed"].intercept = answer_nonsense
    for name in ("renewed", "relapsed"):
        filler.ask("root", "POST", f"/bots/{filler.bots[name]}/check", {})
    await filler.run()


async def create_webhooks(filler: Filler) -> None:
    """Create webhooks whose addresses answer the ping."""
    for name in ("ada", "bo", "cy", "di"):
        filler.add_webhook(name, ALL_EVENTS)
    await filler.run()


async def fail_webhooks(filler: Filler) -> None:
    """Let one address fail for a while and another for good; a third hangs from now on."""
    filler.server.receivers["bo"].status, filler.server.receivers["cy"].status = 500, 410
    filler.match("saint-poker", "bo", "cy")
    await filler.run()
    filler.server.receivers["di"].status = None


def change_bots(filler: Filler) -> None:
    """Pause a bot, retire one, rotate secrets, and add a webhook that is not verified yet."""
    filler.ask("root", "POST", f"/bots/{filler.bots['resting']}/pause")
    filler.ask("root", "POST", f"/bots/{filler.bots['gone']}/retire")
    for name in ("bo", "cy"):
        rotated = filler.ask(name, "POST", f"/bots/{filler.bots[name]}/rotate-secret")
        filler.secrets[name].insert(0, rotated["secret"])
    (webhook,) = filler.ask("ada", "GET", "/webhooks")["items"]
    filler.ask("ada", "POST", f"/webhooks/{webhook['id']}/rotate-secret")
    filler.add_webhook("ed", ALL_EVENTS)


async def leave_examination_due(filler: Filler) -> None:
    """Check a bot that has a new version, and leave its examination due."""
    filler.server.bots["newer"].version = "2.0"
    filler.ask("root", "POST", f"/bots/{filler.bots['newer']}/check", {})
    recorder = Recorder(filler.database)
    (check,) = await recorder.write(checks.claim_due_checks)
    assert check.bot_id == filler.bots["newer"]
    await check_bot(check, recorder, Policy.from_settings(filler.settings), MASTER_KEY)


def send_idempotent_requests(filler: Filler) -> None:
    """Send requests with idempotency keys, which the tests send again."""
    kept = []
    bots = [filler.bots[name] for name in ("gus", "hal")]
    friendly = {"game": "saint-poker", "bots": bots, "options": {"rounds": 1}, "time": PATIENT}
    asked = (
        ("ada", "/bots", {"name": "Kept", "url": f"{filler.server.url}/kept"}),
        ("ada", "/accounts/me/tokens", {"name": "kept"}),
        ("olga", "/tournaments", {"name": "Kept", "game": "pool-nap", "seats": 2}),
        ("gus", "/matches", friendly),
    )
    for number, (who, path, body) in enumerate(asked):
        key = f"kept-{number}"
        answer = filler.people[who].post(path, body, headers={"Idempotency-Key": key})
        assert answer.status_code == 201, answer.get_data(as_text=True)
        said = {"status": answer.status_code, "location": answer.headers["Location"], "text": answer.text}
        kept.append({"who": who, "path": path, "body": body, "key": key, **said})
    filler.notes["kept_requests"] = kept
