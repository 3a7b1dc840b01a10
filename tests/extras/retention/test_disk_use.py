"""What operators see of the use of the disk and of pruning, and that nobody else does."""

from datetime import timedelta

from referee.db.engine import current_time
from referee_extras.retention import disk_use
from referee_extras.retention.rules import Kind
from referee_extras.retention.tables import DiskUse
from tests.api.conftest import Person, Service
from tests.extras.retention.pruning import prune


def test_before_the_first_night_only_the_rules_are_known(service: Service, admin: Person) -> None:
    use = admin.get("/disk-use").get_json()

    assert (use["measured_at"], use["days_left"], use["parts"], use["pruned_at"]) == (None, None, [], None)
    rules = {rule["kind"]: rule["rule"] for rule in use["rules"]}
    assert rules["logs"] == "forever"
    assert rules["ladder_logs"] == "90 days"
    assert rules["deliveries"] == "30 days"
    assert rules.keys() == {*Kind, "notifications", "deliveries"}  # those of notifications are the extra's


def test_the_last_measurement_its_growth_and_the_last_pruning_are_shown(service: Service, admin: Person) -> None:
    with service.database.write() as session:
        now = current_time(session)
        for age, used in ((2, 100), (0, 500)):
            moment = now - timedelta(days=age)
            parts = {"logs": {"rows": 3, "bytes": used}, "queue": {"rows": None, "bytes": used * 2}}
            measured = DiskUse(day=moment.date(), measured_at=moment, database_bytes=used, free_bytes=6000, parts=parts)
            disk_use.store(session, measured)
    prune(service, Kind.TOKENS, days=1)

    use = admin.get("/disk-use").get_json()

    assert (use["database_bytes"], use["free_bytes"]) == (500, 6000)
    assert (use["growth_bytes_per_day"], use["days_left"]) == (600, 10)
    assert use["parts"] == [{"part": "queue", "bytes": 1000, "rows": None}, {"part": "logs", "bytes": 500, "rows": 3}]
    assert use["pruned_at"] is not None


def test_only_operators_see_the_use_of_the_disk(service: Service, owner: Person) -> None:
    assert owner.get("/disk-use").status_code == 403
    assert service.anonymous().get("/api/v1/disk-use").status_code == 401
