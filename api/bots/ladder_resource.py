"""Show and change on which official ladders a bot plays."""

from typing import Any

from api.auth import account, anyone, current_account
from api.bots.ladder_schemas import LadderPlayChanges, LadderPlayView
from api.extended import Extended
from api.views import Resource, current_session
from referee.accounts.scopes import Scope
from referee.bots import bots
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.errors import Conflict
from referee.ladders import members

resource = Resource("bot-ladders", "/api/v1/bots", "Play of bots on official ladders.")


@resource.get('/<id("bot"):bot_id>/ladders', anyone, LadderPlayView)
def show(bot_id: str) -> Any:
    """Get the play of a bot on official ladders

    A bot joins the official ladder of a game when it passes its check there, and an unlisted one if its owner also
    named its id. The service makes its matches.
    """
    return load_play(bots.get_bot(current_session(), bot_id))


@resource.patch('/<id("bot"):bot_id>/ladders', account, LadderPlayView, body=LadderPlayChanges, scope=Scope.PLAY)
def change(changes: dict[str, Any], bot_id: str) -> Any:
    """Change the play of one of your bots on official ladders

    Nothing chooses opponents.
    """
    bot = bots.get_bot(current_session(), bot_id, owner_id=current_account().id)
    if not members.may_join(bot):
        raise Conflict(f"The bot is {bot.status} and does not play on official ladders.")
    members.change_settings(current_session(), bot, changes)
    return load_play(bot)


def load_play(bot: Bot) -> Extended:
    """Return the settings of the bot's owner, with the ladders that it has joined."""
    session = current_session()
    moment = current_time(session)
    joined = [
        Extended(membership, matches_today=membership.matches_today(moment), extra_today=membership.extra_today(moment))
        for membership in members.list_memberships(session, bot.id)
    ]
    return Extended(members.get_player(session, bot.id), ladders=joined)
