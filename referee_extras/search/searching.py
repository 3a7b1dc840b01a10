"""Search the public names of bots, owners and tournaments, and what owners say about their bots.

Drafts of tournaments and accounts without bots are not public: they have no document and are never found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Integer, Text, case, cast, column, literal_column, select, table
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.db.engine import get_database
from referee.db.kinds import SearchKind
from referee.db.lookup import load_by_id
from referee.db.paging import Cursor, Page, load_page
from referee.db.search_documents import INDEXED_WORDS, SearchDocument, split_words
from referee.errors import BadOption
from referee.tournaments.tables import Tournament

MAX_QUERY_LENGTH: Final = 100
MAX_QUERY_WORDS: Final = 8


@dataclass(frozen=True, slots=True)
class SearchHit:
    """Describe what the search found. A bot has the name of its ``owner``, a tournament one game."""

    kind: SearchKind
    id: str
    name: str
    status: str | None = None
    summary: str | None = None
    owner_id: str | None = None
    owner: str | None = None
    games: Sequence[str] = ()


def search(
    session: Session, query: str, *, kind: str | None = None, limit: int = 20, cursor: Cursor | None = None
) -> Page[SearchHit]:
    """Return a page of what has, for each word of the query, a word that begins with it.

    First come those with exactly this name, then those whose names begin with the query, then the others, each by name.
    Raise ``BadOption`` for a query without words or with too many, a bad limit or a bad cursor.
    """
    words = _read_query(query)
    name, joined = SearchDocument.name, " ".join(words)
    order = case((name == joined, 0), (name.startswith(joined, autoescape=True), 1), else_=2)
    columns = select(SearchDocument.kind, SearchDocument.object_id).where(_has_words(session, words))
    if kind is not None:
        columns = columns.where(SearchDocument.kind == kind)
    page = load_page(session, columns, order, name, SearchDocument.object_id, limit=limit, cursor=cursor)
    return Page(_describe(session, page.items), page.next)


def _describe(session: Session, found: Sequence[tuple[SearchKind, str]]) -> list[SearchHit]:
    """Return what is to be shown of these objects, in order, with one statement for each kind."""
    ids = {kind: [id for found_kind, id in found if found_kind == kind] for kind in SearchKind}
    described: dict[str, SearchHit] = {}
    of_bots = select(Bot, Account.name).join(Account, Account.id == Bot.owner_id).where(Bot.id.in_(ids[SearchKind.BOT]))
    for bot, owner in session.execute(of_bots):
        described[bot.id] = SearchHit(
            *(SearchKind.BOT, bot.id, bot.name, bot.status, bot.summary, bot.owner_id, owner), games=bot.games
        )
    for id, name in load_by_id(session, Account.id, Account.name, ids[SearchKind.OWNER]).items():
        described[id] = SearchHit(SearchKind.OWNER, id, name)
    of_tournaments = select(Tournament).where(Tournament.id.in_(ids[SearchKind.TOURNAMENT]))
    for tournament in session.scalars(of_tournaments):
        described[tournament.id] = SearchHit(
            SearchKind.TOURNAMENT, tournament.id, tournament.name, tournament.status, games=[tournament.game]
        )
    return [described[id] for _, id in found]


def _read_query(query: str) -> list[str]:
    """Return the words of a query. Raise ``BadOption`` if it has none, too many, or too many characters."""
    if len(query) > MAX_QUERY_LENGTH:
        raise BadOption("q", f"must have at most {MAX_QUERY_LENGTH} characters")
    words = split_words(query)
    if not words:
        raise BadOption("q", "must contain a letter or a digit")
    if len(words) > MAX_QUERY_WORDS:
        raise BadOption("q", f"must have at most {MAX_QUERY_WORDS} words")
    return words


def _has_words(session: Session, words: list[str]) -> ColumnElement[bool]:
    """Return the condition for documents that have, for each of these words, one that begins with it."""
    if get_database(session).is_sqlite:
        matches = _FTS.c.search_index.op("MATCH")(" AND ".join(f'"{word}"*' for word in words))
        return SearchDocument.number.in_(select(_FTS.c.rowid).where(matches))
    return literal_column(INDEXED_WORDS).op("@@")(cast(" & ".join(f"'{word}':*" for word in words), TSQUERY))


_FTS: Final = table("search_index", column("rowid", Integer), column("search_index", Text))  # as FTS5 names them
