"""The terms of a tournament as text."""

from referee.cli.service.formatting import clock, terms
from referee.tournaments.terms import TERMS

DEFAULTS = {name: term.default for name, term in TERMS.items()}
GAME = {"game": "pool-nap", "seats": 4, "min_seats": 3, "table_sizes": [4, 3], "options": {"best_of": 3}}
FORMAT = {"format": "swiss", "format_options": {"rounds": 3}, "deal_sharing": "duplicate", "requires_code": True}
MORE = {"time": {"budget_ms": 1500, "bank_ms": 0}, "prizes": "A mug", "contact": "Ada", "has_guests": True}
TIMES = {"next_round_at": "2090-05-02T18:00:00Z", "started_at": "2090-05-01T18:00:00Z", "finished_at": None}


def test_terms_have_their_labels_and_those_without_a_value_are_left_out() -> None:
    assert terms(DEFAULTS | GAME | FORMAT | MORE | TIMES | {"status_reason": "It rained."}) == [
        ("game", "pool-nap, 4 seats per table, best_of=3"),
        *(("format", "Swiss, 3 rounds"), ("tables", "4 and 3 seats"), ("time", "1.5 s per decision")),
        *(("rated", "yes"), ("deal sharing", "duplicate"), ("orders", "cyclic"), ("listed", "yes")),
        *(("substitute", "none"), ("anonymous", "yes"), ("join code", "required")),
        *(("prizes", "A mug"), ("contact", "Ada"), ("entered by", "guests")),
        *(("next round", clock("2090-05-02T18:00:00Z")), ("started", clock("2090-05-01T18:00:00Z"))),
        ("reason", "It rained."),
    ]
