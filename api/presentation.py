"""Rows extended by related data for schemas, as several resources and pages show them.

What the caller may not see is removed here; schemas decide the format of the rest.
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy.orm import Session

from api.auth import organises, viewer_id
from api.matches.schemas import MatchView
from api.views import master_key, record
from referee.bots import certificates, checks
from referee.bots.tables import Bot, Certificate
from referee.matches import deal_groups, matches
from referee.matches.tables import Match
from referee.standings import TIE_BREAKS
from referee.tournaments import entries
from referee.tournaments.progress import load_progress
from referee.tournaments.tables import Tournament, TournamentEntry
from referee.workflows import unrated, visibility

Json = dict[str, Any]

HIDDEN_SEAT: Json = dict.fromkeys(("bot_id", "bot_name", "version", "entrant", "rated"))


class Extended:
    """An object with the attributes of ``base`` and ``more``; those of ``more`` take precedence."""

    def __init__(self, base: object, **more: Any) -> None:
        self.__dict__ |= more
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


def visible_bot(bot: Bot) -> Bot | Extended:
    """Return ``bot``, for its owner extended by ``own``, which only they may see."""
    if bot.owner_id != viewer_id():
        return bot
    return Extended(bot, own=Extended(bot, examination=checks.find_examination(record(), bot.id)))


def certificate_of(bot: Bot, certificate: Certificate) -> Extended:
    """Return a certificate of ``bot`` extended by the games for which it is valid now."""
    return Extended(certificate, fits=certificates.valid_games(certificate, bot))


def visible_matches(found: Sequence[Match]) -> list[Extended]:
    """Return these matches with their seats. Hide bots that the caller may not see yet."""
    named = {match.id for match in found} if organises() else visibility.filter_known_seats(record(), found)
    return attach_seats(record(), found, named)


def attach_seats(session: Session, found: Sequence[Match], named: Collection[str]) -> list[Extended]:
    """Return these matches with their seats. Show the bots in the seats only for matches in ``named``."""
    seats = matches.seats_of(session, [match.id for match in found])
    reasons = unrated.unrated_reasons(session, found)
    return [
        Extended(
            match,
            seats=[seat if match.id in named else Extended(seat, **HIDDEN_SEAT) for seat in seats[match.id]],
            unrated_reason=reasons.get(match.id),
        )
        for match in found
    ]


def attach_group(match: Match) -> Extended:
    """Return a match with its seats, as the caller may see them, and its deal group, revealed once that is over."""
    (visible,) = visible_matches([match])
    group = deal_groups.get_group(record(), match.group_id)
    return Extended(visible, group=Extended(group, reveal=deal_groups.reveal_fields(group, master_key())))


def match_views(found: Sequence[Match]) -> list[Json]:
    """Return these matches as the API shows them to the caller."""
    views: list[Json] = MatchView(many=True).dump(visible_matches(found))
    return views


def attach_progress(tournament: Tournament) -> Extended:
    """Return a tournament with its number of entries, its progress, and the tie-breaks of its format."""
    return Extended(
        tournament,
        entries=entries.count_by_state(record(), tournament.id),
        progress=load_progress(record(), tournament.id),
        tie_breaks=TIE_BREAKS[tournament.format],
    )


def visible_entry(entry: TournamentEntry, bot: Bot) -> Extended:
    """Return an entry with its bot, and the reason of its absence for the owner and for organisers."""
    visible = organises() or bot.owner_id == viewer_id()
    return Extended(entry, bot=bot, told_reason=entry.preflight_reason if visible else None)
