"""Serve the weights that `train.py` learned: python bot.py [PORT]. Its secret is in secret.txt beside this file."""

import os
import sys
from pathlib import Path

import numpy as np
from policy import GAME, choose

from referee_extras.sdk import Bot, serve

FOLDER = Path(__file__).parent
WEIGHTS = np.load(FOLDER / "weights.npy")
bot = Bot("linear", "1")


@bot.decides(GAME)
def decide(question):
    return choose(question.seen.to_json(), question.legal_actions, WEIGHTS)


if __name__ == "__main__":
    port = int((sys.argv[1:] or [os.environ.get("PORT", "9000")])[0])
    serve(bot, port, secret=os.environ.get("REFEREE_BOT_SECRET", ""), secret_file=FOLDER / "secret.txt")
