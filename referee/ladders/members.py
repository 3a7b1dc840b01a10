"""Keep the members of official ladders: bots join by themselves, and owners switch that off or limit it.

``official_matches`` makes the matches of the members.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

from sqlalchemy import exists, func, select, update
from sqlalchemy.orm import Session

from referee.bots import certificates
from referee.bots.states import BotState
from referee.bots.tables import Bot, Certificate
from referee.db.engine import current_time
from referee.db.idempotency import insert_once
from referee.errors import BadOption
from referee.games import catalogue
from referee.ladders.kinds import LadderPlay
from referee.ladders.tables import Ladder, LadderMember, LadderPlayer
from referee.pairing.official import HOUSE_GAP
from referee.ratings.elo import PROVISIONAL_GAMES

DAY: Final = timedelta(days=1)
MAX_DAILY_MAXIMUM: Final = 100_000
_GONE: Final = frozenset({BotState.RETIRED, BotState.HOUSE})


@dataclass(frozen=True, slots=True)
class Membership:
    """Hold a ladder and the bot's membership in it; ``is_active`` is false after the bot has left."""

    ladder: Ladder
    member: LadderMember

    @property
    def is_active(self) -> bool:
        return self.member.due_at is not None

    @property
    def immediate_matches(self) -> int:
        """Return how many matches the bot has left that follow one another immediately."""
        return max(0, self.member.immediate_until - self.member.matches)

    def matches_today(self, moment: datetime) -> int:
        return self.member.matches_of_day if self.member.day == moment.date() else 0

    def extra_today(self, moment: datetime) -> int:
        """Return how many matches of today do not count towards the pace."""
        return self.member.extra_of_day if self.member.day == moment.date() else 0


def get_player(session: Session, bot_id: str) -> LadderPlayer:
    """Return what the owner of the bot has chosen. An owner who has chosen nothing lets the bot play."""
    found = session.get(LadderPlayer, bot_id)
    return found or LadderPlayer(**_new_player(bot_id))


def list_memberships(session: Session, bot_id: str) -> list[Membership]:
    """Return the official ladders that the bot has joined, including those it has left, by name."""
    query = select(Ladder, LadderMember).join(LadderMember, LadderMember.ladder_id == Ladder.id)
    query = query.where(LadderMember.bot_id == bot_id, Ladder.official).order_by(Ladder.name)
    return [Membership(ladder, member) for ladder, member in session.execute(query)]


def count_members(session: Session, ladder_ids: Collection[str]) -> dict[str, int]:
    """Return the number of bots that play on each of these official ladders, keyed by ladder id."""
    query = select(LadderMember.ladder_id, func.count()).where(
        LadderMember.ladder_id.in_(ladder_ids), LadderMember.due_at.is_not(None)
    )
    counted = {ladder_id: int(bots) for ladder_id, bots in session.execute(query.group_by(LadderMember.ladder_id))}
    return {ladder_id: counted.get(ladder_id, 0) for ladder_id in ladder_ids}


def change_settings(session: Session, bot: Bot, changes: Mapping[str, Any]) -> LadderPlayer:
    """Change what the owner of the bot has chosen (fields of ``LadderPlayer``), and let the bot join or leave.

    ``games`` None means all games of its manifest; ``daily_maximum`` None means the pace of each ladder. Raise
    ``BadOption`` for an unknown game, for an id in ``unlisted`` that is not that of an unlisted ladder, and for a
    maximum below 1.
    """
    player = get_or_create_player(session, bot.id)
    unknown = [game for game in changes.get("games") or () if game not in catalogue()]
    if unknown:
        raise BadOption("games", f"unknown game {unknown[0]!r}; available: {', '.join(catalogue())}")
    maximum = changes.get("daily_maximum")
    if maximum is not None and not 1 <= maximum <= MAX_DAILY_MAXIMUM:
        raise BadOption("daily_maximum", f"must be 1 to {MAX_DAILY_MAXIMUM}; to stop the bot, switch its play off")
    _check_unlisted(session, changes.get("unlisted", ()))
    player.play = LadderPlay(changes.get("play", player.play))
    if "games" in changes:
        player.games = None if changes["games"] is None else sorted(set(changes["games"]))
    if "unlisted" in changes:
        player.unlisted = sorted(set(changes["unlisted"]))
    if "daily_maximum" in changes:
        player.daily_maximum = maximum
    session.flush()
    refresh_memberships(session, bot)
    return player


def get_or_create_player(session: Session, bot_id: str) -> LadderPlayer:
    session.execute(insert_once(session, LadderPlayer, _new_player(bot_id)))
    return session.get_one(LadderPlayer, bot_id)


def _new_player(bot_id: str) -> dict[str, Any]:
    return {"bot_id": bot_id, "play": LadderPlay.ON, "unlisted": []}


def _check_unlisted(session: Session, ladder_ids: Sequence[str]) -> None:
    is_known = Ladder.id.in_(ladder_ids), Ladder.official, Ladder.unlisted
    known = set(session.scalars(select(Ladder.id).where(*is_known))) if ladder_ids else set()
    unknown = [ladder_id for ladder_id in ladder_ids if ladder_id not in known]
    if unknown:
        raise BadOption("unlisted", f"{unknown[0]} is not the id of an unlisted official ladder")


def refresh_memberships(session: Session, bot: Bot) -> None:
    """Let the bot join the official ladders that it wants, leave those it may not play on, and be due again.

    Call this after everything that may change whether a bot plays: its check, a handshake, a resumption, its owner's
    settings. A bot joins a ladder when it has a certificate for the game. Without a valid certificate it stays a member
    and gets no matches.
    """
    ladders = session.scalars(select(Ladder).where(Ladder.official)).all()
    if not ladders or bot.status == BotState.HOUSE:
        return
    moment, player = current_time(session), get_or_create_player(session, bot.id)
    joined = {membership.ladder.id: membership.member for membership in list_memberships(session, bot.id)}
    for ladder in ladders:
        member = joined.get(ladder.id)
        if not wants_ladder(bot, player, ladder):
            if member is not None:
                member.due_at = None
        elif member is not None:
            member.due_at = next_due(member, ladder, player, moment)
        elif certificates.explain_missing_certificate(session, bot, ladder.game) is None:
            session.execute(insert_once(session, LadderMember, new_member(bot.id, ladder, moment)))
    session.flush()


def may_join(bot: Bot) -> bool:
    """Return whether a bot in this state may be a member of an official ladder."""
    return bot.status not in _GONE


def wants_ladder(bot: Bot, player: LadderPlayer, ladder: Ladder) -> bool:
    """Return whether the bot plays on this official ladder, as far as it and its owner decide that."""
    chosen = player.play == LadderPlay.ON and is_chosen(player, ladder)
    return chosen and ladder.game in bot.games and may_join(bot)


def is_chosen(player: LadderPlayer, ladder: Ladder) -> bool:
    """Return whether the owner chose this ladder: an unlisted one by its id, a listed one by its game."""
    if ladder.unlisted:
        return ladder.id in player.unlisted
    return player.games is None or ladder.game in player.games


def refresh_all(session: Session) -> None:
    """Let all bots join or leave after the official ladders have changed."""
    retired = exists().where(Ladder.id == LadderMember.ladder_id, ~Ladder.official)
    session.execute(update(LadderMember).where(retired).values(due_at=None))
    certified = exists().where(Certificate.bot_id == Bot.id, Certificate.ended_at.is_(None))
    for bot in session.scalars(select(Bot).where(certified, Bot.status.not_in(_GONE)).order_by(Bot.id)).all():
        refresh_memberships(session, bot)


def next_due(member: LadderMember, ladder: Ladder, player: LadderPlayer, moment: datetime) -> datetime:
    """Return when the member gets its next match: a new bot or version immediately, others at the pace of the ladder.

    The n-th match of a day is due when n − 1 parts of the day have passed, so that bots that were called early as
    partners still have matches left in the evening. The first matches of a new bot do not count here, nor do those of
    a new version or against one.
    """
    if member.matches < member.immediate_until or member.last_match_at is None or member.day is None:
        return moment
    interval = DAY / daily_limit(ladder, player)
    midnight = datetime.combine(member.day, time(), UTC)
    of_day = min(member.matches_of_day, member.matches - PROVISIONAL_GAMES) - member.extra_of_day
    return max(moment, member.last_match_at + interval, midnight + of_day * interval)


def daily_limit(ladder: Ladder, player: LadderPlayer) -> int:
    """Return how many matches a day the bot plays on this ladder at most."""
    pace = ladder.daily_matches or 1
    return pace if player.daily_maximum is None else min(pace, player.daily_maximum)


def next_day(moment: datetime) -> datetime:
    """Return the next midnight in UTC, when the counts of the day start from zero."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0) + DAY


def count_matches_of_day(memberships: Sequence[Membership], moment: datetime) -> int:
    return sum(membership.matches_today(moment) for membership in memberships)


def new_member(bot_id: str, ladder: Ladder, moment: datetime) -> dict[str, Any]:
    """Return the columns of a bot that joins a ladder, due for its first match."""
    joined = {"bot_id": bot_id, "ladder_id": ladder.id, "joined_at": moment, "due_at": moment}
    unplayed = dict.fromkeys(("matches", "matches_of_day", "extra_of_day"), 0) | {"last_match_at": None, "day": None}
    begin = {"immediate_until": PROVISIONAL_GAMES, "matches_since_house": HOUSE_GAP}
    met = {"seat_counts": [0] * ladder.seats, "recent_opponents": [], "owners_met": {}}
    return {**joined, **unplayed, **begin, **met}
