"""Collect the findings of a check, and represent its report as plain values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from referee.conformance.causes import EVERYWHERE, WRONG_PROOF
from referee.conformance.rules import RULES, Severity
from referee.match.canonical import Json
from referee.protocol.fault_advice import FaultAdvice

PARTS = ("total", "resolve", "connect", "wait", "read")
PERCENTS = (50, 90, 99, 100)  # 100 stands for the largest sample
GAME_RULES = frozenset({"decision", "no_error", "unknown_members"})  # a violation of these rules affects one game only
ANSWER_RULES = frozenset(  # rules whose advice is wrong if the bot did not answer
    {"reachable", "challenge", "manifest", "nonce_promise", "nonce_kept", "nonce_accepted", "nonce_missed", "decision"}
)
SIGNATURE_RULES = ("rotation", "signature_wrong", "signature_old", "signature_missing")
VERIFYING = frozenset({"rotation", "signature_wrong"})  # kept only by a bot that verifies with the right secret


class ConformanceVerdict(StrEnum):
    PASS = "pass"  # noqa: S105  # no password
    FAIL = "fail"
    UNREACHABLE = "unreachable"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Finding:
    """Hold the result of checking one rule, possibly at one place: ``where`` names a kind of decision or a path.

    ``cause`` says what went wrong over HTTP, if the rule does not; ``same_cause`` has the other rules broken by it.
    ``came`` describes the reply. ``fault`` is a code of ``match.FAULTS``, or wrong_proof, broken_promise, refused,
    another_answer, late, accepted, closed or error. ``curl`` is a shell command that repeats the first request
    concerned.
    """

    id: str
    severity: Severity
    expected: str
    came: str = ""
    where: str = ""
    fault: str = ""
    times: int = 1
    advice: str = ""
    curl: str = ""
    cause: str = ""
    same_cause: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SkippedRule:
    """Name a rule that was not checked, and the reason."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """Hold the complete result of a check.

    ``bot`` is ``{"name", "version", "games", "max_concurrent_requests"}`` from the manifest, or None without a
    manifest. ``rules`` maps checked games to rules versions. ``latency`` maps parts of a call to ``{"calls", "p50",
    "p90", "p99", "max"}`` in ms. ``coverage`` maps games to ``{"rules_version", "questions", "given_up",
    "kinds": {kind: questions}, "seats": [n…], "options": {name: [values]}}``.
    """

    url: str
    protocol: str
    engine_version: str
    signed: bool
    bot: Json | None = None
    rules: Mapping[str, int] = field(default_factory=dict)
    questions: int = 0
    calls: int = 0
    findings: Sequence[Finding] = ()
    skipped: Sequence[SkippedRule] = ()
    latency: Mapping[str, Json] = field(default_factory=dict)
    coverage: Mapping[str, Json] = field(default_factory=dict)
    interrupted: bool = False

    def findings_of(self, severity: Severity) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == severity]

    @property
    def verdict(self) -> ConformanceVerdict:
        """Return the verdict. Warnings do not prevent a pass."""
        failed = self.findings_of("fail")
        if any(finding.id == "reachable" for finding in failed):
            return ConformanceVerdict.UNREACHABLE
        if self.interrupted:
            return ConformanceVerdict.INTERRUPTED
        return ConformanceVerdict.FAIL if failed else ConformanceVerdict.PASS

    @property
    def passed(self) -> dict[str, int]:
        """Return the rules versions of the games to certify, keyed by game.

        These are the games that were fully tested without a failure. Return an empty dict if a rule
        that concerns all games failed.
        """
        wrong = {
            finding.where.partition(",")[0] if finding.id in GAME_RULES else "" for finding in self.findings_of("fail")
        }
        if not wrong <= {*self.rules}:
            return {}
        return {
            game: version for game, version in self.rules.items() if game not in wrong and self._was_fully_tested(game)
        }

    def _was_fully_tested(self, game: str) -> bool:
        covered = self.coverage[game]
        return bool(covered["questions"]) and not covered["given_up"]

    @property
    def folded_findings(self) -> list[Finding]:
        """Return the findings for people: one for each cause, with the rule that comes first."""
        kept = {finding.id for finding in self.findings_of("ok")}
        groups: dict[str, list[Finding]] = {}
        for number, finding in enumerate(self.findings):
            is_everywhere = finding.cause and finding.fault in EVERYWHERE
            groups.setdefault(finding.fault if is_everywhere else finding.cause or str(number), []).append(finding)
        return [_fold(group, kept) for group in groups.values()]

    def to_json(self) -> Json:
        """Return the report with its ``verdict``, ready for JSON. Findings with one cause are merged."""
        return {"verdict": self.verdict} | asdict(replace(self, findings=self.folded_findings))


def _fold(findings: Sequence[Finding], kept: set[str]) -> Finding:
    """Return the first of the findings with one cause, with the other rules, and with advice about the cause.

    The advice of the rule follows only if no other rule found the cause. ``kept`` has the rules that
    the bot kept.
    """
    first = findings[0]
    if not first.cause:
        proved = first.fault == "wrong_proof" and kept >= VERIFYING
        return replace(first, advice=WRONG_PROOF) if proved else first
    times = sum(finding.times for finding in findings if finding.id == first.id)
    rules = dict.fromkeys(finding.id for finding in findings if finding.id != first.id)
    has_own_advice = first.id not in ANSWER_RULES and {*rules} <= {*_ONLY_IF_BROKEN, *SIGNATURE_RULES}
    advice = f"{first.advice} {RULES[first.id].advice}" if has_own_advice else first.advice
    return replace(first, times=times, advice=advice, same_cause=list(rules))


class FindingCollector:
    """Collect findings. The same fault at the same place increments ``times``; only its first request is kept."""

    def __init__(self) -> None:
        self._broken: dict[tuple[str, str, str], Finding] = {}
        self._kept: dict[str, None] = {}  # rules, in the order they were first kept
        self._skipped: dict[str, str] = {}

    def record_pass(self, rule: str) -> None:
        """Note that the bot kept this rule in one case."""
        self._kept[rule] = None

    def has_passed(self, rule: str) -> bool:
        return rule in self._kept

    def record_violation(
        self,
        rule: str,
        came: str,
        *,
        where: str = "",
        fault: str = "",
        curl: str = "",
        explained: FaultAdvice | None = None,
    ) -> None:
        """Note that the bot broke this rule. The remedy of ``explained`` replaces the advice of the rule."""
        key = (rule, where, fault)
        known = self._broken.get(key)
        if known is not None:
            self._broken[key] = replace(known, times=known.times + 1)
            return
        stated = RULES[rule]
        advice, cause = (explained.remedy, explained.happened) if explained else (stated.advice, "")
        self._broken[key] = Finding(rule, stated.severity, stated.expected, came, where, fault, 1, advice, curl, cause)

    def explain_lateness(self, explained: FaultAdvice) -> None:
        """Explain all violations that are about time by one cause."""
        late = {key: found for key, found in self._broken.items() if found.fault in ("late", "deadline")}
        for key, found in late.items():
            self._broken[key] = replace(found, cause=explained.happened, advice=explained.remedy)

    def skip(self, rules: Iterable[str], reason: str) -> None:
        for rule in rules:
            self._skipped.setdefault(rule, reason)

    def has_violation(self, rule: str, where: str, fault: str) -> bool:
        return (rule, where, fault) in self._broken

    def findings(self) -> list[Finding]:
        """Return failures, then warnings, then rules that were always kept, each in the order of the rules."""
        broken = {rule for rule, _, _ in self._broken}
        kept = [Finding(rule, "ok", RULES[rule].expected) for rule in self._kept if rule not in broken]
        order = list(RULES)
        weight = ("fail", "warn", "ok")
        return sorted(
            [*self._broken.values(), *kept], key=lambda one: (weight.index(one.severity), order.index(one.id))
        )

    def skipped_rules(self) -> list[SkippedRule]:
        """Return the rules that were never checked, with the reason for each."""
        seen = {*self._kept, *(rule for rule, _, _ in self._broken)}
        return [
            SkippedRule(rule, self._skipped.get(rule, "not reached"))
            for rule in RULES
            if rule not in seen | _ONLY_IF_BROKEN
        ]


# Rules that are checked throughout and noted only when broken, so they never count as skipped.
_ONLY_IF_BROKEN = {"reachable", "secret_needed", "in_time", "stays_up", "unknown_game"}


def percentiles(samples: Sequence[float]) -> Json:
    """Return the number of samples as ``calls``, and their nearest-rank percentiles, which are 0 without samples."""
    ordered = sorted(samples)
    figures: Json = {"calls": len(ordered)}
    for percent in PERCENTS:
        rank = -(-percent * len(ordered) // 100)
        figures["max" if percent == 100 else f"p{percent}"] = ordered[rank - 1] if ordered else 0.0
    return figures
