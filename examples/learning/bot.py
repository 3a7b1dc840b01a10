"""Serve the policy that `train.py` learned as a bot: python bot.py [PORT]. Its secret is in $REFEREE_BOT_SECRET."""

import json
import os
import sys
from pathlib import Path

from policy import BEGINNING, choose

from referee_extras.sdk import Bot, serve

LEARNED = Path(__file__).with_name("weights.json")
WEIGHTS = json.loads(LEARNED.read_text()) if LEARNED.exists() else BEGINNING

bot = Bot("learned", "1")


@bot.decides("pool-nap")
def decide(question):
    return choose({"observation": question.seen.to_json(), "legal_actions": question.legal_actions}, WEIGHTS)


if __name__ == "__main__":
    port = int((sys.argv[1:] or [os.environ.get("PORT", "9000")])[0])
    serve(bot, port, secret=os.environ.get("REFEREE_BOT_SECRET", ""))
