"""Replace names of what is deleted where they were copied: in acts. Extras hear of it by events."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session

from referee import plugs
from referee.accounts.act_kinds import ActKind
from referee.accounts.oversight_tables import Act

NAMING: Final = (ActKind.TOURNAMENT_DRAFTED, ActKind.TOURNAMENT_DELETED)  # their details have a name that was given
NAMES: Final = ("name", "name_before", "name_after")  # in the details of acts


def replace_bot_name(session: Session, bot_id: str, name: str, *, kept: Sequence[str]) -> None:
    """Replace the names of a bot, apart from those in ``kept``, by ``name``."""
    for act in session.scalars(select(Act).where(Act.object_id == bot_id, Act.kind == ActKind.BOT_RENAMED)).all():
        details = {key: name if key in NAMES and old not in kept else old for key, old in act.details.items()}
        _set_act(session, act, details=details, reason=act.reason)


def replace_account_name(session: Session, account_id: str, name: str) -> None:
    """Replace the name of an account by ``name``, and remove the reasons of what operators did to the account.

    Also remove the names that it gave to what it created.
    """
    session.execute(update(Act).where(Act.account_id == account_id).values(account_name=name))
    naming = [*NAMING, *(kind for extra in plugs.extras() for kind in extra.naming_act_kinds)]
    named = or_(Act.object_id == account_id, and_(Act.account_id == account_id, Act.kind.in_(naming)))
    for act in session.scalars(select(Act).where(named)).all():
        details = {key: value for key, value in act.details.items() if key not in NAMES}
        _set_act(session, act, details=details, reason=None)


def _set_act(session: Session, act: Act, **values: Any) -> None:
    session.execute(update(Act).where(Act.id == act.id).values(**values))
