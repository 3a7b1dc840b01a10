"""Extend tournaments and entries with related data, as several endpoints and pages show them to the caller."""

from collections.abc import Sequence
from typing import Any

from api.auth import may_organise, viewer_id
from api.extended import Extended
from api.tournaments.schemas import TermsView
from api.views import current_session
from referee.accounts import accounts
from referee.bots.tables import Bot
from referee.matches.voids import count_voided_matches
from referee.standings import TIE_BREAKS
from referee.tournaments import admission, entries, round_timing, tournaments
from referee.tournaments.progress import load_progress
from referee.tournaments.table_options import table_sizes
from referee.tournaments.tables import Tournament, TournamentEntry


def attach_progress(tournament: Tournament) -> Extended:
    """Return a tournament with its number of entries, its progress, its voided matches, and its tie-breaks."""
    counts = entries.count_by_state(current_session(), tournament.id)
    waiting = round_timing.next_round_start(current_session(), tournament)
    return Extended(
        tournament,
        entries=counts,
        next_round_at=None if waiting is None else waiting[1],
        organisers=tournaments.CO_ORGANISERS.list(current_session(), tournament),
        requires_code=tournament.join_code is not None,
        has_guests=admission.has_guests(current_session(), tournament.id),
        table_sizes=table_sizes(tournament, counts.entered),
        progress=load_progress(current_session(), tournament.id),
        tie_breaks=TIE_BREAKS[tournament.format],
        voided_matches=count_voided_matches(current_session(), tournament.id),
    )


def editable_terms(tournament: Tournament) -> dict[str, Any]:
    """Return the fields of a tournament that its organiser edits, in the format of the API."""
    return dict(TermsView().dump(tournament))


def visible_entries(found: Sequence[tuple[TournamentEntry, Bot]]) -> list[Extended]:
    """Return entries with their bots and owners' names.

    For the owner of a bot and organisers, add the reason why the bot is absent.
    """
    owners = accounts.names_of(current_session(), (bot.owner_id for _, bot in found))
    return [
        Extended(
            entry,
            bot=bot,
            owner_name=owners[bot.owner_id],
            visible_reason=entry.preflight_reason if may_organise() or bot.owner_id == viewer_id() else None,
        )
        for entry, bot in found
    ]


def visible_entry(entry: TournamentEntry, bot: Bot) -> Extended:
    """Return one entry as ``visible_entries`` does."""
    return visible_entries([(entry, bot)])[0]
