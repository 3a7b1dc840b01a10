"""A database filled by an earlier release is upgraded, keeps its contents, and continues from there.

Each kind of stored thing has its own check. If you change how one is stored, sealed or named, its check fails. Then
decide: it is converted, it expires, or it is used up before the upgrade. The expectations do not change.
"""

import csv
import json
import runpy
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import func, select

from api.downloads.files import ledger_csv
from referee.cli.admin import CANCELLED_FOR_UPGRADE
from referee.db.revisions import check
from referee.ladders import ratings
from referee.ladders.tables import Ladder
from referee.match.log import parse_row
from referee.match.signature import split_signature
from referee.match.signing_keys import SigningKey
from referee.match.verification import verify
from referee.matches import chain, logs, matches
from referee.matches.tables import Result, StoredMatch
from referee.protocol.messages import PROTOCOL
from tests.database.queue import due_seats, listed
from tests.upgrade import stored
from tests.upgrade.restoring import tables_of_the_schema
from tests.upgrade.service import Outcome, Upgraded

Ended = tuple[Upgraded, Outcome]

REFOLD = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "refold.py"))

CHECKED = ("asked", "called", "newer")  # was due or under way before the upgrade
FORGED = 3  # calls of a check with a false signature


def test_every_table_of_the_fixture_is_counted() -> None:
    assert tables_of_the_schema() == {*stored.KINDS}


def test_the_schema_is_the_newest(upgraded: Upgraded) -> None:
    check(upgraded.database)  # raises for any other


@pytest.mark.parametrize("table", stored.KINDS)
def test_the_rows_of_each_table_are_kept(upgraded: Upgraded, table: str) -> None:
    with upgraded.database.read() as session:
        found = stored.counts(session, table)

    assert found == upgraded.expected["counts"][table]
    assert sum(found.values()) > 0


def test_K27_the_audit_finds_no_difference(upgraded: Upgraded) -> None:
    audit = upgraded.referee("audit", "--read-only", "--json")

    counts = {"not_replayable": 0, "replayed_from_archive": 0}
    lists: dict[str, list[object]] = {name: [] for name in ("differences", "frozen", "repaired", "left")}
    assert json.loads(audit.stdout) == {"holds": True, **lists, **counts}
    assert audit.exit_code == 0


def test_the_bots_of_due_matches_are_listed(upgraded: Upgraded) -> None:
    assert listed(upgraded.database) == due_seats(upgraded.database) != set()


def test_F11_ladders_from_before_the_upgrade_refold_from_their_files(upgraded: Upgraded, finished: Ended) -> None:
    before, after = refold_ladders(upgraded), refold_ladders(finished[0])

    assert set(before) == {"1"}
    assert after["1"] >= before["1"]  # a result from before may enter after the upgrade


def refold_ladders(service: Upgraded) -> Counter[str]:
    """Check that docs/refold.py finds no difference on any ladder. Return the number of entries by rating rules."""
    with service.database.read() as session:
        ladders = {ladder.id: ratings.last_seq(session, ladder.id) for ladder in ratings.list_ladders(session).items}
    files = [b"".join(ledger_csv(service.database, *until)).decode().splitlines() for until in ladders.items()]
    assert [found for lines in files for found in REFOLD["check"](lines)] == []
    entries = {(row["entry"], row["rating_rules"]) for lines in files for row in csv.DictReader(lines)}
    return Counter(rules for _, rules in entries)


def test_tokens_open_the_accounts_they_opened(upgraded: Upgraded) -> None:
    second = upgraded.expected["second_token"]
    tokens = {**upgraded.expected["tokens"], "second": second}

    opened = {name: stored.get(upgraded.client(), "/accounts/me", one["token"]) for name, one in tokens.items()}

    assert {name: one["id"] for name, one in opened.items()} == {name: one["account"] for name, one in tokens.items()}
    assert {opened[name]["role"] for name in ("root", "olga", "ada")} == {"admin", "organiser", "owner"}


def test_a_revoked_token_opens_nothing(upgraded: Upgraded) -> None:
    token = upgraded.expected["revoked_token"]

    refused = upgraded.client().get("/api/v1/accounts/me", headers={"Authorization": f"Bearer {token}"})

    assert refused.status_code == 401


def test_K25_logs_of_matches_that_are_over_are_the_same_to_the_byte_and_verify(upgraded: Upgraded) -> None:
    rows, finished = upgraded.expected["rows"], upgraded.expected["finished_matches"]
    with upgraded.database.read() as session:
        kept = {match_id: logs.log_lines(session, match_id) for match_id in rows}

    assert {match_id: [len(lines), stored.digest(lines)] for match_id, lines in kept.items()} == rows
    assert len(finished) > 100
    assert {match_id: verify(kept[match_id]).reason for match_id in finished} == dict.fromkeys(finished, "")


def test_a_log_is_downloaded_as_it_was_before_its_signature(upgraded: Upgraded) -> None:
    rows = upgraded.expected["rows"]
    downloaded = {}
    for match_id in upgraded.expected["finished_matches"][:20]:
        answer = upgraded.client().get(f"/api/v1/matches/{match_id}/log")
        if answer.status_code == 200:
            lines, signature = split_signature(answer.data.splitlines())
            downloaded[match_id] = [len(lines), stored.digest(lines)]
            assert signature is not None

    assert downloaded
    assert downloaded.items() <= rows.items()


def test_F14_public_logs_of_earlier_matches_are_verified_and_signed(upgraded: Upgraded) -> None:
    key = SigningKey.derive(upgraded.settings.master_key).public
    with upgraded.database.read() as session:
        entries = chain.list_checked_entries(session, 0, 10_000)

    assert upgraded.signed is not None
    assert (upgraded.signed.signed, upgraded.signed.invalid) == (len(entries), [])
    assert len(entries) >= len(upgraded.expected["finished_matches"]) / 2
    assert {entry.key for entry in entries} == {key.id}


def test_ladders_hold_the_ratings_they_held(upgraded: Upgraded) -> None:
    with upgraded.database.read() as session:
        assert stored.ladders(session) == upgraded.expected["ladders"]


def test_ladders_count_the_results_they_had(upgraded: Upgraded) -> None:
    had = select(func.count()).where(Result.ladder_id == Ladder.id).scalar_subquery()
    with upgraded.database.read() as session:
        counted = session.execute(select(Ladder.results, had)).all()

    assert all(results == expected for results, expected in counted)
    assert any(results for results, _ in counted)


def test_tournaments_that_are_over_have_the_standings_they_had(upgraded: Upgraded) -> None:
    tournaments, standings = upgraded.expected["tournaments"], upgraded.expected["standings"]

    found = {name: stored.standings(upgraded.client(), tournaments[name]) for name in standings}

    assert found == standings
    assert len(found) == 6


def test_a_swiss_tournament_keeps_its_number_of_rounds_under_the_new_name_of_the_option(upgraded: Upgraded) -> None:
    tournaments = {name: id for name, id in upgraded.expected["tournaments"].items() if name.startswith("swiss ")}

    found = {name: stored.get(upgraded.client(), f"/tournaments/{id}") for name, id in tournaments.items()}

    assert {name.removeprefix("swiss ") for name in found} >= {"draft", "open", "running", "paused", "finished"}
    assert [one["format_options"] for one in found.values()] == [{"rounds": 2}] * len(found)


def test_entries_byes_and_substitutes_are_those_of_before(upgraded: Upgraded) -> None:
    tournaments = upgraded.expected["tournaments"]

    found = {name: stored.entries(upgraded.client(), id) for name, id in tournaments.items()}

    assert found == upgraded.expected["entries"]
    entered = [entry for entries in found.values() for entry in entries]
    assert any(withdrawn for _, withdrawn, _ in entered)
    assert any(substituted for *_, substituted in entered)
    assert any(row[-1] for rows in upgraded.expected["standings"].values() for row in rows)  # byes


def test_owners_read_the_request_and_the_reply_of_a_fault(upgraded: Upgraded) -> None:
    faults, token = upgraded.expected["faults"], upgraded.expected["tokens"]["root"]["token"]

    found = {match_id: stored.faults(upgraded.client(), token, match_id) for match_id in faults}

    assert found == faults
    assert any(reply == "no JSON" for told in found.values() for _, _, reply in told)


def test_seeds_open(upgraded: Upgraded) -> None:
    with upgraded.database.read() as session:
        assert stored.seeds(session, upgraded.settings.master_key) == upgraded.expected["seeds"]


def test_E9_a_request_repeated_with_its_key_has_no_second_effect_although_its_answer_expired(
    upgraded: Upgraded,
) -> None:
    def rows() -> dict[str, object]:
        with upgraded.database.read() as session:
            return {table: stored.counts(session, table) for table in stored.KINDS}

    before = rows()
    for kept in upgraded.expected["kept_requests"]:
        person = upgraded.person(kept["who"])

        again = person.post(kept["path"], kept["body"], headers={"Idempotency-Key": kept["key"]})

        assert (again.status_code, again.get_json()["code"]) == (409, "conflict"), kept["path"]
    assert rows() == before


def test_a_certificate_for_the_former_protocol_is_listed_and_holds_no_more(upgraded: Upgraded) -> None:
    bots = {name: f"/bots/{one['id']}" for name, one in upgraded.expected["bots"].items()}

    listed = {name: stored.get(upgraded.client(), f"{path}/certificates")["items"] for name, path in bots.items()}

    assert {name for name, found in listed.items() if all(one["ended_at"] for one in found)} == {"relapsed"}
    assert {(one["protocol"], *one["fits"]) for found in listed.values() for one in found} == {("1",)}


# -- the upgrade is refused while matches are in progress --


def test_K25_an_upgrade_is_refused_while_matches_are_in_progress_and_changes_nothing(restored: Upgraded) -> None:
    before = stored.contents(restored.database)

    refused = restored.referee("admin", "upgrade")

    assert refused.exit_code == 1
    assert f"{len(stored.in_progress(restored.database))} matches are in progress" in refused.output
    assert "--cancel-running" in refused.output
    assert stored.contents(restored.database) == before


def test_K25_matches_in_progress_are_cancelled_where_the_operator_says_so(finished: Ended) -> None:
    service, _ = finished

    assert service.refused is not None
    assert service.refused.exit_code == 1
    assert service.cancelled is not None
    assert service.cancelled.exit_code == 0
    assert f"{len(service.in_progress)} matches were cancelled" in service.cancelled.output
    with service.database.read() as session:
        ended = [matches.get_match(session, match_id) for match_id in service.in_progress]
    assert {match.status for match in ended} == {"cancelled"}
    assert {match.reason for match in ended} == {CANCELLED_FOR_UPGRADE}


def test_K25_cancelled_matches_of_tournaments_are_played_again_with_fresh_cards(finished: Ended) -> None:
    service, _ = finished
    with service.database.read() as session:
        cancelled = [matches.get_match(session, match_id) for match_id in service.in_progress]
        query = select(StoredMatch).where(StoredMatch.rematch_of.in_(service.in_progress))
        rematches = {match.rematch_of: match for match in session.scalars(query)}

    of_tournaments = {match.id: match.group_id for match in cancelled if match.tournament_id is not None}
    assert len(of_tournaments) > 10
    assert rematches.keys() == of_tournaments.keys()
    assert {match.status for match in rematches.values()} == {"finished"}
    assert not {match.group_id for match in rematches.values()} & {*of_tournaments.values()}


# -- what was under way --


def test_K25_everything_that_was_under_way_comes_to_its_end(finished: Ended) -> None:
    service, outcome = finished
    with service.database.read() as session:
        left, statuses = stored.open_matches(session), stored.statuses(session)

    assert set(service.expected["open_matches"].values()) == {"due", "waiting", "running", "stuck"}
    assert left == {}
    assert stored.left_to_do(service.database) == {}
    assert sum(tally.failed for tally in outcome.tallies) == 0
    under_way = {id for name, id in service.expected["tournaments"].items() if name.endswith(("running", "paused"))}
    assert {statuses[id] for id in under_way} == {"finished"}


def test_no_fault_is_added(finished: Ended) -> None:
    service, _ = finished
    with service.database.read() as session:
        assert stored.counts(session, "faults") == service.expected["counts"]["faults"]


def test_K27_the_audit_finds_no_difference_afterwards(finished: Ended) -> None:
    audit = finished[0].referee("audit", "--read-only", "--json")

    assert json.loads(audit.stdout)["differences"] == []
    assert audit.exit_code == 0


def test_C9_what_was_recorded_of_a_match_stays_the_beginning_of_its_log(finished: Ended) -> None:
    service, _ = finished
    begun = {id: rows for id, rows in service.expected["rows"].items() if id in service.expected["open_matches"]}
    with service.database.read() as session:
        found = {match_id: logs.log_lines(session, match_id)[: rows[0]] for match_id, rows in begun.items()}

    assert service.expected["cut_off"]["rows"] in begun
    assert {match_id: [len(lines), stored.digest(lines)] for match_id, lines in found.items()} == begun


def test_a_sealed_answer_is_dropped_with_its_match_and_never_shown(finished: Ended) -> None:
    service, _ = finished
    sealed = service.expected["sealed_answers"]
    assert sealed

    with service.database.read() as session:
        left = stored.sealed_answers(session)
        rows = {answer[0]: [parse_row(line) for line in logs.log_lines(session, answer[0])] for answer in sealed}
        statuses = {match_id: matches.get_match(session, match_id).status for match_id in rows}

    assert left == []
    assert set(statuses.values()) == {"cancelled"}
    decided = [(match_id, row["n"]) for match_id, log in rows.items() for row in log if row["type"] == "decision"]
    assert not {(match_id, n) for match_id, n, *_ in sealed} & {*decided}


def test_a_group_under_way_ends_with_the_seed_it_was_committed_to(finished: Ended) -> None:
    service, _ = finished
    seeds = service.expected["seeds"]
    revealed = {}
    with service.database.read() as session:
        for match_id in service.expected["open_matches"]:
            lines = logs.log_lines(session, match_id)
            if lines:
                revealed[parse_row(lines[0])["group"]["id"]] = parse_row(lines[-1])["seed"]

    assert len(revealed) > 10
    assert revealed.items() <= seeds.items()


def test_F10_a_void_match_is_played_again(finished: Ended) -> None:
    service, _ = finished

    again = stored.get(service.client(), f"/matches/{service.expected['replay']}")
    void = stored.get(service.client(), f"/matches/{again['rematch_of']}")

    assert (again["status"], void["status"]) == ("finished", "void")


def test_K32_bots_accept_our_signatures_by_the_present_and_by_the_former_secret(finished: Ended) -> None:
    _, outcome = finished

    rejected = Counter(outcome.server.rejected)
    assert {path.rpartition("/")[2] for path in rejected} == {"decide"}
    assert {number % FORGED for number in rejected.values()} == {0}  # nothing but what checks forge on purpose
    assert min(outcome.server.decisions[name] for name in ("ada", "bo", "cy")) > 0


def test_notifications_that_were_queued_are_delivered_signed(finished: Ended) -> None:
    service, outcome = finished
    bodies = {id: body for one in outcome.server.receivers.values() for id, body in one.bodies.items()}

    digests = {id: stored.digest_of(body) for id, body in bodies.items()}

    queued = service.expected["due_deliveries"]
    assert len(queued) > 10
    assert queued.items() <= digests.items()


def test_a_bot_that_was_checked_again_plays_rated(finished: Ended) -> None:
    service, outcome = finished
    assert outcome.new_match

    played = stored.get(service.client(), f"/matches/{outcome.new_match}")

    assert (played["status"], played["rated"]) == ("finished", True)


def test_checks_that_were_due_or_cut_off_end_with_a_certificate(finished: Ended) -> None:
    service, _ = finished
    with service.database.read() as session:
        states = stored.counts(session, "examinations")

    assert {*service.expected["counts"]["examinations"]} == {"due", "idle", "running"}
    assert {*states} == {"idle"}
    for name in CHECKED:
        answer = service.client().get(f"/api/v1/bots/{service.bot(name)}/certificate")
        assert answer.status_code == 200, name


def test_every_bot_that_held_a_certificate_is_checked_by_the_present_protocol(finished: Ended) -> None:
    service, _ = finished
    bots = {name: one["id"] for name, one in service.expected["bots"].items()}

    shown = {name: service.client().get(f"/api/v1/bots/{bot_id}/certificate") for name, bot_id in bots.items()}

    without = {name for name, answer in shown.items() if answer.status_code != 200}
    assert without == {"gone", "relapsed"}  # retired; had none
    assert {answer.get_json()["protocol"] for answer in shown.values() if answer.status_code == 200} == {PROTOCOL}
