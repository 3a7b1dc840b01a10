"""List the kinds of acts that are recorded: of operators and organisers, and what owners rename and delete.

Extras add kinds of their own.
"""

from enum import StrEnum

from referee import plugs


class ActKind(StrEnum):
    TOURNAMENT_DRAFTED = "tournament.drafted"
    TOURNAMENT_EDITED = "tournament.edited"
    TOURNAMENT_DELETED = "tournament.deleted"
    TOURNAMENT_OPENED = "tournament.opened"
    TOURNAMENT_STARTED = "tournament.started"
    TOURNAMENT_PAUSED = "tournament.paused"
    TOURNAMENT_RESUMED = "tournament.resumed"
    TOURNAMENT_CANCELLED = "tournament.cancelled"
    ADMISSION_SET = "tournament.admission_set"
    ORGANISER_ADDED = "tournament.organiser_added"
    ORGANISER_REMOVED = "tournament.organiser_removed"
    BOT_ENTERED = "entry.entered"
    BOT_WITHDRAWN = "entry.withdrawn"
    BOT_DISQUALIFIED = "entry.disqualified"
    REQUEST_APPROVED = "entry.approved"
    REQUEST_REFUSED = "entry.refused"
    SEEDS_SET = "entry.seeds_set"
    INVITATION_SENT = "invitation.sent"
    INVITATION_WITHDRAWN = "invitation.withdrawn"
    MATCH_CANCELLED = "match.cancelled"
    MATCH_RETRIED = "match.retried"
    VOID_ASKED = "match.void_asked"
    VOID_CONFIRMED = "match.void_confirmed"
    VOID_DECLINED = "match.void_declined"
    VOID_WITHDRAWN = "match.void_withdrawn"
    ACCOUNT_CREATED = "account.created"
    ACCOUNT_SUSPENDED = "account.suspended"
    ACCOUNT_RESTORED = "account.restored"
    ACCOUNT_RENAMED = "account.renamed"
    ACCOUNT_DELETED = "account.deleted"
    ROLE_CHANGED = "account.role_changed"
    ROLE_REFUSED = "account.role_refused"
    BOT_RENAMED = "bot.renamed"
    BOT_DELETED = "bot.deleted"
    SERVICE_RESTORED = "service.restored"
    TOKEN_CREATED = "account.token_created"  # noqa: S105  # the name of an act


def list_act_kinds() -> list[str]:
    """Return all kinds of acts, those of extras last."""
    return [*ActKind, *(kind for extra in plugs.extras() for kind in extra.act_kinds)]
