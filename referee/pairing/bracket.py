"""Derive the ranks of a knockout's entrants, and render its bracket as plain JSON."""

from referee.pairing.bracket_state import FINAL, THIRD_PLACE, BracketOutcome, BracketState, Score, main_entrants
from referee.pairing.model import Json, PairingInput, PairingRound


def rank_entrants(tournament: PairingInput) -> list[tuple[int, str]]:
    """Return (rank, entrant) for all entrants who took part, best first and, at equal ranks, in order of seeds.

    Entrants eliminated in the same round share a rank (1 + the number of entrants who got further), unless the match
    for third place or the points of a final of more than two separate them. Entrants not yet eliminated share rank 1.
    Before the end of the first round, these are all starters.
    """
    state = BracketState(tournament)
    if not state.outcomes:
        return [(1, entrant) for entrant in state.field if entrant is not None]
    merit = _merit(state)
    order = sorted(state.seeds, key=lambda entrant: (*(-level for level in merit[entrant]), state.seeds[entrant]))
    ranks: list[tuple[int, str]] = []
    for position, entrant in enumerate(order, 1):
        tied = bool(ranks) and merit[ranks[-1][1]] == merit[entrant]
        ranks.append((ranks[-1][0] if tied else position, entrant))
    return ranks


Merit = tuple[int, int, int, int]  # the last round reached (+ 1 for the winner of the final), then ``_merit_in_final``


def _merit(state: BracketState) -> dict[str, Merit]:
    reached = dict.fromkeys(state.seeds, 0)
    for level, outcome in enumerate(state.outcomes):
        reached.update((entrant, level) for entrant in main_entrants(outcome.played.round, state.tournament.seats))
        reached.update((entrant, level) for entrant in outcome.field if entrant is not None)
        reached.update((entrant, level + 1) for entrant in outcome.advanced if entrant is not None)
    in_final = dict.fromkeys(state.seeds, (0, 0, 0))
    last = state.outcomes[-1]
    if last.is_final:
        in_final.update(_merit_in_final(state, last))
    return {entrant: (reached[entrant], *in_final[entrant]) for entrant in state.seeds}


def _merit_in_final(state: BracketState, final: BracketOutcome) -> dict[str, tuple[int, int, int]]:
    """Return sort keys for entrants who reached the same round, with higher keys for better entrants.

    In a final of more than two, participants rank first, by points. At tables of two, the winner of the match for third
    place, or the only entrant present for it, ranks first.
    """
    pairing_round = final.played.round
    if state.tournament.seats > 2:
        scores = _scores(state, final)
        return {entrant: (1, *scores[entrant]) for table in pairing_round.tables for entrant in table.entrants}
    third = [
        ranked for table, ranked in zip(pairing_round.tables, final.ranked, strict=True) if table.label == THIRD_PLACE
    ]
    alone = [bye.entrant for bye in pairing_round.byes if bye.entrant not in main_entrants(pairing_round, 2)]
    return {table[0]: (1, 0, 0) for table in (*third, alone) if table}


def _scores(state: BracketState, outcome: BracketOutcome) -> dict[str, tuple[int, int]]:
    scores: dict[str, tuple[int, int]] = {}
    for table, legs in zip(outcome.played.round.tables, outcome.played.legs, strict=True):
        score = Score(legs, table.entrants, state.tournament.options)
        scores.update((entrant, score.points_of(entrant)) for entrant in table.entrants)
    return scores


def render_bracket(tournament: PairingInput, running: PairingRound | None = None) -> Json:
    """Return the bracket: the played ``rounds``, the ``running`` round if there is one, and the rounds ``to_come``.

    ``to_come`` has the label and the number of tables of each. A round has ``number``, ``label``, ``tables`` and
    ``byes``. A table has ``table`` (its number, from 1), ``label``, ``legs`` and ``entrants``, best first. An entrant
    has ``entrant``, ``seed``, ``points`` (opponents placed behind in all legs, a tie counting a half), ``advanced``
    (null while the table is played; in the final, true for the winner) and ``from``, its previous round and table (null
    for a bye), or null in the first round.
    """
    state = BracketState(tournament)
    rounds = [_render_round(state, number, outcome) for number, outcome in enumerate(state.outcomes, 1)]
    left = state.rounds_to_come(len(state.field))
    if state.is_over:
        left = []
    if running is not None and left:
        rounds.append(_render_running_round(state, running))
        left = left[1:]
    to_come = [{"label": state.label(field), "tables": len(cut.advancing)} for field, cut in left]
    return {"rounds": rounds, "to_come": to_come}


def _render_round(state: BracketState, number: int, outcome: BracketOutcome) -> Json:
    pairing_round, scores, advanced = outcome.played.round, _scores(state, outcome), {*outcome.advanced}
    tables = [
        {
            "table": table,
            "label": pairing_round.tables[table - 1].label,
            "legs": len(outcome.played.legs[table - 1]),
            "entrants": [
                {
                    **_render_entrant(state, number, entrant),
                    "points": sum(scores[entrant]) / 2,
                    "advanced": entrant == ranked[0] if pairing_round.label == FINAL else entrant in advanced,
                }
                for entrant in ranked
            ],
        }
        for table, ranked in enumerate(outcome.ranked, 1)
    ]
    return _render(state, number, pairing_round, tables)


def _render_running_round(state: BracketState, pairing_round: PairingRound) -> Json:
    number = len(state.outcomes) + 1
    tables: list[Json] = []
    for position, table in enumerate(pairing_round.tables, 1):
        ranked = tuple(sorted(table.entrants, key=lambda entrant: state.seeds.get(entrant, 0)))
        entrants = [{**_render_entrant(state, number, entrant), "points": None, "advanced": None} for entrant in ranked]
        tables.append({"table": position, "label": table.label, "legs": table.legs, "entrants": entrants})
    return _render(state, number, pairing_round, tables)


def _render(state: BracketState, number: int, pairing_round: PairingRound, tables: list[Json]) -> Json:
    byes = [{**_render_entrant(state, number, bye.entrant), "reason": bye.reason} for bye in pairing_round.byes]
    return {"number": number, "label": pairing_round.label, "tables": tables, "byes": byes}


def _render_entrant(state: BracketState, number: int, entrant: str) -> Json:
    return {"entrant": entrant, "seed": state.seeds.get(entrant), "from": _origin(state, number - 1, entrant)}


def _origin(state: BracketState, number: int, entrant: str) -> Json | None:
    """Return the last of the first ``number`` rounds in which the entrant played, and its table there, or None."""
    for earlier in range(number, 0, -1):
        tables = state.outcomes[earlier - 1].tables
        if entrant in tables:
            return {"tournament_round": earlier, "table": tables[entrant]}
    return None
