"""Play and arrange matches outside tournaments: finished, void, cancelled, stuck, due, interrupted."""

from random import Random

from aiohttp import web
from referee.canonical import Json
from referee.store.play import claims

from tests.store.world import World
from tests.upgrade.fill.accounts import OWNERS
from tests.upgrade.fill.filler import PATIENT, Filler, answer_nonsense

FRIENDLIES = {  # how many rated matches of two
    "saint-poker": 18,
    "pool-nap": 18,
    "prince-albert": 18,
    "prisoners": 2,
    "rummy-royal": 4,
}
CLAIMS_UNTIL_STUCK = 2 + 5  # lost beside other matches, then alone


async def play_ladder_matches(filler: Filler) -> None:
    """Play rated matches of all games, a portion a day."""
    dice = Random(1)
    games = [game for game, count in FRIENDLIES.items() for _ in range(count)]
    dice.shuffle(games)
    for start in range(0, len(games), 12):
        filler.pass_time(days=1)
        for game in games[start : start + 12]:
            filler.match(game, *dice.sample(OWNERS, 2))
        await filler.run()
    for seats in (3, 3, 4):
        filler.match("saint-poker", *dice.sample(OWNERS, seats))
    unrated: Json = {"rated": False, "who": "ada"}
    filler.match("pool-nap", "ada", "bo", **unrated)
    filler.match("saint-poker", "ada", "house", **unrated)
    await filler.run()


async def play_faulty_matches(filler: Filler) -> None:
    """Let a bot commit faults of several kinds in two matches; in the first it is not asked to the end."""
    bot, usual = filler.server.bots["faulty"], filler.server.bots["faulty"].intercept
    not_json, trouble = web.Response(text="no JSON", content_type="application/json"), web.Response(status=500)
    stale = web.json_response({"decision": "another", "action": {}})
    for rival, replies in (("ada", [not_json, trouble]), ("bo", [stale])):

        async def err(name: str, body: Json, replies: list[web.Response] = replies) -> web.Response | None:
            if "decision" not in body:
                return None
            if replies:
                return replies.pop()
            bot.intercept = usual
            return await answer_nonsense(name, body)

        bot.intercept = err
        match_id = filler.match("saint-poker", rival, "faulty", options={"rounds": 2})
        filler.notes.setdefault("matches_with_faults", []).append(match_id)
        await filler.run()


async def void_matches(filler: Filler) -> None:
    """Make two matches void and play one of them again."""
    void, again = (filler.match("saint-poker", "cy", "di") for _ in range(2))
    await filler.run()
    for match_id, replay in ((void, False), (again, True)):
        body = {"reason": "the cards were seen", "replay": replay}
        filler.ask("olga", "POST", f"/matches/{match_id}/void", body)
    await filler.run()


def arrange_interrupted(filler: Filler) -> dict[str, str]:
    """Arrange matches during which the runner is going to be killed."""
    time: Json = {"time": PATIENT}
    rows = filler.match("pool-nap", "ada", "bo", "cy", rated=False, who="ada", options={"rounds": 3}, **time)
    sealed = filler.match("saint-poker", "di", "ed", "fay", options={"rounds": 2}, **time)
    alone = filler.match("prince-albert", "gus", "hal", **time)
    opening = filler.match("saint-poker", "ed", "gus", **time)
    filler.hang_after |= {rows: 4, sealed: 1, alone: 2}
    group_id = filler.ask("olga", "GET", f"/matches/{opening}")["group"]["id"]
    filler.hang_after[group_id] = 0
    return {"rows": rows, "sealed": sealed, "alone": alone, "opening": group_id}


def lose_second_runner(filler: Filler, match_id: str) -> None:
    """Let the match lose another runner, after which it has to be played alone."""
    _pass_seconds(filler, 16)
    assert filler.world.claim(match_id=match_id)
    _pass_seconds(filler, 16)
    with filler.database.read() as session:
        assert claims.sweep(session).alone == [match_id]


def leave_match_stuck(filler: Filler) -> None:
    """Let a match lose its runners until it is stuck."""
    match_id = filler.match("saint-poker", "fay", "hal", time=PATIENT)
    for number in range(CLAIMS_UNTIL_STUCK):
        assert filler.world.claim(match_id=match_id, alone=number >= 2)
        _pass_seconds(filler, 16)
    assert filler.world.claim(match_id=match_id, alone=True) == []
    filler.notes["stuck_match"] = match_id


async def leave_matches_due(filler: Filler) -> None:
    """Leave matches due: not begun, given back after the opening, given back in the middle; cancel one."""
    time: Json = {"time": PATIENT}
    filler.match("rummy-royal", "ada", "cy", **time)
    filler.match("saint-poker", "ada", "house", rated=False, who="ada", **time)
    dealt, middle = filler.match("prisoners", "di", "fay", **time), filler.match("prince-albert", "bo", "hal", **time)
    filler.hang_after[middle] = 2
    await filler.play([dealt, middle], hand_over=True)
    cancelled = filler.match("saint-poker", "ed", "hal")
    filler.ask("olga", "POST", f"/matches/{cancelled}/cancel", {"reason": "not wanted"})


def _pass_seconds(filler: Filler, seconds: float) -> None:
    World(filler.database).pass_seconds(seconds)
