"""Explain the reply of a bot by its cause, with the texts for faults in matches. ``report`` merges findings."""

from typing import Final

from referee.botclient.reply import Reply
from referee.protocol.fault_advice import ADVICE, SET_UP_SIGNING, FaultAdvice

UNAUTHORIZED: Final = 401
# Faults that have one cause, whichever calls they occur at.
EVERYWHERE: Final = frozenset(
    {"unreachable", "redirect_refused", "bad_json", "bad_content_type", "encoding_refused", "bad_http", "tls_failed"}
)
CRASHED: Final = "your bot probably crashed or exited during the call: read what it printed"
PARSED: Final = (
    "the proof of the challenge was correct, so your bot knows its secret: compute the signature over the bytes of the"
    " body as you received it, before you parse it"
)
WRONG_PROOF: Final = (
    "Your bot refuses wrong signatures and accepts correct ones, so it has the right secret: compute the proof as *The"
    " challenge* in `docs/bot-protocol.md` describes."
)


def explain(request: str, fault: str, reply: Reply, *, where: str, is_proven: bool) -> FaultAdvice | None:
    """Return what went wrong at a request, like ``POST /decide``, and the remedy.

    Return None if only the rule that was checked explains it. ``is_proven`` says that the bot has proved that it knows
    its secret.
    """
    known = ADVICE.get(fault)
    if known is None or (fault == "bad_schema" and request != "POST /decide"):
        return None  # the text for bad_schema is about decisions
    happened, remedy = f"{request}: {known.happened}", known.remedy
    if fault in ("unreachable", "deadline") and not reply.sent:
        happened, remedy = "no connection to your bot could be opened", ADVICE["unreachable"].remedy
    elif fault == "unreachable" and reply.connected:
        happened, remedy = f"your bot closed the connection at {request} without an answer", CRASHED
    elif fault == "unreachable":
        happened, remedy = f"your bot accepts no more connections since {request}", CRASHED
    elif fault == "bad_status" and reply.status == UNAUTHORIZED:
        happened, remedy = "your bot answers 401 to signed calls", PARSED if is_proven else SET_UP_SIGNING
    elif fault == "bad_status":
        happened = f"your bot answers {reply.detail.partition(',')[0]} at {request}"
    elif fault == "redirect_refused":
        happened = f"{request} {reply.detail}"
    elif fault == "egress_denied":
        happened = f"the referee may not call this address: {reply.detail}"
    elif fault == "illegal_action":
        happened = f"an action of your bot is not legal in {where.partition(',')[0]}"
    return FaultAdvice(happened, f"{remedy[0].upper()}{remedy[1:]}.")


def slowness(median_ms: float, budget_ms: int) -> FaultAdvice:
    """Return one explanation for all late answers of a bot that usually exceeds the budget."""
    remedy = ADVICE["deadline"].remedy
    happened = (
        f"median answer {median_ms:,.0f} ms against a budget of {budget_ms:,} ms: all that comes late follows from this"
    )
    return FaultAdvice(happened, f"{remedy[0].upper()}{remedy[1:]}.")
