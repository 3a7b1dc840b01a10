"""Certificates: what they attest, when they end, and that rated play needs a valid one."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from referee.bots import certificates, checks, house_bots
from referee.bots.tables import Bot, Certificate
from referee.errors import NoCertificate
from referee.matches.tables import MatchSeat
from referee.protocol.messages import PROTOCOL
from referee.workflows.bots import check_claims
from referee.workflows.explaining import waiting
from tests.database.checks import (
    BOTH,
    called,
    change,
    checked,
    ended,
    held,
    lacking,
    newcomer,
    on_one_database,
    playing_in,
    preflight_of,
    row_of,
)
from tests.database.tournaments import begin, begun, create, enter, entered, go_on
from tests.database.world import GAME, World


def test_what_was_passed_is_attested_and_opens_rated_play_in_these_games_alone(world: World) -> None:
    bot_id, rival = newcomer(world), world.bot()
    rated, friendly = create(world), create(world, rated=False)
    enter(world, friendly, bot_id)
    world.match([bot_id, rival], rated=False)

    with pytest.raises(NoCertificate, match="a check is in progress"):
        enter(world, rated, bot_id)
    checked(world, {GAME: BOTH[GAME]})
    enter(world, rated, bot_id)
    world.match([bot_id, rival])

    with pytest.raises(NoCertificate, match=r"no certificate for pool-nap: its last check failed.*POST .*/check"):
        world.match([bot_id, rival], game="pool-nap")
    with world.database.read() as session:
        one = certificates.current_certificate(session, session.get_one(Bot, bot_id))
        assert one is not None
        assert (one.rules, one.warnings, one.protocol) == ({GAME: BOTH[GAME]}, ["budget"], PROTOCOL)
        assert (
            certificates.explain_missing_certificate(session, session.get_one(Bot, bot_id), "rummy-royal") is not None
        )


def test_a_certificate_is_bound_to_the_version_of_the_bot_and_of_the_rules(world: World) -> None:
    bot_id = world.bot()
    assert lacking(world, bot_id) is None

    called(world, bot_id, "2.0")
    assert "a check is in progress" in (lacking(world, bot_id) or "")
    checked(world, version="2.0")
    assert lacking(world, bot_id) is None
    called(world, bot_id, "1.0")
    assert lacking(world, bot_id) is None  # back to the old version, whose certificate is still valid

    older = {GAME: BOTH[GAME] - 1, "pool-nap": BOTH["pool-nap"]}
    world.execute(update(Certificate).values(rules=older))
    assert lacking(world, bot_id) is not None
    assert lacking(world, bot_id, "pool-nap") is None
    called(world, bot_id, "1.0")
    assert row_of(world, bot_id).state == "due"


@on_one_database
def test_a_failure_ends_the_certificate_of_its_version_and_the_history_stays(world: World) -> None:
    bot_id = newcomer(world)
    checked(world)
    called(world, bot_id, with_check=True)
    checked(world, {})
    called(world, bot_id, with_check=True)
    checked(world)

    assert held(world, bot_id) == [("1.0", BOTH, None), ("1.0", BOTH, "failed")]
    called(world, bot_id, with_check=True)
    checked(world)
    assert [reason for *_, reason in held(world, bot_id)] == [None, "replaced", "failed"]


@on_one_database
def test_a_young_certificate_spares_the_suite_unless_the_owner_asks(world: World) -> None:
    bot_id = newcomer(world)
    checked(world)

    called(world, bot_id)
    assert row_of(world, bot_id).state == "idle"
    called(world, bot_id, with_check=True)
    assert row_of(world, bot_id).state == "due"
    checked(world)
    assert not row_of(world, bot_id).requested_by_owner
    world.clock.moment += timedelta(days=31)
    called(world, bot_id)
    assert row_of(world, bot_id).state == "due"


@on_one_database
def test_what_failed_is_not_checked_after_every_handshake_but_after_a_while(world: World) -> None:
    bot_id = newcomer(world)
    checked(world, {})

    called(world, bot_id)
    assert row_of(world, bot_id).state == "idle"
    called(world, bot_id, "2.0")
    assert row_of(world, bot_id).state == "due"
    checked(world, {}, "2.0")
    world.clock.moment += timedelta(hours=2)
    called(world, bot_id, "2.0")
    assert row_of(world, bot_id).state == "due"


def test_an_event_leaves_out_whoever_lost_its_certificate_and_takes_it_back(world: World) -> None:
    tournament_id, seated = entered(world, 3, substitute="house:1")
    called(world, seated[0], with_check=True)
    checked(world, {"pool-nap": BOTH["pool-nap"]})

    begin(world, tournament_id)

    state, reason = preflight_of(world, tournament_id, seated[0])
    assert state == "absent"
    assert (reason or "").startswith("no_certificate: ")
    assert {state for state, _ in (preflight_of(world, tournament_id, one) for one in seated[1:])} == {"ready"}
    with world.database.read() as session:
        stood_in = session.scalars(select(MatchSeat.entrant_id).where(MatchSeat.entrant_id.is_not(None))).all()
        assert set(stood_in) == {seated[0]}
    called(world, seated[0], with_check=True)
    checked(world)
    go_on(world.database, tournament_id)
    assert preflight_of(world, tournament_id, seated[0]) == ("ready", None)


@on_one_database
def test_a_tournament_waits_for_checks_before_it_begins(world: World) -> None:
    tournament_id, seated = entered(world, 3)
    world.execute(update(Certificate).where(Certificate.bot_id == seated[1]).values(version="0.9"))
    begin(world, tournament_id)

    assert preflight_of(world, tournament_id, seated[1])[0] == "asked"
    assert row_of(world, seated[1]).state == "due"
    checked(world)
    assert "begun" in go_on(world.database, tournament_id)
    assert preflight_of(world, tournament_id, seated[1])[0] == "ready"


@on_one_database
def test_a_tournament_seats_nobody_whose_version_failed(world: World) -> None:
    tournament_id, seated = begun(world, 3)
    called(world, seated[0], "2.0")
    assert lacking(world, seated[0]) is not None
    assert seated[0] in playing_in(world, tournament_id)  # it stays until the check is over

    checked(world, {}, "2.0")
    assert seated[0] not in playing_in(world, tournament_id)
    found = world.read(waiting.explain_waiting, seated[0], runner_slots=100)
    assert {event.reason.code for event in found.tournaments} <= {"no_certificate"}


def test_house_bots_need_no_certificate(world: World) -> None:
    bot_id = world.write(house_bots.get_or_create_house_bot, "sound").id
    assert lacking(world, bot_id) is None


@on_one_database
def test_new_versions_one_after_the_other_do_not_stand_in_for_a_certificate(world: World) -> None:
    cup, seated = begun(world, 3)
    called(world, seated[0], "2.0")
    assert seated[0] in playing_in(world, cup)
    checked(world, {}, "2.0")

    called(world, seated[0], "3.0")
    assert row_of(world, seated[0]).state == "due"
    assert seated[0] not in playing_in(world, cup)  # version 2.0 ended the grace that 1.0 had
    checked(world, BOTH, "3.0")
    assert seated[0] in playing_in(world, cup)
    called(world, seated[0], "4.0")
    assert seated[0] in playing_in(world, cup)


@on_one_database
def test_new_rules_make_bots_due_and_who_had_a_certificate_keeps_its_place_until_then(world: World) -> None:
    cup, seated = begun(world, 2)
    idler = world.bot()
    with world.database.write() as session:
        before = {GAME: BOTH[GAME] - 1, "pool-nap": BOTH["pool-nap"]}
        session.execute(update(Certificate).where(Certificate.bot_id != idler).values(rules=before))
    assert playing_in(world, cup) == set()
    world.write(checks.catch_up)

    assert {row_of(world, bot_id).state for bot_id in seated} == {"due"}
    assert row_of(world, idler).state == "idle"
    assert playing_in(world, cup) == {*seated}
    (one,) = world.write(check_claims.claim_due, 1)
    ended(world, one, {"pool-nap": BOTH["pool-nap"]})
    assert playing_in(world, cup) == {*seated} - {one.bot_id}
    world.write(checks.catch_up)
    assert row_of(world, one.bot_id).state == "idle"


@on_one_database
def test_a_certificate_for_another_protocol_does_not_count_and_its_bot_stays_until_checked(world: World) -> None:
    cup, seated = begun(world, 2)
    for bot_id in seated:
        change(world, bot_id, version="1.0", rules=BOTH, report={"protocol": "1"}, ended_at=world.clock.utc_now())
    world.execute(update(Certificate).values(protocol="1"))

    assert f"it was not checked with protocol {PROTOCOL}; request" in (lacking(world, seated[0]) or "")
    with world.database.read() as session:
        bot = session.get_one(Bot, seated[0])
        assert certificates.current_certificate(session, bot) is None
        (held_before,) = certificates.list_certificates(session, bot.id).items
        assert certificates.valid_games(held_before, bot) == []
    world.write(checks.catch_up)
    assert {row_of(world, bot_id).state for bot_id in seated} == {"due"}
    assert playing_in(world, cup) == {*seated}
    first, second = world.write(check_claims.claim_due, 2)
    ended(world, first, BOTH)
    ended(world, second, {})
    assert lacking(world, first.bot_id) is None
    assert playing_in(world, cup) == {first.bot_id}
