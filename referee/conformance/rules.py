"""What a bot is examined for: every rule with its weight, what is expected and what to do."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["fail", "warn", "ok"]


@dataclass(frozen=True, slots=True)
class Rule:
    """``severity`` is that of a finding when the rule is broken; ``advice`` is for the bot's author."""

    id: str
    severity: Severity
    expected: str
    advice: str


_ALL = (
    # -- meeting the bot --
    Rule("reachable", "fail", "somebody answers at the address", "Start the bot, check host, port and certificate."),
    Rule(
        "secret_needed",
        "fail",
        "the bot answers unsigned calls, or its secret is given",
        "The bot refuses unsigned calls: give its secret with `--secret` or `--secret-file`.",
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
        "`GET /` gives the manifest",
        "*The manifest* in `docs/bot-protocol.md` shows it; with `--game` the rest is examined all the same.",
    ),
    Rule("known_game", "fail", "`games` names a game there is", "Use the names that `referee games` lists."),
    Rule("unknown_game", "warn", "`games` names no game there is not", "A misspelt game is never played."),
    Rule("slow_start", "warn", "the first call is answered within the budget", "Load what is heavy before listening."),
    Rule(
        "nonce_promise",
        "fail",
        "step 1 of `group_start` gives `nonce_hash`, or `{}`",
        "64 lower-case hex digits: the SHA-256 of the nonce's text.",
    ),
    Rule(
        "nonce_kept",
        "fail",
        "step 2 gives the `nonce` that was promised",
        "Derive the nonce from the group's id and your secret, so that nothing has to be kept.",
    ),
    Rule(
        "nonce_accepted",
        "fail",
        "step 3 gives `accepted`: true where the nonce is the one that was given, or `{}`",
        "Answer false only if your nonce is missing from `nonces`: each false ends an opening.",
    ),
    Rule(
        "nonce_missed",
        "warn",
        "step 3 is not accepted where the nonce was changed",
        "Look for your nonce in `nonces`; otherwise the referee could leave it out.",
    ),
    # -- decisions --
    Rule(
        "decision",
        "fail",
        "every question of every game, options and seats is answered with a legal action",
        "Choose from `legal_actions`; resend the request and look at what your bot says.",
    ),
    Rule(
        "no_error",
        "fail",
        "no answer reports an `error` in the bot's own code",
        "The bot's code failed, so the bot played the default action: resend the request and read the bot's traceback.",
    ),
    Rule("budget", "warn", "every answer comes within `budget_ms`", "What goes beyond is taken from the match's bank."),
    Rule("resent", "fail", "a question asked again is answered again", "The first answer may have been lost."),
    Rule(
        "resent_same",
        "warn",
        "a question asked again gets the same answer",
        "Keep answers by `webhook-id`, or draw lots from the decision's id.",
    ),
    Rule(
        "stale", "fail", "an older question is answered with its own id", "`decision` repeats the id of the question."
    ),
    Rule(
        "unknown_members", "fail", "members the bot does not know are ignored", "Read what you need, ignore the rest."
    ),
    Rule("huge", "warn", "a question of 256 KiB is answered", "Raise the limit of your framework for bodies."),
    Rule(
        "parallel",
        "fail",
        "`max_concurrent_requests` questions at once are answered",
        "Keep no state that two calls share.",
    ),
    # -- notices --
    Rule("unknown_notice", "warn", "a notice of an unknown type is answered", "Answer `{}` to what you do not know."),
    Rule("end_notices", "warn", "`match_end` and `group_end` are answered with 200", "Answer `{}`."),
    # -- connections --
    Rule("keep_alive", "warn", "the connection stays open between calls", "Speak HTTP/1.1 with a `Content-Length`."),
    Rule("idle", "fail", "a question after a pause is answered", "Nothing may have to be woken by hand."),
    Rule("reconnect", "fail", "a question over a new connection is answered", "Accept the next connection."),
    Rule("hung_up", "fail", "after a call that was hung up the next is answered", "Survive a broken pipe."),
    Rule("stray", "fail", "`HEAD /` and unknown paths do not bring the bot down", "Answer 404 or 405 and go on."),
    Rule(
        "in_time",
        "fail",
        "a service's examination, some hundred calls, ends within 90 s",
        "Answer faster; or look with `referee check`, which has no such end, at where the time goes.",
    ),
    Rule("stays_up", "fail", "the bot answers to the end of the examination", "It went away: look at its own log."),
    Rule(
        "same_version",
        "fail",
        "the manifest names the same version at the end of the examination",
        "It was replaced meanwhile: have it examined anew. `version` changes with the program, not from call to call.",
    ),
    # -- signatures --
    Rule(
        "rotation",
        "fail",
        "one fitting signature of two is enough",
        "While a secret is replaced every call bears two signatures.",
    ),
    Rule("signature_wrong", "warn", "a call signed with another key is refused with 401", "Compare the signatures."),
    Rule("signature_old", "warn", "a call signed an hour ago is refused with 401", "Allow five minutes."),
    Rule("signature_missing", "warn", "a call without a signature is refused with 401", "No header, no answer."),
)
RULES: dict[str, Rule] = {rule.id: rule for rule in _ALL}


def table() -> str:
    """All rules as a table in Markdown, as ``docs/checking.md`` shows it."""
    lines = ["| finding | weight | expected | what to do |", "| --- | --- | --- | --- |"]
    lines += [f"| `{rule.id}` | {rule.severity} | {rule.expected} | {rule.advice} |" for rule in RULES.values()]
    return "\n".join(lines) + "\n"
