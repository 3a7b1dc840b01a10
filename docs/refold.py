"""Recompute a ladder from its public ledger without the referee, and compare every number in it bit for bit.

    python docs/refold.py FILE…      (from GET /ladders/{id}/results.csv; standard library of Python 3.10 or later)

docs/ratings.md explains the rules. This script trusts the results in the file; verify_log.py checks their logs."""

import csv
import sys
from datetime import date
from itertools import combinations, groupby

START, CAP, ANCHORS_CAP = 1_500_000_000, 64_000_000, 32_000_000  # micro-points
NEW = (START, 0, 0, 0, 0, "")  # rating, games, balance, information, day of the last match, version
EXPECTED = [round(10**9 / (1 + 10 ** (-points / 400))) for points in range(2002)]
GAMES = [0] + [round(4e6 * (n - sum(1 / i for i in range(1, n + 1))) / n) for n in range(1, 11)]  # by number of seats


def expected(difference):
    if difference < 0:
        return 10**9 - expected(-difference)
    points, rest = divmod(min(difference, 2_000_000_000), 1_000_000)
    return EXPECTED[points] + (rest and (EXPECTED[points + 1] - EXPECTED[points]) * rest // 1_000_000)


def rounded(dividend, divisor):
    return (1 if dividend > 0 else -1) * ((2 * abs(dividend) + divisor) // (2 * divisor))


def part(value, counted, amount):
    return (1 if value > 0 else -1) * (abs(value) * abs(counted) // abs(amount))


def k_factor(information, seats):
    return max(2_000_000, min(128_000_000, 695_000_000 * GAMES[seats] // (information + 3_000_000)))


class Ladder:
    def __init__(self):
        self.held, self.day, self.exchanged, self.bots_of = {}, 0, {}, {}

    def enter(self, rows):
        """Apply a result, given by the rows of its seats, to the ratings. Return what it changed, by bot."""
        day = date.fromisoformat(rows[0]["entered_at"][:10]).toordinal()
        if day != self.day:
            self.day, self.exchanged = day, {}
        seats = [row for row in rows if row["rated"] == "true" or row["anchor_micro"]]
        before = [self.enters(row) for row in seats]
        changes = [[0, 0, 0] for _ in seats]  # of rating, balance and information
        for (i, one), (j, other) in combinations(enumerate(seats), 2):
            if one["anchor_micro"] and other["anchor_micro"]:
                continue
            k, other_k = (0 if seats[n]["anchor_micro"] else k_factor(before[n][3], len(seats)) for n in (i, j))
            is_anchored = not (k and other_k)
            both = (k + other_k) * (1 + is_anchored)  # twice the points at stake
            won = 500_000_000 * ((one["place"] < other["place"]) + (one["place"] <= other["place"]))
            chance, unit = expected(before[i][0] - before[j][0]), 2 * 10**9 * (len(seats) - 1)
            gain, loss, stake, amount = (
                rounded((won - chance) * factor, unit) for factor in (2 * k, 2 * other_k, both, max(both, 40_000_000))
            )
            told = 8 * GAMES[len(seats)] * chance * (10**9 - chance) // (10**9 * unit)
            if not (is_anchored and both > 40_000_000):
                counted = self.capped(
                    one["anchor_micro"] or one["owner"], other["anchor_micro"] or other["owner"], amount
                )
                if counted != amount:
                    gain, loss, stake, told = (part(value, counted, amount) for value in (gain, loss, stake, told))
            for n, change in ((i, (gain, stake - gain, k and told)), (j, (-loss, loss - stake, other_k and told))):
                changes[n] = [has + more for has, more in zip(changes[n], change, strict=True)]
        for row, (value, games, balance, known, last, version), change in zip(seats, before, changes, strict=True):
            if row["anchor_micro"]:  # one anchor may have several seats
                balance = self.held.get(row["bot"], NEW)[2]
                self.held[row["bot"]] = (value, games, balance + change[1], known, last, version)
            else:
                after = value + change[0], games + 1, balance + change[1], known + change[2]
                self.held[row["bot"]] = (*after, day, row["version"] or version)
        return {row["bot"]: (state, self.held[row["bot"]]) for row, state in zip(seats, before, strict=True)}

    def take_back(self, given):
        """Take back what a result changed. Return what this changed, by bot."""
        changed = {}
        for bot, (before, after) in given.items():
            now = self.held[bot]
            left = [has - (new - old) for has, old, new in zip(now[:3], before[:3], after[:3], strict=True)]
            self.held[bot] = (*left, *now[3:])
            if self.held[bot] != now:
                changed[bot] = now, self.held[bot]
        return changed

    def enters(self, row):
        value, games, balance, known, last, version = self.held.get(row["bot"], NEW)
        if row["anchor_micro"]:
            return int(row["anchor_micro"]), games, balance, known, last, version
        own = self.bots_of.setdefault(row["owner"], set())
        if not games:
            others = [self.held[bot] for bot in own - {row["bot"]} if bot in self.held]
            value = min([START, *(other[0] for other in others if other[1] and other[4] >= self.day - 30)])
            balance, known, version = 0, 0, ""
        own.add(row["bot"])
        is_new = row["version"] and version and row["version"] != version
        return value, games, balance, min(known, 12_000_000) if is_new else known, last, version

    def capped(self, one, other, gained):
        one, other = ("" if party.isdigit() else party for party in (one, other))  # "": all anchors together
        parties, sign = ((one, other), -1) if one < other else ((other, one), 1)
        before = self.exchanged.get(parties, 0)
        after = before + sign * gained
        self.exchanged[parties] = max(min(after, CAP), -CAP) if parties[0] else min(after, ANCHORS_CAP)
        return sign * (self.exchanged[parties] - before)


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
        entered = {bot: before[0] for bot, (before, _) in changed.items()}
        moved = {row["bot"]: row for row in rows if row["after_micro"]}
        for bot in sorted(entered.keys() | moved.keys()):
            follows = (entered.get(bot), *ladder.held.get(bot, NEW)[:4])
            names = ("before_micro", "after_micro", "games", "balance_micro", "information_micro")
            stands = tuple(int(moved[bot][name]) for name in names) if bot in moved else None
            if follows != stands:
                yield f"entry {entry}, {bot}: {', '.join(names)} are {stands}, but {follows} follow"


if __name__ == "__main__":
    failed = 0
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        print(__doc__)
        sys.exit(not sys.argv[1:])
    for name in sys.argv[1:]:
        with open(name, newline="", encoding="utf-8") as file:
            found = list(check(file))
        print(f"{name}:", *(found or ["all ratings follow from the results"]), sep="\n  " if found else " ")
        failed += bool(found)
    sys.exit(failed > 0)
