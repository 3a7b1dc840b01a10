"""Properties of every game. A new game passes this file unchanged, given an entry in ``hooks.py``."""

import copy
import pickle
from collections.abc import Iterator
from itertools import product, repeat
from random import Random
from typing import Any

import pytest

from referee.errors import BadOption, IllegalAction, IllegalOutcome
from referee.games import catalogue
from referee.games.cards import DECK, UNKNOWN
from referee.games.state import State
from referee.match import log
from referee.match.canonical import Json, dumps
from tests.games.hooks import HOOKS, unseen
from tests.games.playing import fresh, one_step, positions, random_outcome

GAMES = sorted(catalogue())
every_game = pytest.mark.parametrize("name", GAMES)


def image(state: State) -> bytes:
    return dumps(state.as_json())


def sampled(state: State, dice: Random, share: float = 0.15) -> Iterator[State]:
    """Return some positions of a random match in which decisions are due."""
    return (now for now in positions(state, dice) if now.pending() and dice.random() < share)


# -- whole matches --


@every_game
def test_random_matches_end_within_their_bounds_with_whole_results(name: str) -> None:
    for state, dice in fresh(name):
        hook, bound = HOOKS[name], state.decision_bound(state.players, state.options)
        chips = hook.chips and hook.chips(state)

        decisions = 0
        for now in positions(state, dice):
            asked, pending = now.chance(), now.pending()
            assert (asked is not None) + bool(pending) + now.over == 1
            assert set(pending) <= set(now.to_act()) <= set(range(now.players))
            assert not now.over or now.to_act() == []
            assert len(now.scores()) == len(now.returns()) == len(now.placements()) == now.players
            assert (hook.chips and hook.chips(now)) == chips
            decisions += bool(pending)
            assert decisions <= bound
            if pending:
                assert sorted(hook.cards(now)) == sorted(hook.whole_deck(now))

        placements = state.placements()
        assert all(type(value) is int for value in [*state.scores(), *state.returns(), *placements])
        assert placements == [1 + sum(other < own for other in placements) for own in placements]
        for _ in range(2):
            with pytest.raises(IllegalAction):
                state.apply(0, {})
            with pytest.raises(IllegalOutcome):
                state.resolve(list(DECK))


@every_game
def test_what_is_handed_out_keeps_its_size_never_changes_and_hides_cards_alone(name: str) -> None:
    for state, dice in fresh(name):
        hook, cards = HOOKS[name], {*HOOKS[name].whole_deck(state)}
        handed_out: list[tuple[Any, bytes]] = []

        while not state.over:
            if dice.random() < 0.5:
                one_step(state, dice)
                continue
            views = [state.observation(seat) for seat in range(state.players)]
            lists = [state.legal(seat) for seat in state.pending()]
            results = [state.scores(), state.returns(), state.placements()]
            told = one_step(state, dice)
            assert all(len(dumps(view)) < hook.observation_bytes for view in views)
            assert all(len(legal) <= state.legal_bound(state.players) for legal in lists)
            assert all(len(dumps(event)) < hook.event_bytes for event in told)
            handed_out += [(value, dumps(value)) for value in (views, lists, results, told)]
            for event, viewer in product(told, (None, *range(state.players))):
                shown = log.visible_events(type(state), [event], viewer, state.options)
                for reading in (state.mask_event(event, viewer), *shown):
                    assert reading is None or differs_by_cards_only(event, reading, cards)

        assert all(dumps(value) == then for value, then in handed_out)


def differs_by_cards_only(full: Any, masked: Any, cards: set[str]) -> bool:
    """Return whether the values differ only in cards that have become unknown."""
    if isinstance(full, dict):
        return full.keys() == masked.keys() and all(
            differs_by_cards_only(full[key], masked[key], cards) for key in full
        )
    if isinstance(full, list):
        return len(full) == len(masked) and all(map(differs_by_cards_only, full, masked, repeat(cards)))
    return bool(full == masked or (masked == UNKNOWN and full in cards))


# -- actions --


@every_game
def test_every_entry_of_a_legal_list_is_accepted(name: str) -> None:
    for state, dice in fresh(name):
        for now in sampled(state, dice):
            for seat in now.pending():
                now.legal(seat).clear()  # whose list it is may do so
                legal = now.legal(seat)
                assert legal
                assert len({dumps(action) for action in legal}) == len(legal)
                assert now.default(seat) in legal
                assert now.forced_action(seat) is None or [now.forced_action(seat)] == legal
                for action in legal:
                    assert now.clone().apply(seat, copy.deepcopy(action)) is not None


@every_game
def test_nothing_else_is_accepted_and_a_refusal_changes_nothing(name: str) -> None:
    for state, dice in fresh(name):
        elsewhere: list[Json] = []  # legal once, in another position

        for now in sampled(state, dice, 0.1):
            before = image(now)
            for seat in now.pending():
                legal = now.legal(seat)
                elsewhere += dice.sample(legal, min(3, len(legal)))
                for junk in [*JUNK, *elsewhere[-30:], *spoilt(dice.choice(legal), dice)]:
                    try:
                        accepted = now.validate_action(seat, junk)
                    except IllegalAction:
                        assert not any(same(junk, action) for action in legal), junk
                        with pytest.raises(IllegalAction):
                            now.apply(seat, junk)
                    else:
                        assert any(same(accepted, action) for action in legal), junk
                        assert same(unordered(junk), unordered(accepted)), junk
            for stranger in {-1, now.players, None, "0", *range(now.players)} - set(now.pending()):
                with pytest.raises(IllegalAction):
                    now.apply(stranger, now.default(now.pending()[0]))
            assert image(now) == before


NAN = float("nan")
JUNK: list[Any] = [None, True, 0, 1.5, NAN, "", "pass", [], {}, [{}], {"type": None}, {"type": []}, {None: 1}, {1, 2}]
WRONG: list[Any] = [None, True, False, 0, -1, 99, 10**30, 1.0, NAN, "", "??", "2c", "pass", (), [], {}, {1}, ["2c"]]


def spoilt(action: Json, dice: Random) -> Iterator[Any]:
    """Return answers that resemble this legal one."""
    yield {**action, "more": 1}
    yield [action]
    yield list(action.items())
    for key, value in action.items():
        yield {other: member for other, member in action.items() if other != key}
        yield {**{other: member for other, member in action.items() if other != key}, key.upper(): value}
        for wrong in [*WRONG, dice.choice(DECK), *near(value, dice)]:
            yield {**action, key: wrong}


def near(value: Any, dice: Random) -> Iterator[Any]:
    match value:
        case int():
            yield from (float(value), str(value), value + 1, value - 1, -value, value == 1)
        case str():
            yield from (value.upper(), value.lower(), value + " ", value[::-1], [value], value.encode())
        case list():
            yield from (value[::-1], tuple(value), value + value, value[:-1], value[:1] * len(value))
            yield from ([*value[:-1], wrong] for wrong in [*WRONG, dice.choice(DECK)])


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal as JSON: True and 1.0 differ from 1."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def unordered(action: Json) -> Json:
    """Return the value with lists of cards sorted, as their order has no meaning."""
    return {key: sorted(value) if isinstance(value, list) else value for key, value in action.items()}


# -- copies --


@every_game
def test_a_clone_and_a_pickle_go_their_own_way(name: str) -> None:
    for state, dice in fresh(name):
        for now in sampled(state, dice, 0.05):
            before, seed = image(now), dice.random()
            twins = [now.clone(), pickle.loads(pickle.dumps(now))]
            assert [image(twin) for twin in twins] == [before, before]
            logs = [played_out(twin, Random(seed)) for twin in twins]
            assert logs[0] == logs[1]
            assert image(now) == before
            untouched = now.clone()
            one_step(now, dice)
            assert image(untouched) == before


def played_out(state: State, dice: Random) -> bytes:
    log: list[Json] = []
    while not state.over:
        log += one_step(state, dice)
    return dumps(log)


# -- seats that choose concurrently --


@every_game
def test_sealed_answers_are_seen_by_nobody_and_their_order_is_irrelevant(name: str) -> None:
    for state, dice in fresh(name):
        for now in sampled(state, dice, 0.3):
            if len(now.pending()) < 2:
                continue
            choices = {seat: dice.choice(now.legal(seat)) for seat in now.pending()}
            ends = set()
            for order in ([*choices], [*choices][::-1], dice.sample([*choices], len(choices))):
                twin = now.clone()
                seen, to_act = public_and_private(twin), twin.to_act()
                for seat in order[:-1]:
                    assert twin.apply(seat, choices[seat]) == []
                    assert public_and_private(twin) == seen
                    assert twin.to_act() == to_act
                    assert seat not in twin.pending()
                events = twin.apply(order[-1], choices[order[-1]])
                ends.add((dumps(events), image(twin)))
            assert len(ends) == 1


def public_and_private(state: State) -> list[bytes]:
    return [dumps(state.observation(seat)) for seat in range(state.players)]


# -- chance --


@every_game
def test_outcomes_that_were_not_asked_for_are_refused(name: str) -> None:
    for state, dice in fresh(name):
        for now in positions(state, dice):
            asked = now.chance()
            if asked is None:
                continue
            before = image(now)
            for outcome in wrong_outcomes(asked, dice):
                with pytest.raises(IllegalOutcome):
                    now.resolve(outcome)
            with pytest.raises(IllegalAction):
                now.apply(0, {})
            assert image(now) == before


def wrong_outcomes(asked: Json, dice: Random) -> Iterator[Any]:
    yield from (None, True, False, -1, 99, 1.0, "", "2c", [], {}, [[]], [{}], {1}, NAN)
    right = random_outcome(asked, dice)
    yield [right]
    if isinstance(right, list):
        other = next(card for card in right if card != right[0])  # of two packs, the next card may be its twin
        yield from (right[:-1], [*right, right[0]], [other, *right[1:]], tuple(right), [None, *right[1:]])
        yield from ([float(right[0]), *right[1:]] if isinstance(right[0], int) else ["??", *right[1:]],)
    elif isinstance(right, int):
        yield from (float(right), str(right))


# -- what is hidden --


@every_game
def test_D3_twin_worlds_look_the_same(name: str) -> None:
    """Require that two worlds which differ only in secrets give the viewer the same bytes."""
    for state, dice in fresh(name, count=8):
        deal, steps, dealing = state.clone(), list[Step](), False
        wanted, found, deals = 0, 0, 0

        while not state.over:
            asked = state.chance()
            dealt, dealing = dealing, asked is not None and asked["kind"] == "deck"
            if dealing and not dealt:
                deal, steps, deals = state.clone(), [], deals + 1
            steps.append(next_step(state, dice))
            take(state, steps[-1])
            if deals and state.pending() and dice.random() < 0.07:
                for viewer in (None, *range(state.players)):
                    wanted += 1
                    found += compared_with_a_twin(deal, steps, viewer, dice)

        # Some deals contradict what was played (a suit not followed) or make other things happen, but never most.
        assert found * 2 >= wanted


Step = tuple[int | None, Any]  # a seat and its action, or None and an outcome


def next_step(state: State, dice: Random) -> Step:
    asked = state.chance()
    if asked is not None:
        return None, random_outcome(asked, dice)
    seat = dice.choice(state.pending())
    return seat, dice.choice(state.legal(seat))


def take(state: State, step: Step) -> list[Json]:
    seat, choice = step
    return state.resolve(choice) if seat is None else state.apply(seat, choice)


def compared_with_a_twin(deal: State, steps: list[Step], viewer: int | None, dice: Random) -> bool:
    """Redeal the hidden cards, play the same moves and compare. Return False if no such deal was found."""
    open_steps = without_sealed(deal, steps)
    one, news = replayed(deal, open_steps)
    secret = [*HOOKS[one.name].secret(one, viewer)]
    for _ in range(12):
        other_steps = [
            (seat, choice if seat is not None else dealt_anew(choice, secret, dice)) for seat, choice in open_steps
        ]
        if other_steps == open_steps:
            continue
        try:
            other, other_news = replayed(deal, other_steps)
        except (IllegalAction, IllegalOutcome):
            continue
        if HOOKS[one.name].story(one) != HOOKS[one.name].story(other):
            continue
        for world in (one, other):
            seal_some(world, viewer, dice)
        assert seen(one, news, viewer) == seen(other, other_news, viewer)
        return True
    return False


def dealt_anew(outcome: Any, secret: list[str], dice: Random) -> Any:
    """Return a deck with some of its secret cards exchanged; other outcomes stay the same."""
    places = unseen(outcome, secret) if isinstance(outcome, list) else []
    moving = dice.sample(places, dice.randint(min(2, len(places)), len(places)))
    moved = dict(zip(moving, dice.sample(moving, len(moving)), strict=True))
    return [outcome[moved.get(place, place)] for place in range(len(outcome))] if moved else outcome


def without_sealed(deal: State, steps: list[Step]) -> list[Step]:
    """Return the steps before the answers that are still sealed."""
    state = deal.clone()
    for step in steps:
        take(state, step)
    return steps[: len(steps) - len(state.sealed)]


def replayed(deal: State, steps: list[Step]) -> tuple[State, list[Json]]:
    state = deal.clone()
    return state, [event for step in steps for event in take(state, step)]


def seal_some(state: State, viewer: int | None, dice: Random) -> None:
    """Let some, but not all, of the other seats make their secret choice."""
    others = [seat for seat in state.pending() if seat != viewer]
    if not state.together or len(state.pending()) < 2:
        return
    for seat in dice.sample(others, dice.randrange(min(len(others) + 1, len(state.pending())))):
        assert state.apply(seat, dice.choice(state.legal(seat))) == []


def seen(state: State, news: list[Json], viewer: int | None) -> bytes:
    """Return all that reaches a viewer: events, observation, legal actions, and the public part of the question."""
    view: Json = {"news": log.visible_events(type(state), news, viewer, state.options), "to_act": state.to_act()}
    view |= {"scores": state.scores(), "placements": state.placements(), "returns": state.returns()}
    # That a move is forced shows in the timing, so it must follow from public facts.
    view["forced"] = [state.forced_action(seat) is not None for seat in state.to_act()]
    if viewer is not None:
        view["observation"] = state.observation(viewer)
        if viewer in state.pending():
            view |= {"legal": state.legal(viewer), "default": state.default(viewer)}
    return dumps(view)


# -- options and seats --


@every_game
def test_options_are_checked_one_by_one(name: str) -> None:
    game = catalogue()[name]
    for spec in game.option_specs:
        wrong: list[Any] = [None, "", [""], {}, 1.5, "yes", [[]], [{}]]
        wrong += [[*spec.choices, spec.choices[0]], "".join(spec.choices)] if spec.kind == "list" else [[]]
        wrong += [0, 1, "true"] if spec.kind == "bool" else [True, False]
        wrong += [spec.low - 1, spec.high + 1, float(spec.low), str(spec.low)] if spec.kind == "int" else []
        for value in wrong:
            with pytest.raises(BadOption) as refused:
                game.start(game.seats[0], {spec.name: value})
            assert refused.value.field == spec.name
    with pytest.raises(BadOption):
        game.start(game.seats[0], {"no_such_option": 1})


@every_game
def test_options_left_out_have_their_defaults_and_only_the_seat_counts_of_the_page_are_seated(name: str) -> None:
    game = catalogue()[name]

    options = game.start(game.seats[0]).options

    assert [*options] == [spec.name for spec in game.option_specs]
    assert game.start(game.seats[0], options).options == options
    for seats in (0, -1, game.seats[0] - 1, game.seats[-1] + 1, True, 2.0, "2", None):
        with pytest.raises(BadOption) as refused:
            game.start(seats)  # type: ignore[arg-type]  # that is the point
        assert refused.value.field == "players"


def test_every_game_has_told_the_battery_about_itself() -> None:
    assert sorted(HOOKS) == GAMES
