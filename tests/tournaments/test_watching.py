"""Queries of streams and result files, on both databases: matches in the order in which they ended."""

import pytest

from referee.tournaments import result_seats, watching
from tests.database import tournaments
from tests.database.world import World


def test_matches_are_told_in_the_order_of_their_ends_from_any_number(world: World) -> None:
    event, _ = tournaments.begun(world, 3)
    results = [world.finish(claim) for claim in world.claim(2)]
    other = world.play(world.bots(2))
    results += [world.finish(claim) for claim in world.claim(3)]
    seqs = [result.seq for result in results]

    with world.database.read() as session:
        newest = watching.last_seq(session)
        told = watching.list_ended(session, [event], after=0, until=newest)
        later = watching.list_ended(session, [event], after=seqs[0], until=newest)
        first = watching.list_ended(session, [event], after=0, until=newest, limit=1)
        states = watching.load_states(session, [event])

    assert [one.seq for one in told] == seqs
    assert [(one.match_id, one.entrants, one.returns) for one in told] == [
        (result.match_id, result.bots, result.returns) for result in results
    ]
    assert [one.seq for one in later] == seqs[1:]
    assert [one.seq for one in first] == seqs[:1]
    assert newest == max(*seqs, other.seq)
    assert states == {event: ("running", None)}


def test_seats_are_read_page_by_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_seats, "PAGE_SIZE", 2)
    event, _ = tournaments.begun(world, 3)
    results = [world.finish(claim) for claim in world.claim(3)]
    which = result_seats.is_in_tournament(event)

    with world.database.read() as session:
        first = result_seats.load_result_seats(session, which, after=0, until=results[2].seq)
        rest = result_seats.load_result_seats(session, which, after=results[1].seq, until=results[2].seq)

    assert [(seat["match"], seat["bot"]) for seat in first + rest] == [
        (result.match_id, bot) for result in results for bot in result.bots
    ]
    assert len(rest) == 2
