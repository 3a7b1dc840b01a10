"""Read what the picture of a page shows: only what the page itself shows to everybody."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.bots import bots
from referee.bots.states import BotState
from referee.errors import Conflict
from referee.figures import count, decimal, month_name, ordinal
from referee.games import game_title
from referee.labels import state_label
from referee.ladders import ladder_rows, months, ratings
from referee.ladders.ladder_rows import RankedBot
from referee.matches import matches
from referee.matches.lists import results
from referee.matches.logs import logs
from referee.matches.states import ENDED, PLAYED, MatchState
from referee.matches.tables import MatchSeat, StoredMatch
from referee.ratings.elo import MICRO
from referee.standings import RankedEntrant
from referee.standings.presentation import point_digits
from referee.tournaments import entries, tournaments
from referee.tournaments.standings import load_tournament_results
from referee.tournaments.states import OVER, TournamentState
from referee.tournaments.table_options import table_sizes
from referee.tournaments.tables import Tournament
from referee.viewer.presentation import presentation
from referee.workflows.publishing import visibility
from referee_extras.pictures.contents import PictureContent, Player, Row
from referee_extras.pictures.tables import PictureKind

TOP: Final = 5  # bots of a ladder, and leaders of a tournament
PODIUM: Final = 3  # ranks of a finished tournament
RANKS: Final = 3  # ranks of a bot
TITLES: Final = 24
_NO_POINTS: Final = ("bracket", "rating")  # in formats with such a tie-break, points do not decide


def load_content(session: Session, kind: PictureKind, subject_id: str) -> PictureContent:
    """Return what the picture shows now. Raise ``NotFound`` if the page does not exist."""
    match kind:
        case PictureKind.MATCH:
            return _load_match(session, subject_id)
        case PictureKind.BOT:
            return _load_bot(session, subject_id)
        case PictureKind.TOURNAMENT:
            return _load_tournament(session, subject_id)
        case PictureKind.LADDER:
            return _load_ladder(session, subject_id)


def _load_match(session: Session, match_id: str) -> PictureContent:
    match = matches.get_match(session, match_id)
    is_live = match.status == MatchState.RUNNING
    is_complete = match.status not in PLAYED or logs.is_log_public(session, match)  # otherwise the scores will follow
    return PictureContent(
        label="live" if is_live else f"Match · {state_label(match.status)}",
        title=game_title(match.game),
        subject=match.id,
        lines=_describe_occasion(session, match),
        rows=_load_seats(session, match),
        is_live=is_live,
        is_settled=match.status in ENDED and is_complete,
    )


def _describe_occasion(session: Session, match: StoredMatch) -> Sequence[str]:
    if match.tournament_id is not None:
        name = tournaments.get_tournament(session, match.tournament_id).name
        return [name, f"Round {match.tournament_round}"]
    return [ladder.name for ladder in ratings.find_ladders_of(session, [match]).values()]


def _load_seats(session: Session, match: StoredMatch) -> Sequence[Row]:
    seats = matches.seats_of(session, [match.id])[match.id]
    if match.id not in visibility.filter_known_seats(session, [match]):
        return [Row(Player(), f"Seat {seat.seat + 1}") for seat in seats]
    if match.status not in PLAYED or seats[0].placement is None:
        return [Row(Player(seat.bot_id, seat.bot_name)) for seat in seats]
    scores = results.get_result(session, match.id).scores if logs.is_log_public(session, match) else None
    unit = presentation(match.game)["score"]
    placed = sorted(seats, key=lambda seat: (seat.placement or 0, seat.seat))
    return [_place(seat, None if scores is None else scores[seat.seat], unit) for seat in placed]


def _place(seat: MatchSeat, score: int | None, unit: str) -> Row:
    note = "" if score is None else unit if abs(score) == 1 else f"{unit}s"
    placement = seat.placement or 0
    return Row(
        Player(seat.bot_id, seat.bot_name),
        ordinal(placement),
        "" if score is None else count(score),
        note,
        is_first=placement == 1,
    )


def _load_bot(session: Session, bot_id: str) -> PictureContent:
    bot = bots.get_bot(session, bot_id)
    rows = _load_ranks(session, bot_id)
    is_house = bot.status == BotState.HOUSE
    remark = "Its rating is constant: others are measured by it" if is_house else "Not rated yet"
    return PictureContent(
        label="Bot" if bot.status == BotState.VERIFIED else f"Bot · {state_label(bot.status)}",
        title=bot.name,
        subject=bot.id,
        lines=[f"by {accounts.get_account(session, bot.owner_id).name}", *_describe_titles(session, bot_id)],
        rows=rows,
        emblem_of=bot.id,
        remark=remark,
    )


def _load_ranks(session: Session, bot_id: str) -> Sequence[Row]:
    """Return the best ranks of a bot on listed ladders, those on official ones first."""
    held = [rank for rank in ladder_rows.load_ranks(session, bot_id) if not rank.ladder.unlisted]
    held.sort(key=lambda rank: (not rank.ladder.official, rank.row.rank, -rank.row.value, rank.ladder.name))
    return [_describe_row(rank.row, Player(name=rank.ladder.name), f" of {count(rank.total)}") for rank in held[:RANKS]]


def _describe_titles(session: Session, bot_id: str) -> Sequence[str]:
    held = months.list_titles(session, bot_id, limit=TITLES)
    if not held:
        return []
    newest = f"{held[0].ladder.name}, {month_name(held[0].month.month)}"
    return [f"Champion of {newest}" + (f", and {len(held) - 1} more titles" if len(held) > 1 else "")]


def _load_tournament(session: Session, tournament_id: str) -> PictureContent:
    tournament = tournaments.get_tournament(session, tournament_id)
    entered = entries.count_entered(session, [tournament_id]).get(tournament_id, 0)
    is_live = tournament.status == TournamentState.RUNNING
    rows = [] if tournament.started_at is None else _load_leaders(session, tournament)
    bots_entered = f"{count(entered)} bot{'' if entered == 1 else 's'}"
    sizes = " and ".join(map(str, table_sizes(tournament, entered)))
    format = tournament.format.replace("_", " ").capitalize()
    return PictureContent(
        label="live" if is_live else f"Tournament · {state_label(tournament.status)}",
        title=tournament.name,
        subject=tournament.id,
        lines=[f"{format} of {game_title(tournament.game)}, {sizes} seats"],
        rows=rows,
        remark=f"{bots_entered} entered",
        is_live=is_live,
        is_settled=tournament.status in OVER,
    )


def _load_leaders(session: Session, tournament: Tournament) -> Sequence[Row]:
    """Return the podium of a finished tournament, the leaders of another one, as far as bots have played."""
    try:
        standings = load_tournament_results(session, tournament).standings()
    except Conflict:  # there are too many results; the page shows none, either
        return []
    is_finished = tournament.status == TournamentState.FINISHED
    ranked = [row for row in standings if row.matches + row.byes and (not is_finished or row.rank <= PODIUM)][:TOP]
    known = entries.find_entered_bots(session, tournament.id, [str(row.entrant) for row in ranked])
    return [
        Row(
            Player(str(row.entrant), known[str(row.entrant)].name),
            ordinal(row.rank),
            *_describe_points(row, tournament.seats),
            is_first=row.rank == 1,
        )
        for row in ranked
    ]


def _describe_points(row: RankedEntrant, seats: int) -> tuple[str, str]:
    if any(name in row.tie_breaks for name in _NO_POINTS):
        return "", ""
    return decimal(float(row.points), point_digits(seats)), "points"


def _load_ladder(session: Session, ladder_id: str) -> PictureContent:
    ladder = ratings.get_ladder(session, ladder_id)
    (summary,) = ladder_rows.load_summaries(session, [ladder], top=TOP)
    table = f"{game_title(ladder.game)}, {ladder.seats} seats"
    counted = f"{count(summary.bots)} bot{'' if summary.bots == 1 else 's'}"
    played = f"{count(summary.matches)} match{'' if summary.matches == 1 else 'es'}"
    return PictureContent(
        label="Official ladder" if ladder.official else "Ladder",
        title=ladder.name,
        subject=ladder.id,
        lines=[f"{counted}, {played}" if ladder.name == table else f"{table}: {counted}, {played}"],
        rows=[_describe_row(row, Player(row.bot_id, row.name)) for row in summary.top],
        remark="No bot is rated yet",
    )


def _describe_row(row: RankedBot, player: Player, total: str = "") -> Row:
    error = "" if row.error is None else f"± {count(round(row.error))}"
    return Row(player, f"{ordinal(row.rank)}{total}", decimal(row.value / MICRO, 1), error, is_first=row.rank == 1)
