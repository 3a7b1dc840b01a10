"""What each fault of the closed list means for the author of a bot, and what to do about it."""

from dataclasses import dataclass
from typing import Final

TELL_BOT: Final = (  # for a bot that does not know its secret
    "save the secret as `secret.txt` next to the bot's program (starter bots read it at each call), or set"
    " `REFEREE_BOT_SECRET` and restart the bot"
)
CHECK_ADVICE: Final = {  # by code of a check, for what is no fault or means something else there
    "wrong_proof": f"the bot does not know the secret of this registration: {TELL_BOT}",
    "bad_status": f"401 means that the bot rejected our signature: {TELL_BOT}",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """``happened`` and ``remedy`` are sentences in Markdown, for the author."""

    happened: str
    remedy: str


ADVICE: dict[str, Advice] = {  # by code of ``match.FAULTS``
    "dns_failed": Advice(
        "your host's name was not found within 2 s, or has more than 16 addresses",
        "look the name up from elsewhere; mend its DNS record, or register another address",
    ),
    "egress_denied": Advice(
        "the name leads to an address the referee does not call: private, reserved, its own",
        "let the name lead to public addresses alone; in a network of one's own the operator may allow others",
    ),
    "unreachable": Advice(
        "no connection, or it was closed twice before an answer began",
        "see that the bot runs and listens on the registered port, no firewall is in between, and it has not crashed",
    ),
    "tls_failed": Advice(
        "the certificate is expired, for another name, or from an unknown authority",
        "renew the certificate, and serve it with its intermediate ones, for exactly the registered name",
    ),
    "deadline": Advice(
        "no complete answer in time",
        "see where the time went: much waiting is your thinking, much connecting or reading is the way to you; answer"
        " within `time.budget_ms`",
    ),
    "redirect_refused": Advice(
        "301, 302, 303, 307, 308: register the address that answers",
        "register the address the redirect leads to; mind a missing or superfluous `/` at its end, and `https`",
    ),
    "bad_status": Advice(
        "any other status than 200, or a 200 without a body",
        "look up the request in your bot's own log: 401 means it took our signature for wrong, 500 that it crashed",
    ),
    "bad_content_type": Advice(
        "not `application/json`, or a charset other than UTF-8", "answer with `Content-Type: application/json`"
    ),
    "encoding_refused": Advice(
        "a `Content-Encoding`; send the body as it is", "switch compression off, in the proxy before the bot too"
    ),
    "headers_too_large": Advice(
        "a head over 32 KiB, or more than 10 interim answers", "send fewer and shorter headers; no cookies are needed"
    ),
    "response_too_large": Advice(
        "a body over 64 KiB", "answer with the action alone, or its number in `legal_actions`"
    ),
    "bad_http": Advice(
        "not well-formed HTTP/1.1: bare line feeds, two lengths, a body shorter than announced, bytes after the answer",
        "let a library speak HTTP; count `Content-Length` in bytes, not characters",
    ),
    "bad_json": Advice(
        "not one strict JSON document",
        "write the answer with a JSON library: no `NaN`, no key twice, nothing printed before or after it",
    ),
    "bad_schema": Advice(
        "JSON, but not an answer: neither or both of `action` and `choice`, a wrong type, an unfit note",
        "compare your answer with the section *Answers* of `docs/bot-protocol.md`",
    ),
    "stale_decision": Advice(
        "`decision` is the id of another question",
        "copy `decision.id` from the question you answer; keep nothing that two calls at once would share",
    ),
    "illegal_action": Advice(
        "the action is not legal, or the index is beyond the end of `legal_actions`",
        "choose from `legal_actions` of this very question; `choice` counts from 0",
    ),
}


def table() -> str:
    """All faults as a table in Markdown, as ``docs/bot-protocol.md`` shows it."""
    lines = ["| fault | what happened | what to do |", "| --- | --- | --- |"]
    lines += [f"| `{code}` | {one.happened} | {one.remedy} |" for code, one in ADVICE.items()]
    return "\n".join(lines) + "\n"
