"""Play and show a packaged game: ``python -m tests.games.packaged_play FOLDER`` where its package is installed.

It adds a match that is over and another one that is due to the database in the folder, and keeps the log of the first
one. It prints the ids of the ladder, the matches and a bot.
"""

import json
import sys
from pathlib import Path

from api import create_app
from referee.db.engine import Database
from referee.house.strategies import SOUND
from tests.cli.running import says
from tests.database.world import FakeClock, World, manifest_of
from tests.surroundings import settings_for

GAME = "highest-card"


def play(folder: Path) -> dict[str, str]:
    world = World(Database(settings_for(folder).database_url, clock=FakeClock()))
    seated = [world.bot(manifest=manifest_of(games=[GAME])) for _ in range(2)]
    result = world.play(seated, game=GAME, rated=True)
    return {
        "match": result.match_id,
        "ladder": str(result.ladder_id),
        "bot": seated[0],
        "waits": world.match(seated, game=GAME),
    }


def show(folder: Path, match_id: str) -> None:
    """Require the pages of the game, and that the commands accept the log and tell its moves."""
    client = create_app(settings_for(folder)).test_client()
    for path, part in (
        (f"/games/{GAME}", "Suits decide between cards of a rank."),
        (f"/matches/{match_id}", "{index|name} {item|card}"),
        ("/static/viewer/tables/highest_card.js", "the table of Highest Card"),
    ):
        assert part in client.get(path).get_data(as_text=True), path
    assert SOUND[GAME]["show"]({})({"card": "As"}) > SOUND[GAME]["show"]({})({"card": "2c"})
    log = folder / "match.ndjson"
    log.write_bytes(client.get(f"/api/v1/matches/{match_id}/log").data)
    assert says({}, "verify", str(log)).stdout.startswith("ok")
    assert "Shown: Bot " in says({}, "replay", str(log)).stdout


if __name__ == "__main__":
    ids = play(Path(sys.argv[1]))
    show(Path(sys.argv[1]), ids["match"])
    print(json.dumps(ids))
