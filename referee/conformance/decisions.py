"""Ask the bot questions about each game: first one match from its beginning, then positions with extreme options."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

from referee.conformance.context import CheckContext
from referee.conformance.positions import (
    MatchTerms,
    ProbeQuestion,
    build_question,
    collect_questions,
    scenarios,
    start_match,
)
from referee.games.state import State
from referee.house.players import find_player
from referee.house.seat import answer_of
from referee.match.match import FAULTS_IN_A_MATCH, FAULTS_IN_A_ROW, Answer
from referee.protocol import messages

MAX_SCENARIOS = 12  # over which the questions of a game are spread
MAX_FRUITLESS = 5  # scenarios in a row without a new question, after which the search ends
MIN_QUESTIONS = 3  # questions of each kind that occurs, and of each game, even to a slow bot
WALK_LENGTH = 30  # largest number of questions from the match that is played from its beginning


async def ask_all(check: CheckContext, games: Sequence[type[State]]) -> None:
    """Ask about every game, with an equal share of the planned questions and of their time."""
    for rules in games:
        await _Game(check, rules, len(games)).ask()


class _Game:
    """Ask the questions of one game. Stop after too many faults, as in a match, or when the time is up."""

    def __init__(self, check: CheckContext, rules: type[State], games: int) -> None:
        self._exam = check
        self._rules = rules
        self._share = max(1, check.planned // games)
        self._asked: Counter[str] = Counter()  # by kind
        self._games = games
        self._begin_s = asyncio.get_running_loop().time()
        self._faults = self._faults_running = 0
        self._seats: set[int] = set()
        self._values: dict[str, dict[str, Any]] = {
            spec.name: {} for spec in rules.option_specs
        }  # by option: the values asked about, by their text

    async def ask(self) -> None:
        try:
            await self._walk(min(WALK_LENGTH, max(2, self._share // 3)))
            await self._sample_all()
        finally:
            self._record_coverage()

    async def _sample_all(self) -> None:
        drawn = scenarios(self._rules, self._exam.dice)
        fruitless = 0
        for number, scenario in enumerate(islice(drawn, self._exam.pace.scenarios)):
            before = self._asked.total()
            left = max(0, self._share - before)
            share = -(-left // (MAX_SCENARIOS - number)) if number < MAX_SCENARIOS else left
            await self._sample(scenario, share)
            fruitless = fruitless + 1 if self._asked.total() == before else 0
            if self._is_over or fruitless == MAX_FRUITLESS:
                return

    async def _walk(self, longest: int) -> None:
        """Play a match with default options. The bot's answers are played, as in a real match."""
        check, dice = self._exam, self._exam.dice
        scenario = next(scenarios(self._rules, dice))
        match, writers = start_match(scenario, check.pace.limits, dice)
        other, own = find_player("random")(dice), dice.randrange(scenario.seats)
        while not match.over and self._asked.total() < longest and not self._is_over:
            for request in match.requests():
                if request.seat != own:
                    match.receive(answer_of(other, scenario.rules.name, request))
                    continue
                asked = build_question(scenario, match, request, writers[own])
                decision = await self._ask_question(asked)
                match.receive(Answer(own, decision.action, decision.choice, trouble=decision.fault))

    async def _sample(self, scenario: MatchTerms, share: int) -> None:
        """Ask about positions of a scenario, starting with the kinds asked least often. Beyond ``share`` questions, ask
        only about kinds with fewer than ``MIN_QUESTIONS`` questions."""
        check = self._exam
        # Play the match in a thread, so that it does not delay other calls of this process.
        found = await asyncio.to_thread(collect_questions, scenario, check.pace.limits, check.dice)
        check.dice.shuffle(found)
        for _ in range(len(found)):
            found.sort(key=lambda one: self._asked[one.kind])
            seldom = self._asked[found[0].kind] < MIN_QUESTIONS
            if self._is_over or (share <= 0 and not seldom):
                return
            share -= 1
            # Each question gets a different match id, because in one match these questions would be out of order.
            await self._ask_question(found.pop(0).with_match_id(check.new_match_id()))

    async def _ask_question(self, asked: ProbeQuestion) -> messages.Decision:
        check = self._exam
        check.report_progress(self._rules.name)
        decision = await check.apply_rule("decision", asked)
        check.asked += 1
        self._asked[asked.kind] += 1
        self._seats.add(asked.scenario.seats)
        for name, values in self._values.items():
            value = asked.scenario.options[name]
            values[repr(value)] = value
        self._faults_running = self._faults_running + 1 if decision.fault else 0
        self._faults += bool(decision.fault)
        if not decision.fault:
            check.answered.append(asked)
        return decision

    @property
    def _is_over(self) -> bool:
        took_s = asyncio.get_running_loop().time() - self._begin_s
        is_late = took_s > self._exam.question_time_s / self._games and self._asked.total() >= MIN_QUESTIONS
        return is_late or self._is_given_up

    @property
    def _is_given_up(self) -> bool:
        return self._faults_running >= FAULTS_IN_A_ROW or self._faults >= FAULTS_IN_A_MATCH

    def _record_coverage(self) -> None:
        """Add this game to the coverage in the report."""
        self._exam.coverage[self._rules.name] = {
            "rules_version": self._rules.rules_version,
            "questions": self._asked.total(),
            "given_up": self._is_given_up,
            "kinds": dict(sorted(self._asked.items())),
            "seats": sorted(self._seats),
            "options": {name: list(values.values()) for name, values in self._values.items()},
        }
