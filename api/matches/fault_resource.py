"""Serve single fault reports over HTTP. The resources of bots and matches list faults."""

from typing import Any

from api.auth import account, current_account, may_organise
from api.fields import MAX_INT
from api.matches import fault_reports
from api.matches.fault_schemas import FaultReportView
from api.views import Resource, current_session
from referee.matches.lists import fault_reports as faults

resource = Resource("faults", "/api/v1/faults", "Fault reports of bots.")


@resource.get(f"/<int(max={MAX_INT}):fault_id>", account, FaultReportView)
def show(fault_id: int) -> Any:
    """Get a fault report

    The report contains the question as it was sent, the reply, the latency breakdown, the action played instead, and
    advice. The owner of the bot can read it; organisers can read it once the deal group is over.
    """
    found = faults.get_fault(current_session(), fault_id, current_account().id, judges=may_organise())
    return fault_reports.attach_remedy(found)
