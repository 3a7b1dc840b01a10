"""E21, B16: real processes in which ten hostile accounts keep a runner busy beside the match of an organiser."""

import time

from referee.bots.bots import get_bot
from referee.match.time_limits import Limits
from tests.end_to_end.bots import Bots
from tests.end_to_end.service import SHORT, Service

SLOTS = 8


def test_E21_tarpits_of_ten_accounts_do_not_hold_up_the_match_of_an_organiser(service: Service) -> None:
    with Bots(holds=[0]) as tarpits, Bots() as bots:
        hostile = [service.enlist(tarpits.serve("first")) for _ in range(10)]
        fair = [service.enlist(bots.serve("first")) for _ in range(2)]
        friendlies = []
        for bot_id in hostile:
            friendly = {"rated": False, "created_by": owner_of(service, bot_id), "limits": Limits(60_000, 60_000)}
            friendlies += [service.arrange("saint-poker", [bot_id, fair[0]], **friendly) for _ in range(10)]
        service.redis()
        service.scheduler()
        service.worker(REFEREE_RUNNER_SLOTS=str(SLOTS))
        service.until(lambda: len(tarpits.desk.held) == SLOTS // 2, "friendlies in half of the slots")

        began = time.monotonic()
        rated = [service.arrange("saint-poker", fair, options=SHORT) for _ in range(4)]
        service.until_finished(rated)

        print(f"four matches beside {SLOTS // 2} tarpits took {time.monotonic() - began:.1f} s")
        assert len(tarpits.desk.held) == SLOTS // 2
        assert sum(service.match(match_id).status == "running" for match_id in friendlies) == SLOTS // 2
        tarpits.release(*tarpits.desk.held)


def test_B16_tarpits_of_ten_organisers_do_not_hold_up_the_match_of_another(service: Service) -> None:
    slots = 24
    with Bots(holds=[0]) as tarpits, Bots() as bots:
        hostile = [service.enlist(tarpits.serve("first")) for _ in range(10)]
        fair = [service.enlist(bots.serve("first")) for _ in range(2)]
        held = []
        for bot_id, other_id in zip(hostile, [*hostile[1:], hostile[0]], strict=True):
            owned = {"created_by": owner_of(service, bot_id), "limits": Limits(60_000, 60_000)}
            held += [service.arrange("saint-poker", [bot_id, other_id], **owned) for _ in range(4)]
        service.redis()
        service.scheduler()
        service.worker(REFEREE_RUNNER_SLOTS=str(slots))
        service.until(
            lambda: count_running(service, held) == slots - slots // 4, "tarpits in three quarters of the slots"
        )

        rated = [
            service.arrange("saint-poker", fair, options=SHORT, created_by=owner_of(service, bot_id)) for bot_id in fair
        ]
        service.until_finished(rated)

        assert count_running(service, held) == slots - slots // 4
        tarpits.release(*tarpits.desk.held)


def count_running(service: Service, match_ids: list[str]) -> int:
    return sum(service.match(match_id).status == "running" for match_id in match_ids)


def owner_of(service: Service, bot_id: str) -> str:
    with service.database.read() as session:
        return get_bot(session, bot_id).owner_id
