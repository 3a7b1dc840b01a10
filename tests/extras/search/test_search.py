"""The search finds public names by the beginnings of their words, the same on both databases."""

from typing import Any

import pytest

from referee.accounts import accounts
from referee.bots import bots, house_bots
from referee.errors import BadOption
from referee.match.time_limits import Limits
from referee.tournaments import editing, lifecycle, tournaments
from referee.workflows.erasing import erasure
from referee_extras.search.searching import search
from tests.database.world import World
from tests.surroundings import MASTER_KEY

TERMS: dict[str, Any] = {"game": "pool-nap", "options": {}, "seats": 2, "limits": Limits()}
BOTS = ("Ada", "Ada Lovelace", "Lovelace Ada", "Adam", "Gauß-Jordan 2", "Лобачевский", "日本の手", "R2.D2_x")


def found(world: World, query: str, **how: Any) -> list[str]:
    with world.database.read() as session:
        return [hit.name for hit in search(session, query, **how).items]


FOUND: dict[tuple[str, ...], list[str]] = {  # names by queries
    (*("ada", "ADA", "Ádà", 'ada"*', "'ada':*", "ada\0", "\ud800ada", "ada \U0001f600"),): [
        "Ada",
        "Ada Lovelace",
        "Adam",
        "Lovelace Ada",
    ],
    ("ada lovelace", "love ad"): ["Ada Lovelace", "Lovelace Ada"],
    ("gauss", "jor 2"): ["Gauß-Jordan 2"],
    ("лоба", "ЛОБАЧЕВСКИИ"): ["Лобачевский"],
    ("日本",): ["日本の手"],
    ("r2 d2",): ["R2.D2_x"],
    (
        *("lovelace adam", "dam", '"ada" OR lovelace*', "ada AND lovelace", "NEAR(ada, 5)", "name:ada"),
        *("ada & love | !x", "ada; DROP TABLE bots"),
    ): [],
}
REFUSED = {
    "letter or a digit": ("", "  ", "\U0001f600", '"*"', "%"),
    "at most 100 characters": ("x" * 101,),
    "at most 8 words": ("a " * 9,),
}


def test_words_are_found_by_their_beginnings_page_by_page_with_the_same_statements(
    world: World, statements: list[str]
) -> None:
    for name in BOTS:
        world.bot(name=name)

    for queries, names in FOUND.items():
        for query in queries:
            assert found(world, query, kind="bot") == names, query
    for reason, queries in REFUSED.items():
        for query in queries:
            with pytest.raises(BadOption, match=f"q: .*{reason}"):
                found(world, query)
    whole, cursor = found(world, "a"), None
    seen: list[str] = []
    sizes: list[int] = []
    while not sizes or cursor is not None:
        with world.database.read() as session:
            page = search(session, "a", limit=2, cursor=cursor)
        seen += [hit.name for hit in page.items]
        sizes.append(len(page.items))
        cursor = page.next
    assert seen == whole
    assert sizes == [2] * (len(whole) // 2) + [1] * (len(whole) % 2)
    for query in ("xyzzy", "gauss", "a"):
        statements.clear()
        found(world, query, limit=100)
        assert len([one for one in statements if one.startswith("SELECT")]) <= 4


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
    with world.database.write() as session:
        house_bots.get_or_create_house_bots(session)
    assert found(world, "house", kind="owner") == ["House"]
    assert "House 3 Sound" in found(world, "sound")


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
    world.write(erasure.delete_bot, bot, master_key=MASTER_KEY)
    assert found(world, "after") == []


def edit(world: World, bot_id: str, *, then: Exception | None = None, **changes: Any) -> None:
    with world.database.write() as session:
        bots.edit(session, bot_id, revision=bots.get_bot(session, bot_id).revision, **changes)
        if then is not None:
            raise then
