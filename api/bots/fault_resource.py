"""Faults: one with all of its evidence. The lists are with bots and matches."""

from typing import Any

from api.auth import asker, organises
from api.bots import fault_reports
from api.bots.fault_schemas import EvidenceView
from api.fields import MAX_INT
from api.views import Resource, record
from referee.matches import fault_reports as faults

resource = Resource("faults", "/api/v1/faults", "Faults of bots, with their evidence.")


@resource.route("GET", f"/<int(max={MAX_INT}):fault_id>")
@resource.owner
@resource.reads
@resource.response(EvidenceView)
def show(fault_id: int) -> Any:
    """What a bot did wrong

    The question as it was sent, what came back, where the time went, what was played instead and what to do. For the
    owner of the bot; organisers read it when the deal group of the match is over.
    """
    judges = organises()
    return fault_reports.attach_remedy(faults.get_fault(record(), fault_id, asker().id, judges=judges))
