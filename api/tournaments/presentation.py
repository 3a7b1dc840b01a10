"""Extend tournaments and entries with related data, as several endpoints and pages show them to the caller."""

from api.auth import may_organise, viewer_id
from api.extended import Extended
from api.views import current_session
from referee.bots.tables import Bot
from referee.standings import TIE_BREAKS
from referee.tournaments import entries
from referee.tournaments.progress import load_progress
from referee.tournaments.tables import Tournament, TournamentEntry


def attach_progress(tournament: Tournament) -> Extended:
    """Return a tournament with its number of entries, its progress, and the tie-breaks of its format."""
    return Extended(
        tournament,
        entries=entries.count_by_state(current_session(), tournament.id),
        progress=load_progress(current_session(), tournament.id),
        tie_breaks=TIE_BREAKS[tournament.format],
    )


def visible_entry(entry: TournamentEntry, bot: Bot) -> Extended:
    """Return an entry with its bot and, for the owner and organisers, the reason why the bot is absent."""
    visible = may_organise() or bot.owner_id == viewer_id()
    return Extended(entry, bot=bot, visible_reason=entry.preflight_reason if visible else None)
