"""Pair Dutch Swiss rounds at tables of two, bracket by bracket from the highest score.

``scoregroup`` pairs one bracket.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from referee.pairing.concessions import IMPOSSIBLE, SMALL_FIELD, PairCost, SetCost, fewest_concessions
from referee.pairing.history import PairingHistory
from referee.pairing.matching import MayMeet, augment_matching
from referee.pairing.preferences import STRONG, Preferences, preferences, seat_pair
from referee.pairing.scoregroup import Accepts, Bracket, Cost, Rules

EXACT: Final = 400  # up to this number of entrants, feasibility is exact; above, repair is local
WINDOW: Final = 200  # ranks on either side that a local repair considers
STEPS: Final = 1_500  # candidates tried in a bracket for each bound on its cost
CompletionChecks = Callable[[Sequence[int], Sequence[int]], Accepts]
_DOWN, _UP = -1, 1  # values of floats in the history


def pair_round(
    history: PairingHistory, bye_candidates: Collection[int], first: int, topscore: int | None
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return pairs in seat order, the best pair first, and a list with the candidate who gets the bye, or [].

    ``bye_candidates`` must be empty for an even number of players. ``first`` is the seat drawn for the first pairing
    number. In the last round, players with a score above ``topscore`` may have clashing absolute seat preferences.
    """
    due = preferences(history)
    clash = _seat_clash(history, due, topscore)
    levels = _levels(history, clash, bye_candidates)
    everyone = _rank_with_bye(history, bye_candidates)
    level, unpaired = _feasible_level(everyone, levels)
    rules = Rules(
        may_meet=levels[level],
        pair_cost=_pair_cost(history, due, clash),
        float_cost=_float_cost(history),
        seat=due.seat,
        steps=STEPS,
        score=history.score.__getitem__,
    )
    if level and len(everyone) <= SMALL_FIELD:
        mate = _pair_small_field(history, rules, bye_candidates)
    else:
        mate = _pair_brackets(history, rules, bye_candidates, _completion_checks(rules.may_meet, unpaired))
    for may_meet in [*levels[level:], _allow_byes(lambda player, other: True, len(history.ids), bye_candidates)]:
        if len(mate) < len(everyone):
            mate = _repair_pairing(everyone, may_meet, mate)
    rank = {player: index for index, player in enumerate(everyone)}
    bye = len(history.ids)
    pairs = [(player, mate[player]) for player in everyone if rank[player] < rank[mate[player]] and mate[player] != bye]
    seated = [seat_pair(history, due, player, other, first) for player, other in pairs]
    return seated, [mate[bye]] if bye_candidates else []


def required_concessions(history: PairingHistory, bye_candidates: Collection[int]) -> int:
    """Return 0 if one of ``bye_candidates`` can get the bye without a rematch or a pair of siblings.

    Otherwise return a number that grows with the rematches that are needed and, up to ``SMALL_FIELD`` players, with the
    pairs of siblings.
    """
    due = preferences(history)
    clash = _seat_clash(history, due, None)
    everyone = _rank_with_bye(history, bye_candidates)
    level, unpaired = _feasible_level(everyone, _levels(history, clash, bye_candidates))
    if level <= 1:
        return 0
    if len(everyone) > SMALL_FIELD:
        return 2 * unpaired + 1
    concede = _concessions(_pair_cost(history, due, clash), len(history.ids), bye_candidates)
    return fewest_concessions(concede)(frozenset(everyone)) // Cost.concessions(Cost.SIBLINGS)


def _rank_with_bye(history: PairingHistory, bye_candidates: Collection[int]) -> list[int]:
    """Return the players by rank.

    If there is a bye, it comes last, as a player whose number is the number of players.
    """
    ranked = sorted(range(len(history.ids)), key=lambda player: (-history.score[player], player))
    return [*ranked, len(history.ids)] if bye_candidates else ranked


# -- who may meet whom --


def _seat_clash(history: PairingHistory, due: Preferences, topscore: int | None) -> MayMeet:
    """Return the condition that one of two players would not get a seat due absolutely, and may claim it."""

    def clash(player: int, other: int) -> bool:
        if not due.clash(player, other):
            return False
        return topscore is None or max(history.score[player], history.score[other]) <= topscore

    return clash


def _levels(history: PairingHistory, clash: MayMeet, bye_candidates: Collection[int]) -> list[MayMeet]:
    """Return the condition that a pair must meet at each level, from all constraints to "no rematch" alone."""
    met, family = history.met, history.family

    def are_strangers(player: int, other: int) -> bool:
        return other not in met[player]

    def are_unrelated_strangers(player: int, other: int) -> bool:
        return other not in met[player] and not family[player] == family[other] != ""

    def may_take_seats(player: int, other: int) -> bool:
        return are_unrelated_strangers(player, other) and not clash(player, other)

    constraints = (may_take_seats, are_unrelated_strangers, are_strangers)
    return [_allow_byes(may_meet, len(history.ids), bye_candidates) for may_meet in constraints]


def _allow_byes(may_meet: MayMeet, bye: int, bye_candidates: Collection[int]) -> MayMeet:
    """Extend ``may_meet`` to the player who stands for the bye, and whom only the candidates may meet."""
    if not bye_candidates:
        return may_meet

    def may_meet_or_rest(player: int, other: int) -> bool:
        if player == bye:
            return other in bye_candidates
        return player in bye_candidates if other == bye else may_meet(player, other)

    return may_meet_or_rest


def _feasible_level(ranked: Sequence[int], levels: Sequence[MayMeet]) -> tuple[int, int]:
    """Return the first level at which everyone can be paired, and 0.

    If there is none, return the last level and how many players stay unpaired at it. Above ``EXACT`` players, assume
    that the first level is feasible.
    """
    if len(ranked) > EXACT:
        return 0, 0
    for level, may_meet in enumerate(levels[:-1]):
        if len(augment_matching(ranked, may_meet, {}, most=0)) == len(ranked):
            return level, 0
    return len(levels) - 1, len(ranked) - len(augment_matching(ranked, levels[-1], {}))


# -- costs --


def _float_cost(history: PairingHistory) -> Callable[[int], int]:
    """Return a function for the cost of moving a player down again after a downfloat in the last two rounds."""
    last, before = history.floats

    def cost(player: int) -> int:
        return Cost.DOWN_LAST * (last[player] == _DOWN) + Cost.DOWN_BEFORE * (before[player] == _DOWN)

    return cost


def _pair_cost(history: PairingHistory, due: Preferences, clash: MayMeet) -> PairCost:
    """Return a function for the cost of a pair: of seat preferences, repeated floats, siblings and rematches."""
    seat, strength = due.seat, due.strength
    score, met, (last, before) = history.score, history.met, history.floats
    family = history.family

    def cost(player: int, other: int) -> int:
        total = 0
        if seat[player] is not None and seat[player] == seat[other]:
            total = Cost.SEAT
            if strength[player] >= STRONG <= strength[other]:
                total += Cost.STRONG_SEAT
            if clash(player, other):
                total += Cost.CLASH
        if score[player] != score[other]:
            upper, lower = (player, other) if score[player] > score[other] else (other, player)
            apart = score[upper] - score[lower]
            if last[lower] == _UP:
                total += Cost.UP_LAST + Cost.FAR_UP_LAST * apart
            if before[lower] == _UP:
                total += Cost.UP_BEFORE + Cost.FAR_UP_BEFORE * apart
            if last[upper] == _DOWN:
                total += Cost.FAR_DOWN_LAST * apart
            if before[upper] == _DOWN:
                total += Cost.FAR_DOWN_BEFORE * apart
        if family[player] == family[other] != "":
            total += Cost.SIBLINGS
        if other in met[player]:
            total += Cost.REMATCH + Cost.MEETINGS * met[player][other]
        return total

    return cost


def _concessions(pair_cost: PairCost, bye: int, bye_candidates: Collection[int]) -> PairCost:
    """Return a function for the part of the cost of a pair that no other criterion outweighs, in units of one clash."""

    def cost(player: int, other: int) -> int:
        if bye in (player, other):
            return 0 if min(player, other) in bye_candidates else IMPOSSIBLE
        return Cost.concessions(pair_cost(player, other))

    return cost


# -- brackets --


def _pair_small_field(history: PairingHistory, rules: Rules, bye_candidates: Collection[int]) -> dict[int, int]:
    """Pair all players with the fewest concessions: rematches, then pairs of siblings, then clashes of seats."""
    concede = _concessions(rules.pair_cost, len(history.ids), bye_candidates)
    fewest, left = fewest_concessions(concede), _rank_with_bye(history, bye_candidates)

    def may_meet(player: int, other: int, people: frozenset[int] = frozenset(left)) -> bool:
        return concede(player, other) + fewest(people - {player, other}) == fewest(people)

    def pair_cost(player: int, other: int) -> int:
        return Cost.demote(rules.pair_cost(player, other))

    within = replace(rules, may_meet=may_meet, pair_cost=pair_cost)
    mate = _pair_brackets(history, within, bye_candidates, _small_field_checks(fewest))
    while left := [player for player in left if player not in mate]:
        other = next(other for other in left[1:] if may_meet(left[0], other, frozenset(left)))
        mate[left[0]], mate[other] = other, left[0]
    return mate


def _pair_brackets(
    history: PairingHistory, rules: Rules, bye_candidates: Collection[int], checks: CompletionChecks
) -> dict[int, int]:
    """Pair the score groups from the top, moving unpaired players down. Return the partner of each paired player."""
    everyone = _rank_with_bye(history, bye_candidates)
    bye = len(history.ids)
    mate: dict[int, int] = {}
    moved: list[int] = []
    groups = [list(group) for _, group in groupby(everyone[:bye], key=lambda player: history.score[player])]
    reached = 0
    for index, residents in enumerate(groups):
        reached += len(residents)
        last = index == len(groups) - 1
        accepts = checks([*moved, *residents], everyone[reached:])
        lost_pairs = _lost_pairs_counter([] if last else groups[index + 1], rules.may_meet)
        if bye > EXACT:
            accepts, lost_pairs = _bye_check(bye_candidates) if last else _accept_all, _no_lost_pairs
        found = Bracket(rules, moved, residents, accepts, lost_pairs, last).pairs()
        if found is None:
            moved = [*moved, *residents]
            continue
        pairs, moved = found
        for player, other in pairs:
            mate[player], mate[other] = other, player
    if len(moved) == 1 and moved[0] in bye_candidates:
        mate[moved[0]], mate[bye] = bye, moved[0]
    return mate


def _accept_all(down: Sequence[int], cost: int) -> bool:
    return True


def _bye_check(bye_candidates: Collection[int]) -> Accepts:
    candidates = set(bye_candidates)
    return lambda down, cost: candidates.issuperset(down)


def _no_lost_pairs(down: Sequence[int]) -> int:
    return 0


def _completion_checks(may_meet: MayMeet, unpaired: int) -> CompletionChecks:
    """Return the check of each bracket: whether its downfloaters and all players below can be paired.

    At most ``unpaired`` of them may stay unpaired.
    """

    def check_below(bracket: Sequence[int], below: Sequence[int]) -> Accepts:
        known: dict[frozenset[int], bool] = {}

        def accepts(down: Sequence[int], cost: int) -> bool:
            key = frozenset(down)
            if key not in known:
                people = [*down, *below]
                known[key] = len(people) - len(augment_matching(people, may_meet, {}, most=unpaired)) <= unpaired
            return known[key]

        return accepts

    return check_below


def _small_field_checks(fewest: SetCost) -> CompletionChecks:
    """Return the check of each bracket: whether its pairs can be part of a pairing with the fewest concessions."""

    def check_below(bracket: Sequence[int], below: Sequence[int]) -> Accepts:
        limit = fewest(frozenset([*bracket, *below]))
        return lambda down, cost: Cost.read_demoted(cost) + fewest(frozenset([*down, *below])) <= limit

    return check_below


def _lost_pairs_counter(following: Sequence[int], may_meet: MayMeet) -> Callable[[Sequence[int]], int]:
    """Return a function that counts the pairs the next bracket loses if given players float down to it (FIDE C.7)."""
    known: dict[frozenset[int], int] = {}

    def count_lost(down: Sequence[int]) -> int:
        key = frozenset(down)
        if key not in known:
            people = [*down, *following]
            known[key] = len(people) // 2 - len(augment_matching(people, may_meet, {})) // 2
        return known[key]

    return count_lost


def _repair_pairing(ranked: Sequence[int], may_meet: MayMeet, mate: dict[int, int]) -> dict[int, int]:
    """Pair the players who were left unpaired, beginning with the lowest ranks.

    Change as few other pairs as necessary.
    """
    if len(ranked) > EXACT:
        left = [index for index, player in enumerate(ranked) if player not in mate]
        near = {
            ranked[index]
            for middle in left
            for index in range(max(0, middle - WINDOW), min(len(ranked), middle + WINDOW))
        }
        near |= {mate[player] for player in near if player in mate}
        people = [player for player in reversed(ranked) if player in near]
        known = {player: mate[player] for player in people if player in mate}
        return {**mate, **augment_matching(people, may_meet, known)}
    return augment_matching(list(reversed(ranked)), may_meet, mate)
