"""Signatures of logs: fixed values that other tools computed, and every way to bend the line of a signature."""

import json
from collections.abc import Callable
from functools import cache

import pytest

from referee.match.canonical import Json, dumps
from referee.match.log import digest, parse_row
from referee.match.signature import BadSignature, LogSignature, parse_signature, split_signature
from referee.match.signing_keys import BadKey, KeyRing, PublicKey, SigningKey, find_problem, parse_key, parse_keys
from referee.match.verification import verify
from tests.golden import path

# Computed with OpenSSL 3.0: HMAC by `openssl dgst -mac HMAC`, the keys by `openssl pkey`, the signature by
# `openssl pkeyutl -sign -rawin`.
MASTER = bytes(range(32))
PUBLIC = "598b8bd5c244e0876bd4fe41948a212abd15cc0a8f593ce981fccde01a46ebc4"
KEY_ID = "30b2adfc415b41e4"
SIGNED = (
    "5777778359fca36f3c40fde6d2c3021353e47c54f3b9cb703f378399bb6b333b"
    "5017eea144afcc5bc7270994cb1ab417115199065e987a05ae04b2d7c31c2e03"
)
LINE_DIGEST = "4b34f009109c50c9645d64e2389b0507a681c9e0a76d9f69c32cec117ac18ed8"

RFC_8032 = [  # section 7.1, tests 1 to 3: seed, public key, message, signature
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


class _Fixed(LogSignature):
    """A signature of other bytes than those of a log."""

    message = b""

    def signed_bytes(self) -> bytes:
        return self.message


@pytest.mark.parametrize(("seed", "public", "message", "signature"), RFC_8032)
def test_F14_keys_and_signatures_are_those_of_the_standard(
    seed: str, public: str, message: str, signature: str
) -> None:
    key = SigningKey(bytes.fromhex(seed))
    fixed = _Fixed(1, "mat_1", "", None, key.public.id, signature)
    fixed.__class__.message = bytes.fromhex(message)

    assert key.public.raw.hex() == public
    key.public.check(fixed)
    fixed.__class__.message = b"another"
    with pytest.raises(BadSignature):
        key.public.check(fixed)


def test_F14_a_signature_is_the_one_that_another_tool_computes() -> None:
    key = SigningKey.derive(MASTER)

    entry = key.sign(1, "mat_1", f"{7:064d}", None)

    assert (key.public.raw.hex(), key.public.id) == (PUBLIC, KEY_ID)
    assert (entry.key, entry.signature) == (KEY_ID, SIGNED)
    assert entry.signed_bytes() == (
        f'{{"key":"{KEY_ID}","log":"{7:064d}","match":"mat_1","number":1,"previous":null,"type":"signature"}}'.encode()
    )
    assert entry.digest() == LINE_DIGEST
    assert parse_signature(entry.line()) == entry
    assert "prev" not in parse_row(entry.line())


# -- the line --

Bend = Callable[[Json], object]
KEY = SigningKey.derive(MASTER)
OTHER = SigningKey.derive(b"x" * 32)


@cache
def rows() -> tuple[bytes, ...]:
    return tuple(path("pool-nap-3").read_bytes().splitlines())


@cache
def genuine() -> LogSignature:
    return KEY.sign(2, parse_row(rows()[0])["match"], digest(rows()[-1]), "a" * 64)


def changed(**changes: object) -> Bend:
    return lambda line: line.update(changes)


def flipped(name: str) -> Bend:
    """Change the last hex digit of a member."""
    return lambda line: line.update({name: line[name][:-1] + ("0" if line[name][-1] != "0" else "1")})


def resigned(**changes: object) -> Bend:
    """Sign other members with a key of one's own, and state its id."""

    def bend(line: Json) -> None:
        members = {name: line[name] for name in ("number", "match", "log", "previous")} | changes
        signed = OTHER.sign(members["number"], members["match"], members["log"], members["previous"])
        line.update(json.loads(signed.line()))

    return bend


BENDS: dict[str, tuple[Bend, str]] = {  # what is done to the line, and what is said
    "number": (changed(number=3), "what it states was changed"),
    "number zero": (changed(number=0), "a whole number from 1"),
    "number as text": (changed(number="2"), "a whole number from 1"),
    "number true": (changed(number=True), "a whole number from 1"),
    "first without null": (changed(number=1), "null in entry 1"),
    "match": (changed(match="mat_other"), "it is the signature of match mat_other"),
    "match no text": (changed(match=7), "must be an id"),
    "log": (flipped("log"), "not that of the last row"),
    "log in capitals": (lambda line: line.update(log=line["log"].upper()), "64 lower-case hex digits"),
    "log of the row before": (lambda line: line.update(log=digest(rows()[-2])), "not that of the last row"),
    "previous": (flipped("previous"), "what it states was changed"),
    "previous null": (changed(previous=None), "previous must be"),
    "previous short": (changed(previous="ab"), "previous must be"),
    "key": (flipped("key"), "not among the given keys"),
    "key of another": (changed(key=OTHER.public.id), "not among the given keys"),
    "key too long": (changed(key=KEY_ID * 2), "16 lower-case hex digits"),
    "signature": (flipped("signature"), "was not made with key"),
    "signature zero": (changed(signature="0" * 128), "was not made with key"),
    "signature empty": (changed(signature=""), "128 lower-case hex digits"),
    "signature in capitals": (lambda line: line.update(signature=line["signature"].upper()), "128 lower-case"),
    "signature of another log": (
        lambda line: line.update(signature=KEY.sign(2, line["match"], "b" * 64, "a" * 64).signature),
        "was not made with key",
    ),
    "signed with a foreign key": (resigned(), "not among the given keys"),
    "a member more": (changed(prev=None), "just these members"),
    "a member less": (lambda line: line.pop("previous"), "just these members"),
    "another type": (changed(type="sign"), "expected a row numbered"),
    "with a row number": (changed(row=len(rows())), "its link is not the hash"),
}


def refusal(lines: list[bytes], keys: KeyRing) -> str:
    """Return why a log with this signature is refused, as `referee verify --key` finds it, or an empty text."""
    report = verify(lines)
    if not report.ok:
        return report.reason
    if report.signature is None:
        return "not signed"
    try:
        keys.check(report.signature)
    except BadSignature as error:
        return str(error)
    return ""


def test_F14_a_genuine_signature_is_accepted() -> None:
    report = verify([*rows(), genuine().line()])

    assert refusal([*rows(), genuine().line()], KeyRing([OTHER.public, KEY.public])) == ""
    assert (report.rows, report.signature) == (len(rows()), genuine())
    assert verify(rows()).signature is None


@pytest.mark.parametrize("name", BENDS)
def test_F14_a_bent_line_is_refused(name: str) -> None:
    bend, reason = BENDS[name]
    line = json.loads(genuine().line())

    bend(line)

    assert dumps(line) != genuine().line()
    assert reason in refusal([*rows(), dumps(line)], KeyRing([KEY.public]))


LINES: dict[str, tuple[Callable[[list[bytes], bytes], list[bytes]], str]] = {  # what is done to the lines of a log
    "left out": (lambda log, line: log, "not signed"),
    "twice": (lambda log, line: [*log, line, line], "expected a row numbered"),
    "first": (lambda log, line: [line, *log], "expected a row numbered"),
    "before the reveal": (lambda log, line: [*log[:-1], line, log[-1]], "expected a row numbered"),
    "alone": (lambda log, line: [line], "the log is empty"),
    "after a log without its reveal": (lambda log, line: [*log[:-1], line], "which this log does not have"),
    "after a log without its end": (lambda log, line: [*log[:-3], line], "which this log does not have"),
    "with blanks": (lambda log, line: [*log, line.replace(b":", b": ")], "not in canonical spelling"),
    "in another order": (
        lambda log, line: [*log, b'{"type":"signature",' + line[1:].replace(b',"type":"signature"', b"")],
        "not in canonical spelling",
    ),
    "not JSON": (lambda log, line: [*log, line[:-1]], "not a JSON object"),
    "an empty object": (lambda log, line: [*log, b'{"type":"signature"}'], "just these members"),
}


@pytest.mark.parametrize("name", LINES)
def test_F14_a_misplaced_or_misspelt_line_is_refused(name: str) -> None:
    bend, reason = LINES[name]

    assert reason in refusal(bend(list(rows()), genuine().line()), KeyRing([KEY.public]))


def test_F14_the_signature_of_one_log_does_not_fit_another() -> None:
    other = path("pool-nap-10").read_bytes().splitlines()

    assert "signature after the last row is wrong" in refusal([*other, genuine().line()], KeyRing([KEY.public]))


def test_a_row_is_not_taken_for_a_signature() -> None:
    assert split_signature([]) == ([], None)
    assert split_signature([b"junk"]) == ([b"junk"], None)
    assert split_signature([b'{"type":"signature","row":3}']) == ([b'{"type":"signature","row":3}'], None)
    assert split_signature(rows()) == (list(rows()), None)


# -- the chain --


def test_F14_each_entry_follows_from_the_one_before() -> None:
    keys = KeyRing([KEY.public])
    first = KEY.sign(1, "mat_1", "b" * 64, None)
    second = KEY.sign(2, "mat_2", "c" * 64, first.digest())

    assert find_problem(first, None, keys) == ""
    assert find_problem(second, first, keys) == ""
    assert find_problem(second, None, keys) == "entry 1 is missing before it"
    assert (
        find_problem(KEY.sign(4, "m", "c" * 64, first.digest()), first, keys) == "entries 2 to 3 are missing before it"
    )
    assert "does not name the digest" in find_problem(KEY.sign(2, "m", "c" * 64, "d" * 64), first, keys)
    assert "does not name the digest" in find_problem(KEY.sign(1, "m", "c" * 64, "d" * 64), None, keys)
    assert "not among the given keys" in find_problem(OTHER.sign(2, "m", "c" * 64, first.digest()), first, keys)


# -- keys as text --


def test_keys_are_read_from_text_lines_and_json() -> None:
    published = json.dumps({"items": [{"public_key": PUBLIC}, {"public_key": OTHER.public.raw.hex()}], "next": None})

    assert parse_key(f" ed25519:{PUBLIC}\n") == parse_key(PUBLIC) == KEY.public
    assert parse_key(KEY.public.text) == KEY.public
    assert parse_keys(f"# keys\n{PUBLIC}\n\ned25519:{OTHER.public.raw.hex()}\n") == [KEY.public, OTHER.public]
    assert parse_keys(published) == [KEY.public, OTHER.public]


@pytest.mark.parametrize("text", ["", "abc", "ed25519:", f"{PUBLIC}00", PUBLIC[:-1], f"rsa:{PUBLIC}", "g" * 64])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(BadKey, match="is not a public key"):
        parse_key(text)


@pytest.mark.parametrize("text", ["", "# nothing\n", "{", "{}", '{"items": [{}]}', '{"items": [{"public_key": 7}]}'])
def test_a_file_without_keys_is_refused(text: str) -> None:
    with pytest.raises(BadKey):
        parse_keys(text)


def test_ids_of_keys_are_short_hashes() -> None:
    assert PublicKey(bytes(32)).id == "66687aadf862bd77"  # SHA-256 of 32 zero bytes begins so
