"""Create, open, enter, start and play tournaments over HTTP."""

from typing import Any

from referee.accounts.entry_consent import EntryConsent
from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.tournaments import entries
from tests.api.conftest import Person, Service
from tests.database.tournaments import answer_handshakes, go_on
from tests.database.world import World

CUP = {"name": "First cup", "game": "saint-poker", "seats": 2}


def drafted(organiser: Person, **more: Any) -> str:
    made = organiser.post("/tournaments", {**CUP, **more})
    assert made.status_code == 201, made.get_data(as_text=True)
    return str(made.get_json()["id"])


def opened(organiser: Person, **more: Any) -> str:
    tournament_id = drafted(organiser, **more)
    assert organiser.post(f"/tournaments/{tournament_id}/open").status_code == 200
    return tournament_id


def entered(service: Service, organiser: Person, bots: int = 3, **more: Any) -> tuple[str, list[str]]:
    """Return an open tournament and its bots, each of another owner, who lets organisers enter them."""
    tournament_id, world = opened(organiser, **more), World(service.database, service.names)
    bot_ids = world.bots(bots)
    with service.database.write() as session:
        for bot_id in bot_ids:
            entries.enter_bot(session, tournament_id, bot_id)
            owner_id = session.get_one(Bot, bot_id).owner_id
            session.get_one(Account, owner_id).entry_consent = EntryConsent.EVERYBODY
    return tournament_id, bot_ids


def join(organiser: Person, account: Person, path: str) -> None:
    """Make the account a co-organiser of the tournament or series at ``path``."""
    invitation = organiser.post(f"{path}/organisers", {"account": account.id}).get_json()["id"]
    assert account.post(f"/invitations/{invitation}/accept").status_code == 200


def started(service: Service, organiser: Person, bots: int = 3, **more: Any) -> str:
    """Return a tournament whose preflight is done and whose first matches are due."""
    tournament_id, _ = entered(service, organiser, bots, **more)
    assert organiser.post(f"/tournaments/{tournament_id}/start").status_code == 200
    answer_handshakes(service.database)
    go_on(service.database, tournament_id)
    return tournament_id


def play(service: Service | World, tournament_id: str, matches: int = 100) -> None:
    """Play up to ``matches`` due matches and let the tournament progress."""
    world = World(service.database)
    while matches > 0 and (claimed := world.claim(min(matches, 10))):
        for claim in claimed:
            world.finish(claim)
        matches -= len(claimed)
        go_on(service.database, tournament_id)
