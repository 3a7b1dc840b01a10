"""A bot and a learner get what they need of a packaged game from its rules and its page."""

import subprocess
import sys
from pathlib import Path

from tests.cli.running import surroundings
from tests.games.test_packaged_game import having, install

LEARN = """
from referee_extras.gym.aec import env
from referee_extras.gym.layouts import layout
from referee_extras.sdk import Bot
bot, table, found = Bot(), env("highest-card", 3), layout("highest-card")
bot.decides("highest-card", "show")(lambda question: None)
table.reset(1)
print(bot.games, table.action_space("seat_0").n, found.words, found.cards)
"""


def test_a_bot_and_a_learner_get_what_they_need_from_the_rules_and_the_page(tmp_path: Path) -> None:
    environment = surroundings(**having(install(tmp_path)))

    told = subprocess.run([sys.executable, "-c", LEARN], env=environment, check=True, capture_output=True, text=True)

    assert told.stdout == "['highest-card'] 2 {'phase': ('show', 'over')} ('hand', 'shown')\n"
