"""The upgrade names existing ladders, official ones and variants, and asks the owners of existing bots.

This file comes after ``test_upgrade``, because it changes the finished database, which both share.
"""

from typing import Any

from sqlalchemy import select

from referee.bots import house_bots
from referee.bots.tables import Bot
from referee.games import catalogue
from referee.ladders import members, official_matches, ratings
from referee.ladders.ladder_names import variant_name
from referee.ladders.official import load_official_ladders
from referee.ladders.tables import Ladder, LadderPlayer
from tests.upgrade import stored
from tests.upgrade.service import Upgraded


def test_existing_ladders_are_named_and_the_command_says_how(restored: Upgraded) -> None:
    restored.refused = restored.referee("admin", "upgrade")
    done = restored.referee("admin", "upgrade", "--cancel-running")

    assert done.exit_code == 0
    with restored.database.read() as session:
        ladders = {ladder.id: ladder for ladder in session.scalars(select(Ladder))}
        assert stored.ladders(session).keys() >= restored.expected["ladders"].keys()
    assert {ladder.game for ladder in ladders.values() if ladder.official} == {*catalogue()}
    assert len({ladder.name for ladder in ladders.values()}) == len(ladders)
    standards = {one.game: (one.options, one.seats) for one in load_official_ladders()}
    for ladder_id in restored.expected["ladders"]:
        ladder = ladders[ladder_id]
        if not ladder.official:
            name = variant_name(ladder.game, ladder.options, ladder.seats, standards[ladder.game])
            assert ladder.name == name
            assert f"ladder {ladder_id}: {name} (variant, {ladder.seats} seats)" in done.output
    assert done.output.count("(official, 48 matches a day for each bot, ") == len(catalogue())
    assert "ladder lad_" not in restored.referee("admin", "upgrade").output


def test_existing_bots_are_asked_and_play_when_their_owner_says_so(finished: tuple[Upgraded, Any]) -> None:
    service, _ = finished
    bot_id = service.bot("ada")
    with service.database.write() as session:
        asked = {player.bot_id for player in session.scalars(select(LadderPlayer)) if player.play == "asked"}
        living = session.scalars(select(Bot.id).where(Bot.status.not_in(["house", "retired"])))
        assert asked == {*living}
        house_bots.get_or_create_house_bots(session)
        assert not official_matches.has_work(session, master_key=service.settings.master_key)

    def told() -> dict[str, Any]:
        found: dict[str, Any] = service.person("ada").get(f"/bots/{bot_id}/waiting").get_json()
        return found

    assert {one["reason"]["code"] for one in told()["ladders"]} == {"official_asked"}
    assert service.person("ada").get(f"/bots/{bot_id}/ladders").get_json()["play"] == "asked"
    page = service.client().get(f"/bots/{bot_id}").get_data(as_text=True)
    assert "It plays on them when its owner switches that on." in page

    changed = service.person("ada").ask("PATCH", f"/bots/{bot_id}/ladders", json={"play": "on"})

    assert changed.status_code == 200
    with service.database.read() as session:
        joined = members.list_memberships(session, bot_id)
        games = ratings.list_ladders(session, limit=50).items
    assert changed.get_json()["play"] == "on"
    assert {one.ladder.game for one in joined if one.is_active} <= {ladder.game for ladder in games if ladder.official}
    assert joined
    assert "official_asked" not in {one["reason"]["code"] for one in told()["ladders"]}
