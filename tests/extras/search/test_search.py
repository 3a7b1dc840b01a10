"""The search finds public names by the beginnings of their words, the same on both databases."""

from typing import Any

import pytest

from referee.accounts import accounts
from referee.bots import bots, house_bots
from referee.errors import BadOption
from referee.match.time_limits import Limits
from referee.tournaments import editing, lifecycle, tournaments
from referee_extras.search.searching import search
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


def test_a_search_takes_the_same_statements_whatever_it_finds(named: World, statements: list[str]) -> None:
    costs = []
    for query in ("xyzzy", "gauss", "a"):
        statements.clear()
        found(named, query, limit=100)
        costs.append(len([one for one in statements if one.startswith("SELECT")]))

    assert max(costs) <= 4
