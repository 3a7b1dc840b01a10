"""Describe notifications in a sentence for people, with the path of the page that shows more."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee import plugs
from referee.games import catalogue, game_title
from referee.match.canonical import Json
from referee.webhooks.states import NotificationType


@dataclass(frozen=True, slots=True)
class Sentence:
    """Hold plain text, which may contain names that others chose, and the path of a page."""

    text: str
    path: str


def describe_notification(event: str, payload: Json) -> Sentence:
    """Return a sentence for a notification. Payloads of earlier versions may lack members."""
    return _DESCRIBE[NotificationType(event)](payload)


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
_DESCRIBE: Final[Mapping[NotificationType, Callable[[Json], Sentence]]] = {
    NotificationType.ACCOUNT_RECOVERED: _account_recovered,
    NotificationType.RECOVERY_CODE_MADE: _recovery_code_made,
    NotificationType.MATCH_FINISHED: _match_finished,
    NotificationType.BOT_UNHEALTHY: _bot_unhealthy,
    NotificationType.CERTIFICATE_LOST: _certificate_lost,
    NotificationType.FRIENDLY_REQUESTED: _friendly_requested,
    NotificationType.FRIENDLY_DECIDED: _friendly_decided,
    NotificationType.INVITATION_RECEIVED: _invitation_received,
    NotificationType.INVITATION_DECIDED: _invitation_decided,
    NotificationType.FRIENDLY_CANCELLED: _friendly_cancelled,
    NotificationType.TOURNAMENT_INVITED: _tournament_invited,
    NotificationType.TOURNAMENT_STARTED: _tournament_started,
    NotificationType.TOURNAMENT_HELD_UP: _tournament_held_up,
    NotificationType.TOURNAMENT_FINISHED: _tournament_finished,
    NotificationType.TOURNAMENT_CANCELLED: _tournament_cancelled,
    NotificationType.TOURNAMENT_CHANGED: _tournament_changed,
    NotificationType.TOURNAMENT_ENTERED: _tournament_entered,
    NotificationType.TOURNAMENT_ENTRY_DECIDED: _tournament_entry_decided,
    NotificationType.TOURNAMENT_DISQUALIFIED: _tournament_disqualified,
    NotificationType.PING: _ping,
}
