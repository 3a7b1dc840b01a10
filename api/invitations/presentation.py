"""Show invitations to the accounts that decide about them, and to those that sent them."""

from collections.abc import Sequence

from api.auth import current_account
from api.extended import Extended
from api.views import current_session
from referee.accounts import accounts, acts
from referee.accounts.act_kinds import ActKind
from referee.bots import bots
from referee.tournaments.states import InvitationState
from referee.tournaments.tables import Invitation
from referee.workflows.accounts import invitations


def present_sent(invitation: Invitation) -> tuple[Extended, dict[str, str]]:
    """Record that the caller sent an invitation. Return it with the header of its location."""
    record_act(ActKind.INVITATION_SENT, invitation)
    return present_invitation(invitation), {"Location": f"/api/v1/invitations/{invitation.id}"}


def present_invitation(invitation: Invitation) -> Extended:
    return present_invitations([invitation])[0]


def present_invitations(found: Sequence[Invitation]) -> list[Extended]:
    """Return invitations with the names of what they are about, as the caller sees them."""
    session, caller = current_session(), current_account().id
    names = accounts.names_of(session, {id for item in found for id in (item.account_id, item.invited_by)})
    bot_names = bots.names_of(session, {item.bot_id for item in found if item.bot_id is not None})
    presented = []
    for invitation in found:
        state = invitations.state_of(session, invitation)
        more = invitations.ids_of_object(invitation)
        more |= {"name": invitations.get_object(session, invitation).name, "state": state}
        more |= {"account_name": names[invitation.account_id], "invited_by_name": names[invitation.invited_by]}
        more["bot_name"] = None if invitation.bot_id is None else bot_names[invitation.bot_id]
        waits = state == InvitationState.PENDING and invitation.account_id == caller
        presented.append(Extended(invitation, waits_for_you=waits, **more))
    return presented


def record_act(kind: str, invitation: Invitation) -> None:
    """Record an act of the caller on the account or bot that is invited."""
    tournament_id = invitation.object_id if invitations.concerns_tournament(invitation) else None
    acts.record_act(
        *(current_session(), current_account(), kind, invitation.bot_id or invitation.account_id),
        tournament_id=tournament_id,
        invitation=invitation.id,
    )
