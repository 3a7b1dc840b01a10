"""Implement `referee tournament waiting`, which says why a bot is not playing."""

import click

from referee.cli.service import lookup
from referee.cli.service.remote import Remote, service_command
from referee.cli.tables import TextTable, number
from referee.labels import rated_label
from referee.match.canonical import Json


@service_command()
@click.argument("bot", metavar="BOT")
def waiting(remote: Remote, bot: str) -> None:
    """Show why a bot is not playing.

    The bot's owner and organisers also see its position in the queue and the reason for waiting.

    \b
    Example:
      referee tournament waiting "Ada sound"
    """
    document = remote.api.get(f"/bots/{lookup.bot_id(remote.api, bot)}/waiting")
    head = f"{bot}: no open match"
    if document["open"]:
        head = f"{bot}: {document['playing']} of {document['open']} open matches are being played"
    if document["reason"]:
        head += f"; {document['reason']['text']}"
    rows = [
        (match["match"], number(match["position"]), f"{_reason(match)}{_describe_unrated(match)}")
        for match in document["matches"]
    ]
    rows += [(tournament["tournament"], "-", _reason(tournament)) for tournament in document["tournaments"]]
    rows += [(ladder["ladder"], "-", _reason(ladder)) for ladder in document["ladders"]]
    waits_for = "match, tournament or ladder"
    table = TextTable((waits_for, "position", "reason"), rows, left=(waits_for, "reason"))
    text = f"{head}\n{table.plain()}" if rows else head
    remote.show(document, text)


def _describe_unrated(match: Json) -> str:
    return f" ({rated_label({**match, 'rated': False})})" if match["unrated_reason"] else ""


def _reason(waiting: Json) -> str:
    return str(waiting["reason"]["text"]) if waiting["reason"] else "is being played"
