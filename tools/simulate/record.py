"""An event as JSON and back, as a record keeps it: what a format decides may depend on nothing else."""

import json
from dataclasses import asdict

from referee.pairing import Bye, Entrant, Leg, PairingInput, PairingRound, PlayedRound, Table


def rebuilt(event: PairingInput) -> PairingInput:
    """The same event made of fresh objects, by way of text."""
    kept = json.loads(json.dumps({**asdict(event), "options": dict(event.options), "draw_key": event.draw_key.hex()}))
    return PairingInput(
        seats=kept["seats"],
        options=kept["options"],
        cycles=kept["cycles"],
        entrants=tuple(Entrant(**one) for one in kept["entrants"]),
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
            for played in kept["played"]
        ),
        draw_key=bytes.fromhex(kept["draw_key"]),
    )
