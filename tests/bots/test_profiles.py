"""What owners say about their bots in public, and who counts as an owner."""

import pytest

from referee.bots import bots, owners, profiles
from referee.bots.tables import Bot
from referee.errors import BadOption, NotFound
from referee.workflows.bots import retirement
from tests.database.world import World

PROFILE = {"summary": "Plays Pool Nap from tables", "language": "C#", "link": "https://example.org/bot?x=1#y"}


def profile_of(bot: Bot) -> dict[str, str | None]:
    return {field: getattr(bot, field) for field in PROFILE}


def test_a_profile_is_given_changed_and_removed(world: World) -> None:
    owner = world.account()
    with world.database.write() as session:
        bot = bots.register(session, owner, "Ada", "https://a.example/", profile=PROFILE)
        assert profile_of(bot) == PROFILE

    changed = world.write(bots.edit, bot.id, revision=1, profile={"summary": " Größe ", "link": None})

    assert profile_of(changed) == {**PROFILE, "summary": "Größe", "link": None}
    assert changed.status == "unverified"


REFUSED = [
    *(("summary", text, "1 to 160") for text in ("", "   ", "x" * 161)),
    *(("summary", text, "one line") for text in ("two\nlines", "turned \u202e round", "nothing\0", "\ud800")),
    ("language", "x" * 41, "1 to 40"),
    *(("link", text, "1 to 300") for text in ("", "https://a.example/" + "x" * 300)),
    *(("link", text, "begin with https") for text in ("javascript:alert(1)", "data:text/html,x", "//a.example/")),
    *(("link", text, "begin with https") for text in ("https:a.example", "ftp://a.example/")),
    ("link", "https://", "name a host"),
    ("link", "https://user:secret@a.example/", "without a user name"),
    *(("link", f"https://{text}", "ASCII") for text in ("a.example/ x", "a.example/\n", "ａ.example/", 'a.example/"x')),
    *(("link", text, "must be a URL") for text in ("https://a.example:99999/", "https://[a/")),
]  # fmt: skip


def test_E14_other_texts_are_refused_with_the_reason() -> None:
    for field, text, reason in REFUSED:
        with pytest.raises(BadOption, match=f"{field}: .*{reason}"):
            profiles.validate_profile({field: text})


def test_an_owner_is_an_account_that_has_registered_a_bot(world: World) -> None:
    owner, other = world.account(), world.account("organiser")
    first, _ = world.bot(owner), world.bot(owner)
    world.write(retirement.retire_bot, first)

    with world.database.read() as session:
        found = owners.get_owner(session, owner)
        assert (found.id, found.bots, found.registered_bots) == (owner, 1, 2)
        assert found.name.startswith("Account ")
        for unknown in (other, "acc_" + "0" * 26):
            with pytest.raises(NotFound, match="owner"):
                owners.get_owner(session, unknown)
