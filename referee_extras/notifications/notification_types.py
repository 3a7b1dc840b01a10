"""List the types of notifications: the event that each reports, its sentence, and whether inboxes keep it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from referee import events, plugs
from referee.events import AccountEvent
from referee.games import catalogue, game_title
from referee.match.canonical import Json
from referee.timestamps import format_time

MATCH_FINISHED: Final = "match.finished"
PING: Final = "ping"  # only on request
_RENAMED: Final = {"by": "from", "by_name": "from_name"}  # members of events, in payloads


@dataclass(frozen=True, slots=True)
class Sentence:
    """Hold plain text, which may contain names that others chose, and the path of a page."""

    text: str
    path: str


@dataclass(frozen=True, slots=True)
class TypeDescription:
    """Describe a type. ``event`` is None for what no event reports: pings, and results (``result_messages``)."""

    describe: Callable[[Json], Sentence]
    event: type[AccountEvent] | None
    is_kept: bool = True  # in inboxes; the others are only sent


def describe_notification(type: str, payload: Json) -> Sentence:
    """Return a sentence for a notification. Members of the payload may be missing."""
    return TYPES[type].describe(payload)


def find_type(event: AccountEvent) -> str | None:
    """Return the type of the notification that reports this event, or None."""
    return next((type for type, described in TYPES.items() if isinstance(event, described.event or ())), None)


def make_payload(event: AccountEvent) -> Json:
    """Return the data of the notification of an event: its members, but not whom it concerns."""
    payload: Json = {}
    for name in (field.name for field in fields(event) if field.name != "accounts"):
        match getattr(event, name):
            case datetime() as moment:
                payload[name] = format_time(moment)
            case Mapping() as objects:
                payload |= objects
            case value:
                payload[_RENAMED.get(name, name)] = value
    return payload


def _account_recovered(payload: Json) -> Sentence:
    proof, moment = str(payload.get("proof", "")), str(payload.get("at", ""))
    way = f"the secret of your bot {proof}" if proof.startswith("bot_") else "its recovery code"
    text = f"Your account was recovered with {way} on {moment[:10]} at {moment[11:16]} UTC. Earlier tokens are revoked."
    return Sentence(text, "/account#tokens")


def _recovery_code_made(payload: Json) -> Sentence:
    moment = str(payload.get("at", ""))
    text = (
        f"A new recovery code was made on {moment[:10]} at {moment[11:16]} UTC with the token {payload.get('token')}. "
        "If you did not make it, revoke this token, which ends the code, too."
    )
    return Sentence(text, "/account#tokens")


def _match_finished(payload: Json) -> Sentence:
    seats = [seat for seat in payload.get("seats", ()) if "name" in seat]
    winners, others = ([seat["name"] for seat in seats if (seat["placement"] == 1) is won] for won in (True, False))
    text = f"A match of {_game(payload)} has its result."
    if len(winners) == 1:
        against = f" against {_join(others)}" if others else ""
        text = f"{winners[0]} won a match of {_game(payload)}{against}."
    elif winners:
        text = f"{_join(winners)} shared the first place in a match of {_game(payload)}."
    return Sentence(text, f"/matches/{payload.get('match', '')}")


def _join(names: Sequence[str]) -> str:
    return ", ".join([*names[:-2], " and ".join(names[-2:])])


def _bot_unhealthy(payload: Json) -> Sentence:
    return Sentence(f"{_name(payload)} did not answer: {payload.get('reason')}", f"/bots/{payload.get('bot', '')}")


def _certificate_lost(payload: Json) -> Sentence:
    games = ", ".join(_title(game) for game in payload.get("games", ()))
    text = f"{_name(payload)} lost its certificate for {games}: version {payload.get('version')} failed its check."
    return Sentence(text, f"/bots/{payload.get('bot', '')}")


def _friendly_requested(payload: Json) -> Sentence:
    names = ", ".join(payload.get("names", ()))
    text = f"{payload.get('from_name')} asks for a friendly of {_game(payload)}: {names}."
    return Sentence(text, "/account#friendlies")


def _friendly_decided(payload: Json) -> Sentence:
    reason = f": {payload['reason']}" if payload.get("reason") else "."
    text = f"Your request for a friendly of {_game(payload)} was {payload.get('state')}{reason}"
    match_id = payload.get("match")
    return Sentence(text, f"/matches/{match_id}" if match_id else "/account#friendlies")


def _invitation_received(payload: Json) -> Sentence:
    what = f"to enter your bot {payload['bot_name']} in" if payload.get("bot_name") else "to organise"
    return Sentence(f"{payload.get('from_name')} asks {what} {_name(payload)}. {_ANSWER}", "/account#invitations")


def _invitation_decided(payload: Json) -> Sentence:
    what = "to enter a bot" if payload.get("bot") else "to organise it"
    text = f"{_name(payload)}: your invitation {what} was {payload.get('state')}."
    for organised in plugs.list_organised():
        if payload.get(organised.kind):
            return Sentence(text, f"{organised.path}{payload[organised.kind]}")
    return Sentence(text, f"/tournaments/{payload.get('tournament')}/organise")


def _friendly_cancelled(payload: Json) -> Sentence:
    names = ", ".join(payload.get("names", ()))
    text = f"The friendly of {_game(payload)} of {names} was cancelled, without a fault: {payload.get('reason')}."
    return Sentence(text, f"/matches/{payload.get('match', '')}")


def _tournament_invited(payload: Json) -> Sentence:
    return _of_tournament(payload, f"invites your bots that play {_game(payload)}.")


def _tournament_started(payload: Json) -> Sentence:
    return _of_tournament(payload, "has started.")


def _tournament_held_up(payload: Json) -> Sentence:
    return _of_tournament(payload, f"waits: {payload.get('reason')}")


def _tournament_finished(payload: Json) -> Sentence:
    return _of_tournament(payload, "is finished.")


def _tournament_cancelled(payload: Json) -> Sentence:
    return _of_tournament(payload, f"was cancelled: {payload.get('reason')}")


def _tournament_changed(payload: Json) -> Sentence:
    return _of_tournament(payload, f"was changed: {', '.join(payload.get('changed', ()))}.")


def _tournament_entered(payload: Json) -> Sentence:
    text = f"{payload.get('from_name')} entered your bot {payload.get('bot_name')} in {_name(payload)}."
    return Sentence(f"{text} You can withdraw it on your account page.", "/account#tournaments")


def _tournament_entry_decided(payload: Json) -> Sentence:
    decision = "approved" if payload.get("approved") else "refused"
    reason = f": {payload['reason']}" if payload.get("reason") else "."
    return _of_tournament(payload, f"{decision} the entry of your bot{reason}")


def _tournament_disqualified(payload: Json) -> Sentence:
    return _of_tournament(payload, f"disqualified your bot: {payload.get('reason')}")


def _ping(payload: Json) -> Sentence:
    return Sentence("This is a test message of Referee.", "/account")


def _of_tournament(payload: Json, what: str) -> Sentence:
    return Sentence(f"{_name(payload)} {what}", f"/tournaments/{payload.get('tournament', '')}")


def _name(payload: Json) -> Any:
    return payload.get("name")


def _game(payload: Json) -> str:
    return _title(payload.get("game", ""))


def _title(game: str) -> str:
    return game_title(game) if game in catalogue() else game


_ANSWER: Final = "Accept or decline on your account page."
TYPES: Final[Mapping[str, TypeDescription]] = {
    "account.recovered": TypeDescription(_account_recovered, events.AccountRecovered),
    "account.recovery_code_made": TypeDescription(_recovery_code_made, events.RecoveryCodeMade),
    MATCH_FINISHED: TypeDescription(_match_finished, None),
    "bot.unhealthy": TypeDescription(_bot_unhealthy, events.BotUnhealthy),
    "certificate.lost": TypeDescription(_certificate_lost, events.CertificateLost),
    "friendly.requested": TypeDescription(_friendly_requested, events.FriendlyRequested),
    "friendly.decided": TypeDescription(_friendly_decided, events.FriendlyDecided),
    "invitation.received": TypeDescription(_invitation_received, events.InvitationReceived),
    "invitation.decided": TypeDescription(_invitation_decided, events.InvitationDecided),
    "friendly.cancelled": TypeDescription(_friendly_cancelled, events.FriendlyCancelled),
    "tournament.invited": TypeDescription(_tournament_invited, events.GuestsInvited),
    "tournament.started": TypeDescription(_tournament_started, events.TournamentStarted, is_kept=False),
    "tournament.held_up": TypeDescription(_tournament_held_up, events.TournamentHeldUp),
    "tournament.finished": TypeDescription(_tournament_finished, events.TournamentFinished),
    "tournament.cancelled": TypeDescription(_tournament_cancelled, events.TournamentCancelled),
    "tournament.changed": TypeDescription(_tournament_changed, events.TournamentChanged),
    "tournament.entered": TypeDescription(_tournament_entered, events.BotEntered),
    "tournament.entry_decided": TypeDescription(_tournament_entry_decided, events.EntryDecided),
    "tournament.disqualified": TypeDescription(_tournament_disqualified, events.BotDisqualified),
    PING: TypeDescription(_ping, None, is_kept=False),
}
SUBSCRIBABLE_TYPES: Final = tuple(type for type in TYPES if type != PING)
