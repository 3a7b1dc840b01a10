"""K8: a match that kills its runners ends as stuck, and its neighbours are played."""

from referee.db.leases import LEASE_S
from referee.match.verification import verify
from referee.matches.queue import claims
from referee.matches.queue.claims import CLAIMS_BEFORE_STUCK, LOST_BEFORE_ISOLATED
from tests.end_to_end.bots import Bots
from tests.end_to_end.service import Service


def test_K8_a_match_that_kills_its_horse_each_time_ends_as_stuck_and_harms_no_other(
    service: Service, bots: Bots
) -> None:
    poison = service.arrange()
    neighbours = [service.arrange(game) for game in ("pool-nap", "saint-poker") * 2]
    (service.folder / "poison").write_text(poison)
    service.have_workers(2, "tests.end_to_end.poisoned_worker:main")

    service.until(lambda: _stuck(service, poison), "a stuck match")
    service.until_finished(neighbours)
    service.until(lambda: not any(worker.horse for worker in service.workers), "idle workers")

    died = (service.folder / "deaths").read_text().split()
    match = service.match(poison)
    print(f"{len(died)} horses died; {match.reason}; {len(bots.desk.of(poison))} questions")
    assert len(died) == LOST_BEFORE_ISOLATED + CLAIMS_BEFORE_STUCK
    assert [one.id for one in bots.desk.of(poison)] == list(dict.fromkeys(one.id for one in bots.desk.of(poison)))
    assert len(service.workers) == 2
    with service.database.read() as session:
        left = claims.find_due_work(session)
    assert (left.matches_due, left.isolated) == (False, [])
    assert service.results() == dict.fromkeys(neighbours, 1)
    assert all(verify(service.lines(match_id)).ok for match_id in neighbours)
    assert service.differences() == []


def test_K8_a_match_that_is_given_back_again_and_again_is_not_stuck(service: Service, bots: Bots) -> None:
    for worker in service.workers:
        worker.kill()
    match_id = service.arrange()
    with service.writing_by_hand() as record:
        record.execute(f"UPDATE matches SET lost_claims = {LOST_BEFORE_ISOLATED}")

    for _ in range(2 * CLAIMS_BEFORE_STUCK):  # as when our own network is down, or at one stop after the other
        with service.database.write() as session:
            taken = claims.claim_isolated_matches(session, 1, match_id=match_id)
            assert taken
            claims.release_claims(session, [claimed.claim for claimed in taken])

    assert service.match(match_id).status == "due"


def _stuck(service: Service, match_id: str) -> bool:
    """Looks whether it is so and ages the leases that nobody holds any more, for else it takes minutes."""
    with service.writing_by_hand() as record:  # meanwhile nobody can claim anything
        if not any(worker.horse for worker in service.workers):
            record.execute(f"UPDATE matches SET lease_until = lease_until - {LEASE_S} WHERE status = 'running'")
    return service.match(match_id).status == "stuck"
