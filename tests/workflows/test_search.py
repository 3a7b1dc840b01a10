"""The search finds public names by the beginnings of their words, the same on both databases."""

from typing import Any

import pytest
from sqlalchemy import update

from referee.accounts import accounts
from referee.bots import bots, house_bots
from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee.errors import BadOption
from referee.match.time_limits import Limits
from referee.tournaments import editing, lifecycle, tournaments
from referee.tournaments.tables import Tournament
from referee.workflows.search import search
from tests.database.world import World

TERMS: dict[str, Any] = {"game": "pool-nap", "options": {}, "seats": 2, "limits": Limits()}
BOTS = ("Ada", "Ada Lovelace", "Lovelace Ada", "Adam", "Gauß-Jordan 2", "Лобачевский", "日本の手", "R2.D2_x")


def found(world: World, query: str, **how: Any) -> list[str]:
    with world.database.read() as session:
        return [hit.name for hit in search(session, query, **how).items]


@pytest.fixture
def named(world: World) -> World:
    for name in BOTS:
        world.bot(name=name)
    return world


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("ada", ["Ada", "Ada Lovelace", "Adam", "Lovelace Ada"]),
        ("ADA", ["Ada", "Ada Lovelace", "Adam", "Lovelace Ada"]),
        ("Ádà", ["Ada", "Ada Lovelace", "Adam", "Lovelace Ada"]),
        ("ada lovelace", ["Ada Lovelace", "Lovelace Ada"]),
        ("love ad", ["Ada Lovelace", "Lovelace Ada"]),
        ("lovelace adam", []),
        ("dam", []),
        ("gauss", ["Gauß-Jordan 2"]),
        ("jor 2", ["Gauß-Jordan 2"]),
        ("лоба", ["Лобачевский"]),
        ("ЛОБАЧЕВСКИИ", ["Лобачевский"]),
        ("日本", ["日本の手"]),
        ("r2 d2", ["R2.D2_x"]),
        ('"ada" OR lovelace*', []),
        ("ada AND lovelace", []),
        ('ada"*', ["Ada", "Ada Lovelace", "Adam", "Lovelace Ada"]),
        ("NEAR(ada, 5)", []),
        ("name:ada", []),
        ("ada & love | !x", []),
        ("'ada':*", ["Ada", "Ada Lovelace", "Adam", "Lovelace Ada"]),
        ("ada; DROP TABLE bots", []),
        ("%", None),
        ("ada\0", ["Ada", "Ada Lovelace", "Adam", "Lovelace Ada"]),
        ("\ud800ada", ["Ada", "Ada Lovelace", "Adam", "Lovelace Ada"]),
        ("ada \U0001f600", ["Ada", "Ada Lovelace", "Adam", "Lovelace Ada"]),
    ],
)
def test_words_are_found_by_their_beginnings(named: World, query: str, names: list[str] | None) -> None:
    if names is None:
        with pytest.raises(BadOption, match="letter or a digit"):
            found(named, query, kind="bot")
    else:
        assert found(named, query, kind="bot") == names


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        *(("", "letter or a digit"), ("  ", "letter or a digit"), ("\U0001f600", "letter or a digit")),
        *(('"*"', "letter or a digit"), ("x" * 101, "at most 100 characters"), ("a " * 9, "at most 8 words")),
    ],
)
def test_a_query_that_cannot_find_anything_is_refused_with_the_reason(world: World, query: str, reason: str) -> None:
    with pytest.raises(BadOption, match=f"q: .*{reason}"):
        found(world, query)


def test_every_kind_is_found_and_can_be_chosen(world: World) -> None:
    with world.database.write() as session:
        owner = accounts.create_account(session, "Norma").id
        tournaments.create_tournament(session, "Norma's cup", created_by=owner, **TERMS)
    world.bot(owner, name="Norma bot")

    assert found(world, "norma") == ["Norma", "Norma bot", "Norma's cup"]
    assert [found(world, "norma", kind=kind) for kind in ("bot", "owner", "tournament")] == [
        ["Norma bot"],
        ["Norma"],
        ["Norma's cup"],
    ]
    with world.database.read() as session:
        owner_hit, bot, tournament = search(session, "norma").items
    assert (owner_hit.id, owner_hit.status, owner_hit.games) == (owner, None, ())
    assert (bot.owner_id, bot.owner, bot.status) == (owner, "Norma", "verified")
    assert (tournament.status, list(tournament.games)) == ("open", ["pool-nap"])


def test_drafts_and_accounts_without_bots_are_not_found(world: World) -> None:
    with world.database.write() as session:
        quiet = accounts.create_account(session, "Quiet", "organiser").id
        draft = lifecycle.draft(session, "Quiet cup", created_by=quiet, **TERMS).id
    assert found(world, "quiet") == []

    with world.database.write() as session:
        editing.edit(session, draft, revision=1, name="Quiet trophy")
    assert found(world, "quiet") == []

    with world.database.write() as session:
        lifecycle.open_entries(session, draft)
    assert found(world, "quiet") == ["Quiet trophy"]


def test_names_and_descriptions_are_found_as_they_are_now(world: World) -> None:
    bot = world.bot(name="Before")

    edit(world, bot, name="After", profile={"summary": "Counts trumps", "language": "Rust"})
    assert [found(world, word) for word in ("before", "after", "trump", "rust")] == [[], *[["After"]] * 3]

    with pytest.raises(BadOption):
        edit(world, bot, name="Never", then=BadOption("name", "rolls the transaction back"))
    assert (found(world, "never"), found(world, "after")) == ([], ["After"])

    edit(world, bot, profile={"summary": None, "language": None})
    assert (found(world, "trump"), found(world, "rust")) == ([], [])


def edit(world: World, bot_id: str, *, then: Exception | None = None, **changes: Any) -> None:
    with world.database.write() as session:
        bots.edit(session, bot_id, revision=bots.get_bot(session, bot_id).revision, **changes)
        if then is not None:
            raise then


def test_house_players_and_their_owner_are_found(world: World) -> None:
    with world.database.write() as session:
        house_bots.get_or_create_house_bots(session)

    assert found(world, "house", kind="owner") == ["House"]
    assert "House 3 Sound" in found(world, "sound")


def test_pages_follow_one_another_without_gap_or_overlap(named: World) -> None:
    whole = found(named, "a")
    seen: list[str] = []
    cursor, pages = None, 0
    while pages == 0 or cursor is not None:
        with named.database.read() as session:
            page = search(session, "a", limit=2, cursor=cursor)
        seen += [hit.name for hit in page.items]
        cursor, pages = page.next, pages + 1

    assert seen == whole
    assert pages == (len(whole) + 1) // 2
    with named.database.read() as session:
        for bad in ([], [1], ["x", "y", "z"], [1, 2, "z"]):
            with pytest.raises(BadOption, match="cursor"):
                search(session, "a", cursor=bad)


def test_a_search_takes_the_same_statements_whatever_it_finds(named: World, statements: list[str]) -> None:
    costs = []
    for query in ("xyzzy", "gauss", "a"):
        statements.clear()
        found(named, query, limit=100)
        costs.append(len([one for one in statements if one.startswith("SELECT")]))

    assert max(costs) <= 4


def test_the_upgrade_indexes_what_is_public(empty_url: str) -> None:
    database = Database(empty_url)
    upgrade(database)
    world = World(database)
    world.bot(name="Alpha")
    with database.write() as session:
        owner = accounts.create_account(session, "Omega").id
        for status, name in (("draft", "Alpha draft"), ("finished", "Alpha cup")):
            made = tournaments.create_tournament(session, name, created_by=owner, **TERMS)
            session.execute(update(Tournament).where(Tournament.id == made.id).values(status=status))
    before = _schema_0011(database)

    upgrade(before)

    assert found(World(before), "alpha") == ["Alpha", "Alpha cup"]
    assert found(World(before), "account") == ["Account 1 x"]
    assert found(World(before), "omega") == []
    world.bot(name="Alphabet")
    assert found(World(before), "alpha") == ["Alpha", "Alpha cup", "Alphabet"]
    database.dispose()


FRIENDLY_TABLES = ("inbox_entries", "requested_owners", "friendly_requests", "challenger_entries", "friendly_rules")
SERIES_TABLES = ("series_tournaments", "series_organisers", "series")
NEW_TABLES = (
    *SERIES_TABLES,
    "tournament_guests",
    "entry_requests",
    "organiser_requests",
    "tournament_organisers",
    "acts",
)
NEW_COLUMNS = {
    "tournaments": (
        *("description", "link", "contact", "prizes", "listed", "approval", "max_entries", "min_entries"),
        *("entries_close_at", "join_code", "round_minutes", "round_times"),
    ),
    "matches": ("listed",),
    "accounts": ("suspended_at", "suspension_reason", "deleted_at"),
    "bots": ("deleted_at", "erased_at"),
    "tournament_rounds": ("starts_at",),
    "tournament_entries": (*("disqualified_at", "disqualification_reason", "substituted_at", "substitution_code"),),
}
OPENING_COLUMNS = ("accepted", "opening_number", "left_out", "superseded_by")


def _schema_0011(database: Database) -> Database:
    """Take back what migrations 0012 to 0035 changed to this database."""
    with database.migration_connection() as connection:
        drops = [
            "DROP INDEX ix_bots_erasing",
            "DROP TABLE former_names",
            *(f"DROP TABLE {name}" for name in NEW_TABLES),
            *([] if database.is_sqlite else ["DROP FUNCTION refuse_change_of_acts"]),
            *(f"ALTER TABLE {table} DROP COLUMN {name}" for table, names in NEW_COLUMNS.items() for name in names),
            *(["DROP TABLE search_index"] if database.is_sqlite else []),
            "DROP TABLE search_documents",
            "ALTER TABLE webhooks DROP COLUMN kind",
            *(f"DROP TABLE {name}" for name in FRIENDLY_TABLES),
            *(f"ALTER TABLE tokens DROP COLUMN {name}" for name in ("scopes", "expires_at")),
            "DROP TABLE reported_errors",
            "DROP TABLE owner_exchanges",
            "ALTER TABLE ladder_members DROP COLUMN owners_met",
            "ALTER TABLE ladders DROP COLUMN exchanges_after",
            "DROP TABLE signed_logs",
            "DROP TABLE signing_keys",
            "DROP TABLE retention_runs",
            "DROP TABLE disk_uses",
            "ALTER TABLE ladders DROP COLUMN results",
            "DROP TABLE installation",
            "ALTER TABLE log_rows DROP COLUMN delays_ms",
            "DROP TABLE match_voids",
            "ALTER TABLE tournaments DROP COLUMN min_seats",
            "DROP TABLE audit_runs",
            "DROP TABLE failed_nonces",
            "DROP INDEX ix_deal_groups_superseded",
            *(f"ALTER TABLE deal_groups DROP COLUMN {name}" for name in OPENING_COLUMNS),
            "DROP TABLE pictures",
            "DROP TABLE ladder_month_rows",
            "DROP TABLE ladder_months",
            *(f"ALTER TABLE bots DROP COLUMN {name}" for name in ("summary", "language", "link")),
            "ALTER TABLE tournaments DROP COLUMN bots_per_owner",
            "DROP INDEX ix_results_finished_at",
            "DROP INDEX ix_match_seats_bot_id_match_id",
            "CREATE INDEX ix_match_seats_bot_id ON match_seats (bot_id)",
            "DROP INDEX ix_matches_kept_logs",
            "ALTER TABLE matches DROP COLUMN log_deleted_at",
            "ALTER TABLE matches DROP COLUMN log_deleted_rule",
            "UPDATE alembic_version SET version_num = '0011'",
        ]
        for statement in drops:
            connection.exec_driver_sql(statement)
    return database
