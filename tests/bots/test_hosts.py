"""Hosts under which bots are counted together, so that other spellings give no more room."""

import pytest

from referee.bots import bots
from referee.bots.bots import Quotas
from referee.bots.hosts import group_of, host_of
from referee.errors import QuotaExceeded
from tests.database.world import World

SMALL = Quotas(per_owner=100, per_host=3, per_group=5)


GROUPS = {
    "bots.example.com": "example.com",
    "a.b.c.Example.com.": "example.com",
    "example.com": "example.com",
    "a.example.co.uk": "example.co.uk",
    "co.uk": "co.uk",
    "a.example.de": "example.de",
    "ada.herokuapp.com": "ada.herokuapp.com",
    "bot.ada.fly.dev": "ada.fly.dev",
    "bots.ada.github.io": "ada.github.io",
    "github.io": "github.io",
    "localhost": "localhost",
    "93.184.216.34": "93.184.216.34",
    "2600:1:2:3::1": "2600:1:2:3::/64",
    "2600:1:2:3:ffff::9": "2600:1:2:3::/64",
}


def test_A14_names_of_one_domain_and_addresses_of_one_64_are_counted_together() -> None:
    assert {host: group_of(host) for host in GROUPS} == GROUPS


def test_A14_the_host_of_a_url_has_no_dot_at_its_end_and_no_capitals() -> None:
    assert host_of("https://Bots.Example.com.:8443/a") == "bots.example.com"
    assert host_of("https://[2600:1:2:3::1]/") == "2600:1:2:3::1"


def register(world: World, number: int, host: str) -> str:
    with world.database.write() as session:
        owner_id = world._account(session)
        return bots.register(session, owner_id, f"Guest {number}", f"https://{host}/", quotas=SMALL).id


@pytest.mark.parametrize("pattern", ["n{}.example.com", "[2600:1:2:3::{}]"])
def test_A14_a_wildcard_name_gives_no_more_room(world: World, pattern: str) -> None:
    for number in range(1, 6):
        register(world, number, pattern.format(number))

    with pytest.raises(QuotaExceeded, match="hosts of"):
        register(world, 6, pattern.format(6))
    register(world, 7, "other.org")


def test_A14_customers_of_a_hosting_service_do_not_take_each_others_room(world: World) -> None:
    for number in range(1, 10):
        register(world, number, f"author-{number}.herokuapp.com")


def test_A14_a_bot_moves_to_a_full_domain_only_within_it(world: World) -> None:
    inside = [register(world, number, f"n{number}.example.com") for number in range(1, 6)]
    outside = register(world, 6, "other.org")

    world.write(bots.edit, inside[0], revision=1, url="https://n9.example.com/", quotas=SMALL)
    with pytest.raises(QuotaExceeded):
        world.write(bots.edit, outside, revision=1, url="https://n10.example.com/", quotas=SMALL)
