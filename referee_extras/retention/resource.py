"""Show operators the use of the disk, as the scheduler measured it last, and what is pruned."""

from typing import Any

from flask import current_app

from api.auth import admin
from api.views import Resource, current_session
from referee_extras.retention import disk_use, pruning
from referee_extras.retention.rules import rules_of
from referee_extras.retention.schemas import DiskUseView

resource = Resource("retention", "/api/v1", "The use of the disk and what is pruned.")


@resource.get("/disk-use", admin, DiskUseView)
def show_disk_use() -> Any:
    """Show the use of the disk

    The scheduler measures it each night, and then prunes. Only the operator may see this, with a token of
    the scope `all`.
    """
    session = current_session()
    latest, run = disk_use.find_latest(session), pruning.find_last_run(session)
    growth = disk_use.find_growth(session, latest) if latest else disk_use.Growth(None, None)
    parts = [{"part": name, **sizes} for name, sizes in (latest.parts if latest else {}).items()]
    rules = rules_of(current_app.config["SETTINGS"])
    return {
        "measured_at": latest and latest.measured_at,
        "database_bytes": latest and latest.database_bytes,
        "free_bytes": latest and latest.free_bytes,
        "growth_bytes_per_day": growth.bytes_per_day,
        "days_left": growth.days_left,
        "parts": sorted(parts, key=lambda part: -part["bytes"]),
        "rules": [{"kind": kind, "rule": str(keep)} for kind, keep in rules.items()],
        "pruned_at": run and run.finished_at,
        "pruned": [
            {"kind": kind, "rows": rows, "bytes": size} for kind, (rows, size) in (run.deleted if run else {}).items()
        ],
    }
