"""Runners are killed and frozen at all kinds of moments: each match still ends once, with the same log."""

import hashlib
import os
import random
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import select, update

from referee.audit.database_audit import audit
from referee.db.clock import SystemClock
from referee.db.engine import Database
from referee.errors import StaleEpoch
from referee.ladders.tables import Rating
from referee.match.chance import CommittedChance
from referee.match.match import Answer, Match, Request
from referee.matches import matches
from referee.matches.deals import openings
from referee.matches.logs import logs
from referee.matches.logs.recording import MatchUpdate, PendingAnswer, record_batch
from referee.matches.queue import claims
from referee.matches.queue.claims import Claim
from referee.matches.states import PLAYABLE
from referee.matches.tables import Result, StoredMatch
from referee.ratings.elo import START
from referee.workflows.ending import match_end, match_loading
from tests.database.world import World, outcome
from tests.surroundings import MASTER_KEY

MATCHES = 10
RUNNERS = 3
ACCIDENTS = 12
MOST_RUNNERS = 300
PATIENCE_S = 60.0
SEED = int(os.environ.get("REFEREE_CAMPAIGN_SEED", "20"))

NOTHING_LEFT, SAW_STALE = 0, 3  # exit codes of a runner


def test_K1_K4_runners_killed_and_frozen_at_random_lose_and_double_nothing(world: World) -> None:
    seated = world.bots(4)
    dice = random.Random(SEED)
    made = [world.match(dice.sample(seated, 2), options={"rounds": 3}) for _ in range(MATCHES)]
    # Processes that compete for the writer and the disk for longer than usual are no accident of this campaign.
    campaign = Campaign(Database(str_url(world), clock=SystemClock(), write_wait_s=PATIENCE_S), dice)

    campaign.run()

    print(f"seed {SEED}: {campaign.killed} killed, {campaign.frozen} frozen, {campaign.stale} found themselves stale")
    assert campaign.killed >= 5
    assert campaign.frozen >= 5
    assert campaign.stale >= 1
    with world.database.read() as session:
        assert {matches.get_match(session, match_id).status for match_id in made} == {"finished"}
        assert sorted(session.scalars(select(Result.match_id))) == sorted(made)
        assert [str(difference) for difference in audit(session)] == []
        assert sum(session.scalars(select(Rating.value))) == 4 * START
        stored = {match_id: logs.log_lines(session, match_id) for match_id in made}
    for match_id, lines in stored.items():
        assert lines[:-1] == undisturbed(world, match_id)


def undisturbed(world: World, match_id: str) -> list[bytes]:
    """Return the log of the same match, with the same answers, played without interruption."""
    loaded = world.load(match_id)
    match = Match(loaded.header, CommittedChance(loaded.seed, loaded.group_id, loaded.nonces or []))
    match.begin()
    while not match.over:
        for request in match.requests():
            match.receive(answered(match_id, request))
    return match.lines


def answered(match_id: str, request: Request) -> Answer:
    """Return an answer that depends only on the question, as from a bot that stores its answers."""
    digest = hashlib.sha256(f"{match_id} {request.n} {request.seat}".encode()).digest()
    return Answer(request.seat, choice=digest[0] % len(request.legal_actions), ms=digest[1])


@dataclass
class Campaign:
    """Start runners, each with a planned accident, until every match is over."""

    database: Database
    dice: random.Random
    killed: int = 0
    frozen: int = 0
    stale: int = 0
    sleeping: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Start runners while matches are open, each with a planned accident until there were enough."""
        running: set[int] = set()
        for number in range(MOST_RUNNERS):
            if not self._left():
                break
            running.add(self._started(number, doomed=self.killed + self.frozen < ACCIDENTS))
            if len(running) == RUNNERS:
                running.discard(self._one_less())
        while running:
            running.discard(self._one_less())
        self._wake()
        self.database.dispose()

    def _started(self, number: int, *, doomed: bool) -> int:
        steps = self.dice.randint(4, 25) if doomed else None
        accident = signal.SIGSTOP if number % 2 else signal.SIGKILL
        pid = os.fork()
        if pid == 0:
            status = 99
            try:
                status = Runner(self.database, steps, accident).run()
            except Exception:
                traceback.print_exc()  # nobody else is notified
                raise
            finally:
                os._exit(status)
        return pid

    def _one_less(self) -> int:
        """Wait until a runner ends or freezes; let its leases expire."""
        pid, status = os.waitpid(-1, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            self.frozen += 1
            self.sleeping.append(pid)
        elif os.WIFSIGNALED(status):
            self.killed += 1
        else:
            self._note(os.waitstatus_to_exitcode(status))
        self._let_leases_run_out()
        if len(self.sleeping) > 2:
            self._wake()
        return pid

    def _wake(self) -> None:
        """Let the frozen runners continue and find their claims lost."""
        for pid in self.sleeping:
            os.kill(pid, signal.SIGCONT)
            self._note(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        self.sleeping.clear()

    def _note(self, code: int) -> None:
        assert code in (NOTHING_LEFT, SAW_STALE), f"a runner ended with {code}"
        self.stale += code == SAW_STALE

    def _let_leases_run_out(self) -> None:
        # All leases: healthy runners lose theirs too, far more often than in practice.
        with self.database.write() as session:
            session.execute(update(StoredMatch).values(lease_until=StoredMatch.lease_until - 60))

    def _left(self) -> bool:
        left = select(StoredMatch.id).where(StoredMatch.status.in_(PLAYABLE)).limit(1)
        with self.database.read() as session:
            return session.scalar(left) is not None


@dataclass
class Runner:
    """Play due matches, one decision of each in turn, until the accident (after ``steps`` writes)."""

    database: Database
    steps: int | None
    accident: signal.Signals
    stale: bool = False
    awoken: bool = False

    def run(self) -> int:
        for _ in range(200):
            claimed = [] if self.awoken else self._claimed()
            if not claimed:
                break
            playing = {claim.match_id: (claim, *self._resumed(claim)) for claim in claimed}
            while playing:
                for match_id, (claim, match, recorded) in list(playing.items()):
                    if self._went_on(claim, match, recorded):
                        playing[match_id] = (claim, match, len(match.lines))
                    else:
                        del playing[match_id]
        return SAW_STALE if self.stale else NOTHING_LEFT

    def _claimed(self) -> list[Claim]:
        with self.database.write() as session:
            if found := claims.claim_matches(session, 3):
                return found
            return [claimed.claim for claimed in claims.claim_isolated_matches(session, 1)]

    def _resumed(self, claim: Claim) -> tuple[Match, int]:
        with self.database.write() as session:
            loaded = match_loading.load_match(session, claim.match_id, master_key=MASTER_KEY)
            opening = openings.claim_opening(session, loaded.group_id)
            if opening is not None:
                openings.record_nonce_hashes(session, opening.group_id, opening.epoch, ["", ""])
                openings.open_group(session, opening.group_id, opening.epoch, ["", ""], [None, None])
        chance = CommittedChance(loaded.seed, loaded.group_id, ["", ""])
        if loaded.lines:
            sealed = [Answer.from_json(one) for one in loaded.sealed]
            match = Match.resume(loaded.header, chance, loaded.lines, sealed)
        else:
            match = Match(loaded.header, chance)
            match.begin()
        return match, len(loaded.lines)

    def _went_on(self, claim: Claim, match: Match, recorded: int) -> bool:
        """Advance a match by a decision; return False when it is over or the claim is lost."""
        if match.over:
            self._write(lambda: self._finish(claim, match, recorded))
            return False
        if len(match.lines) > recorded:
            return self._write(lambda: self._record(MatchUpdate(*claim, recorded, match.lines[recorded:])))
        request = match.requests()[0]
        answer = answered(claim.match_id, request)
        rows = match.receive(answer)
        if match.over:
            return self._went_on(claim, match, recorded)  # the last rows are stored with the result
        if rows:
            written = MatchUpdate(*claim, recorded, match.lines[recorded:], unsealed=[request.n])
        else:
            sealed = [PendingAnswer(request.n, request.seat, answer.to_json())]
            written = MatchUpdate(*claim, recorded, sealed=sealed)
        return self._write(lambda: self._record(written))

    def _write(self, effect: Callable[[], bool]) -> bool:
        try:
            ours = effect()
        except StaleEpoch:
            ours = False
        self.stale = self.stale or not ours
        return ours

    def _record(self, record: MatchUpdate) -> bool:
        self._step()
        with self.database.write(durable=False) as session:
            lost = record_batch(session, [record])
            self._step(inside=True)  # the write is never committed
        self._step()
        return not lost

    def _finish(self, claim: Claim, match: Match, recorded: int) -> bool:
        self._step()
        tail = MatchUpdate(*claim, recorded, match.lines[recorded:])
        with self.database.write() as session:
            match_end.finish_match(session, tail, outcome(match), master_key=MASTER_KEY)
            self._step(inside=True)
        self._step()
        return True

    def _step(self, *, inside: bool = False) -> None:
        """Count a write; the accident happens here."""
        # Frozen inside a transaction it would block all others, which then give up: that has its own test.
        if self.steps is None or (inside and self.accident == signal.SIGSTOP):
            return
        self.steps -= 1
        if self.steps == 0:
            self.steps = None
            os.kill(os.getpid(), self.accident)
            self.awoken = True


def str_url(world: World) -> str:
    return world.database.url.render_as_string(hide_password=False)
