"""Recompute a ladder from its public ledger without the referee, and compare every number in it bit for bit.

    python docs/refold.py FILE…      (from GET /ladders/{id}/results.csv; standard library of Python 3.10 or later)

docs/ratings.md explains the rules. This script trusts the results in the file; verify_log.py checks their logs."""

import csv
import sys
from datetime import date
from itertools import combinations, groupby

START, CAP, ANCHORS_CAP = 1_500_000_000, 64_000_000, 32_000_000  # micro-points
NEW = (START, 0, 0, 0, "", 0)  # rating, games, balance, games when a version last widened the stake, version, day
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

    def enter(self, rows, counts):
        """Apply a result, given by the rows of its seats, to the ratings. Return the ratings with which bots enter."""
        new_rules, day = rows[0]["rating_rules"] != "1", date.fromisoformat(rows[0]["entered_at"][:10]).toordinal()
        if new_rules and day != self.day:
            self.day, self.exchanged = day, {}
        seats = [row for row in rows if row["rated"] == "true" or row["anchor_micro"]] if counts else []
        before = [(self.enters(row) if new_rules else self.held.get(row["bot"], NEW)) for row in seats]
        gains = [0] * len(seats)
        for (i, one), (j, other) in combinations(enumerate(seats), 2):
            anchors = bool(one["anchor_micro"]) + bool(other["anchor_micro"])
            stakes = [stake(before[seat], new_rules) for seat, row in ((i, one), (j, other)) if not row["anchor_micro"]]
            if anchors == 2:
                continue
            k_sum, places = sum(stakes) * (1 + anchors), (int(one["placement"]), int(other["placement"]))
            gained = gain(k_sum, *places, before[i][0] - before[j][0], len(seats))
            if new_rules and not (anchors and k_sum > 40):
                gained = self.capped(
                    one["anchor_micro"] or one["owner"], other["anchor_micro"] or other["owner"], gained
                )
            gains[i], gains[j] = gains[i] + gained, gains[j] - gained
        for row, (value, games, balance, widened, version, last), gained in zip(seats, before, gains, strict=True):
            if row["anchor_micro"]:  # one anchor may have several seats
                balance = self.held.get(row["bot"], NEW)[2] + gained
                self.held[row["bot"]] = (value, games, balance, widened, version, last)
            else:
                now = (value + gained, games + 1, balance, widened, version, day if new_rules else last)
                self.held[row["bot"]] = now
        return {row["bot"]: state[0] for row, state in zip(seats, before, strict=True)}

    def enters(self, row):
        value, games, balance, widened, version, last = self.held.get(row["bot"], NEW)
        if row["anchor_micro"]:
            return int(row["anchor_micro"]), games, balance, widened, version, last
        own = self.bots_of.setdefault(row["owner"], set())
        if not games:
            others = [self.held[bot] for bot in own - {row["bot"]} if bot in self.held]
            value = min([START, *(other[0] for other in others if other[1] and other[5] >= self.day - 30)])
        own.add(row["bot"])
        settled = games - widened + (20 if widened else 0)
        changed = row["version"] and version and row["version"] != version
        if row["rating_rules"] == "2" and changed and settled > 20 and (not widened or games - widened >= 100):
            widened = games
        return value, games, balance, widened, row["version"] or version, last

    def capped(self, one, other, gained):
        one, other = ("" if party.isdigit() else party for party in (one, other))  # "": all anchors together
        parties, sign = ((one, other), -1) if one < other else ((other, one), 1)
        before = self.exchanged.get(parties, 0)
        after = before + sign * gained
        self.exchanged[parties] = max(min(after, CAP), -CAP) if parties[0] else min(after, ANCHORS_CAP)
        return sign * (self.exchanged[parties] - before)


def stake(state, new_rules):
    settled = state[1] - state[3] + (20 if state[3] else 0) if new_rules else state[1]
    return 64 if new_rules and settled < 10 else 40 if settled < 30 else 20


def check(lines):
    """Yield what differs between the ledger in these lines of CSV and the ratings that follow from it."""
    ladder, results = Ladder(), {}  # results: by match, its rows and whether it counts
    for entry, grouped in groupby(csv.DictReader(lines), key=lambda row: row["entry"]):
        rows, held = list(grouped), dict(ladder.held)
        kind, match = rows[0]["kind"], rows[0]["match"]
        entered = {}
        if kind == "result":
            results[match] = rows, True
            entered = ladder.enter(rows, True)
        elif kind == "void" and match in results:
            results[match], ladder = (results[match][0], False), Ladder()
            for result in results.values():
                ladder.enter(*result)
            ladder.held = {bot: ladder.held.get(bot, NEW) for bot in held}
            entered = {bot: state[0] for bot, state in held.items() if state != ladder.held[bot]}
        moved = {row["bot"]: row for row in rows if row["after_micro"]}
        if kind == "repair":  # corrects a wrong number: only what it became follows from the ledger
            entered = {bot: int(row["before_micro"]) for bot, row in moved.items()}
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
