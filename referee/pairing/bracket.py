"""A knockout to look at: the places of its entrants, and its bracket as plain JSON."""

from referee.pairing.bracket_state import (
    FINAL,
    THIRD_PLACE,
    BracketOutcome,
    Course,
    Score,
    label,
    main_entrants,
    stages_to_come,
)
from referee.pairing.model import Json, PairingRound, TournamentState


def places(event: TournamentState) -> list[tuple[int, str]]:
    """(place, entrant) of everybody who took part, best first, equal places by seed.

    Who lost in the same stage shares a place (1 + number of those who got further); the match for the third place
    resolves it, and so does a final of more than two by its points. Whoever is still in shares place 1. Before the
    first stage is over all who would take part do.
    """
    course = Course(event)
    if not course.outcomes:
        return [(1, one) for one in course.field if one is not None]
    merit = _merit(course)
    order = sorted(course.seeds, key=lambda one: (*(-level for level in merit[one]), course.seeds[one]))
    table: list[tuple[int, str]] = []
    for at, one in enumerate(order, 1):
        same = bool(table) and merit[table[-1][1]] == merit[one]
        table.append((table[-1][0] if same else at, one))
    return table


Merit = tuple[int, int, int, int]  # more is better: the last stage entered (a final won counts one more), _inner


def _merit(course: Course) -> dict[str, Merit]:
    reached = dict.fromkeys(course.seeds, 0)
    for level, outcome in enumerate(course.outcomes):
        reached.update((one, level) for one in main_entrants(outcome.played.stage, course.event.seats))
        reached.update((one, level) for one in outcome.field if one is not None)
        reached.update((one, level + 1) for one in outcome.on if one is not None)
    inner = dict.fromkeys(course.seeds, (0, 0, 0))
    last = course.outcomes[-1]
    if last.is_final:
        inner.update(_inner(course, last))
    return {one: (reached[one], *inner[one]) for one in course.seeds}


def _inner(course: Course, final: BracketOutcome) -> dict[str, tuple[int, int, int]]:
    """Within the final of more than two: there at all, then the points. Of the losers of the semi-final: who won
    the match for the third place, or was the only one there to play it."""
    stage = final.played.stage
    if course.event.seats > 2:
        scores = _scores(course, final)
        return {one: (1, *scores[one]) for table in stage.tables for one in table.entrants}
    third = [table for at, table in enumerate(final.ranked) if stage.tables[at].label == THIRD_PLACE]
    alone = [bye.entrant for bye in stage.byes if bye.entrant not in main_entrants(stage, 2)]
    return {table[0]: (1, 0, 0) for table in (*third, alone) if table}


def _scores(course: Course, outcome: BracketOutcome) -> dict[str, tuple[int, int]]:
    scores: dict[str, tuple[int, int]] = {}
    for table, legs in zip(outcome.played.stage.tables, outcome.played.legs, strict=True):
        score = Score(legs, table.entrants, course.event.options)
        scores.update((one, score.points_of(one)) for one in table.entrants)
    return scores


def bracket(event: TournamentState, running: PairingRound | None = None) -> Json:
    """The picture's data: ``stages`` played, and ``running`` if given, then those ``to_come`` (label, tables).

    A stage has ``number``, ``label``, ``tables`` and ``byes``. A table has ``table`` (from 1), ``label`` and its
    ``entrants``, best first, each with ``entrant``, ``seed``, ``points`` (opponents left behind over all its legs, a
    tie a half), ``advanced`` (null while it is played; of the final: who won) and ``from``: the stage and table (null:
    a bye) it came from, null in the first stage.
    """
    course = Course(event)
    stages = [_render_round(course, number, outcome) for number, outcome in enumerate(course.outcomes, 1)]
    left = stages_to_come(max(len(course.field), event.seats), event.seats, event.options["advance"])
    if course.is_over:
        left = []
    if running is not None and left:
        stages.append(_running(course, running))
        left = left[1:]
    to_come = [
        {"label": label(field, event.seats, event.options["advance"]), "tables": len(cut.onward)} for field, cut in left
    ]
    return {"stages": stages, "to_come": to_come}


def _render_round(course: Course, number: int, outcome: BracketOutcome) -> Json:
    stage, scores, on = outcome.played.stage, _scores(course, outcome), {*outcome.on}
    tables = [
        {
            "table": at,
            "label": stage.tables[at - 1].label,
            "legs": len(outcome.played.legs[at - 1]),
            "entrants": [
                {
                    **_entrant(course, number, one),
                    "points": sum(scores[one]) / 2,
                    "advanced": one == ranked[0] if stage.label == FINAL else one in on,
                }
                for one in ranked
            ],
        }
        for at, ranked in enumerate(outcome.ranked, 1)
    ]
    return _stage(course, number, stage, tables)


def _running(course: Course, stage: PairingRound) -> Json:
    number = len(course.outcomes) + 1
    tables: list[Json] = []
    for at, table in enumerate(stage.tables, 1):
        ranked = tuple(sorted(table.entrants, key=lambda one: course.seeds.get(one, 0)))
        entrants = [{**_entrant(course, number, one), "points": None, "advanced": None} for one in ranked]
        tables.append({"table": at, "label": table.label, "legs": table.legs, "entrants": entrants})
    return _stage(course, number, stage, tables)


def _stage(course: Course, number: int, stage: PairingRound, tables: list[Json]) -> Json:
    byes = [{**_entrant(course, number, bye.entrant), "reason": bye.reason} for bye in stage.byes]
    return {"number": number, "label": stage.label, "tables": tables, "byes": byes}


def _entrant(course: Course, number: int, one: str) -> Json:
    return {"entrant": one, "seed": course.seeds.get(one), "from": _origin(course, number - 1, one)}


def _origin(course: Course, number: int, one: str) -> Json | None:
    """The newest of the first ``number`` stages in which ``one`` was, and its table there."""
    for earlier in range(number, 0, -1):
        there = course.outcomes[earlier - 1].tables
        if one in there:
            return {"stage": earlier, "table": there[one]}
    return None
