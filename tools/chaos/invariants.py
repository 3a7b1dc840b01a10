"""Check what the service promises about matches, whatever happened to its processes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

from sqlalchemy import func, select

from referee.ladders.tables import Rating
from referee.match.log import parse_row
from referee.match.verification import verify
from referee.matches.tables import Fault, MatchSeat, Result, StoredMatch
from referee.ratings.elo import START
from tests.end_to_end.service import Service
from tools.chaos.bots import Ask

EXAMPLES = 3


class Invariant(StrEnum):
    """List the invariants, in the words of the report."""

    ARRANGED_ONCE = "every arranged match exists once"
    FINISHED_ONCE = "every match finished, with one result"
    ONE_BODY = "no decision asked with two bodies"
    NO_REWIND = "no decision asked after a later one"
    NONE_LOST = "every decision asked is in the log"
    NONE_DOUBLED = "every decision in the log was asked"
    GIVEN = "every recorded action was given by the bot"
    ONE_RUNNER = "no runner asks on after another took over"
    NO_FAULT = "no fault charged to a bot"
    ROWS_KEPT = "recorded rows never change"
    VERIFIED = "every log verifies and reveals its seed"
    AUDIT = "the audit finds no difference"
    RATINGS_SUM = "the ratings of a ladder add up"
    KEPT_RUNNER = "no match changes runners without a cause"
    NO_LEFTOVERS = "no unfinished job is left in Redis"
    NO_LOCK = "no lock is held while a bot thinks"


@dataclass(slots=True)
class InvariantReport:
    """Hold what was checked for an invariant: how many things, and descriptions of those that break it."""

    checked: int = 0
    broken: list[str] = field(default_factory=list)


class LoggedDecision(NamedTuple):
    """Hold a decision of a bot in the log: its decision point and the action."""

    point: int
    action: Any


@dataclass(frozen=True, slots=True)
class Evidence:
    """Hold everything that the checks compare."""

    service: Service
    asks: Sequence[Ask]
    match_ids: Sequence[str]
    rows: Mapping[str, Sequence[bytes]]  # by match: rows seen during play
    matches: Mapping[str, StoredMatch]
    lines: Mapping[str, Sequence[bytes]]

    def asks_by_match(self) -> Mapping[str, list[Ask]]:
        found: dict[str, list[Ask]] = defaultdict(list)
        for ask in self.asks:
            found[ask.match_id].append(ask)
        return found

    def decisions(self, match_id: str) -> dict[str, LoggedDecision]:
        """Return the decisions of bots in the log of a match, by the ids of their questions."""
        counts: Counter[int] = Counter()
        found = {}
        for row in map(parse_row, self.lines[match_id]):
            if row["type"] == "decision" and row["source"] != "forced":
                seat = row["seat"]
                found[f"{match_id}_s{seat}_q{counts[seat]}"] = LoggedDecision(row["n"], row["action"])
                counts[seat] += 1
        return found


def collect_evidence(
    service: Service, asks: Sequence[Ask], match_ids: Sequence[str], rows: Mapping[str, Sequence[bytes]]
) -> Evidence:
    with service.database.read() as session:
        matches = {match.id: match for match in session.scalars(select(StoredMatch))}
    return Evidence(service, asks, match_ids, rows, matches, {id: service.lines(id) for id in matches})


def check_invariants(evidence: Evidence) -> dict[Invariant, InvariantReport]:
    """Return a finding for each invariant that can be judged from stored data and the questions to bots."""
    return {invariant: check(evidence) for invariant, check in _CHECKS.items()}


def list_broken(findings: Mapping[Invariant, InvariantReport]) -> list[Invariant]:
    return [invariant for invariant, finding in findings.items() if finding.broken]


def render_table(findings: Mapping[Invariant, InvariantReport]) -> str:
    """Return the findings as a table, with examples of what breaks an invariant below its line."""
    width = max(map(len, findings))
    lines = [f"{'invariant':{width}}  checked  broken"]
    for invariant, finding in findings.items():
        lines.append(f"{invariant:{width}}  {finding.checked:7}  {len(finding.broken):6}")
        lines += [f"    {example}" for example in finding.broken[:EXAMPLES]]
    return "\n".join(lines)


# -- the checks --


def _check_arranged(evidence: Evidence) -> InvariantReport:
    arranged = Counter(evidence.match_ids)
    twice = [f"{match_id} was created {count} times" for match_id, count in arranged.items() if count > 1]
    strange = [f"{match_id} was not arranged" for match_id in evidence.matches if match_id not in arranged]
    missing = [f"{match_id} does not exist" for match_id in arranged if match_id not in evidence.matches]
    return InvariantReport(len(arranged), twice + strange + missing)


def _check_finished(evidence: Evidence) -> InvariantReport:
    results = evidence.service.results()
    return InvariantReport(
        len(evidence.matches),
        [
            f"{id}: {match.status}, {results.get(id, 0)} results"
            for id, match in evidence.matches.items()
            if match.status != "finished" or results.get(id) != 1
        ],
    )


def _check_bodies(evidence: Evidence) -> InvariantReport:
    bodies: dict[str, set[str]] = defaultdict(set)
    for ask in evidence.asks:
        bodies[ask.id].add(ask.body)
    return InvariantReport(
        len(bodies), [f"{id}: {len(found)} bodies" for id, found in bodies.items() if len(found) > 1]
    )


def _check_rewinds(evidence: Evidence) -> InvariantReport:
    finding = InvariantReport()
    for match_id, asks in evidence.asks_by_match().items():
        decisions = evidence.decisions(match_id) if match_id in evidence.lines else {}
        latest, latest_id = -1, ""
        for ask in asks:
            point = decisions[ask.id].point if ask.id in decisions else latest
            finding.checked += 1
            if point < latest:
                finding.broken.append(f"{ask.id} was asked after {latest_id}")
            elif point > latest:
                latest, latest_id = point, ask.id
    return finding


def _check_lost(evidence: Evidence) -> InvariantReport:
    finding = InvariantReport()
    for match_id, asks in evidence.asks_by_match().items():
        if match_id not in evidence.matches or evidence.matches[match_id].status != "finished":
            continue
        ids = {ask.id for ask in asks}
        finding.checked += len(ids)
        finding.broken += [f"{id} is in no log" for id in sorted(ids - evidence.decisions(match_id).keys())]
    return finding


def _check_doubled(evidence: Evidence) -> InvariantReport:
    finding = InvariantReport()
    asked = {ask.id for ask in evidence.asks}
    for match_id in evidence.matches:
        decisions = evidence.decisions(match_id)
        finding.checked += len(decisions)
        finding.broken += [f"{id} was never asked" for id in decisions if id not in asked]
    return finding


def _check_given(evidence: Evidence) -> InvariantReport:
    given: dict[str, list[Any]] = defaultdict(list)
    for ask in evidence.asks:
        given[ask.id].append(ask.action)
    finding = InvariantReport()
    for match_id in evidence.matches:
        decisions = evidence.decisions(match_id)
        finding.checked += len(decisions)
        finding.broken += [
            f"{id}: {decision.action} was not given"
            for id, decision in decisions.items()
            if decision.action not in given[id]
        ]
    return finding


def _check_runners(evidence: Evidence) -> InvariantReport:
    """Find connections that are used again for a seat after another one was: each runner opens its own."""
    finding = InvariantReport()
    by_seat: dict[tuple[str, int], list[Ask]] = defaultdict(list)
    for ask in evidence.asks:
        by_seat[ask.match_id, ask.seat].append(ask)
    for asks in by_seat.values():
        finding.checked += len(asks)
        past: set[tuple[str, int]] = set()
        for before, ask in pairwise(asks):
            if ask.origin != before.origin:
                past.add(before.origin)
            if ask.origin in past:
                finding.broken.append(f"{ask.id} was asked by a runner that was superseded")
    return finding


def _check_faults(evidence: Evidence) -> InvariantReport:
    with evidence.service.database.read() as session:
        reports = [f"{fault.match_id}: {fault.code} {fault.detail}" for fault in session.scalars(select(Fault))]
        counted = session.execute(select(MatchSeat.match_id, MatchSeat.faults).where(MatchSeat.faults > 0)).all()
    reports += [f"{match_id}: a seat has {faults} faults" for match_id, faults in counted]
    return InvariantReport(sum(len(lines) for lines in evidence.lines.values()), reports)


def _check_rows(evidence: Evidence) -> InvariantReport:
    changed = [id for id, rows in evidence.rows.items() if list(evidence.lines.get(id, ())[: len(rows)]) != list(rows)]
    return InvariantReport(sum(map(len, evidence.rows.values())), [f"{id}: recorded rows changed" for id in changed])


def _check_logs(evidence: Evidence) -> InvariantReport:
    finding = InvariantReport()
    for match_id, match in evidence.matches.items():
        if match.status != "finished":
            continue
        report = verify(list(evidence.lines[match_id]))
        finding.checked += 1
        if not (report.ok and report.revealed):
            finding.broken.append(f"{match_id}: {report.reason or 'the seed is not revealed'}")
    return finding


def _check_audit(evidence: Evidence) -> InvariantReport:
    return InvariantReport(len(evidence.matches), evidence.service.differences())


def _check_ratings(evidence: Evidence) -> InvariantReport:
    with evidence.service.database.read() as session:
        sums = session.execute(
            select(Rating.ladder_id, func.sum(Rating.value + Rating.balance), func.count()).group_by(Rating.ladder_id)
        ).all()
        on_ladders = session.scalars(
            select(func.count()).select_from(Result).where(Result.ladder_id.is_not(None))
        ).one()
    wrong = [f"{ladder}: {total} for {bots} bots" for ladder, total, bots in sums if total != bots * START]
    return InvariantReport(on_ladders, wrong)


_CHECKS: dict[Invariant, Callable[[Evidence], InvariantReport]] = {
    Invariant.ARRANGED_ONCE: _check_arranged,
    Invariant.FINISHED_ONCE: _check_finished,
    Invariant.ONE_BODY: _check_bodies,
    Invariant.NO_REWIND: _check_rewinds,
    Invariant.NONE_LOST: _check_lost,
    Invariant.NONE_DOUBLED: _check_doubled,
    Invariant.GIVEN: _check_given,
    Invariant.ONE_RUNNER: _check_runners,
    Invariant.NO_FAULT: _check_faults,
    Invariant.ROWS_KEPT: _check_rows,
    Invariant.VERIFIED: _check_logs,
    Invariant.AUDIT: _check_audit,
    Invariant.RATINGS_SUM: _check_ratings,
}


def check_kept_runners(evidence: Evidence) -> InvariantReport:
    """Check that every match was claimed once. Use this where nothing happened to a runner."""
    moved = [f"{id}: claimed {match.epoch} times" for id, match in evidence.matches.items() if match.epoch > 1]
    return InvariantReport(len(evidence.matches), moved)


def describe(broken: Iterable[Invariant]) -> str:
    return "; ".join(broken) or "none"
