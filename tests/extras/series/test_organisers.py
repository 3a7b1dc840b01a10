"""Organisers of series: who becomes one, who stays, and what a deleted account leaves."""

from collections.abc import Iterator

import pytest
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.db.engine import Database
from referee.errors import BadOption, Conflict
from referee.workflows.accounts import invitations
from referee_extras.series import operations
from tests.api.conftest import Person, Service
from tests.api.organised import create
from tests.api.tournaments import drafted, play, started
from tests.database.world import FakeClock, World
from tests.workflows.test_deletion_races import delete_account, load, meanwhile


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[World]:
    opened = Database(postgres_url, clock=FakeClock())
    yield World(opened)
    opened.dispose()


def create_series(session: Session, account_id: str) -> str:
    account = accounts.get_account(session, account_id)
    return operations.create_series(session, account, quota=5, name="Season").id


def test_the_last_organiser_of_a_series_leaves_it_only_to_the_archive(service: Service, organiser: Person) -> None:
    path = create(organiser, "series")
    tournament = started(service, organiser, bots=2)

    unfinished = organiser.ask("DELETE", f"{path}/organisers/{organiser.id}")
    organiser.post(f"{path}/tournaments", {"tournaments": [tournament]})
    play(service, tournament)
    left = organiser.ask("DELETE", f"{path}/organisers/{organiser.id}").status_code

    assert (unfinished.status_code, "Nobody else runs" in unfinished.get_json()["detail"]) == (409, True)
    assert (left, organiser.get(path).get_json()["organisers"]) == (204, [])
    assert service.anonymous().get(path).status_code == 200
    assert organiser.post(f"{path}/organisers", {"account": organiser.id}).status_code == 403


def test_a_draft_of_others_is_unknown_to_who_adds_it_to_a_series(service: Service, organiser: Person) -> None:
    other, draft = service.person("organiser"), drafted(organiser)
    series = other.post("/series", {"name": "Season"}).get_json()["id"]
    unknown = f"trn_{'0' * 26}"

    told, expected = (other.post(f"/series/{series}/tournaments", {"tournaments": [id]}) for id in (draft, unknown))

    assert told.status_code == expected.status_code == 422
    assert told.get_json()["errors"][0]["message"].replace(draft, unknown) in expected.get_data(as_text=True)


def test_an_account_that_is_being_deleted_creates_no_series(postgres: World) -> None:
    owner = postgres.account()

    with meanwhile(postgres, lambda session: create_series(session, owner), load(owner)) as (session, acting):
        delete_account(session, owner)

    with pytest.raises(Conflict):
        acting.result(timeout=30)


def test_an_account_that_is_being_deleted_is_added_to_no_series_of_others(postgres: World) -> None:
    creator, owner = postgres.account("organiser"), postgres.account("organiser")
    with postgres.database.write() as session:
        series_id, inviter = create_series(session, creator), accounts.get_account(session, creator)
        asked = operations.invite_organiser(session, series_id, owner, inviter).id

    def accept(session: Session) -> object:
        return invitations.accept(session, asked, accounts.get_account(session, owner))

    with meanwhile(postgres, accept) as (session, acting):
        delete_account(session, owner)

    with pytest.raises(Conflict):
        acting.result(timeout=30)


def test_a_deleted_account_is_no_co_organiser_of_a_series(world: World) -> None:
    creator, owner = world.account("organiser"), world.account("organiser")
    with world.database.write() as session:
        series_id = create_series(session, creator)
        delete_account(session, owner)

        with pytest.raises(BadOption, match="account"):
            operations.invite_organiser(session, series_id, owner, accounts.get_account(session, creator))
