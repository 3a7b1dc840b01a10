"""Why a bot waits: the closed list, each reason with what would change it. Which one holds is found elsewhere."""

from dataclasses import dataclass
from typing import Final

REASONS: Final[dict[str, str]] = {
    # -- of a match --
    "next": "it is the next: a runner takes it up as soon as it has a slot free",
    "behind": "{ahead} matches come before it",
    "runner_needed": "no runner is at work, or its own is gone: it goes on when a worker takes it up",
    "alone_first": "a match that lost its runner twice is played by itself first: then the queue goes on",
    "bot_full": "the bot plays as many seats at once as its card allows (max_calls): it begins when one is over",
    "bot_examined": "the bot is being examined, which takes the calls it has left: it begins when that is over",
    "rival_full": "the bot in seat {seat} has no call free: it begins when another match or examination of it is over",
    "friendly_share": "as many friendlies of the account that arranged it are played as may be at once: it begins when "
    "one of them is over",
    "group_opening": "the bots of its deal group are asked for their share in the shuffling",
    "group_playing": "another match of its duplicate group is being played; the rest goes out together",
    "played_alone": "it lost its runner twice and waits for a process of its own",
    "stuck": "it cost several runners their lives and waits for the operator",
    # -- of a match or a tournament --
    "tournament_paused": "the tournament is paused until its organiser resumes it",
    # -- of the bot --
    "not_verified": "the bot has yet to prove its address: it is called now, or in a moment",
    "check_failed": "the bot did not prove its address: see the report of its check, mend it, ask for another check",
    "paused": "the bot is paused: it gets new matches when its owner resumes it",
    "unhealthy": "the bot could not be called to the end of its last matches: see its faults, then resume it",
    "retired": "the bot is retired for good",
    "not_entered": "the bot is in no tournament that goes on, and nobody has arranged a match with it",
    # -- of a tournament in which it has no match --
    "event_not_started": "the tournament has not started: its organiser starts it, or it starts at its time",
    "start_missed": "the tournament could not start: its organiser has to start it by hand or set a new time",
    "preflight": "the tournament calls every bot before it starts",
    "absent": "the bot did not answer before the stage and sits out until it does",
    "no_certificate": "rated play needs a certificate for its present version: ask for a check and see what is to mend",
    "other_game": "the card of the bot does not list the game of the tournament any more",
    "other_version": "the tournament keeps the versions of its start: the bot plays when it has that version again",
    "joins_later": "the bot joined late and plays from stage {stage} on",
    "not_paired": "the next stage is about to be paired",
    "table_to_come": "its table of stage {stage} is decided: its match is arranged when others are over",
    "table_empty": "somebody at its table of stage {stage} cannot play: the table stays without a match",
    "bye": "it has a bye in stage {stage} and plays in the next stage, if there is one",
    "knocked_out": "it is out: the tournament goes on without it",
    "held_up": "matches of the tournament are stuck: it goes on when its organiser or the operator has decided on them",
    "stage_not_over": "its matches of this stage are over, those of others are not: the next stage comes after them",
    "no_rivals": "a table seats bots of different owners, and too few owners have a bot here that can play: it plays "
    "when others enter or come back",
    "ladder_next": "the ladder picks it again when its turn comes: whoever played least comes first",
    "ladder_ending": "its organiser has ended the ladder: no other match is arranged",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One of ``REASONS``, with what it speaks of. ``seat`` is a rival's."""

    code: str
    ahead: int | None = None
    seat: int | None = None
    stage: int | None = None

    @property
    def text(self) -> str:
        return REASONS[self.code].format(ahead=self.ahead, seat=self.seat, stage=self.stage)
