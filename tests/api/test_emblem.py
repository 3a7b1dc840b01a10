"""Emblems follow from ids alone and differ."""

import re

from api.pages.emblem import emblem
from api.pages.static_files import FOLDER
from referee.db.ids import new_id
from referee.emblems import HUES

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
    assert len({drawn.partition("emblem-")[2][:2] for drawn in random}) == len(HUES)
    assert all(15 > drawn.count("M") > 4 or drawn.count("M") >= 15 for drawn in random)


def test_pictures_have_the_hues_of_the_style_sheet() -> None:
    styled = re.findall(r"\.emblem-(\d+) \{ --hue: (\d+); \}", (FOLDER / "site/site.css").read_text())

    assert [int(hue) for _, hue in sorted(styled, key=lambda pair: int(pair[0]))] == list(HUES)


def test_an_emblem_is_small() -> None:
    assert max(len(emblem(new_id("bot"))) for _ in range(500)) < 500
