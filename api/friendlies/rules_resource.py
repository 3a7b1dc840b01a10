"""Show and change who may challenge a bot, and which accounts are accepted or blocked."""

from typing import Any

from api.auth import account, anyone, current_account, viewer_id
from api.extended import Extended
from api.friendlies.schemas import ChallengerView, NewChallenger, RulesChanges, RulesView
from api.pagination import list_of, single_page
from api.views import Resource, current_session
from referee.accounts import accounts
from referee.accounts.scopes import Scope
from referee.bots import bots
from referee.bots.tables import Bot
from referee.errors import NeedsAcceptance
from referee.friendlies import rules
from referee.friendlies.states import Challengers, ChallengerVerdict
from referee.friendlies.tables import ChallengerEntry

resource = Resource("friendly-rules", "/api/v1", "Who may challenge a bot to friendlies.")


@resource.get('/bots/<id("bot"):bot_id>/friendlies', anyone, RulesView)
def show(bot_id: str) -> Any:
    """Get who may challenge a bot, and why you cannot

    Anyone can read the rules. With a token, `obstacle` says why your account cannot challenge the bot, and
    `may_request` whether its owner can be asked.
    """
    return present_rules(bots.get_bot(current_session(), bot_id))


@resource.patch('/bots/<id("bot"):bot_id>/friendlies', account, RulesView, scope=Scope.PLAY, body=RulesChanges)
def change(changes: dict[str, Any], bot_id: str) -> Any:
    """Change who may challenge one of your bots

    The rules bind friendlies only, never rated matches or matches of tournaments. Friendlies that are already arranged
    are still played.
    """
    bot = bots.get_bot(current_session(), bot_id, owner_id=current_account().id)
    rules.set_challengers(current_session(), bot, Challengers(changes["challengers"]))
    return present_rules(bot)


@resource.get("/challengers", account, list_of(ChallengerView))
def list_challengers() -> Any:
    """List the accounts that you have accepted or blocked, newest first

    All are on one page: at most 200 accounts. Nobody else can read the list.
    """
    return single_page(present_entries(rules.list_entries(current_session(), current_account().id)))


@resource.put('/challengers/<id("acc"):account_id>', account, ChallengerView, scope=Scope.PLAY, body=NewChallenger)
def put_challenger(entry: dict[str, Any], account_id: str) -> Any:
    """Accept or block an account

    The friendlies of an accepted account are played unless a bot plays with nobody; a blocked account can challenge
    none of your bots. It must have registered a bot. You can list 200 accounts.
    """
    verdict = ChallengerVerdict(entry["verdict"])
    (made,) = present_entries([rules.put_entry(current_session(), current_account().id, account_id, verdict)])
    return made


@resource.delete('/challengers/<id("acc"):account_id>', account, scope=Scope.PLAY)
def remove_challenger(account_id: str) -> None:
    """Neither accept nor block an account any more

    The rules of each bot then apply to this account. Removing an account that is not listed has no effect.
    """
    rules.remove_entry(current_session(), current_account().id, account_id)


def present_rules(bot: Bot) -> dict[str, Any]:
    """Return the rules of a bot, with what keeps the caller from challenging it."""
    challengers = rules.get_challengers(current_session(), bot.id)
    caller = viewer_id()
    obstacle = None if caller is None else rules.find_obstacle(current_session(), caller, bot)
    return {
        "bot": bot.id,
        "challengers": challengers,
        "text": rules.SENTENCES[challengers],
        "obstacle": None if obstacle is None else str(obstacle),
        "may_request": isinstance(obstacle, NeedsAcceptance),
    }


def present_entries(entries: list[ChallengerEntry]) -> list[Extended]:
    names = accounts.names_of(current_session(), [entry.account_id for entry in entries])
    return [Extended(entry, name=names.get(entry.account_id)) for entry in entries]
