"""Examinations and certificates in the record: when one is due, what it attests, and that rated play needs it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from referee.errors import NoCertificate, StaleEpoch
from referee.store import bots, certificates, checks, examinations, house
from referee.store.checks import Card
from referee.store.events import tabling, tournaments
from referee.store.examinations import GIVEN_UP, LOST_BEFORE_GIVEN_UP, Claimed, Outcome
from referee.store.play import choosing, claims, waiting
from referee.store.play.leases import LEASE_S
from referee.store.schema import Bot, Certificate, Examination, Match, MatchSeat, TournamentEntry
from tests.store.events import begin, begun, create, enter, entered, go_on
from tests.store.world import GAME, World

BOTH = certificates.rules_today([GAME, "pool-nap"])
on_one_database = pytest.mark.parametrize("url", ["sqlite"], indirect=True)  # nothing there differs between the two


def called(world: World, bot_id: str, version: str = "1.0", *, thorough: bool = False) -> None:
    """The bot is asked for its card once more."""
    with world.database.write() as session:
        bots.request_check(session, bot_id, thorough=thorough)
        (check,) = checks.claim_due_checks(session)
        checks.finish_check(session, bot_id, check.epoch, {"ok": True}, Card(version, [GAME, "pool-nap"], 100))


def claimed(world: World) -> Claimed:
    with world.database.write() as session:
        (one,) = examinations.claim_due(session, 3)
        return one


def ended(world: World, one: Claimed, passed: Mapping[str, int], version: str | None = "1.0") -> None:
    with world.database.write() as session:
        examinations.finish(session, one, Outcome(version, BOTH, passed, "1", {"verdict": "…"}, ["budget"]))


def examined(world: World, passed: Mapping[str, int] = BOTH, version: str = "1.0") -> None:
    ended(world, claimed(world), passed, version)


def newcomer(world: World) -> str:
    """A bot that is verified, and about to be examined."""
    with world.database.write() as session:
        owner = world._account(session)
        bot_id = bots.register(session, owner, f"New {next(world.numbers)}", "http://127.0.0.1:8999/").id
    called(world, bot_id)
    return bot_id


def row_of(world: World, bot_id: str) -> Examination:
    with world.database.read() as session:
        return session.get_one(Examination, bot_id)


def held(world: World, bot_id: str) -> list[tuple[str, dict[str, Any], str | None]]:
    """(version, rules, why it ended) of all its certificates, the newest first."""
    with world.database.read() as session:
        found = certificates.list_certificates(session, bot_id).items
        return [(one.version, one.rules, one.ended_reason) for one in found]


def lacking(world: World, bot_id: str, game: str = GAME) -> str | None:
    with world.database.read() as session:
        return certificates.missing(session, session.get_one(Bot, bot_id), game)


def preflight_of(world: World, tournament_id: str, bot_id: str) -> tuple[str, str | None]:
    with world.database.read() as session:
        entry = session.get_one(TournamentEntry, (tournament_id, bot_id))
        return entry.preflight, entry.preflight_reason


def playing_in(world: World, tournament_id: str) -> set[str]:
    """The entries whose own bot the event would seat now."""
    with world.database.read() as session:
        tournament = tournaments.get_tournament(session, tournament_id)
        entered_in = TournamentEntry.tournament_id == tournament_id
        entries = list(session.scalars(select(TournamentEntry.bot_id).where(entered_in)))
        return {one for one, by in tabling.players_of(session, tournament, entries).items() if by == one}


def change(world: World, bot_id: str, **values: Any) -> None:
    with world.database.write() as session:
        session.execute(update(Examination).where(Examination.bot_id == bot_id).values(**values))


def test_what_was_passed_is_attested_and_opens_rated_play_in_these_games_alone(world: World) -> None:
    bot_id, rival = newcomer(world), world.bot()
    rated, friendly = create(world), create(world, rated=False)
    enter(world, friendly, bot_id)
    world.match([bot_id, rival], rated=False)

    with pytest.raises(NoCertificate, match="being examined just now"):
        enter(world, rated, bot_id)
    examined(world, {GAME: BOTH[GAME]})
    enter(world, rated, bot_id)
    world.match([bot_id, rival])

    with pytest.raises(NoCertificate, match=r"no certificate for pool-nap: its last examination failed.*POST .*/check"):
        world.match([bot_id, rival], game="pool-nap")
    with world.database.read() as session:
        one = certificates.present(session, session.get_one(Bot, bot_id))
        assert one is not None
        assert (one.rules, one.warnings, one.protocol) == ({GAME: BOTH[GAME]}, ["budget"], "1")
        assert certificates.missing(session, session.get_one(Bot, bot_id), "rummy-royal") is not None


def test_a_certificate_is_bound_to_the_version_of_the_bot_and_of_the_rules(world: World) -> None:
    bot_id = world.bot()
    assert lacking(world, bot_id) is None

    called(world, bot_id, "2.0")
    assert "being examined" in (lacking(world, bot_id) or "")
    examined(world, version="2.0")
    assert lacking(world, bot_id) is None
    called(world, bot_id, "1.0")
    assert lacking(world, bot_id) is None  # it went back; what was attested of that version holds

    older = {GAME: BOTH[GAME] - 1, "pool-nap": BOTH["pool-nap"]}
    with world.database.write() as session:
        session.execute(update(Certificate).values(rules=older))
    assert lacking(world, bot_id) is not None
    assert lacking(world, bot_id, "pool-nap") is None
    called(world, bot_id, "1.0")
    assert row_of(world, bot_id).state == "due"


@on_one_database
def test_a_failure_ends_the_certificate_of_its_version_and_the_history_stays(world: World) -> None:
    bot_id = newcomer(world)
    examined(world)
    called(world, bot_id, thorough=True)
    examined(world, {})
    called(world, bot_id, thorough=True)
    examined(world)

    assert held(world, bot_id) == [("1.0", BOTH, None), ("1.0", BOTH, "failed")]
    called(world, bot_id, thorough=True)
    examined(world)
    assert [reason for *_, reason in held(world, bot_id)] == [None, "replaced", "failed"]


@on_one_database
def test_a_young_certificate_spares_the_suite_unless_the_owner_asks(world: World) -> None:
    bot_id = newcomer(world)
    examined(world)

    called(world, bot_id)
    assert row_of(world, bot_id).state == "idle"
    called(world, bot_id, thorough=True)
    assert row_of(world, bot_id).state == "due"
    examined(world)
    assert not row_of(world, bot_id).wanted
    world.clock.moment += timedelta(days=31)
    called(world, bot_id)
    assert row_of(world, bot_id).state == "due"


@on_one_database
def test_what_failed_is_not_examined_at_every_check_but_after_a_while(world: World) -> None:
    bot_id = newcomer(world)
    examined(world, {})

    called(world, bot_id)
    assert row_of(world, bot_id).state == "idle"
    called(world, bot_id, "2.0")
    assert row_of(world, bot_id).state == "due"
    examined(world, {}, "2.0")
    world.clock.moment += timedelta(hours=2)
    called(world, bot_id, "2.0")
    assert row_of(world, bot_id).state == "due"


def test_progress_is_told_and_holds_the_claim_on(world: World) -> None:
    bot_id = newcomer(world)
    one = claimed(world)

    for asked in (7, 15):
        world.pass_seconds(LEASE_S - 1)
        with world.database.write() as session:
            examinations.tell(session, one, asked, 60, "pool-nap")
            assert examinations.claim_due(session, 1) == []

    row = row_of(world, bot_id)
    assert (row.state, row.asked, row.planned, row.what) == ("running", 15, 60, "pool-nap")
    with world.database.read() as session:
        assert claims.sweep(session).checks_due == 0
    world.pass_seconds(LEASE_S + 1)
    with world.database.read() as session:
        assert claims.sweep(session).checks_due == 1


def test_an_examination_that_was_claimed_anew_or_dropped_writes_nothing(world: World) -> None:
    bot_id = newcomer(world)
    first = claimed(world)
    world.pass_seconds(LEASE_S + 1)
    second = claimed(world)

    with pytest.raises(StaleEpoch):
        ended(world, first, BOTH)
    with world.database.write() as session:
        examinations.give_back(session, second)
    third = claimed(world)
    with world.database.write() as session:
        bot = bots.get_bot(session, bot_id)
        bots.edit(session, bot_id, revision=bot.revision, url="http://127.0.0.1:8998/")
    with pytest.raises(StaleEpoch):
        ended(world, third, BOTH)

    row = row_of(world, bot_id)
    assert (row.state, row.wanted, row.lost) == ("idle", True, 0)
    assert held(world, bot_id) == []


@on_one_database
def test_an_examination_whose_claimers_die_is_given_up(world: World) -> None:
    bot_id = newcomer(world)
    for _ in range(LOST_BEFORE_GIVEN_UP):
        claimed(world)
        world.pass_seconds(LEASE_S + 1)

    with world.database.write() as session:
        assert examinations.claim_due(session, 3) == []

    row = row_of(world, bot_id)
    assert (row.state, row.report) == ("idle", GIVEN_UP)


@on_one_database
def test_a_bot_replaced_while_it_was_examined_is_what_was_examined(world: World) -> None:
    bot_id = newcomer(world)
    one = claimed(world)
    with world.database.write() as session:
        outcome = Outcome("1.1", BOTH, BOTH, "1", {}, games=[GAME, "pool-nap", "chess"], max_calls=3)
        examinations.finish(session, one, outcome)
        bot = bots.get_bot(session, bot_id)
        assert (bot.version, bot.games, bot.max_calls) == ("1.1", [GAME, "pool-nap", "chess"], 3)

    assert held(world, bot_id) == [("1.1", BOTH, None)]
    assert lacking(world, bot_id) is None


@on_one_database
def test_a_bot_called_again_while_it_was_examined_is_what_its_card_said_then(world: World) -> None:
    bot_id = newcomer(world)
    one = claimed(world)
    world.clock.moment += timedelta(seconds=9)
    called(world, bot_id, "2.0")
    ended(world, one, BOTH, "1.0")

    assert held(world, bot_id) == [("1.0", BOTH, None)]
    assert "being examined" in (lacking(world, bot_id) or "")
    assert row_of(world, bot_id).state == "due"


@on_one_database
def test_whoever_is_examined_plays_less_and_whoever_plays_all_it_can_is_examined_later(world: World) -> None:
    bot_id = newcomer(world)
    with world.database.write() as session:
        bots.get_bot(session, bot_id).max_calls = 6
    match_id = world.match([bot_id, world.bot()], rated=False)
    world.claim()

    one = claimed(world)
    with world.database.read() as session:
        left = choosing.calls_left(session, *world.clock.boot())
    with world.database.write() as session:
        examinations.give_back(session, one)
        bots.get_bot(session, bot_id).max_calls = 1

    assert one.at_once == choosing.EXAMINED_AT_ONCE
    assert left[bot_id] == 6 - 1 - one.at_once
    with world.database.write() as session:
        assert examinations.claim_due(session, 3) == []
        session.execute(update(Match).where(Match.id == match_id).values(status="finished"))
    assert claimed(world).at_once == 1


def test_an_event_leaves_out_whoever_lost_its_certificate_and_takes_it_back(world: World) -> None:
    tournament_id, seated = entered(world, 3, stand_in="random")
    called(world, seated[0], thorough=True)
    examined(world, {"pool-nap": BOTH["pool-nap"]})

    begin(world, tournament_id)

    state, reason = preflight_of(world, tournament_id, seated[0])
    assert state == "absent"
    assert (reason or "").startswith("no_certificate: ")
    assert {state for state, _ in (preflight_of(world, tournament_id, one) for one in seated[1:])} == {"ready"}
    with world.database.read() as session:
        stood_in = session.scalars(select(MatchSeat.entrant_id).where(MatchSeat.entrant_id.is_not(None))).all()
        assert set(stood_in) == {seated[0]}
    called(world, seated[0], thorough=True)
    examined(world)
    go_on(world.database, tournament_id)
    assert preflight_of(world, tournament_id, seated[0]) == ("ready", None)


@on_one_database
def test_an_event_waits_for_examinations_before_it_begins(world: World) -> None:
    tournament_id, seated = entered(world, 3)
    with world.database.write() as session:
        session.execute(update(Certificate).where(Certificate.bot_id == seated[1]).values(version="0.9"))
    begin(world, tournament_id)

    assert preflight_of(world, tournament_id, seated[1])[0] == "asked"
    assert row_of(world, seated[1]).state == "due"
    examined(world)
    assert "begun" in go_on(world.database, tournament_id)
    assert preflight_of(world, tournament_id, seated[1])[0] == "ready"


@on_one_database
def test_a_ladder_matches_nobody_whose_version_failed(world: World) -> None:
    tournament_id, seated = begun(world, 3, format="ladder", format_options={"at_once": 1})
    called(world, seated[0], "2.0")
    assert lacking(world, seated[0]) is not None
    assert seated[0] in playing_in(world, tournament_id)  # it keeps its place until the suite has spoken

    examined(world, {}, "2.0")
    assert seated[0] not in playing_in(world, tournament_id)
    with world.database.read() as session:
        found = waiting.waiting(session, seated[0])
    assert {event.reason.code for event in found.events} <= {"no_certificate"}


@on_one_database
def test_events_of_before_go_on_with_bots_that_have_no_certificate(world: World) -> None:
    cup, seated = begun(world, 3)
    ladder, climbing = begun(world, 2, format="ladder", format_options={"at_once": 1})
    with world.database.write() as session:
        session.execute(delete(Certificate))
    assert playing_in(world, cup) == set()

    for bot_id in (*seated, *climbing):
        change(world, bot_id, excused_before=world.clock.now(), state="due", due_at=world.clock.now())

    assert playing_in(world, cup) == {*seated}
    assert playing_in(world, ladder) == {*climbing}
    for bot_id in (seated[0], climbing[0]):
        change(world, bot_id, state="idle", version="1.0")  # examined, and nothing passed
    assert playing_in(world, cup) == {*seated}
    assert playing_in(world, ladder) == {climbing[1]}
    another = create(world)
    with pytest.raises(NoCertificate):
        enter(world, another, seated[0])


def test_house_bots_need_no_certificate(world: World) -> None:
    with world.database.write() as session:
        assert certificates.missing(session, house.house_bot(session, "sound"), GAME) is None


def test_owners_take_turns_and_nobody_waits_for_all_bots_of_another(world: World) -> None:
    with world.database.write() as session:
        owners = [world._account(session) for _ in range(2)]
        greedy = [
            bots.register(session, owners[0], f"Greedy {number}", f"http://127.0.0.1:{8100 + number}/").id
            for number in range(5)
        ]
    for _ in greedy:
        with world.database.write() as session:
            (check,) = (one for one in checks.claim_due_checks(session, 1))
            bot = bots.get_bot(session, check.bot_id)
            checks.finish_check(session, bot.id, check.epoch, {"ok": True}, Card("1.0", [GAME], 100))
            examinations.want(session, bot.id)
    world.clock.moment += timedelta(minutes=1)
    modest = newcomer(world)

    with world.database.write() as session:
        first = examinations.claim_due(session, 2)
        second = examinations.claim_due(session, 2)

    assert modest in {one.bot_id for one in first}
    assert {one.bot_id for one in (*first, *second)} - {modest} <= {*greedy}
    assert len(first) == len(second) == 2


@on_one_database
def test_new_versions_one_after_the_other_do_not_stand_in_for_a_certificate(world: World) -> None:
    ladder, seated = begun(world, 3, format="ladder", format_options={"at_once": 1})
    called(world, seated[0], "2.0")
    assert seated[0] in playing_in(world, ladder)
    examined(world, {}, "2.0")

    called(world, seated[0], "3.0")
    assert row_of(world, seated[0]).state == "due"
    assert seated[0] not in playing_in(world, ladder)  # version 2.0 has used up what 1.0 had earned
    examined(world, BOTH, "3.0")
    assert seated[0] in playing_in(world, ladder)
    called(world, seated[0], "4.0")
    assert seated[0] in playing_in(world, ladder)


@on_one_database
def test_new_rules_make_bots_due_and_who_had_a_certificate_keeps_its_place_until_then(world: World) -> None:
    ladder, seated = begun(world, 2, format="ladder", format_options={"at_once": 1})
    idler = world.bot()
    with world.database.write() as session:
        before = {GAME: BOTH[GAME] - 1, "pool-nap": BOTH["pool-nap"]}
        session.execute(update(Certificate).where(Certificate.bot_id != idler).values(rules=before))
    assert playing_in(world, ladder) == set()
    with world.database.write() as session:
        examinations.catch_up(session)

    assert {row_of(world, bot_id).state for bot_id in seated} == {"due"}
    assert row_of(world, idler).state == "idle"
    assert playing_in(world, ladder) == {*seated}
    with world.database.write() as session:
        (one,) = examinations.claim_due(session, 1)
    ended(world, one, {"pool-nap": BOTH["pool-nap"]})
    assert playing_in(world, ladder) == {*seated} - {one.bot_id}
    with world.database.write() as session:
        examinations.catch_up(session)
    assert row_of(world, one.bot_id).state == "idle"


@on_one_database
def test_a_card_that_names_another_version_every_time_is_examined_once(world: World) -> None:
    bot_id = newcomer(world)
    ended(world, claimed(world), BOTH, "1.1")

    with world.database.write() as session:
        assert checks.claim_due_checks(session) == []
        assert bots.get_bot(session, bot_id).version == "1.1"
    assert row_of(world, bot_id).state == "idle"
    assert lacking(world, bot_id) is None


@on_one_database
@pytest.mark.parametrize("pauses", [False, True])
def test_nobody_is_examined_whose_last_check_failed(world: World, pauses: bool) -> None:
    bot_id = newcomer(world)
    with world.database.write() as session:
        if pauses:
            bots.pause(session, bot_id)
        bots.request_check(session, bot_id)
        (check,) = checks.claim_due_checks(session)
        failed = {"ok": False, "challenge": {"ok": False, "code": "wrong_proof"}, "card": None}
        checks.finish_check(session, bot_id, check.epoch, failed, None)

        assert examinations.claim_due(session, 3) == []
        assert claims.sweep(session).checks_due == 0
    called(world, bot_id)
    assert claimed(world).bot_id == bot_id
