"""Rows, sealed answers and fault reports of running matches."""

import pytest

from referee.match.match import Answer, Match
from referee.matches.lists import fault_reports
from referee.matches.logs import logs, recording
from referee.matches.logs.recording import MAX_REPORT_BYTES, FaultReport, MatchUpdate, PendingAnswer
from referee.matches.queue.claims import Claim
from referee.workflows.voids import match_cancellation
from tests.database.checks import on_one_database
from tests.database.world import World
from tests.surroundings import MASTER_KEY


def record(world: World, *records: MatchUpdate) -> set[str]:
    with world.database.write(durable=False) as session:
        return recording.record_batch(session, records)


def lines(world: World, match_id: str) -> list[bytes]:
    return world.read(logs.log_lines, match_id)


@pytest.fixture
def claim(world: World) -> Claim:
    world.match()
    return world.claim()[0]


def test_K4_a_stale_writer_writes_nothing_and_its_neighbours_do(world: World) -> None:
    world.match()
    (old,) = world.claim()
    world.pass_seconds(16)
    (new,) = world.claim()
    other_id = world.match()
    (other,) = world.claim()

    stale = MatchUpdate(*old, 0, [b"stale"], [PendingAnswer(0, 0, {"seat": 0})], (), [FaultReport(0, 0, "b", "x")])
    lost = record(world, stale, MatchUpdate(*other, 0, [b"fine"]))

    assert lost == {old.match_id}
    assert (lines(world, old.match_id), lines(world, other_id)) == ([], [b"fine"])
    assert world.load(old.match_id).sealed == []
    assert record(world, MatchUpdate(*new, 0, [b"ours"])) == set()


@on_one_database
def test_a_cancelled_match_is_stale_for_its_runner(world: World, claim: Claim) -> None:
    world.write(match_cancellation.cancel_match, claim.match_id, master_key=MASTER_KEY)

    assert record(world, MatchUpdate(*claim, 0, [b"a"])) == {claim.match_id}


@on_one_database
def test_B15_rows_that_do_not_continue_the_record_are_refused(world: World, claim: Claim) -> None:
    record(world, MatchUpdate(*claim, 0, [b"a", b"b"]))

    for start in (0, 1, 3):
        assert record(world, MatchUpdate(*claim, start, [b"c"])) == {claim.match_id}
    assert lines(world, claim.match_id) == [b"a", b"b"]


def test_several_matches_are_recorded_in_one_transaction_and_one_of_them_twice(world: World) -> None:
    one, other = (world.match(), world.match())
    held = world.claim(2)
    updates = [MatchUpdate(*claim, 0, [b"a", b"b"]) for claim in held]

    assert record(world, *updates, MatchUpdate(*held[0], 2, [b"c"])) == set()

    assert (lines(world, one), lines(world, other)) == ([b"a", b"b", b"c"], [b"a", b"b"])


def test_an_answer_is_not_stored_sealed_if_the_last_of_its_question_arrives_in_the_same_batch(
    world: World, claim: Claim
) -> None:
    earlier, same, next_question = (PendingAnswer(n, seat, {"seat": seat}) for n, seat in ((0, 0), (0, 1), (1, 0)))
    record(world, MatchUpdate(*claim, sealed=[earlier]))
    batch = [
        MatchUpdate(*claim, sealed=[same]),
        MatchUpdate(*claim, 0, [b"{}"], unsealed=[0]),
        MatchUpdate(*claim, 1, sealed=[next_question]),
    ]

    assert record(world, *batch) == set()
    assert lines(world, claim.match_id) == [b"{}"]
    assert world.load(claim.match_id).sealed == [{"seat": 0}]
    assert batch[0].followed_by(batch[1]).sealed == []
    assert batch[1].followed_by(batch[2]).sealed == [next_question]


def test_sealed_answers_wait_for_the_last_of_their_question(world: World, claim: Claim) -> None:
    answers = [Answer(0, choice=1, ms=5).to_json(), Answer(1, trouble="deadline").to_json()]
    record(world, MatchUpdate(*claim, sealed=[PendingAnswer(0, 1, answers[1])]))
    record(world, MatchUpdate(*claim, sealed=[PendingAnswer(0, 0, answers[0])]))
    waiting = world.load(claim.match_id).sealed
    record(world, MatchUpdate(*claim, 0, [b"{}"], unsealed=[0]))

    assert waiting == answers
    assert world.load(claim.match_id).sealed == []


@on_one_database
def test_a_match_goes_on_from_its_recorded_answers(world: World) -> None:
    world.match(options={"rounds": 2})
    (claim,) = world.claim()
    undisturbed = world.resumed(claim.match_id)
    disturbed = world.resumed(claim.match_id)
    record(world, MatchUpdate(*claim, 0, disturbed.lines))
    start = len(disturbed.lines)
    while not undisturbed.over:
        for request in undisturbed.requests():
            undisturbed.receive(Answer(request.seat, choice=0, ms=7))
        # The same answers, but after each the runner dies, and the next continues from the database.
        disturbed = answered_and_killed(world, claim, disturbed, start)
        start = len(world.load(claim.match_id).lines)

    assert disturbed.lines == undisturbed.lines


def answered_and_killed(world: World, claim: Claim, match: Match, start: int) -> Match:
    for request in match.requests():
        answer = Answer(request.seat, choice=0, ms=7)
        rows = match.receive(answer)
        if rows:
            written = MatchUpdate(*claim, start, match.lines[start:], unsealed=[request.n])
        else:
            written = MatchUpdate(
                claim.match_id, claim.epoch, start, sealed=[PendingAnswer(request.n, request.seat, answer.to_json())]
            )
        assert record(world, written) == set()
        match, bodies = world.resumed(claim.match_id), match.requests()
        assert match.requests() == bodies  # the open question is asked again as it was
        start = len(world.load(claim.match_id).lines)
    return match


def test_evidence_is_kept_within_limits_and_shown_when_the_match_is_over(world: World) -> None:
    seated = world.bots(2)
    world.match(seated)
    (claim,) = world.claim()
    long = b"y" * 100_000, b"x" * 100_000
    bad = FaultReport(3, 1, seated[1], "bad_json", "broken \0 text", *long, {"connect_ms": 1})
    record(world, MatchUpdate(*claim, fault_reports=[bad]))
    assert world.read(fault_reports.list_faults, bot_id=seated[1]).items == []
    world.finish(claim)

    with world.database.read() as session:
        (told,) = fault_reports.list_faults(session, bot_id=seated[1]).items
        fault = fault_reports.get_fault(session, told.fault.id, told.owner_id).fault
    assert (fault.code, fault.n, fault.seat, fault.timing) == ("bad_json", 3, 1, {"connect_ms": 1})
    assert (fault.request, fault.reply) == tuple(each[:MAX_REPORT_BYTES] for each in long)
    assert "\0" not in fault.detail


@on_one_database
def test_recording_holds_the_claim_on(world: World, claim: Claim) -> None:
    for row in range(4):
        world.pass_seconds(10)
        assert record(world, MatchUpdate(*claim, row, [b"x"])) == set()
    assert world.claim() == []
