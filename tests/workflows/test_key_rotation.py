"""Rotation of the master key: matches that began before, both keys for an overlap, and the end of the old one."""

import pytest
from sqlalchemy import insert

from referee.audit.database_audit import audit
from referee.house.seat import match_random
from referee.master_keys import MasterKey, parse_key_file, render_key_file
from referee.match.match import Answer, Match
from referee.match.signature import BadSignature, head_after
from referee.match.signing_keys import SigningKey
from referee.match.verification import verify
from referee.matches.logs import chain, logs
from referee.matches.logs.chain import EndedKey
from referee.matches.logs.recording import MatchUpdate
from referee.matches.tables import Result, SignedLog, StoredMatch
from referee.protocol.signing import Signer, bot_secrets, webhook_secret, webhook_secrets
from referee.tournaments.tables import Tournament
from referee.workflows.ending import match_end, match_loading
from tests.database.tournaments import entered
from tests.database.world import World, outcome, played
from tests.surroundings import MASTER_KEY

OLD, NEW = MASTER_KEY, bytes(range(100, 132))
OVERLAP = MasterKey(NEW, [OLD])  # settings after the rotation
PREPARED = MasterKey(OLD, [NEW])  # settings of a host that has not switched yet


def load(world: World, match_id: str, key: bytes) -> match_loading.LoadedMatch:
    return world.read(match_loading.load_match, match_id, master_key=key)


def finish(world: World, match_id: str, key: bytes) -> Result:
    """Play a match to its end on a host with this key."""
    (claim,) = world.claim(match_id=match_id)
    match = world.resumed(match_id)
    start = len(load(world, match_id, OVERLAP).lines)
    played(match)
    return end(world, match_id, claim.epoch, match, start, key)


def end(world: World, match_id: str, epoch: int, match: Match, start: int, key: bytes) -> Result:
    with world.database.write() as session:
        tail = MatchUpdate(match_id, epoch, start, match.lines[start:])
        return match_end.finish_match(session, tail, outcome(match), master_key=key)


def differences(world: World, key: bytes) -> list[str]:
    return [str(each) for each in world.listed(audit, key=SigningKey.derive(key).public)]


def signers(world: World) -> list[str]:
    return [entry.key for entry in world.read(chain.list_checked_entries, 0, 100)]


def test_K34_a_match_that_began_before_the_rotation_is_finished_with_its_own_key(world: World) -> None:
    bots = world.bots(2)
    before = world.play(bots)
    match_id = world.match(bots)
    (claim,) = world.claim(match_id=match_id)
    match = world.resumed(match_id)
    began = load(world, match_id, OLD)
    request = match.requests()[0]
    match.receive(Answer(request.seat, choice=0))

    goes_on = load(world, match_id, OVERLAP)
    played(match)
    result = end(world, match_id, claim.epoch, match, 0, OVERLAP)

    assert (goes_on.seed, goes_on.master_key) == (began.seed, OLD)
    dice = [match_random(match_id, loaded.master_key)(request).random() for loaded in (began, goes_on)]
    assert dice[0] == dice[1]
    assert signers(world) == [SigningKey.derive(key).public.id for key in (OLD, NEW)]
    with world.database.read() as session:
        for match_of in (before.match_id, result.match_id):
            stored = session.get_one(StoredMatch, match_of)
            assert verify(logs.log_lines(session, match_of)).ok
            assert b'"type":"signature"' in logs.read_log_file(session, stored, gzipped=False)
        current, earlier = chain.list_keys(session)
    assert (earlier.last_number, earlier.until is not None) == (1, True)
    assert (current.last_number, current.until) == (None, None)
    assert differences(world, NEW) == []


def test_K34_ids_in_an_anonymous_match_stay_the_same(world: World) -> None:
    tournament_id, bots = entered(world, 2)
    match_id = world.match(bots)
    with world.database.write() as session:
        session.get_one(Tournament, tournament_id).anonymous = True
        stored = session.get_one(StoredMatch, match_id)
        stored.tournament_id, stored.rated = tournament_id, True

    assert load(world, match_id, OVERLAP).aliases == load(world, match_id, OLD).aliases
    assert len(set(load(world, match_id, OLD).aliases)) == 2


def test_K34_hosts_with_different_settings_never_sign_in_turn(world: World) -> None:
    bots = world.bots(2)
    matches = [world.match(bots) for _ in range(5)]

    finish(world, matches[0], PREPARED)  # no host has switched
    finish(world, matches[1], OVERLAP)  # the first one has
    finish(world, matches[2], PREPARED)  # and the others use the new key, too, before they switch
    finish(world, matches[3], OVERLAP)

    old, new = (SigningKey.derive(key).public.id for key in (OLD, NEW))
    assert signers(world) == [old, new, new, new]
    assert differences(world, NEW) == []
    with pytest.raises(EndedKey, match="REFEREE_ACCEPTED_MASTER_KEYS"):  # a host that was forgotten
        finish(world, matches[4], OLD)


def test_K34_an_entry_that_the_old_key_signs_after_its_end_is_refused(world: World) -> None:
    bots = world.bots(2)
    finish(world, world.match(bots), OLD)
    finish(world, world.match(bots), OVERLAP)
    match_id = world.match(bots)
    with world.database.write() as session:
        head = chain.find_head(session)
        assert head is not None
        forged = SigningKey.derive(OLD).sign(3, match_id, "a" * 64, head_after(head).digest)
        row = {"number": 3, "match_id": match_id, "log_digest": forged.log, "previous": forged.previous}
        session.execute(insert(SignedLog).values(**row, key_id=forged.key, signature=forged.signature))

    with world.database.read() as session, pytest.raises(BadSignature, match="which ended with entry 1"):
        chain.load_keys(session).check(forged)
    found = differences(world, NEW)
    assert any("which ended with entry 1" in difference for difference in found)


def test_K34_calls_are_signed_with_the_secrets_of_both_keys(world: World) -> None:
    (before,), after = bot_secrets(OLD, "bot_1", [1]), bot_secrets(OVERLAP, "bot_1", [1])
    signature = Signer(after).signature("id", 1, b"body")

    assert Signer([before]).verify("id", "1", b"body", signature)
    assert Signer(bot_secrets(NEW, "bot_1", [1])).verify("id", "1", b"body", signature)
    assert not Signer([before]).verify(
        "id", "1", b"body", Signer(bot_secrets(NEW, "bot_1", [1])).signature("id", 1, b"body")
    )
    assert webhook_secrets(OVERLAP, "wh_1", [2]) == (webhook_secret(NEW, "wh_1", 2), webhook_secret(OLD, "wh_1", 2))


def test_a_key_file_has_the_current_key_first() -> None:
    key = parse_key_file(render_key_file(OVERLAP))

    assert (key, key.accepted) == (NEW, (OLD,))
    for text in ("", "ab", f"{OLD.hex()}\n{OLD.hex()}\n", "xyz"):
        with pytest.raises(ValueError, match=r"key|digits|hex"):
            parse_key_file(text)
