"""Explain why a bot has no match on an official ladder, and when it gets the next one."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.bots import certificates, checks
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.ladders import members, new_versions, official_matches
from referee.ladders.kinds import LadderPlay
from referee.ladders.members import Membership
from referee.ladders.tables import Ladder, LadderPlayer
from referee.pairing.official import PARTNER_WAIT_S, OfficialState
from referee.workflows.explaining.waiting_reasons import Reason

_OF_OWNER: Final = ("official_off", "official_game_off")  # reasons that come last, because the owner knows them


@dataclass(frozen=True, slots=True)
class WaitingLadder:
    """Describe an official ladder on which the bot has no open match, and the reason."""

    ladder_id: str
    reason: Reason


def most_urgent(waiting: WaitingLadder) -> tuple[bool, bool, str]:
    """Return a key that sorts ladders by importance: those on which the bot plays soonest come first."""
    at = waiting.reason.at
    return waiting.reason.code in _OF_OWNER, at is not None, "" if at is None else at.isoformat()


def list_waiting_ladders(
    session: Session, bot: Bot, playing_on: Collection[str | None], *, of_bot: Reason | None
) -> list[WaitingLadder]:
    """Return the official ladders of the bot's games on which it has no open match, by name, each with the reason.

    Omit unlisted ladders that its owner did not choose. ``playing_on`` has the ladders on which it has one; ``of_bot``
    is the reason that lies in the state of the bot.
    """
    if bot.status in (BotState.HOUSE, BotState.RETIRED):
        return []
    player = members.get_player(session, bot.id)
    joined = {found.ladder.id: found for found in members.list_memberships(session, bot.id)}
    official = session.scalars(select(Ladder).where(Ladder.official).order_by(Ladder.name)).all()
    explained = _Explanation(session, bot, player, list(joined.values()), is_busy=bool(playing_on), of_bot=of_bot)
    return [
        WaitingLadder(ladder.id, explained.reason(ladder, joined.get(ladder.id)))
        for ladder in official
        if not ladder.unlisted or members.is_chosen(player, ladder)
        if ladder.id not in playing_on and (ladder.game in bot.games or ladder.id in joined)
    ]


class _Explanation:
    """Hold what the reasons of all ladders of a bot depend on."""

    def __init__(
        self,
        session: Session,
        bot: Bot,
        player: LadderPlayer,
        joined: list[Membership],
        *,
        is_busy: bool,
        of_bot: Reason | None,
    ) -> None:
        self._session, self._bot, self._player, self._is_busy, self._of_bot = session, bot, player, is_busy, of_bot
        self._moment = current_time(session)
        self._of_day = members.count_matches_of_day(joined, self._moment)

    def reason(self, ladder: Ladder, membership: Membership | None) -> Reason:
        reason = self._choice_of_owner(ladder) or self._of_bot or self._missing_certificate(ladder)
        if reason is None and membership is not None:
            reason = self._time(ladder, membership)
        return reason or Reason("official_next")  # a bot that may play joins immediately

    def _choice_of_owner(self, ladder: Ladder) -> Reason | None:
        player = self._player
        if player.play == LadderPlay.OFF:
            return Reason("official_off")
        if not members.is_chosen(player, ladder):
            return Reason("official_game_off")
        return None if ladder.game in self._bot.games else Reason("official_not_listed")

    def _missing_certificate(self, ladder: Ladder) -> Reason | None:
        if certificates.explain_missing_certificate(self._session, self._bot, ladder.game) is None:
            return None
        is_checked = checks.is_pending(self._session, self._bot.id)
        return Reason("official_check" if is_checked else "official_no_certificate")

    def _time(self, ladder: Ladder, membership: Membership) -> Reason:
        """Return the reason why a member that may play has no match now."""
        due_at, maximum = membership.member.due_at, self._player.daily_maximum
        midnight = members.next_day(self._moment)
        paced = membership.matches_today(self._moment) - membership.extra_today(self._moment)
        if paced >= (ladder.daily_matches or 0) and not new_versions.plays_immediately(membership.member):
            return Reason("official_pace_used", at=max(midnight, due_at or midnight))
        if maximum is not None and self._of_day >= maximum:
            return Reason("official_maximum", at=max(midnight, due_at or midnight))
        if due_at is None:
            return Reason("official_next")
        if due_at > self._moment:
            expected = members.next_due(membership.member, ladder, self._player, self._moment)
            return Reason("official_recheck" if due_at > expected else "official_pace", at=due_at)
        return Reason("official_busy") if self._is_busy else self._partner(ladder, membership)

    def _partner(self, ladder: Ladder, membership: Membership) -> Reason:
        """Return the reason why a member that is due has no table yet."""
        fillers = official_matches.load_fillers(self._session, ladder)
        owners = official_matches.count_active_owners(self._session, ladder, self._moment)
        state = OfficialState(ladder.seats, owners, fillers)
        if not fillers:
            return Reason("official_no_house")
        if not state.may_meet_house(membership.member.matches_since_house):
            return Reason("official_house_used")
        since = official_matches.find_waiting_since(self._session, membership.member)
        at = since + timedelta(seconds=PARTNER_WAIT_S)
        if at <= self._moment or (state.owners == 1 and membership.member.matches):
            return Reason("official_next")
        return Reason("official_partner", at=at)
