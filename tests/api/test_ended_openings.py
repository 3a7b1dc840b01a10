"""Openings that ended without a deal are counted, and those of a bot when the matches are over."""

from referee.match.reveal import OpeningFailure
from referee.matches import matches
from referee.matches.deals import openings
from referee.matches.deals.ended_openings import OpeningFilter, count_ended_openings
from referee.matches.deals.openings import FailedStep
from referee.workflows.ending import deal_group_superseding
from tests.api.conftest import Service
from tests.database import tournaments
from tests.database.world import World
from tests.surroundings import MASTER_KEY


def end_opening(world: World, match_id: str, failed: str) -> str:
    """End the opening of the match by this bot. Return the id of the closed group."""
    with world.database.write() as session:
        group_id = matches.get_match(session, match_id).group_id
        opening = openings.claim_opening(session, group_id)
        assert opening is not None
        hashes = ["5" * 64 if entry == failed else "" for entry in opening.entries]
        openings.record_nonce_hashes(session, group_id, opening.epoch, hashes)
        step = FailedStep(OpeningFailure.NONCE_WITHHELD, "no answer", b"{}", b"")
        deal_group_superseding.supersede_group(
            session, group_id, opening.epoch, [""] * len(hashes), {failed: step}, master_key=MASTER_KEY
        )
    return group_id


def test_D8_ended_openings_are_counted_and_name_their_bots_when_the_match_is_over(service: Service) -> None:
    world, client = World(service.database), service.anonymous()
    bots = world.bots(2)
    hidden, tournament_id = world.match(bots, listed=False, rated=False), tournaments.create(world)
    match_id, other = world.match(bots, rated=True), world.match(bots, tournament_id=tournament_id)
    group_id, *_ = [end_opening(world, each, bots[1]) for each in (match_id, hidden, other)]

    def count(**wanted: str) -> int:
        with world.database.read() as session:
            return count_ended_openings(session, OpeningFilter(**wanted))

    running = client.get(f"/api/v1/matches/{match_id}").get_json()["group"]["openings"]
    before = count(bot_id=bots[1])
    for each in (match_id, hidden):
        (claim,) = world.claim(match_id=each)
        world.finish(claim)
    over = client.get(f"/api/v1/matches/{match_id}").get_json()["group"]["openings"]
    (ladder,) = client.get("/api/v1/ladders").get_json()["items"]

    assert running[0]["failures"] == [{"bot": None, "code": "nonce_withheld"}]
    assert over == [{**running[0], "failures": [{"bot": bots[1], "code": "nonce_withheld"}]}]
    assert (before, count(bot_id=bots[1]), count(bot_id=bots[0])) == (0, 1, 0)
    assert (count(ladder_id=ladder["id"]), count(ladder_id="lad_x")) == (1, 0)
    assert (count(tournament_id=tournament_id), count(tournament_id="trn_x")) == (1, 0)
    assert "Openings that ended without a deal: 1" in client.get(f"/ladders/{ladder['id']}").text
    pages = ["Openings ended" in client.get(f"/bots/{bot}").text for bot in bots]
    assert pages == [False, True]
    assert group_id in client.get(f"/matches/{match_id}").text
