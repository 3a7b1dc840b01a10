"""Twin worlds on the wire: the body of a question must not depend on what the bot may not know."""

from itertools import product, takewhile
from random import Random

import pytest

from referee.match.canonical import Json
from referee.match.chance import Chance
from referee.match.match import Answer, Match
from referee.protocol.messages import Questions
from tests.games.hooks import HOOKS, unseen
from tests.match.playing import chance, header, tables
from tests.match.twins import Swapped


def advanced(head: Json, source: Chance, answers: list[Answer]) -> Match:
    match = Match(head, source)
    match.begin()
    for answer in answers:
        match.receive(answer)
    return match


def dealt_now(match: Match) -> dict[int, list[str]]:
    """Return the decks since the last answer, by their number in the match."""
    rows = [row for row in match.log.rows if row["type"] != "chance" or row["chance"]["kind"] == "deck"]
    fresh = [row["outcome"] for row in takewhile(lambda row: row["type"] == "chance", reversed(rows))]
    last = sum(row["type"] == "chance" for row in rows) - 1
    return {last - back: deck for back, deck in enumerate(fresh)}


def question(match: Match, viewer: int) -> bytes | None:
    """Return the body for this seat, if it is asked now."""
    asked = [request for request in match.requests() if request.seat == viewer]
    return Questions(match.header, viewer).encode(asked[0])[1] if asked else None


@pytest.mark.parametrize(("game", "seats"), tables())
def test_D3_a_question_is_the_same_in_worlds_that_differ_in_hidden_cards(game: str, seats: int) -> None:
    # Every answer is the default, which is public knowledge only after it was played: so the worlds are compared
    # at the first questions after each deal, where no card has been played yet.
    head, dice, compared, story = header(game, seats), Random(8), 0, HOOKS[game].story
    match = advanced(head, chance(seats), [])
    answers: list[Answer] = []
    while not match.over and compared < 40:
        requests = match.requests()
        for request, (k, deck) in product(requests, dealt_now(match).items()):
            secret = HOOKS[game].secret(match.state, request.seat)
            one, other = dice.sample(sorted({deck[place] for place in unseen(deck, secret)}), 2)
            twin = advanced(head, Swapped(chance(seats), k, one, other), answers)
            if match.state.as_json() != twin.state.as_json() and story(match.state) == story(twin.state):
                assert question(match, request.seat) == question(twin, request.seat)
                compared += 1
        for request in requests:
            answers.append(Answer(request.seat, request.default_action))
            match.receive(answers[-1])

    assert compared
