"""Advise bot authors: explain each fault and its remedy."""

from dataclasses import dataclass
from typing import Final

SET_UP_SIGNING: Final = (  # for a bot that does not know its secret
    "save the secret as `secret.txt` next to the bot's program (starter bots read it at each call), or set"
    " `REFEREE_BOT_SECRET` and restart the bot"
)
HANDSHAKE_ADVICE: Final = {  # by code of a failed handshake; for other codes, ADVICE applies
    "wrong_proof": f"the bot does not know the secret of this registration: {SET_UP_SIGNING}",
    "bad_status": "404 means that the bot does not serve this path, 500 that it crashed: read its output; 401 means"
    f" that it rejected the signature of the referee: {SET_UP_SIGNING}",
    "not_proven": "see whether this is the address and port of your bot, whether the bot shows an error, and whether it"
    f" knows the secret of this registration: {SET_UP_SIGNING}",
}


@dataclass(frozen=True, slots=True)
class FaultAdvice:
    """Explain a fault and its remedy to the bot's author, in Markdown without a final full stop."""

    happened: str
    remedy: str


ADVICE: dict[str, FaultAdvice] = {  # by code of ``match.FAULTS``
    "dns_failed": FaultAdvice(
        "the host name of your bot did not resolve within 2 s, or resolved to more than 16 addresses",
        "resolve the name from another network; correct its DNS record, or register another URL",
    ),
    "egress_denied": FaultAdvice(
        "the referee must not call this port, or the address that the host name resolves to: private, reserved, or its"
        " own",
        "use port 80, 443 or one from 1024, and make the name resolve to public addresses only; on a private network"
        " the operator can allow others",
    ),
    "unreachable": FaultAdvice(
        "no connection could be opened, or it was closed twice before a response began",
        "check that the bot is running, that it listens on the registered port and, for other machines, not on"
        " 127.0.0.1 only, that no firewall blocks the referee, and that the bot did not crash during the call",
    ),
    "tls_failed": FaultAdvice(
        "the certificate has expired, is for another name, or was issued by an unknown authority",
        "renew the certificate for exactly the registered name, and serve it with its intermediate certificates",
    ),
    "deadline": FaultAdvice(
        "the response was not complete when the time was up",
        "look at the times of the call: a long wait means that your bot was thinking, long connecting or reading means"
        " a slow network; answer within `time.budget_ms`",
    ),
    "redirect_refused": FaultAdvice(
        "the bot answered with a redirect (301, 302, 303, 307 or 308), and the referee does not follow redirects",
        "serve `/decide` and `/notify` without a slash at the end, since many frameworks redirect to the path with one;"
        " if the redirect leads to another host or to `https`, register that URL",
    ),
    "bad_status": FaultAdvice(
        "the status was not 200, or the body was empty",
        "look up the request in the log of your bot: 401 means that it rejected the signature, 404 that it does not"
        " serve this path, 500 that it crashed",
    ),
    "bad_content_type": FaultAdvice(
        "the `Content-Type` was not `application/json`, or its charset was not UTF-8",
        "send `Content-Type: application/json`",
    ),
    "encoding_refused": FaultAdvice(
        "the response had a `Content-Encoding`, and compression is not supported",
        "turn compression off in the bot and in any reverse proxy in front of it",
    ),
    "headers_too_large": FaultAdvice(
        "the head of the response was larger than 32 KiB, or followed more than 10 interim (1xx) responses",
        "send fewer and shorter headers; the referee ignores cookies",
    ),
    "response_too_large": FaultAdvice(
        "the body of the response was larger than 64 KiB",
        "send only the action, or `choice`, its index in `legal_actions`",
    ),
    "bad_http": FaultAdvice(
        "the response was not well-formed HTTP/1.1: bare line feeds, two lengths, a body shorter than its"
        " `Content-Length`, or bytes after its end",
        "use an HTTP library; if you set `Content-Length` yourself, count bytes, not characters",
    ),
    "bad_json": FaultAdvice(
        "the reply was not JSON: its body was not exactly one strict JSON document",
        "write the body with a JSON library: no `NaN`, no duplicate keys, nothing printed before or after the document",
    ),
    "bad_schema": FaultAdvice(
        "the body was JSON but not an answer: neither or both of `action` and `choice`, a wrong type, or an invalid"
        " `note`",
        "compare your answer with the section *Answers* of `docs/bot-protocol.md`",
    ),
    "stale_decision": FaultAdvice(
        "`decision` was the id of another question",
        "copy `decision.id` from the question that you answer; do not share variables between concurrent calls",
    ),
    "illegal_action": FaultAdvice(
        "the action was not legal, or `choice` was beyond the end of `legal_actions`",
        "choose from the `legal_actions` of the question that you answer; `choice` counts from 0",
    ),
}
