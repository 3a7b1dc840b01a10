"""The rules of the conformance suite: each with its severity, what is expected and what to do if it is broken."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["fail", "warn", "ok"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. ``severity`` is that of a finding if the rule is broken; ``advice`` is Markdown for the bot's author."""

    id: str
    severity: Severity
    expected: str
    advice: str


_ALL = (
    # -- handshake --
    Rule(
        "reachable", "fail", "the bot answers at its URL", "Start the bot; check host, port, firewall and certificate."
    ),
    Rule(
        "secret_needed",
        "fail",
        "the bot accepts unsigned calls, or its secret is given",
        "The bot refuses unsigned calls: pass its secret with `--secret` or `--secret-file`.",
    ),
    Rule(
        "challenge",
        "fail",
        "the bot answers the challenge with the correct proof",
        "Give the bot its secret: starter bots read it from `secret.txt` in their folder or from `$REFEREE_BOT_SECRET`."
        " *The challenge* in `docs/bot-protocol.md` describes how to compute the proof.",
    ),
    Rule(
        "manifest",
        "fail",
        "`GET /` returns a valid manifest",
        "*The manifest* in `docs/bot-protocol.md` shows one. With `--game` the other rules are checked without it.",
    ),
    Rule(
        "known_game",
        "fail",
        "`games` names at least one existing game",
        "Use the names that `referee games` lists: a bot without a known game is never seated.",
    ),
    Rule(
        "unknown_game",
        "warn",
        "`games` names only existing games",
        "Check the spelling: a game that does not exist is never played.",
    ),
    Rule(
        "slow_start",
        "warn",
        "the first call is answered within `budget_ms`",
        "Load models and tables before the bot starts to listen.",
    ),
    Rule(
        "nonce_promise",
        "fail",
        "step 1 of `group_start` returns a `nonce_hash`, or `{}`",
        "Return the SHA-256 of your nonce as 64 lower-case hex digits, or `{}` to take no part in the shuffling.",
    ),
    Rule(
        "nonce_kept",
        "fail",
        "step 2 returns the `nonce` whose hash step 1 returned",
        "Derive the nonce from the id of the deal group and your secret: then nothing has to be stored between steps.",
    ),
    Rule(
        "nonce_accepted",
        "fail",
        "step 3 returns `accepted`: true if `nonces` contains the bot's nonce, or `{}`",
        "Return false only if your nonce is missing from `nonces`: each false ends an opening.",
    ),
    Rule(
        "nonce_missed",
        "warn",
        "step 3 does not accept `nonces` in which the bot's nonce was replaced",
        "Look for your nonce in `nonces`: otherwise the referee could leave it out unnoticed.",
    ),
    # -- decisions --
    Rule(
        "decision",
        "fail",
        "every question is answered with a legal action, in every game, with all options and numbers of seats",
        "Choose from `legal_actions`; send the request again and look at the answer of your bot.",
    ),
    Rule(
        "no_error",
        "fail",
        "no answer reports an `error` in the bot's own code",
        "The bot's code failed, so the bot played the default action: send the request again and read the traceback.",
    ),
    Rule(
        "budget",
        "warn",
        "every answer arrives within `budget_ms`",
        "In a match the excess is taken from the time bank; once that is empty, a late answer is a fault.",
    ),
    Rule(
        "resent",
        "fail",
        "a question that is sent again is answered again",
        "Answer a repeated `webhook-id` as well: the first answer may have been lost.",
    ),
    Rule(
        "resent_same",
        "warn",
        "a question that is sent again gets the same answer",
        "Store answers by `webhook-id`, or seed random choices with the id of the decision.",
    ),
    Rule(
        "stale",
        "fail",
        "a question that arrives after a newer one is answered with its own id",
        "Copy `decision.id` from the question that you answer, not from the latest one.",
    ),
    Rule(
        "unknown_members",
        "fail",
        "unknown members are ignored",
        "Read the members that you need and ignore the others: new ones may be added.",
    ),
    Rule(
        "huge",
        "warn",
        "a question of 256 KiB is answered",
        "Raise the limit on request bodies in your framework or reverse proxy.",
    ),
    Rule(
        "parallel",
        "fail",
        "`max_concurrent_requests` concurrent questions are answered",
        "Do not share state between calls, or lower `max_concurrent_requests` in the manifest.",
    ),
    # -- notices --
    Rule(
        "unknown_notice",
        "warn",
        "a notice of an unknown type is answered",
        "Return `{}` to every notice that you do not know: new types may be added.",
    ),
    Rule("end_notices", "warn", "`match_end` and `group_end` are answered with 200", "Return `{}` with status 200."),
    # -- connections --
    Rule(
        "keep_alive",
        "warn",
        "the connection stays open between calls",
        "Speak HTTP/1.1 with a `Content-Length`: opening a connection for each question costs your bot time.",
    ),
    Rule(
        "idle",
        "fail",
        "a question after a pause is answered",
        "Do not let the host suspend the bot: nobody wakes it before a question.",
    ),
    Rule(
        "reconnect",
        "fail",
        "a question over a new connection is answered",
        "Continue to accept connections after one has been closed.",
    ),
    Rule(
        "hung_up",
        "fail",
        "the call after an aborted one is answered",
        "Survive a broken pipe: the referee closes the connection when the time is up.",
    ),
    Rule(
        "stray",
        "fail",
        "`HEAD /` and unknown paths do not stop the bot",
        "Answer them with 404 or 405 and continue to serve.",
    ),
    Rule(
        "in_time",
        "fail",
        "a check by a service, some hundred calls, ends within 90 s",
        "Answer faster. `referee check` has no such limit and shows where the time goes.",
    ),
    Rule(
        "stays_up",
        "fail",
        "the bot answers until the end of the check",
        "The bot could no longer be reached: look for a crash or a restart in its log.",
    ),
    Rule(
        "same_version",
        "fail",
        "the manifest names the same version at the start and at the end of the check",
        "The bot was replaced during the check: request another one. Change `version` with the program, not"
        " from call to call.",
    ),
    # -- signatures --
    Rule(
        "rotation",
        "fail",
        "a call with two signatures is accepted if one of them is valid",
        "Compare each signature of the header: while a secret is rotated, every call has two.",
    ),
    Rule(
        "signature_wrong",
        "warn",
        "a call signed with another secret is refused with 401",
        "Verify signatures: otherwise anybody who knows the URL can pose as the referee.",
    ),
    Rule(
        "signature_old",
        "warn",
        "a call signed an hour ago is refused with 401",
        "Refuse a `webhook-timestamp` more than five minutes off: otherwise recorded calls can be sent again.",
    ),
    Rule(
        "signature_missing",
        "warn",
        "a call without a signature is refused with 401",
        "Require the header `webhook-signature`: otherwise leaving it out bypasses the check.",
    ),
)
RULES: dict[str, Rule] = {rule.id: rule for rule in _ALL}


def table() -> str:
    """Return all rules as the Markdown table of ``docs/checking.md``."""
    lines = ["| finding | weight | expected | what to do |", "| --- | --- | --- | --- |"]
    lines += [f"| `{rule.id}` | {rule.severity} | {rule.expected} | {rule.advice} |" for rule in RULES.values()]
    return "\n".join(lines) + "\n"
