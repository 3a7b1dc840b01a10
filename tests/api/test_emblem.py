"""Emblems follow from ids alone and differ."""

from api.pages.emblem import HUES, emblem
from referee.db.ids import new_id

ADA = "bot_" + "0" * 26


def test_an_emblem_follows_from_the_id_alone() -> None:
    drawn = emblem(ADA)

    emblem.cache_clear()
    assert emblem(ADA) == drawn
    assert drawn.startswith('<svg viewBox="0 0 5 5" class="emblem emblem-')
    assert 'aria-hidden="true"' in drawn


def test_emblems_of_similar_and_of_random_ids_differ() -> None:
    similar = {emblem(f"bot_{number:026d}") for number in range(500)}
    random = {emblem(new_id("bot")) for _ in range(500)}

    assert min(len(similar), len(random)) > 490
    assert len({drawn.partition("emblem-")[2][:2] for drawn in random}) == HUES
    assert all(15 > drawn.count("M") > 4 or drawn.count("M") >= 15 for drawn in random)


def test_an_emblem_is_small() -> None:
    assert max(len(emblem(new_id("bot"))) for _ in range(500)) < 500
