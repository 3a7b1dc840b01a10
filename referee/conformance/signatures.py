"""Check that the bot refuses calls whose signature is wrong, expired or missing."""

import base64
from dataclasses import replace

from referee.conformance.calls import REFUSAL_STATUSES
from referee.conformance.context import CheckContext, describe_reply
from referee.conformance.report import SIGNATURE_RULES
from referee.match.canonical import Json
from referee.protocol.signing import PREFIX

OLD_S = 3_600  # age of an expired signature


async def check_signatures(check: CheckContext) -> None:
    """Check the rules about signatures, or skip them if no secret is known."""
    if not check.secrets:
        check.notes.skip(SIGNATURE_RULES, "no secret was given")
        return
    other = PREFIX + base64.b64encode(check.dice.randbytes(32)).decode()
    question = check.answered[-1].with_match_id(check.new_match_id())
    call = check.decide_call(question)
    await check.apply_rule("rotation", question, replace(call, secrets=(other, *check.secrets)))
    tampered: dict[str, Json] = {
        "signature_wrong": {"secrets": (other,)},
        "signature_old": {"age_s": OLD_S},
        "signature_missing": {"secrets": ()},
    }
    for rule, changes in tampered.items():
        question = question.with_match_id(check.new_match_id())
        forged = replace(check.decide_call(question), **changes)
        reply, decision = await check.ask_and_judge(question, forged)
        if reply.status in REFUSAL_STATUSES:
            check.notes.record_pass(rule)
        elif reply.fault:
            check.note_reply(rule, forged, reply)
        else:
            taken = "the call was answered" if not decision.fault else describe_reply(reply)
            check.note(rule, forged, "accepted", taken)
