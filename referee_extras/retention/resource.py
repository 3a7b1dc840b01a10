"""Show operators the use of the disk, as the scheduler measured it last, and what is pruned, also on their page."""

from typing import Any

from flask import current_app
from markupsafe import Markup

from api import fields
from api.auth import admin
from api.fields import UtcDateTime, View
from api.pages.page import Pages
from api.pages.page_places import render_section
from api.views import Resource, current_session
from referee_extras.retention import disk_use, pruning
from referee_extras.retention.rules import list_kinds, rules_of


class DiskPartView(View):
    part = fields.String("What takes the space, such as `logs` or `process_logs`.")
    bytes = fields.Integer()
    rows = fields.Integer("Number of rows; null for files and for the rest.", allow_none=True)


class RetentionRuleView(View):
    kind = fields.OneOf(list_kinds())
    rule = fields.String("How long this is kept, in words, such as `90 days`.")


class PrunedView(View):
    kind = fields.OneOf(list_kinds())
    rows = fields.Integer()
    bytes = fields.Integer()


class DiskUseView(View):
    measured_at = UtcDateTime("Null before the first night.", allow_none=True)
    database_bytes = fields.Integer(allow_none=True)
    free_bytes = fields.Integer("Free space on the disk of the scheduler's data directory.", allow_none=True)
    growth_bytes_per_day = fields.Integer(
        "Mean of the last 7 days; negative if it shrinks, null if not known yet.", allow_none=True
    )
    days_left = fields.Integer(
        "For how many days the free space lasts at this growth; null if it does.", allow_none=True
    )
    parts = fields.List(fields.Nested(DiskPartView), "The largest first.")
    rules = fields.List(fields.Nested(RetentionRuleView))
    pruned_at = UtcDateTime("When the last pruning ended; null if it did not.", allow_none=True)
    pruned = fields.List(fields.Nested(PrunedView), "What the last pruning deleted.")


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


pages = Pages("retention", __name__, template_folder="templates")  # has no page of its own


def section() -> Markup:
    """Return the section, which its script fills."""
    return render_section("retention/section.html")
