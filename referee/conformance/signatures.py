"""Does it look at signatures: calls that are signed wrongly, long ago or not at all must be refused."""

import base64
from dataclasses import replace

from referee.conformance.calls import REFUSALS
from referee.conformance.context import ExaminationContext, describe_reply
from referee.match.canonical import Json
from referee.protocol.signing import PREFIX

LOOKED_AT = ("rotation", "signature_wrong", "signature_old", "signature_missing")
OLD_S = 3_600


async def trust(exam: ExaminationContext) -> None:
    """Nothing to see without a secret."""
    if not exam.secrets:
        exam.notes.skip(LOOKED_AT, "no secret was given")
        return
    other = PREFIX + base64.b64encode(exam.dice.randbytes(32)).decode()
    question = exam.answered[-1].again(exam.fresh())
    call = exam.to_decide(question)
    await exam.holds("rotation", question, replace(call, secrets=(other, *exam.secrets)))
    tampered: dict[str, Json] = {
        "signature_wrong": {"secrets": (other,)},
        "signature_old": {"age_s": OLD_S},
        "signature_missing": {"secrets": ()},
    }
    for rule, changes in tampered.items():
        question = question.again(exam.fresh())
        forged = replace(exam.to_decide(question), **changes)
        reply, decision = await exam.decided(question, forged)
        refused = reply.status in REFUSALS
        taken = "it was answered as if all were well" if not decision.fault else describe_reply(reply)
        exam.note(rule, forged, "" if refused else reply.fault or "accepted", taken)
