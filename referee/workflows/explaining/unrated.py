"""Derive from the database why a match is unrated. ``scheduling`` decides which matches are rated."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.accounts.roles import ORGANISING
from referee.accounts.tables import Account
from referee.bots import house_bots
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.matches.scheduling import has_owner_twice
from referee.matches.tables import MatchSeat, StoredMatch
from referee.tournaments.tables import Tournament

UNRATED_REASONS: Final[dict[str, str]] = {  # descriptions of all reasons, by code
    "friendly": "an account arranged it as an unrated match",
    "tournament_terms": "its tournament is not rated",
    "one_owner_twice": "two bots of one owner sit at its table",
    "house_player": "house players that are no anchors take seats, and fewer than two seats remain that count",
    "substitute": "house players that are no anchors replace absent bots, and fewer than two seats remain that count",
}


def unrated_reasons(session: Session, matches: Iterable[StoredMatch]) -> dict[str, str]:
    """Return the reason (one of ``UNRATED_REASONS``) for each of these matches that is unrated, keyed by match id."""
    unrated = [match for match in matches if not match.rated]
    if not unrated:
        return {}
    rated_events = _rated_tournaments(session, {match.tournament_id for match in unrated})
    organisers = _organisers(session, {match.created_by for match in unrated if match.is_friendly})
    by_seats = [match.id for match in unrated if match.tournament_id in rated_events or match.created_by in organisers]
    of_ladders = {match.id for match in unrated if match.ladder_id is not None}
    owners = _owners(session, by_seats)
    anchored = _with_anchors(session, [match for match in unrated if match.id in owners])
    reasons = {}
    for match in unrated:
        if match.id in of_ladders:
            reasons[match.id] = "house_player"
        elif match.tournament_id is not None and match.tournament_id not in rated_events:
            reasons[match.id] = "tournament_terms"
        elif match.id not in owners:
            reasons[match.id] = "friendly"
        elif has_owner_twice(owners[match.id]):
            reasons[match.id] = "one_owner_twice"
        elif match.tournament_id is not None:
            reasons[match.id] = "substitute"
        else:  # arranged by an organiser: unrated on request, or because fewer than two bots can be rated
            seats = len(owners[match.id]) + (match.id in anchored)
            reasons[match.id] = "friendly" if owners[match.id] and seats > 1 else "house_player"
    return reasons


def table_unrated_reason(tournament: Tournament, owners: Collection[str]) -> str | None:
    """Return why a table with bots of these owners is unrated, or None if it is rated as far as is known.

    The matches of the table need not be arranged yet, so substitutes are not known.
    """
    if not tournament.rated:
        return "tournament_terms"
    return "one_owner_twice" if has_owner_twice(owners) else None


def _rated_tournaments(session: Session, tournament_ids: set[str | None]) -> set[str]:
    return set(session.scalars(select(Tournament.id).where(Tournament.id.in_(tournament_ids), Tournament.rated)))


def _organisers(session: Session, account_ids: set[str | None]) -> set[str]:
    """Return the ids of the given accounts that may request rated matches."""
    query = select(Account.id).where(Account.id.in_(account_ids), Account.role.in_(ORGANISING))
    return set(session.scalars(query))


def _with_anchors(session: Session, matches: Sequence[StoredMatch]) -> set[str]:
    """Return the ids of those of these matches that seat an anchor."""
    by_id = {match.id: match for match in matches}
    query = select(MatchSeat.match_id, Bot.url).join(Bot, Bot.id == MatchSeat.bot_id)
    query = query.where(MatchSeat.match_id.in_(by_id), Bot.status == BotState.HOUSE)
    return {
        match_id
        for match_id, url in session.execute(query)
        if house_bots.find_anchor(url, by_id[match_id].game, by_id[match_id].options, by_id[match_id].seats) is not None
    }


def _owners(session: Session, match_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the owners of the seats of each match, without house players.

    The owner of a seat in which a substitute plays is the owner of the bot that it replaces.
    """
    entrant = func.coalesce(MatchSeat.entrant_id, MatchSeat.bot_id)
    query = select(MatchSeat.match_id, Bot.owner_id, Bot.status).join(Bot, Bot.id == entrant)
    owners: dict[str, list[str]] = {match_id: [] for match_id in match_ids}
    for match_id, owner_id, status in session.execute(query.where(MatchSeat.match_id.in_(match_ids))):
        if status != BotState.HOUSE:
            owners[match_id].append(owner_id)
    return owners
