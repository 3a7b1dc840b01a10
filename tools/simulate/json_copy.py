"""Copy a tournament by way of JSON, as a database stores it: nothing else may influence the decisions of a format."""

import json
from dataclasses import asdict

from referee.pairing import Bye, Entrant, Leg, PairingInput, PairingRound, PlayedRound, Table


def copy_through_json(tournament: PairingInput) -> PairingInput:
    """Return an equal tournament that is parsed from JSON and shares no object with the given one."""
    plain = {"options": dict(tournament.options), "draw_key": tournament.draw_key.hex()}
    stored = json.loads(json.dumps(asdict(tournament) | plain))
    return PairingInput(
        seats=stored["seats"],
        options=stored["options"],
        cycles=stored["cycles"],
        entrants=tuple(Entrant(**entrant) for entrant in stored["entrants"]),
        played=tuple(
            PlayedRound(
                round=PairingRound(
                    tables=tuple(
                        Table(tuple(table["entrants"]), table["label"], table["legs"])
                        for table in played["round"]["tables"]
                    ),
                    byes=tuple(Bye(**bye) for bye in played["round"]["byes"]),
                    label=played["round"]["label"],
                ),
                legs=tuple(
                    tuple(Leg(tuple(leg["entrants"]), tuple(leg["placements"]), tuple(leg["returns"])) for leg in legs)
                    for legs in played["legs"]
                ),
            )
            for played in stored["played"]
        ),
        draw_key=bytes.fromhex(stored["draw_key"]),
        min_seats=stored["min_seats"],
    )
