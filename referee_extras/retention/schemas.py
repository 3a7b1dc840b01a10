"""Define the schema of the use of the disk and of pruning."""

from marshmallow import fields

from api.fields import UtcDateTime, View, describe, member_of
from referee_extras.retention.rules import list_kinds


class DiskPartView(View):
    part = fields.String(metadata=describe("What takes the space, such as `logs` or `process_logs`."))
    bytes = fields.Integer()
    rows = fields.Integer(allow_none=True, metadata=describe("Number of rows; null for files and for the rest."))


class RetentionRuleView(View):
    kind = fields.String(validate=member_of(list_kinds()))
    rule = fields.String(metadata=describe("How long this is kept, in words, such as `90 days`."))


class PrunedView(View):
    kind = fields.String(validate=member_of(list_kinds()))
    rows = fields.Integer()
    bytes = fields.Integer()


class DiskUseView(View):
    measured_at = UtcDateTime(allow_none=True, metadata=describe("Null before the first night."))
    database_bytes = fields.Integer(allow_none=True)
    free_bytes = fields.Integer(
        allow_none=True, metadata=describe("Free space on the disk of the scheduler's data directory.")
    )
    growth_bytes_per_day = fields.Integer(
        allow_none=True, metadata=describe("Mean of the last 7 days; negative if it shrinks, null if not known yet.")
    )
    days_left = fields.Integer(
        allow_none=True, metadata=describe("For how many days the free space lasts at this growth; null if it does.")
    )
    parts = fields.List(fields.Nested(DiskPartView), metadata=describe("The largest first."))
    rules = fields.List(fields.Nested(RetentionRuleView))
    pruned_at = UtcDateTime(allow_none=True, metadata=describe("When the last pruning ended; null if it did not."))
    pruned = fields.List(fields.Nested(PrunedView), metadata=describe("What the last pruning deleted."))
