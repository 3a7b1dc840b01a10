"""Download logs of matches; create, list, cancel and retry matches."""

import gzip
from typing import Any

from flask import Response, request

from api.auth import account, admin, anyone, current_account, has_scope, may_organise, require_scope, viewer_id
from api.errors import Problem, not_found
from api.matches.fault_schemas import FaultView, MatchFaultQuery
from api.matches.friendly_terms import check_own_friendly, get_seated_bots, plan_match
from api.matches.presentation import attach_group, visible_matches
from api.matches.rights import may_void, record_act
from api.matches.schemas import CancelMatch, MatchQuery, MatchView, NewMatch, WholeMatchView
from api.requests import LOG_POLICY
from api.views import Resource, current_session, master_key
from referee.accounts.act_kinds import ActKind
from referee.accounts.scopes import Scope
from referee.bots import bots
from referee.bots.tables import Bot
from referee.db.paging import Page
from referee.errors import Forbidden, NotFound, NotReady
from referee.friendlies import rules
from referee.matches import matches
from referee.matches.lists import fault_reports
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.logs import logs
from referee.matches.queue import quotas
from referee.matches.tables import StoredMatch
from referee.workflows.ending import match_retry
from referee.workflows.publishing import visibility
from referee.workflows.voids import match_cancellation, void_proposals

resource = Resource("matches", "/api/v1/matches", "Matches and their logs.")


@resource.get('/<id("mat"):match_id>/log', anyone)
@resource.file_response("application/x-ndjson", "The log, one JSON object per line; gzipped if the client accepts it.")
def log(match_id: str) -> Response:
    """Download the log of a match

    The last row is followed by the signature of the log, a line of type `signature`, unless the log is not signed. The
    log can be read when the last match of its deal group is over; before that, the response is a 409 `log_not_ready`. A
    match that was cancelled before its first row has no log. The response is a 410 `log_deleted` if the service no
    longer keeps the log, see `log_deleted_at` of the match, and a 409 `log_damaged` if the stored log or its signature
    is not as it was recorded: it is never served.
    """
    match = matches.get_match(current_session(), match_id)
    gzipped = request.accept_encodings["gzip"] > 0
    try:
        content = logs.read_log_file(current_session(), match, gzipped=False)
    except NotReady as error:
        if logs.is_log_public(current_session(), match):
            raise not_found() from None  # the match was cancelled before its first row and will never have a log
        raise Problem(409, "log_not_ready", str(error)) from None
    response = Response(content, mimetype="application/x-ndjson")
    response.headers["Content-Disposition"] = f'attachment; filename="{match.id}.ndjson"'
    response.headers["Content-Security-Policy"] = LOG_POLICY
    response.headers["Vary"] = "Accept-Encoding"
    if gzipped:  # in one gzip member: browsers read only the first
        response.set_data(gzip.compress(content, 6, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    return response


@resource.post("", account, WholeMatchView, wakes_runner=True, body=NewMatch, status=201, scope=Scope.PLAY)
def arrange(new_match: dict[str, Any]) -> Any:
    """Create a match

    An owner can create friendlies: unrated matches with at least one bot of their own. An owner may have 10 friendlies
    that are not over, each with at most 5 s per decision and a bank of at most 60 s. Organisers have no such limits,
    may seat any bots, and may create rated matches. While other matches wait for slots, a friendly may last for
    `may_last_s` seconds, at least 15 minutes; then it is cancelled, and no bot is charged. Owners decide who plays
    friendlies with their bots: a 403 or 409 says why a bot cannot be challenged. With the code
    `needs_acceptance`, its owner can be asked.
    """
    seated = check_may_create(new_match)
    if not new_match["rated"]:
        rules.check_challenge(current_session(), current_account().id, seated)
    plan = plan_match(new_match, rated=new_match["rated"])
    return attach_group(matches.create_match(current_session(), plan, master_key=master_key()))


@resource.get("", anyone, items=MatchView, query=MatchQuery)
def list_matches(query: dict[str, Any]) -> Any:
    """List matches, newest first

    If you filter by bots that are not all your own, the matches of anonymous tournaments whose players are hidden are
    left out.
    """
    place = {name: query.pop(name) for name in ("limit", "cursor")}
    wanted = MatchFilter(**query)
    hides_seats = not (may_organise() or all(map(owns_bot, wanted.bot_ids)))
    known = visibility.has_known_seats() if hides_seats else None
    found = matches.list_matches(current_session(), wanted, where=known, **place)
    return Page(visible_matches(found.items), found.next)


@resource.get('/<id("mat"):match_id>', anyone, WholeMatchView)
def show(match_id: str) -> Any:
    """Get a match

    The bots of a rated match of an `anonymous` tournament are hidden until it is over, unless you are an organiser. The
    seed of the deals is shown once the deal group is over; `GET …/log` has the log.
    """
    return attach_group(matches.get_match(current_session(), match_id))


@resource.post('/<id("mat"):match_id>/cancel', account, WholeMatchView, body=CancelMatch, scope=Scope.PLAY)
def cancel(wish: dict[str, Any], match_id: str) -> Any:
    """Cancel a match that is not over

    The account that created a match may cancel it, and so may any organiser. A match of a tournament can be cancelled
    only by the tournament's organiser; a friendly also by the owner of any bot in it. The operator may cancel any
    match. A cancelled match stays listed, without a result. Without `whole_group`, the response is a 409 if other
    matches share the cards: they must be cancelled together. If one of them has ended and counts, this would void it:
    the response is a 409 unless you are the operator and own no bot in them; propose to void it instead.
    """
    match = matches.get_match(current_session(), match_id)
    if not may_cancel(match):
        raise Forbidden(
            "Only the account that created a match or an organiser may cancel it; a friendly may also be cancelled by "
            "the owner of any bot in it."
        )
    if not is_own_friendly(match):
        require_scope(Scope.ORGANISE)
    cancelled = match_cancellation.cancel_match(
        current_session(),
        match_id,
        wish["reason"],
        master_key=master_key(),
        whole_group=wish["whole_group"],
        created_by=current_account().id,
        keep_results=not void_proposals.may_void_group(current_session(), current_account(), match.group_id),
    )
    if match.tournament_id is not None or may_organise():
        record_act(ActKind.MATCH_CANCELLED, match_id, reason=wish["reason"])
    return attach_group(cancelled)


@resource.post('/<id("mat"):match_id>/retry', admin, WholeMatchView, wakes_runner=True, scope=Scope.ALL)
def retry(match_id: str) -> Any:
    """Retry a stuck match

    Only the operator may do this, after fixing the cause of the failures. The match continues from its last recorded
    row.
    """
    retried = match_retry.retry_match(current_session(), match_id)
    record_act(ActKind.MATCH_RETRIED, match_id)
    return attach_group(retried)


@resource.get('/<id("mat"):match_id>/faults', account, items=FaultView, query=MatchFaultQuery)
def list_faults(query: dict[str, Any], match_id: str) -> Any:
    """List the faults of your bots in a match, newest first

    Organisers see the faults of all bots once the deal group is over.
    """
    match = matches.get_match(current_session(), match_id)
    judges = may_organise() and logs.is_log_public(current_session(), match)
    return fault_reports.list_faults(
        current_session(), match_id=match.id, owner_id=None if judges else current_account().id, **query
    )


def check_may_create(new_match: dict[str, Any]) -> list[Bot]:
    """Return the bots. Raise ``Forbidden``, ``QuotaExceeded`` or a 422 unless this account may create the match.

    Accounts that are not organisers need a bot of their own in the match. Their matches must be unrated, with limited
    time, and within the quota of friendlies.
    """
    if may_organise() and has_scope(Scope.ORGANISE):
        return get_seated_bots(new_match)
    if new_match["rated"]:
        if may_organise():
            require_scope(Scope.ORGANISE)
        raise Forbidden("Only organisers may create rated matches. Leave out `rated` for a friendly.")
    seated = check_own_friendly(new_match)
    quotas.check_friendlies(current_session(), current_account().id)
    return seated


def may_cancel(match: StoredMatch) -> bool:
    """Return whether the caller may cancel the match."""
    return (
        may_void(match)
        or (match.tournament_id is None and current_account().role == "organiser")
        or current_account().id in matches.owners_of_friendly(current_session(), match)
    )


def is_own_friendly(match: StoredMatch) -> bool:
    """Return whether the match is a friendly that the caller created, or in which they have a bot."""
    owners = matches.owners_of_friendly(current_session(), match)
    return current_account().id in owners or (match.is_friendly and match.created_by == current_account().id)


def owns_bot(bot_id: str) -> bool:
    try:
        return bots.get_bot(current_session(), bot_id).owner_id == viewer_id()
    except NotFound:
        return False
