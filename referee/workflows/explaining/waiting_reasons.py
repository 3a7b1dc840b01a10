"""List the reasons why a bot waits, and what will end each wait. ``waiting`` and ``entry_reasons`` choose a reason."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

REASONS: Final[dict[str, str]] = {
    # -- of a match --
    "next": "the match is next in the queue: a runner starts it when it has a free slot",
    "behind": "matches ahead of it in the queue: {ahead}",
    "runner_needed": "no runner is available, or the match lost its runner: it starts or continues when a worker "
    "takes it",
    "alone_first": "a match that lost its runner twice has to be played on its own first: then the queue continues",
    "bot_full": "the bot already plays as many seats as its manifest allows (max_concurrent_requests): the match "
    "starts when one of them is over",
    "check_running": "a check of the bot is running, which uses its remaining calls: the match starts when the check "
    "is over",
    "rival_full": "the bot in seat {seat} has no free call: the match starts when another match or a check of that bot "
    "is over",
    "friendlies_of_bot": "the bot in seat {seat} already plays as many friendlies as it may at a time, since other "
    "matches keep a part of its calls: the match starts when one of them is over",
    "friendly_share": "the account that arranged it has reached its limit of friendlies in progress: the match starts "
    "when one of them is over",
    "group_opening": "the bots of its deal group are being asked for their share in the shuffling",
    "group_playing": "another match of its duplicate group is in progress: the remaining matches of the group start "
    "together",
    "played_alone": "the match lost its runner twice and waits for a separate process",
    "game_missing": "the game, or this version of its rules, is not installed on this service: the match is played "
    "when the operator has installed the package of the game",
    "stuck": "the match failed with several runners and waits for the operator",
    # -- of a match or a tournament --
    "tournament_paused": "the tournament is paused until its organiser resumes it",
    # -- of the bot --
    "not_verified": "the address of the bot is not verified yet: the referee calls it now or in a moment",
    "handshake_failed": "the bot did not pass its handshake: read the report of the handshake, fix the bot, and "
    "request another check",
    "paused": "the bot is paused: it gets new matches when its owner resumes it",
    "unhealthy": "the bot stopped responding in its last matches: check its faults, then resume it",
    "retired": "the bot is permanently retired",
    "not_entered": "the bot is not entered in any unfinished tournament, and nobody has arranged a match with it",
    # -- of a tournament in which it has no match --
    "event_not_started": "the tournament has not started: it starts when its organiser starts it, or at the "
    "scheduled time",
    "start_missed": "the tournament could not start: its organiser has to start it manually or set a new time",
    "preflight": "the tournament calls every bot before it starts",
    "absent": "the bot did not answer before the round and sits out until it answers",
    "no_certificate": "rated play needs a certificate for the current version of the bot: request a check and fix "
    "what it reports",
    "other_game": "the manifest of the bot no longer lists the game of the tournament",
    "other_version": "the tournament admits only the version that the bot had at the start: the bot plays when it "
    "has that version again",
    "joins_later": "the bot joined late and plays from round {tournament_round} on",
    "not_paired": "the next round is about to be paired",
    "table_to_come": "the table of the bot in round {tournament_round} is known: its match is arranged when other "
    "matches are over",
    "table_empty": "a bot at its table in round {tournament_round} cannot play: no match is arranged for this table",
    "bye": "the bot has a bye in round {tournament_round} and plays in the next round, if there is one",
    "knocked_out": "the bot is out: the tournament continues without it",
    "held_up": "matches of the tournament are stuck: it continues when its organiser or the operator has dealt with "
    "them",
    "round_not_over": "the matches of the bot in this round are over: the next round follows when all others are "
    "over too",
    # -- of an official ladder on which it has no match --
    "official_off": "its owner has switched official ladders off",
    "official_game_off": "its owner has excluded this game from official ladders",
    "official_not_listed": "the manifest of the bot no longer lists the game of the official ladder",
    "official_check": "the bot joins the official ladder when it passes the check that is due or running",
    "official_no_certificate": "the bot gets matches on the official ladder when it has a certificate for its current "
    "version: request a check and fix what it reports",
    "official_busy": "the bot plays one match of official ladders at a time: the next one follows when this is over",
    "official_pace": "the service spreads the matches of the official ladder over the day: the next one is due at {at}",
    "official_pace_used": "the bot has had its matches of this day on the official ladder: the next one is due at {at}",
    "official_maximum": "the bot has had as many matches on official ladders as its owner allows in a day: the next "
    "one is due at {at}",
    "official_recheck": "the bot could not play when its turn came: the official ladder tries again at {at}",
    "official_partner": "no bot of another owner is free: if none becomes free before {at}, house players "
    "fill the table",
    "official_house_used": "the bot met house players in a recent match and bots of other owners are active: it plays "
    "when one of them is free",
    "official_no_house": "no bot of another owner is free, and the service has no house players: the bot plays when "
    "one becomes free",
    "official_next": "the service makes the next match of the bot on the official ladder in a moment",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Represent one of ``REASONS`` with its parameters. ``seat`` is the seat of an opponent, from 0."""

    code: str
    ahead: int | None = None
    seat: int | None = None
    tournament_round: int | None = None
    at: datetime | None = None

    @property
    def text(self) -> str:
        seat = None if self.seat is None else self.seat + 1  # people count seats from 1
        at = None if self.at is None else f"{self.at:%Y-%m-%d %H:%M:%S} UTC"
        return REASONS[self.code].format(ahead=self.ahead, seat=seat, tournament_round=self.tournament_round, at=at)
