"""Signature checks: calls with a wrong, an expired or no signature must be refused."""

import base64
from dataclasses import replace

from referee.conformance.calls import REFUSAL_STATUSES
from referee.conformance.context import ExaminationContext, describe_reply
from referee.match.canonical import Json
from referee.protocol.signing import PREFIX

SIGNATURE_RULES = ("rotation", "signature_wrong", "signature_old", "signature_missing")
OLD_S = 3_600


async def check_signatures(exam: ExaminationContext) -> None:
    """Check the rules about signatures; skip them without a secret."""
    if not exam.secrets:
        exam.notes.skip(SIGNATURE_RULES, "no secret was given")
        return
    other = PREFIX + base64.b64encode(exam.rng.randbytes(32)).decode()
    question = exam.answered[-1].with_match_id(exam.new_match_id())
    call = exam.decide_call(question)
    await exam.check_answer("rotation", question, replace(call, secrets=(other, *exam.secrets)))
    tampered: dict[str, Json] = {
        "signature_wrong": {"secrets": (other,)},
        "signature_old": {"age_s": OLD_S},
        "signature_missing": {"secrets": ()},
    }
    for rule, changes in tampered.items():
        question = question.with_match_id(exam.new_match_id())
        forged = replace(exam.decide_call(question), **changes)
        reply, decision = await exam.ask_and_judge(question, forged)
        refused = reply.status in REFUSAL_STATUSES
        taken = "the call was answered" if not decision.fault else describe_reply(reply)
        exam.note(rule, forged, "" if refused else reply.fault or "accepted", taken)
