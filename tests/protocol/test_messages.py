"""Bodies in both directions: requests match the schemas, replies are read strictly (threats C1 to C8)."""

import base64
import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games import catalogue
from referee.match.chance import CommittedChance
from referee.match.match import FAULTS, Match, new_header
from referee.match.signature import ChainHead
from referee.protocol import messages
from referee.protocol.aliases import aliases
from referee.protocol.signing import Signer, bot_secret, challenge_proof, secret_bytes
from tests.botclient.hostile import HEADER, question
from tests.protocol.schemas import NAMES, check, fits, validator
from tests.surroundings import MASTER_KEY

ID = "mat_test_s1_q7"


IDS = aliases(MASTER_KEY, "mat_x", ["bot_a", "bot_b"])


def found(body: str | bytes) -> str:
    """Return the fault of a reply to a question with three legal actions; empty if it is accepted."""
    raw = body if isinstance(body, bytes) else body.encode()
    fault = messages.read_decision(raw, ID, 3).fault
    assert fault in FAULTS or not fault
    return fault


def reply(**members: Any) -> str:
    return json.dumps({"decision": ID, **members})


# -- requests --


def test_every_schema_is_a_schema() -> None:
    assert len(NAMES) == 11
    for name in NAMES:
        validator(name)


@pytest.mark.parametrize(
    ("names", "players"),
    [
        ([], [{"id": "bot_a", "name": "a", "version": "1"}, {"id": "bot_b", "name": "b", "version": "2"}]),
        (IDS, [{"id": IDS[0]}, {"id": IDS[1]}]),
    ],
)
def test_a_question_names_everybody_who_plays_or_nobody_and_tells_its_number_among_those_of_the_seat_alone(
    names: list[str], players: list[dict[str, str]]
) -> None:
    id, body = messages.Questions(HEADER, 1, names).encode(question()._replace(n=31, question=7))

    asked = check("decide_request", body)
    assert asked["decision"] == {"id": ID, "question": 7}
    assert (id, b"31" in body, b"bot_a" in body) == (ID, False, not names)
    assert asked["match"]["players"] == [{"seat": seat, **player} for seat, player in enumerate(players)]


def test_the_id_of_a_player_holds_for_one_anonymous_match() -> None:
    first, again = (aliases(MASTER_KEY, "mat_1", bots) for bots in (["bot_a", "bot_b"], ["bot_b", "bot_a"]))

    assert first == again[::-1]
    assert len({*first, *aliases(MASTER_KEY, "mat_2", ["bot_a", "bot_b"])}) == 4
    assert first != aliases(bytes(32), "mat_1", ["bot_a", "bot_b"])


@pytest.mark.parametrize("game", sorted(catalogue()))
def test_questions_of_every_game_fit_the_schema_and_are_the_same_when_asked_again(game: str) -> None:
    players = [{"bot": f"bot_{seat}", "name": "n", "version": "1"} for seat in range(3)]
    group = {"id": "grp_1", "commitment": "", "entries": []}
    header = new_header(match_id="mat_1", game_name=game, options={}, players=players, group=group)
    match, twin = (Match(header, CommittedChance(bytes(32), "grp_1", [""] * 3)) for _ in range(2))
    for one in (match, twin):
        one.begin()

    for request, again in zip(match.requests(), twin.requests(), strict=True):
        # The twin's dictionaries may be in any order: keys are sorted on the wire.
        shuffled = json.loads(json.dumps(again.observation), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
        body = messages.Questions(header, request.seat).encode(request)[1]
        check("decide_request", body)
        assert body == messages.Questions(header, request.seat).encode(again._replace(observation=shuffled))[1]


def test_notices_fit_their_schemas_and_each_step_shows_what_the_one_before_brought() -> None:
    digest, match = "0" * 64, messages.match_facts(HEADER, 1)
    result = {"scores": [1, 2], "returns": [1, 2], "placements": [2, 1], "faults": [0, 1], "row": 9}

    check("challenge_request", messages.challenge_body("bot_x", "abc"))
    shown: list[list[list[str]]] = [[], [[digest, ""]], [[digest, ""], ["1", ""]]]
    steps = [check("group_start_request", messages.group_start_body("grp_x", digest, *more)) for more in shown]
    ended = check("match_end_request", messages.match_end_body(match, result, [{"question": 3, "fault": "deadline"}]))
    heads = (None, ChainHead(12, "a" * 64))
    closed = [
        check("group_end_request", messages.group_end_body("grp_x", digest, digest, ["1", ""], head)) for head in heads
    ]

    group = {"id": "grp_x", "commitment": digest, "nonce_hashes": [digest, ""], "nonces": ["1", ""]}
    assert [(body["step"], body["group"]) for body in steps] == [
        (1, {"id": "grp_x"}),
        (2, {name: group[name] for name in ("id", "commitment", "nonce_hashes")}),
        (3, group),
    ]
    # Without the opponents' faults.
    assert ended["result"] == {"scores": [1, 2], "returns": [1, 2], "placements": [2, 1]}
    assert ["head" in body for body in closed] == [False, True]
    assert closed[1]["head"] == {"number": 12, "digest": "a" * 64}


# -- signatures --


def test_two_secrets_give_two_signatures_while_rotating() -> None:
    old, new = (bot_secret(b"m" * 32, "bot_x", generation) for generation in (1, 2))

    signatures = Signer([new, old]).signature("id", 5, b"{}")

    assert signatures == f"{Signer([new]).signature('id', 5, b'{}')} {Signer([old]).signature('id', 5, b'{}')}"
    assert Signer([old]).verify("id", "5", b"{}", signatures)
    assert Signer([new]).verify("id", "5", b"{}", signatures)
    assert not Signer([new]).verify("id", "6", b"{}", signatures)
    assert not Signer([new]).verify("id", "5", b"{ }", signatures)
    assert not Signer([new]).verify("id", "٥", b"{}", signatures)
    assert not Signer([bot_secret(b"m" * 32, "bot_x", 3)]).verify("id", "5", b"{}", signatures)


def test_a_signature_is_the_hmac_of_the_standard_library_at_every_length() -> None:
    for key in (b"", b"k" * 24, b"k" * 64, b"k" * 65, b"k" * 200):
        signer = Signer(["whsec_" + base64.b64encode(key).decode()])
        for length in (0, 1, 2000, 2046, 2047, 2048, 4094, 70_000):
            digest = hmac.digest(key, b"id.5." + bytes(length), "sha256")
            assert signer.signature("id", 5, bytes(length)) == "v1," + base64.b64encode(digest).decode(), (key, length)


def test_secrets_differ_by_bot_generation_and_key() -> None:
    secrets = {bot_secret(key, bot, n) for key in (b"a" * 32, b"b" * 32) for bot in ("bot_1", "bot_2") for n in (1, 2)}

    assert len(secrets) == 8
    assert {len(secret_bytes(secret)) for secret in secrets} == {32}


def test_a_bad_secret_is_refused() -> None:
    for secret in ("", "abc", "whsec_*", "whsec_abc"):
        with pytest.raises(ValueError, match="secret"):
            secret_bytes(secret)


def test_a_proof_can_be_worked_out_with_hmac_alone() -> None:
    secret = bot_secret(b"m" * 32, "bot_x", 1)

    assert challenge_proof(secret, "n1") == hmac.digest(secret_bytes(secret), b"n1", "sha256").hex()


# -- replies --


def test_an_action_a_choice_and_a_note_are_read() -> None:
    assert messages.read_decision(reply(choice=2).encode(), ID, 3) == messages.Decision(choice=2)
    assert messages.read_decision(reply(action={"type": "pass"}, note="x\ny").encode(), ID, 3) == messages.Decision(
        action={"type": "pass"}, note="x\ny"
    )


NOT_STRICT: list[str | bytes] = [
    b"", b" ", b"{", b"nonsense", b"<html>", reply(choice=1).encode() + b"x", reply(choice=1).encode() * 2,
    b"\xef\xbb\xbf" + reply(choice=1).encode(), reply(choice=1).encode("utf-16"), b'{"decision":"\xff"}',
    b"{'decision':1}", b'{"a":1,}', b'{"a":"\n"}', b'{"a":01}', b"\x00", b'{"a":"\xed\xa0\x80"}',
    # Deep nesting is found before parsing.
    b"[" * 60_000, b'{"a":' * 10_000, b'{"decision":"\\"","x":' + b"[" * 33 + b"]" * 33 + b"}",
    b'{"x":[' + b"[]," * 20_000 + b"[" * 40, b'"' * 3 + b"[" * 60_000, b'"\\' * 30_000,
    # A key stands once.
    f'{{"decision":"{ID}","choice":1,"choice":1}}', f'{{"decision":"{ID}","choice":1,"\\u0063hoice":2}}',
    f'{{"decision":"{ID}","choice":1,"debug":{{"a":1,"a":1}}}}',
]  # fmt: skip


def test_C1_C2_C4_what_is_not_one_strict_json_document() -> None:
    assert [body[:80] for body in NOT_STRICT if found(body) != "bad_json"] == []


def test_C2_depth_counts_brackets_outside_texts_alone() -> None:
    assert found(reply(choice=1, debug="[" * 5_000)) == ""
    assert found(reply(choice=1, debug='"[' * 5_000)) == ""
    assert found(reply(choice=1, debug=[[]] * 5_000)) == ""


def test_C3_a_choice_is_a_whole_number_that_fits() -> None:
    huge = ["9" * 60_000, "1" + "0" * 4_400, str(2**64)]
    for number in ("1e999", "-1e999", "NaN", "Infinity", "-Infinity", "-0", *huge):
        assert found(f'{{"decision":"{ID}","choice":{number}}}') == "bad_json"
        assert found(f'{{"decision":"{ID}","choice":1,"debug":[{number}]}}') == "bad_json"
    for choice in ("1.0", "true", "false", "null", '"1"', "-1", "[1]", "{}", "1e0"):
        assert found(f'{{"decision":"{ID}","choice":{choice}}}') == "bad_schema"


def test_C5_half_surrogates_and_nul() -> None:
    for text in ("\\ud800", "a\\udfff", "\\u0000", "\\udc00\\ud800"):
        assert found(f'{{"decision":"{ID}","choice":1,"note":"{text}"}}') == "bad_schema"
        assert found(f'{{"decision":"{ID}","action":{{"type":"{text}"}}}}') == "bad_schema"
        assert found(f'{{"decision":"{ID}","choice":1,"x":[{{"{text}":1}}]}}') == "bad_schema"
    assert found(f'{{"decision":"{ID}","choice":1,"note":"\\ud83d\\ude00"}}') == ""


def test_C5_notes_are_short_and_plain_in_any_script() -> None:
    for note in ("x" * 1025, "ä" * 513, "\u202e", "\u2066x", "\x1b[31m", "\x7f", 5, None, ["x"]):
        assert found(reply(choice=1, note=note)) == "bad_schema", note
    assert found(reply(choice=1, note="x" * 1024)) == ""
    assert found(reply(choice=1, note="אבג 你好 😀\n\t")) == ""


def error_of(**members: Any) -> str:
    decision = messages.read_decision(reply(choice=1, **members).encode(), ID, 3)
    assert (decision.choice, decision.fault) == (1, "")
    return decision.error


def test_an_error_of_the_bots_own_is_read_beside_the_answer() -> None:
    check("decide_reply", reply(choice=1, error="KeyError: 'legall'").encode())
    assert error_of(error="KeyError: 'legall'\n  in choose") == "KeyError: 'legall'\n  in choose"
    assert error_of() == ""


def test_C5_an_error_that_is_long_or_unprintable_is_cut_and_cleaned_and_is_no_fault() -> None:
    assert error_of(error="x" * 5_000) == "x" * 1024
    assert error_of(error="ä" * 600) == "ä" * 512
    assert error_of(error="a\x1b[31m\0\ud800\u202eb") == "a\ufffd[31m\ufffd\ufffd\ufffdb"


def test_C8_an_error_that_is_no_text_is_ignored() -> None:
    assert {error_of(error=error) for error in (None, 5, True, ["x"], {"text": "\ud800"})} == {""}


def test_a_faulty_answer_keeps_the_error_that_may_explain_it() -> None:
    decision = messages.read_decision(reply(error="KeyError: 'legall'").encode(), ID, 3)

    assert (decision.fault, decision.error) == ("bad_schema", "KeyError: 'legall'")


def test_C6_a_choice_outside_the_list_is_illegal() -> None:
    assert found(reply(choice=3)) == "illegal_action"
    assert found(reply(choice=2**63)) == "illegal_action"
    assert found(reply(choice=2)) == ""


def test_C7_the_answer_to_another_question_is_stale() -> None:
    assert found(json.dumps({"decision": "mat_test_s1_q6", "choice": 1})) == "stale_decision"
    assert found(json.dumps({"decision": ID + " ", "choice": 1})) == "stale_decision"


def test_C8_unknown_members_are_ignored() -> None:
    assert found(reply(choice=1, debug="x" * 60_000, __proto__={"a": 1})) == ""


INCOMPLETE = [
    reply(), reply(choice=1, action={"type": "pass"}), reply(action="pass"), reply(action=[1]), reply(action=None),
    "[]", '"x"', "1", "null", json.dumps({"choice": 1}), json.dumps({"decision": 7, "choice": 1}),
]  # fmt: skip


def test_one_of_action_and_choice_is_needed_with_the_id_of_the_question() -> None:
    assert [body for body in INCOMPLETE if found(body) != "bad_schema"] == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab\n", max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "type"]), inner, max_size=2),
    max_leaves=4,
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "decision": st.just(ID) | JSON,
            "action": st.just({"type": "pass"}) | JSON,
            "choice": st.integers(0, 2) | JSON,
            "note": st.text(max_size=5) | JSON,
            "debug": JSON,
        },
    )
)
def test_the_reader_takes_no_reply_that_the_schema_refuses(value: Any) -> None:
    body = json.dumps(value).encode()

    if not found(body):
        assert fits("decide_reply", body)


@given(st.integers(0, 2) | st.just({"type": "pass"}), st.text("abc äß", max_size=20), JSON)
def test_the_reader_takes_every_plain_reply_of_the_schema(what: Any, note: str, debug: Any) -> None:
    body = reply(**{"choice" if isinstance(what, int) else "action": what}, note=note, debug=debug).encode()

    check("decide_reply", body)
    assert found(body) == ""


@given(st.binary(max_size=100))
def test_no_bytes_raise(noise: bytes) -> None:
    assert found(noise) in {"bad_json", "bad_schema"}


MANIFEST = {"protocol": "2", "name": "n", "version": "1", "games": ["pool-nap"]}
MOST = "max_concurrent_requests"


def test_a_manifest_is_read() -> None:
    most = messages.read_manifest(json.dumps(MANIFEST | {MOST: 100, "x": 1}).encode())

    assert messages.read_manifest(json.dumps(MANIFEST).encode()) == messages.Manifest("n", "1", ("pool-nap",), 8)
    assert most.max_concurrent_requests == 100


UNFIT: list[Any] = [
    {"protocol": "1"}, {"protocol": 2}, {"name": ""}, {"name": "x" * 65}, {"name": 5}, {"name": "a\u202eb"},
    {"version": None}, {"games": []}, {"games": "pool-nap"}, {"games": [1]}, {"games": ["x"] * 101},
    {MOST: 0}, {MOST: 101}, {MOST: True}, {MOST: "8"}, {MOST: 8.0},
]  # fmt: skip


def test_a_manifest_that_does_not_fit() -> None:
    for change in UNFIT:
        with pytest.raises(messages.BadBody):
            messages.read_manifest(json.dumps(MANIFEST | change).encode())


@given(st.fixed_dictionaries({}, optional={key: JSON | st.just(MANIFEST.get(key)) for key in [*MANIFEST, MOST]}))
def test_no_manifest_is_taken_that_the_schema_refuses(manifest: Any) -> None:
    body = json.dumps(manifest).encode()
    try:
        messages.read_manifest(body)
    except messages.BadBody:
        return
    assert fits("manifest_reply", body)


READERS = {"proof": messages.read_proof, "nonce_hash": messages.read_nonce_hash, "nonce": messages.read_nonce}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("nonce", "abc-_9", ["", "a|b", "x" * 65, "ä", 5, None]),
        *((name, "a" * 64, ["A" * 64, "a" * 63, "a" * 64 + "\n", None]) for name in ("proof", "nonce_hash")),
    ],
)
def test_nonces_and_hashes(name: str, good: str, bad: list[Any]) -> None:
    assert READERS[name](json.dumps({name: good}).encode()) == good
    for value in bad:
        with pytest.raises(messages.BadBody):
            READERS[name](json.dumps({name: value}).encode())


@given(st.fixed_dictionaries({}, optional={"accepted": st.booleans() | JSON, "debug": JSON}))
def test_an_acceptance_is_read_where_the_schema_takes_it(value: Any) -> None:
    body = json.dumps(value).encode()
    try:
        accepted = messages.read_accepted(body)
    except messages.BadBody:
        assert not fits("accepted_reply", body)
    else:
        assert accepted is check("accepted_reply", body)["accepted"]


def test_what_neither_accepts_nor_refuses_is_no_answer_to_the_third_step() -> None:
    for body in (b"", b"{}", b"[]", b'{"accepted":1}', b'{"accepted":"true"}', b'{"accepted":null}'):
        with pytest.raises(messages.BadBody):
            messages.read_accepted(body)
