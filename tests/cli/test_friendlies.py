"""`referee friendlies` against a running service."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from click.testing import CliRunner

from referee.accounts import accounts
from referee.cli import main
from referee.cli.api_client import Api
from referee.db.engine import Database
from tests.api.serving import serving
from tests.database.world import FakeClock, World


@dataclass
class Service:
    """A running service with two owners, each with a bot."""

    url: str
    tokens: list[str]
    bots: list[str]

    def says(self, owner: int, *arguments: str, status: int = 0) -> str:
        access = ["--url", self.url, "--token", self.tokens[owner]]
        done = CliRunner().invoke(main, ["friendlies", *arguments, *access])
        assert done.exit_code == status, f"{done.exit_code}\n{done.output}\n{done.exception!r}"
        return done.output


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("friendlies")
    with serving(folder, 4) as server:
        world = World(Database(f"sqlite:///{folder / 'referee.db'}", clock=FakeClock()))
        owners = [world.account() for _ in range(2)]
        bots = [world.bot(owner, name=name) for owner, name in zip(owners, ("Ada", "Bob"), strict=True)]
        with world.database.write() as session:
            tokens = [accounts.create_token(session, owner, "first")[1] for owner in owners]
        world.database.dispose()
        yield Service(f"http://127.0.0.1:{server.port}", tokens, bots)


def test_rules_are_set_and_a_request_is_accepted_and_declined(there: Service) -> None:
    changed = there.says(1, "rules", "Bob", "--challengers", "on_request", "--any-hours")
    with Api(there.url, there.tokens[0]) as api:
        terms = {"game": "saint-poker", "bots": there.bots}
        first, second = (api.post("/friendly-requests", terms)["id"] for _ in range(2))

    listed = there.says(1, "requests")
    accepted = there.says(1, "accept", first)
    declined = there.says(1, "decline", second, "--reason", "not today")
    everything = json.loads(there.says(0, "requests", "--all", "--json"))["items"]

    assert changed == "Bob: Its owner decides about each friendly.\n"
    assert first in listed
    assert "the match is mat_" in accepted
    assert "while other matches wait for slots, it may last for 15 minutes" in accepted
    assert declined == f"{second} is declined\n"
    assert {request["id"]: request["state"] for request in everything} == {first: "accepted", second: "declined"}
    assert there.says(1, "requests") == "No requests found.\n"


def test_hours_are_set_and_bad_ones_refused(there: Service) -> None:
    text = there.says(1, "rules", "Bob", "--hours", "18:00-23:00", "--time-zone", "Europe/Berlin")

    assert "from 18:00 to 23:00 (Europe/Berlin)" in text
    assert "Must be a time of the day" in there.says(1, "rules", "Bob", "--hours", "18-23", status=1)
    assert "not both" in there.says(1, "rules", "Bob", "--hours", "18:00-23:00", "--any-hours", status=2)
