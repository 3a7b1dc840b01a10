"""Recompute a ladder from its public ledger without the referee, and compare every number in it bit for bit.

    python docs/refold.py FILE…      (from GET /ladders/{id}/results.csv; standard library of Python 3.10 or later)

docs/ratings.md explains the rules. This script trusts the results in the file; verify_log.py checks their logs."""

import csv
import sys
from collections import defaultdict, namedtuple
from datetime import date
from itertools import combinations, groupby

START, CAP, ANCHORS_CAP, SETTLED = 1_500_000_000, 64_000_000, 32_000_000, 20_000_000  # micro-points
EXPECTED = [round(10**9 / (1 + 10 ** (-points / 400))) for points in range(2002)]
GAMES = [0] + [round(4e6 * (n - sum(1 / i for i in range(1, n + 1))) / n) for n in range(1, 11)]  # by number of seats
NAMES = ("before_micro", "after_micro", "games", "balance_micro", "information_micro")
State = namedtuple("State", "rating games balance information version day", defaults=(START, 0, 0, 0, "", 0))


def expected(difference):
    points, rest = divmod(min(abs(difference), 2_000_000_000), 1_000_000)
    chance = EXPECTED[points] + (EXPECTED[points + 1] - EXPECTED[points]) * rest // 1_000_000
    return chance if difference >= 0 else 10**9 - chance


class Ladder:
    def __init__(self):
        self.held, self.bots_of, self.day = defaultdict(State), defaultdict(set), 0

    def enter(self, rows):
        """Apply a result, given by the rows of its seats, to the ratings. Return what it changed, by bot."""
        day = date.fromisoformat(rows[0]["entered_at"][:10]).toordinal()
        if day != self.day:
            self.day, self.exchanged = day, defaultdict(int)
        seats = [row for row in rows if row["rated"] == "true" or row["anchor_micro"]]
        for row in seats:
            row["before"], row["change"] = self.begin(row), (0, 1, 0, 0)  # of rating, games, balance and information
            k = 695_000_000 * GAMES[len(seats)] // (row["before"].information + 3_000_000)
            row["k"] = 0 if row["anchor_micro"] else max(2_000_000, min(128_000_000 * (len(seats) - 1), k))
        for one, other in combinations(seats, 2):
            if one["k"] or other["k"]:
                self.meet(one, other, len(seats))
        for row in seats:
            bot, before, change = row["bot"], row["before"], row["change"]
            if row["anchor_micro"]:  # one anchor may have several seats
                self.held[bot] = before._replace(balance=self.held[bot].balance + change[2])
            else:
                self.held[bot] = State(*map(sum, zip(before[:4], change, strict=True)), before.version, day)
        return {row["bot"]: (row["before"], self.held[row["bot"]]) for row in seats}

    def begin(self, row):
        """Return the state with which a bot enters a match."""
        state, own, version = self.held[row["bot"]], self.bots_of[row["owner"]], row["version"]
        if row["anchor_micro"]:
            return state._replace(rating=int(row["anchor_micro"]))
        if not state.games:
            others = [self.held[bot] for bot in own - {row["bot"]}]
            state = State(min([START, *(one.rating for one in others if one.games and one.day >= self.day - 30)]))
        own.add(row["bot"])
        if version and state.version and version != state.version:
            state = state._replace(information=min(state.information, 6_000_000))
        return state._replace(version=version or state.version)

    def meet(self, one, other, seats):
        """Add what two seats exchange, and what their meeting tells, to their changes."""
        is_anchored, unit = not (one["k"] and other["k"]), 10**9 * (seats - 1)
        both = (one["k"] + other["k"]) * (1 + is_anchored)  # twice the points at stake
        chance = expected(one["before"].rating - other["before"].rating)
        surprise = 500_000_000 * ((one["place"] < other["place"]) + (one["place"] <= other["place"])) - chance
        factors = 2 * one["k"], 2 * other["k"], both, max(both, 2 * SETTLED)
        gain, loss, stake, amount = ((abs(surprise) * factor + unit) // (2 * unit) for factor in factors)
        told, sign = 4 * GAMES[seats] * chance * (10**9 - chance) // (10**9 * unit), 1 if surprise > 0 else -1
        if not is_anchored or both <= 2 * SETTLED:
            first, second = sorted("" if row["anchor_micro"] else row["owner"] for row in (one, other))
            before = self.exchanged[first, second]  # gain today of the second party; all anchors are the party ""
            after = before + amount * sign * (1 if one["owner"] == second else -1)
            self.exchanged[first, second] = max(min(after, CAP), -CAP) if first else min(after, ANCHORS_CAP)
            counted = abs(self.exchanged[first, second] - before)
            if counted != amount:
                gain, loss, stake, told = (part * counted // amount for part in (gain, loss, stake, told))
        for row, own, side in ((one, gain, sign), (other, loss, -sign)):
            row["change"] = [*map(sum, zip(row["change"], (side * own, 0, side * (stake - own), told), strict=True))]

    def take_back(self, given):
        """Take back the points, the match and the balance that a result gave. Return what this changed, by bot."""
        held = {bot: self.held[bot] for bot in given}
        for bot, (before, after) in given.items():
            left = [has - new + old for has, new, old in zip(held[bot][:3], after[:3], before[:3], strict=True)]
            self.held[bot] = State(*left, *held[bot][3:])
        return {bot: (state, self.held[bot]) for bot, state in held.items() if state != self.held[bot]}


def check(lines):
    """Yield what differs between the ledger in these lines of CSV and the ratings that follow from it."""
    ladder, results = Ladder(), {}  # results: what each changed, by match
    for entry, grouped in groupby(csv.DictReader(lines), key=lambda row: row["entry"]):
        rows, changed = [{**row, "place": int(row["placement"] or 0)} for row in grouped], {}
        kind, match = rows[0]["kind"], rows[0]["match"]
        if kind == "result":
            changed = results[match] = ladder.enter(rows)
        elif kind == "void":
            changed = ladder.take_back(results.pop(match, {}))
        moved = {row["bot"]: row for row in rows if row["after_micro"]}
        for bot in sorted(changed.keys() | moved.keys()):
            follows = (changed[bot][0].rating if bot in changed else None, *ladder.held[bot][:4])
            stands = tuple(int(moved[bot][name]) for name in NAMES) if bot in moved else None
            if follows != stands:
                yield f"entry {entry}, {bot}: {', '.join(NAMES)} are {stands}, but {follows} follow"


if __name__ == "__main__":
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        print(__doc__)
        sys.exit(not sys.argv[1:])
    found = {}
    for name in sys.argv[1:]:
        with open(name, newline="", encoding="utf-8") as file:
            found[name] = list(check(file))
        print(f"{name}:", *found[name] or ["all ratings follow from the results"], sep="\n  " if found[name] else " ")
    sys.exit(any(found.values()))
