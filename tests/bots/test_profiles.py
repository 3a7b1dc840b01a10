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

    with world.database.write() as session:
        changed = bots.edit(session, bot.id, revision=1, profile={"summary": " Größe ", "link": None})

    assert profile_of(changed) == {**PROFILE, "summary": "Größe", "link": None}
    assert changed.status == "unverified"


@pytest.mark.parametrize(
    ("field", "text", "reason"),
    [
        ("summary", "", "1 to 160"),
        ("summary", "   ", "1 to 160"),
        ("summary", "x" * 161, "1 to 160"),
        ("summary", "two\nlines", "one line"),
        ("summary", "turned \u202e round", "one line"),
        ("summary", "nothing\0", "one line"),
        ("summary", "\ud800", "one line"),
        ("language", "x" * 41, "1 to 40"),
        ("link", "", "1 to 300"),
        ("link", "https://a.example/" + "x" * 300, "1 to 300"),
        ("link", "javascript:alert(1)", "begin with https"),
        ("link", "data:text/html,x", "begin with https"),
        ("link", "//a.example/", "begin with https"),
        ("link", "https:a.example", "begin with https"),
        ("link", "ftp://a.example/", "begin with https"),
        ("link", "https://", "name a host"),
        ("link", "https://user:secret@a.example/", "without a user name"),
        ("link", "https://a.example/ x", "ASCII"),
        ("link", "https://a.example/\n", "ASCII"),
        ("link", "https://ａ.example/", "ASCII"),
        ("link", 'https://a.example/"x', "ASCII"),
        ("link", "https://a.example:99999/", "must be a URL"),
        ("link", "https://[a/", "must be a URL"),
    ],
)
def test_E14_other_texts_are_refused_with_the_reason(field: str, text: str, reason: str) -> None:
    with pytest.raises(BadOption, match=f"{field}: .*{reason}"):
        profiles.validate_profile({field: text})


def test_an_owner_is_an_account_that_has_registered_a_bot(world: World) -> None:
    owner, other = world.account(), world.account("organiser")
    first, _ = world.bot(owner), world.bot(owner)
    with world.database.write() as session:
        retirement.retire_bot(session, first)

    with world.database.read() as session:
        found = owners.get_owner(session, owner)
        assert (found.id, found.bots, found.registered_bots) == (owner, 1, 2)
        assert found.name.startswith("Account ")
        for unknown in (other, "acc_" + "0" * 26):
            with pytest.raises(NotFound, match="owner"):
                owners.get_owner(session, unknown)
