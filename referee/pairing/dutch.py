"""Dutch Swiss pairing for tables of two: brackets from the highest score down. One bracket is scoregroup.py's."""

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from typing import Final

from referee.pairing.history import Past
from referee.pairing.matching import May, augment_matching
from referee.pairing.preferences import STRONG as STRONGLY
from referee.pairing.preferences import preferences, seated_pair
from referee.pairing.scoregroup import (
    COLOUR,
    DOWN_BEFORE,
    DOWN_LAST,
    FAR_DOWN_BEFORE,
    FAR_DOWN_LAST,
    FAR_UP_BEFORE,
    FAR_UP_LAST,
    SIBLING,
    STRONG,
    UP_BEFORE,
    UP_LAST,
    Bracket,
    Rules,
)

EXACT: Final = 400  # up to so many entrants everything avoidable is avoided; above, repair is local
WINDOW: Final = 200  # how many ranks a local repair looks at
STEPS: Final = 1_500  # candidates looked at in a bracket for each bound on its cost


def dutch(
    past: Past, resting: Collection[int], first: int, topscore: int | None
) -> tuple[list[tuple[int, int]], list[int]]:
    """Pairs by seat, the highest first, and who rests: one of ``resting``, which is empty for an even number.

    ``first`` is the seat drawn for the first pairing number. ``topscore`` is given in the last stage: who has more
    than it may be due the same seat as an opponent however strongly.
    """
    due = preferences(past)
    levels = _levels(past, due.clash, topscore, resting)
    everybody = _players_with_bye(past, resting)
    level, over = _feasible(everybody, levels)
    rules = Rules(
        may=levels[level],
        cost=_pair_cost(past, due.seat, due.strength),
        float_cost=lambda one: DOWN_LAST * (past.floats[0][one] == -1) + DOWN_BEFORE * (past.floats[1][one] == -1),
        seat=due.seat,
        steps=STEPS,
        grade=past.score.__getitem__,
    )
    mate = _by_brackets(past, rules, resting, over)
    for may in [*levels[level:], _or_rests(lambda one, other: True, len(past.ids), resting)]:
        if len(mate) < len(everybody):
            mate = _repair_pairing(everybody, may, mate)
    place = {one: at for at, one in enumerate(everybody)}
    nobody = len(past.ids)
    pairs = [(one, mate[one]) for one in everybody if place[one] < place[mate[one]] and mate[one] != nobody]
    return [seated_pair(past, due, one, other, first) for one, other in pairs], [mate[nobody]] if resting else []


def pairable(past: Past, resting: Collection[int]) -> tuple[int, int]:
    """What must be looked away from to pair all but one of ``resting``: 0 nothing, 1 absolute claims to seats, 2
    siblings too; and how many cannot be paired even so, other than with somebody they have met."""
    return _feasible(_players_with_bye(past, resting), _levels(past, preferences(past).clash, None, resting))


def _players_with_bye(past: Past, resting: Collection[int]) -> list[int]:
    """All by rank; with a bye to be had, nobody comes last: a number of its own, whom only those may meet who may
    rest."""
    ranked = sorted(range(len(past.ids)), key=lambda one: (-past.score[one], one))
    return [*ranked, len(past.ids)] if resting else ranked


# -- who may meet whom --


def _levels(past: Past, clash: May, topscore: int | None, resting: Collection[int]) -> list[May]:
    met, kin = past.met, [past.kin(one) for one in range(len(past.ids))]

    def strangers(one: int, other: int) -> bool:
        return other not in met[one]

    def may_meet(one: int, other: int) -> bool:
        family = kin[one]
        return other not in met[one] and (family is None or other not in family)

    def is_topscorer_pair(one: int, other: int) -> bool:
        if not may_meet(one, other) or not clash(one, other):
            return may_meet(one, other)
        return topscore is not None and max(past.score[one], past.score[other]) > topscore

    return [_or_rests(may, len(past.ids), resting) for may in (is_topscorer_pair, may_meet, strangers)]


def _or_rests(may: May, nobody: int, resting: Collection[int]) -> May:
    if not resting:
        return may
    return lambda one, other: (
        other in resting if one == nobody else one in resting if other == nobody else may(one, other)
    )


def _feasible(ranked: Sequence[int], levels: Sequence[May]) -> tuple[int, int]:
    """The first level at which everybody can be paired, or the last and how many are left over. In large events the
    first level is hoped for."""
    if len(ranked) > EXACT:
        return 0, 0
    for level, may in enumerate(levels[:-1]):
        if len(augment_matching(ranked, may, {}, most=0)) == len(ranked):
            return level, 0
    return len(levels) - 1, len(ranked) - len(augment_matching(ranked, levels[-1], {}))


def _pair_cost(past: Past, seat: Sequence[int | None], strength: Sequence[int]) -> Callable[[int, int], int]:
    score, (last, before) = past.score, past.floats
    kin = [past.kin(one) for one in range(len(past.ids))]
    met = past.met

    def cost(one: int, other: int) -> int:
        price = 0
        if seat[one] is not None and seat[one] == seat[other]:
            price = COLOUR
            if strength[one] >= STRONGLY <= strength[other]:
                price += STRONG
        if score[one] != score[other]:
            upper, lower = (one, other) if score[one] > score[other] else (other, one)
            apart = score[upper] - score[lower]
            if last[lower] == 1:
                price += UP_LAST + FAR_UP_LAST * apart
            if before[lower] == 1:
                price += UP_BEFORE + FAR_UP_BEFORE * apart
            if last[upper] == -1:
                price += FAR_DOWN_LAST * apart
            if before[upper] == -1:
                price += FAR_DOWN_BEFORE * apart
        family = kin[one]
        if family is not None and other in family:
            price += SIBLING
        if other in met[one]:
            price += SIBLING * 64 * met[one][other]
        return price

    return cost


# -- brackets --


def _by_brackets(past: Past, rules: Rules, resting: Collection[int], over: int) -> dict[int, int]:
    everybody = _players_with_bye(past, resting)
    nobody = len(past.ids)
    mate: dict[int, int] = {}
    moved: list[int] = []
    groups = [list(group) for _, group in groupby(everybody[:nobody], key=lambda one: past.score[one])]
    reached = 0
    for index, residents in enumerate(groups):
        reached += len(residents)
        last = index == len(groups) - 1
        accepts = _completion(everybody[reached:], rules.may, over)
        wasted = _count_lost_pairs([] if last else groups[index + 1], rules.may)
        if nobody > EXACT:
            accepts, wasted = _may_all_rest(resting) if last else _anything, _nothing
        found = Bracket(rules, moved, residents, accepts, wasted, last).pairs()
        if found is None:
            moved = [*moved, *residents]
            continue
        pairs, moved = found
        for one, other in pairs:
            mate[one], mate[other] = other, one
    if len(moved) == 1 and moved[0] in resting:
        mate[moved[0]], mate[nobody] = nobody, moved[0]
    return mate


def _anything(down: Sequence[int]) -> bool:
    return True


def _nothing(down: Sequence[int]) -> int:
    return 0


def _may_all_rest(resting: Collection[int]) -> Callable[[Sequence[int]], bool]:
    return set(resting).issuperset


def _completion(below: Sequence[int], may: May, over: int) -> Callable[[Sequence[int]], bool]:
    """Whether of those who would move down, with all below, no more are left over than must be."""
    known: dict[frozenset[int], bool] = {}

    def accepts(down: Sequence[int]) -> bool:
        key = frozenset(down)
        if key not in known:
            people = [*down, *below]
            known[key] = len(people) - len(augment_matching(people, may, {}, most=over)) <= over
        return known[key]

    return accepts


def _count_lost_pairs(following: Sequence[int], may: May) -> Callable[[Sequence[int]], int]:
    """How many pairs the next bracket must do without because of who they are that move down to it (FIDE C.7)."""
    known: dict[frozenset[int], int] = {}

    def count_lost(down: Sequence[int]) -> int:
        key = frozenset(down)
        if key not in known:
            people = [*down, *following]
            known[key] = len(people) // 2 - len(augment_matching(people, may, {})) // 2
        return known[key]

    return count_lost


def _repair_pairing(ranked: Sequence[int], may: May, mate: dict[int, int]) -> dict[int, int]:
    """Pairs those left over, by turning round as many other pairs as it needs: the lowest ranks first."""
    if len(ranked) > EXACT:
        left = [at for at, one in enumerate(ranked) if one not in mate]
        near = {
            ranked[at] for middle in left for at in range(max(0, middle - WINDOW), min(len(ranked), middle + WINDOW))
        }
        near |= {mate[one] for one in near if one in mate}
        some = [one for one in reversed(ranked) if one in near]
        return {**mate, **augment_matching(some, may, {one: mate[one] for one in some if one in mate})}
    return augment_matching(list(reversed(ranked)), may, mate)
