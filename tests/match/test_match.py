"""The coordinator: questions, answers, faults, clocks, forced moves, resuming."""

from collections import Counter
from random import Random

import pytest

from referee.errors import BadLog
from referee.match.match import Answer, Match, Request, answers_of
from referee.match.time_limits import Limits
from tests.match.playing import at_random, chance, header, played, tables

ONE_ROUND = {"rounds": 1}


def begun(seats: int = 2, limits: Limits | None = None) -> Match:
    match = Match(header("saint-poker", seats, ONE_ROUND, limits), chance(seats))
    match.begin()
    return match


def first_choice(request: Request) -> Answer:
    return Answer(request.seat, request.legal_actions[0])


@pytest.mark.parametrize(("game", "seats"), tables())
def test_questions_are_counted_by_seat_and_only_those_that_were_asked(game: str, seats: int) -> None:
    asked: list[tuple[int, int]] = []
    at_once: list[int] = []
    choose = at_random(Random(9))

    def answered(request: Request) -> Answer:
        asked.append((request.seat, request.question))
        at_once.append(request.n)
        return choose(request)

    rows = played(header(game, seats), answered).log.rows

    for seat in range(seats):
        numbers = [question for place, question in asked if place == seat]
        assert numbers == list(range(len(numbers)))  # neither others nor forced moves count
        told = [n for n, (place, _) in zip(at_once, asked, strict=True) if place == seat]
        assert [row["n"] for row in answers_of(rows, seat)] == told


@pytest.mark.parametrize(("game", "seats"), tables())
def test_D5_the_order_of_arrival_leaves_no_trace(game: str, seats: int) -> None:
    rising, falling = (Match(header(game, seats), chance(seats)) for _ in range(2))
    for match, backwards in ((rising, False), (falling, True)):
        match.begin()
        dice = Random(5)
        while not match.over:
            asked = match.requests()
            answers = [Answer(request.seat, dice.choice(request.legal_actions)) for request in asked]
            for answer in reversed(answers) if backwards else answers:
                match.receive(answer)

    assert rising.lines == falling.lines


def test_D5_a_sealed_answer_changes_no_other_seats_question() -> None:
    match = begun(3)
    before = match.requests()

    match.receive(Answer(1, choice=0))
    waiting = match.requests()
    for request in waiting:
        match.receive(first_choice(request))

    assert waiting == [before[0], before[2]]
    assert {request.question for request in match.requests()} == {1}


def test_news_are_the_events_since_the_last_question_to_that_seat() -> None:
    match = begun()
    told = match.requests()[0].new_events
    for request in match.requests():
        match.receive(first_choice(request))

    news = match.requests()[0].new_events

    assert [event["event"] for event in told] == ["match_start", "deal", "river_setup"]
    assert [event["event"] for event in news] == ["river"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(0, {"type": "river", "card": "??"}),
        Answer(0, {"type": "fold"}),
        Answer(0, choice=99),
        Answer(0, choice=-1),
        Answer(0, None),
    ],
)
def test_C6_an_illegal_answer_plays_the_default_and_is_noted(answer: Answer) -> None:
    match = begun()
    default = match.requests()[0].default_action
    match.receive(Answer(1, choice=0))

    rows = match.receive(answer)

    assert rows[0]["action"] == default
    assert rows[0]["source"] == "default"
    assert rows[0]["fault"] == "illegal_action"
    assert match.faults == [1, 0]


def test_trouble_plays_the_default_and_its_time_counts() -> None:
    match = begun(limits=Limits(budget_ms=100, bank_ms=500))
    match.receive(Answer(1, choice=0))

    row = match.receive(Answer(0, trouble="deadline", ms=400))[0]

    assert (row["fault"], row["ms"]) == ("deadline", 400)
    # 400 ms are 300 over the budget of 100: 200 of the bank are left.
    assert match.requests()[0].time == {"budget_ms": 100, "bank_ms": 200, "last_ms": 400}
    assert match.requests()[0].deadline_ms == 300


def test_B18_C11_three_faults_in_a_row_retire_a_seat_for_the_match() -> None:
    match = Match(header("saint-poker", 2), chance())
    match.begin()
    numbers: dict[int, list[int]] = {0: [], 1: []}
    while not match.over:
        for request in match.requests():
            numbers[request.seat].append(request.question)
            broken = request.seat == 0
            match.receive(Answer(request.seat, trouble="unreachable") if broken else first_choice(request))

    unasked = [row for row in match.log.rows if row.get("retired")]
    decided = Counter(row["seat"] for row in match.log.rows if row["type"] == "decision")
    assert numbers[0] == [0, 1, 2]
    assert numbers[1] == list(range(decided[1] - 1))  # the last select is forced
    assert match.faults == [3, 0]
    assert all(row["source"] == "default" and "fault" not in row for row in unasked)


def test_B18_faults_that_are_not_in_a_row_retire_a_seat_at_the_tenth() -> None:
    match = Match(header("saint-poker", 2), chance())
    match.begin()
    turns = 0
    while not match.over:
        for request in match.requests():
            if request.seat == 0:
                turns += 1
            broken = request.seat == 0 and turns % 2 == 0
            match.receive(Answer(request.seat, trouble="bad_json") if broken else first_choice(request))

    assert match.faults == [10, 0]
    assert turns == 20


def test_D4_what_everybody_sees_is_forced_is_played_without_asking() -> None:
    match = played(header("saint-poker", 2), first_choice)

    forced = [row for row in match.log.rows if row.get("source") == "forced"]

    # Round 8 ends with two cards in every hand to select: one point of two seats.
    assert [(row["seat"], row["action"]["type"]) for row in forced] == [(0, "select"), (1, "select")]


@pytest.mark.parametrize(("game", "seats"), tables())
def test_D12_a_match_resumed_anywhere_asks_the_same_and_ends_the_same(game: str, seats: int) -> None:
    whole = played(header(game, seats), at_random(Random(3)))
    lines: list[bytes] = []
    dice = Random(3)
    choose = at_random(dice)
    match = Match(header(game, seats), chance(seats))
    match.begin()
    questions = 0
    while not match.over:
        requests = match.requests()
        questions += 1
        if questions % 7 == 0 or questions < 4:
            match = Match.resume(header(game, seats), chance(seats), lines)
            assert match.requests() == requests
        sealed: list[Answer] = []
        for number, request in enumerate(requests):
            if questions % 5 == 0 and number == 1:
                match = Match.resume(header(game, seats), chance(seats), lines, sealed)
                assert match.requests() == requests[1:]
            answer = choose(request)
            sealed.append(answer)
            match.receive(answer)
        lines = list(match.lines)

    assert match.lines == whole.lines


def test_K25_a_record_that_the_rules_contradict_is_not_resumed() -> None:
    whole = played(header("saint-poker", 2, ONE_ROUND), first_choice)
    lines = list(whole.lines)
    lines[2] = lines[2].replace(b'"ms":0', b'"ms":1')

    with pytest.raises(BadLog, match="prev"):
        Match.resume(header("saint-poker", 2, ONE_ROUND), chance(), lines)


def test_a_record_longer_than_the_match_is_not_resumed() -> None:
    whole = played(header("saint-poker", 2, ONE_ROUND), first_choice)

    with pytest.raises(BadLog):
        Match.resume(header("saint-poker", 2, ONE_ROUND), chance(), [*whole.lines, whole.lines[-1]])
