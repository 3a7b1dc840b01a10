"""What pictures show of ratings, and that nothing of a deleted account is left in them."""

import pytest
from sqlalchemy import select

from referee.db.engine import current_time
from referee_extras.pictures.content_loading import load_content
from referee_extras.pictures.kinds import PictureKind
from referee_extras.pictures.tables import Picture
from tests.api.conftest import Person, Service
from tests.api.test_months import champion as champion
from tests.api.tournaments import CUP


@pytest.mark.parametrize("kind", [PictureKind.BOT, PictureKind.LADDER])
def test_pictures_show_the_error_beside_the_strength(
    service: Service, champion: tuple[str, str], kind: PictureKind
) -> None:
    bot, ladder = champion
    with service.database.read() as session:
        content = load_content(session, kind, bot if kind == PictureKind.BOT else ladder)

    row = content.rows[0]

    assert (row.value, row.note) == ("1\u202f700.0", "strength 1\u202f598 ± 34")


@pytest.mark.parametrize("by_account", [True, False])
def test_pictures_go_with_their_bot_or_account(service: Service, owner: Person, mine: str, by_account: bool) -> None:
    cup = owner.post("/tournaments", {**CUP, "rated": False, "listed": False}).get_json()["id"]
    owner.post(f"/tournaments/{cup}/open")
    with service.database.write() as session:
        moment = current_time(session)
        for kind, subject in ((PictureKind.BOT, mine), (PictureKind.TOURNAMENT, cup)):
            picture = Picture(kind=kind, subject_id=subject, content_digest="0" * 64, is_settled=True, png=b"a name")
            picture.requested_at = picture.compared_at = moment
            session.add(picture)

    path = "/accounts/me" if by_account else f"/bots/{mine}"
    deleted = owner.post(f"{path}/delete", {"name": owner.get(path).get_json()["name"]})

    assert deleted.status_code == 200
    with service.database.read() as session:
        assert list(session.scalars(select(Picture.subject_id))) == ([] if by_account else [cup])
