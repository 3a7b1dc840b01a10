"""Serve the pages of matches: the list, a match in the viewer, the page that opens a log file, the list of voids."""

from collections.abc import Sequence
from typing import Any, Final

from flask import Response, current_app, request

from api.errors import invalid
from api.matches.presentation import extend_openings, match_views, present_voids
from api.matches.schemas import MatchQuery
from api.matches.viewer_data import viewer_data
from api.matches.void_schemas import VoidQuery
from api.pages.formatting import match_reason
from api.pages.page import EMBED_POLICY, Pages, page
from api.pages.paging import cursor_links
from api.pages.parameters import load_query
from api.pagination import read_cursor
from api.views import current_session
from referee import viewer
from referee.bots import bots
from referee.matches import matches, voids
from referee.matches.deals import deal_groups
from referee.matches.lists import results
from referee.matches.lists.match_filters import BotResult, MatchFilter
from referee.matches.logs import chain, logs
from referee.matches.states import ENDED, OPEN, MatchState, VoidState
from referee.matches.voids import VoidFilter
from referee.tournaments import tournaments
from referee.viewer.presentation import presentation, presentations
from referee.workflows.explaining import unrated, waiting
from referee.workflows.publishing import visibility
from workers import reports

pages = Pages("matches", __name__)

Json = dict[str, Any]
MATCHES_PER_PAGE: Final = 30
VOIDS_PER_PAGE: Final = 30
VOID_FILTERS: Final = ("match", "tournament", "state")
VOIDS_SHOWN: Final = 20  # of one match, the newest; the list of voids has all
QUERY: Final = sorted(MatchQuery().load_fields.keys() - {"limit", "cursor"})  # the filters, as in the API
STATES: Final = (  # the most interesting first
    *(MatchState.RUNNING, MatchState.FINISHED, MatchState.WAITING, MatchState.DUE),
    *(MatchState.CANCELLED, MatchState.VOID, MatchState.STUCK),
)


@pages.view("/matches", *QUERY, "cursor", repeatable=["bot"])
def contents() -> Response:
    """Show the list of matches, newest first, filtered by the query."""
    query: Json = {**load_query(MatchQuery), "limit": MATCHES_PER_PAGE}
    wanted = MatchFilter(**{name: value for name, value in query.items() if name not in ("limit", "cursor")})
    found = matches.list_matches(
        current_session(),
        wanted,
        # Filtering by bot must not reveal who plays a rated match.
        where=visibility.has_known_seats() if wanted.bot_ids else None,
        limit=MATCHES_PER_PAGE,
        cursor=read_cursor(query),
    )
    tournament_id = wanted.tournament_id
    return page(
        "matches/list.html",
        matches=match_views(found.items),
        scores=results.load_public_scores(current_session(), [match.id for match in found.items]),
        filters=[(name, value) for name in QUERY for value in request.args.getlist(name) if value],
        wanted=wanted,
        bots=_names_of_bots(wanted.bot_ids),
        tournament=tournament_id and tournaments.get_visible_tournament(current_session(), tournament_id).name,
        **cursor_links(found, query),
        states=STATES,
        results=list(BotResult),
    )


@pages.view('/matches/<id("mat"):match_id>')
def show(match_id: str) -> Response:
    """Show a match in the viewer: live while it is played, from its log afterwards."""
    match = matches.get_match(current_session(), match_id)
    (view,) = match_views([match])
    tournament = (
        None if match.tournament_id is None else tournaments.get_tournament(current_session(), match.tournament_id)
    )
    script_data = viewer_data(match, view)
    # A match that was stuck when it was voided has no placements.
    placed = match.status in (MatchState.FINISHED, MatchState.VOID) and view["seats"][0]["placement"] is not None
    over = match.status in ENDED
    wanted = VoidFilter(match_id=match.id)
    found = voids.list_voids(current_session(), wanted, limit=VOIDS_SHOWN, cursor=None).items if over else []
    return page(
        "matches/match.html",
        match=view,
        placed=placed,
        scores=results.get_result(current_session(), match_id).scores if placed and script_data["open"] else None,
        unit=presentation(match.game)["score"],
        faults=[seat.faults for seat in matches.seats_of(current_session(), [match_id])[match_id]],
        digest=logs.find_digest(current_session(), match_id) if match.log_deleted_at else None,
        signature=chain.find_signature(current_session(), match_id) if script_data["open"] else None,
        tournament=tournament,
        group=extend_openings(deal_groups.get_group(current_session(), match.group_id)),
        over=over,
        voids=present_voids(found),
        reason=match_reason(match.reason),
        waits=_explain_waiting(match.id) if match.status in OPEN - {MatchState.RUNNING} else None,
        why_unrated=unrated.UNRATED_REASONS.get(view["unrated_reason"]),
        script_data=script_data,
    )


@pages.view('/embed/matches/<id("mat"):match_id>')
def embed(match_id: str) -> Response:
    """Show a match in the viewer alone. Pages of any site may show this page in a frame."""
    match = matches.get_match(current_session(), match_id)
    (view,) = match_views([match])
    response = page(
        "matches/embed.html",
        match=view,
        script_data={**viewer_data(match, view), "owners": []},
        canonical_path=f"/matches/{match_id}",
    )
    response.headers["Content-Security-Policy"] = EMBED_POLICY
    return response


@pages.get("/replay")
def replay() -> Response:
    """Show the page that opens a log file."""
    return page("matches/replay.html", script_data={"faults": viewer.advice(), "presentations": presentations()})


@pages.view("/voids", *VOID_FILTERS, "cursor")
def void_contents() -> Response:
    """Show the list of voids and proposals, newest first."""
    query = {**load_query(VoidQuery), "limit": VOIDS_PER_PAGE}
    wanted = VoidFilter(**{name: value for name, value in query.items() if name not in ("limit", "cursor")})
    found = voids.list_voids(current_session(), wanted, limit=VOIDS_PER_PAGE, cursor=read_cursor(query))
    tournament_id = wanted.tournament_id
    return page(
        "voids/list.html",
        voids=present_voids(found.items),
        count=voids.count_voids(current_session(), wanted),
        filters=[(name, request.args[name]) for name in VOID_FILTERS if request.args.get(name)],
        tournament=tournament_id and tournaments.get_visible_tournament(current_session(), tournament_id).name,
        wanted=wanted,
        states=[*VoidState],
        **cursor_links(found, query),
    )


def _explain_waiting(match_id: str) -> tuple[waiting.OpenMatch | None, int | None]:
    """Return what the match waits for, and how many seconds due work of the service has waited if it is stalled."""
    slots = current_app.config["SETTINGS"].runner_slots
    stalled_s = reports.matches_stalled_s(current_app.extensions["referee.redis"])
    is_stalled = stalled_s is not None
    match = waiting.explain_match(current_session(), match_id, runner_slots=slots, are_matches_stalled=is_stalled)
    return match, stalled_s


def _names_of_bots(bot_ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of id and name, in order. Raise a 422 for an unknown bot."""
    names = bots.names_of(current_session(), bot_ids)
    if unknown := [number for number, bot_id in enumerate(bot_ids) if bot_id not in names]:
        raise invalid([(f"bot[{number}]", "No bot has this id.") for number in unknown])
    return [(bot_id, names[bot_id]) for bot_id in bot_ids]
