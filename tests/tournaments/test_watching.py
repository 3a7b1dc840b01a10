"""Queries of streams and downloads, on both databases: matches in the order in which they ended."""

from referee.tournaments import bulk, watching
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


def test_logs_and_seats_are_read_page_by_page(world: World) -> None:
    event, _ = tournaments.begun(world, 3)
    results = [world.finish(claim) for claim in world.claim(3)]
    tournaments.go_on(world.database, event)

    with world.database.read() as session:
        place = bulk.cursor_after(session, event, results[0].match_id)
        extent = bulk.find_scope(session, event, place)
        named = bulk.list_next_logs(session, event, place, extent.until, extent.ended)
        seats = bulk.load_result_seats(session, bulk.is_in_tournament(event), after=0, until=extent.until)
        packed = bulk.load_gzip_log(session, results[1].match_id)

    assert place == bulk.DownloadCursor(results[0].seq)
    assert (extent.logs, extent.closed, extent.ended) == (2, 0, True)
    assert [one.match_id for one in named] == [result.match_id for result in results[1:]]
    assert [(seat.match_id, seat.bot) for seat in seats] == [
        (result.match_id, bot) for result in results for bot in result.bots
    ]
    assert packed
