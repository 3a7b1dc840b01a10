"""Recompute a ladder from its public ledger without the referee, and compare every number in it bit for bit.

    python docs/refold.py FILE…      (from GET /ladders/{id}/results.csv; standard library of Python 3.10 or later)

docs/ratings.md explains the rules. This script trusts the results in the file; verify_log.py checks their logs."""

import csv
import sys
from datetime import date
from itertools import combinations, groupby

START, CAP, ANCHORS_CAP = 1_500_000_000, 64_000_000, 32_000_000  # micro-points
NEW = (START, 0, 0, 0)  # rating, games, balance, day of the last match
EXPECTED = [round(10**9 / (1 + 10 ** (-points / 400))) for points in range(2002)]


def expected(difference):
    if difference < 0:
        return 10**9 - expected(-difference)
    points, rest = divmod(min(difference, 2_000_000_000), 1_000_000)
    return (
        EXPECTED[points] + (EXPECTED[points + 1] - EXPECTED[points]) * rest // 1_000_000 if rest else EXPECTED[points]
    )


def gain(k_sum, place, other_place, difference, seats):
    score = (place < other_place) + (place <= other_place)  # of 2
    exact, unit = k_sum * (10**9 * score - 2 * expected(difference)), 4000 * (seats - 1)
    return (1 if exact > 0 else -1) * ((2 * abs(exact) + unit) // (2 * unit))


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
        gains = [0] * len(seats)
        for (i, one), (j, other) in combinations(enumerate(seats), 2):
            anchors = bool(one["anchor_micro"]) + bool(other["anchor_micro"])
            stakes = [stake(before[seat][1]) for seat, row in ((i, one), (j, other)) if not row["anchor_micro"]]
            if anchors == 2:
                continue
            k_sum, places = sum(stakes) * (1 + anchors), (int(one["placement"]), int(other["placement"]))
            gained = gain(k_sum, *places, before[i][0] - before[j][0], len(seats))
            if not (anchors and k_sum > 40):
                gained = self.capped(
                    one["anchor_micro"] or one["owner"], other["anchor_micro"] or other["owner"], gained
                )
            gains[i], gains[j] = gains[i] + gained, gains[j] - gained
        for row, (value, games, balance, last), gained in zip(seats, before, gains, strict=True):
            if row["anchor_micro"]:  # one anchor may have several seats
                balance = self.held.get(row["bot"], NEW)[2] + gained
                self.held[row["bot"]] = (value, games, balance, last)
            else:
                self.held[row["bot"]] = (value + gained, games + 1, balance, day)
        return {row["bot"]: (state, self.held[row["bot"]]) for row, state in zip(seats, before, strict=True)}

    def take_back(self, given):
        """Take back what a result changed. Return what this changed, by bot."""
        changed = {}
        for bot, (before, after) in given.items():
            now = self.held[bot]
            left = [has - (new - old) for has, old, new in zip(now[:3], before[:3], after[:3], strict=True)]
            self.held[bot] = (*left, now[3])
            if self.held[bot] != now:
                changed[bot] = now, self.held[bot]
        return changed

    def enters(self, row):
        value, games, balance, last = self.held.get(row["bot"], NEW)
        if row["anchor_micro"]:
            return int(row["anchor_micro"]), games, balance, last
        own = self.bots_of.setdefault(row["owner"], set())
        if not games:
            others = [self.held[bot] for bot in own - {row["bot"]} if bot in self.held]
            value = min([START, *(other[0] for other in others if other[1] and other[3] >= self.day - 30)])
        own.add(row["bot"])
        return value, games, balance, last

    def capped(self, one, other, gained):
        one, other = ("" if party.isdigit() else party for party in (one, other))  # "": all anchors together
        parties, sign = ((one, other), -1) if one < other else ((other, one), 1)
        before = self.exchanged.get(parties, 0)
        after = before + sign * gained
        self.exchanged[parties] = max(min(after, CAP), -CAP) if parties[0] else min(after, ANCHORS_CAP)
        return sign * (self.exchanged[parties] - before)


def stake(games):
    return 64 if games < 10 else 40 if games < 30 else 20


def check(lines):
    """Yield what differs between the ledger in these lines of CSV and the ratings that follow from it."""
    ladder, results = Ladder(), {}  # results: what each changed, by match
    for entry, grouped in groupby(csv.DictReader(lines), key=lambda row: row["entry"]):
        rows, changed = list(grouped), {}
        kind, match = rows[0]["kind"], rows[0]["match"]
        if kind == "result":
            changed = results[match] = ladder.enter(rows)
        elif kind == "void":
            changed = ladder.take_back(results.pop(match, {}))
        entered = {bot: before[0] for bot, (before, _) in changed.items()}
        moved = {row["bot"]: row for row in rows if row["after_micro"]}
        for bot in sorted(entered.keys() | moved.keys()):
            follows = (entered.get(bot), *ladder.held.get(bot, NEW)[:3])
            names = ("before_micro", "after_micro", "games", "balance_micro")
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
