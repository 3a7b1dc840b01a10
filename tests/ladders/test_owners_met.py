"""Official ladders: how often the bots of two owners meet."""

from collections import Counter

from sqlalchemy import func, select

from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.ladders import official_matches
from referee.ladders.tables import Ladder, LadderMember
from referee.matches.tables import MatchSeat
from tests.database.checks import on_one_database
from tests.database.world import GAME, World
from tests.ladders.official_play import end_all, later, member_of, poker_bot, prepare, seated, sweep


@on_one_database
def test_F5_meetings_of_a_day_are_counted_by_owner(world: World) -> None:
    prepare(world)
    ada, bob, cy = (world.account() for _ in range(3))
    star = poker_bot(world, owner_id=ada)
    crowd = [poker_bot(world, owner_id=bob) for _ in range(3)]
    poker_bot(world, owner_id=cy)
    opponents: Counter[str] = Counter()
    for _ in range(12):
        for match in sweep(world):
            if star in (bots := seated(world, match)):
                opponents.update((bot in crowd and "Bob") or "others" for bot in bots if bot != star)
        end_all(world)
        later(world, seconds=1)

    met = member_of(world, star).owners_met

    assert met[bob] == opponents["Bob"] > 3
    assert sum(met.values()) == member_of(world, star).matches - _house_matches(world, star)
    later(world, days=1)
    sweep(world)
    assert sum(member_of(world, star).owners_met.values()) <= 1


def _house_matches(world: World, bot_id: str) -> int:
    with world.database.read() as session:
        house = select(Bot.id).where(Bot.status == BotState.HOUSE)
        own = select(MatchSeat.match_id).where(MatchSeat.bot_id == bot_id)
        query = select(func.count()).where(MatchSeat.match_id.in_(own), MatchSeat.bot_id.in_(house))
        return session.scalars(query).one()


def test_F5_an_owner_with_many_bots_meets_the_same_bot_no_more_often_than_its_share_allows(world: World) -> None:
    prepare(world)
    crowd_owner = world.account()
    star, crowd = poker_bot(world), [poker_bot(world, owner_id=crowd_owner) for _ in range(4)]
    others = [poker_bot(world) for _ in range(5)]
    # Seven owners: an even share of 48 matches of two is 8 meetings with each of the six others, and 12 are the most.
    with world.database.write() as session:
        for bot_id in (star, *crowd):
            member = session.scalars(select(LadderMember).where(LadderMember.bot_id == bot_id)).one()
            member.day, member.owners_met = world.clock.moment.date(), {crowd_owner: 12} if bot_id == star else {}

    with world.database.read() as session:
        ladder = session.scalars(select(Ladder).where(Ladder.game == GAME)).one()
        assert official_matches.count_owners(session, ladder) == 7
    found = [seated(world, match) for match in sweep(world)]

    assert found
    assert not any(star in bots and {*crowd} & {*bots} for bots in found)
    assert any(bot in {*others} for bots in found for bot in bots)
