"""`referee verify --key` on files of logs with signatures."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from referee.match.log import digest, parse_row
from referee.match.signing_keys import SigningKey
from tests.cli.running import says
from tests.golden import path
from tests.surroundings import MASTER_KEY

KEY = SigningKey.derive(MASTER_KEY)
FOREIGN = SigningKey.derive(b"f" * 32)
VERIFIER = Path(__file__).parents[2] / "docs" / "verify_log.py"


def run(*arguments: str, status: int = 0) -> Result:
    return says({}, *arguments, status=status)


def signed_lines(name: str, number: int, previous: str | None) -> list[bytes]:
    lines = path(name).read_bytes().splitlines()
    return [*lines, KEY.sign(number, parse_row(lines[0])["match"], digest(lines[-1]), previous).line()]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "match.ndjson"
    file.write_bytes(b"".join(line + b"\n" for line in signed_lines("pool-nap-3", 1, None)))
    return file


def test_F14_a_signature_is_checked_with_a_key_in_any_form(log: Path, tmp_path: Path) -> None:
    text, published = tmp_path / "key.txt", tmp_path / "keys.json"
    text.write_text(f"# our key\n{KEY.public.text}\n")
    published.write_text(json.dumps({"items": [{"public_key": KEY.public.raw.hex()}], "next": None}))

    for key in (KEY.public.text, KEY.public.raw.hex(), str(text), str(published)):
        checked = run("verify", "--key", key, str(log))
        assert checked.stdout.endswith(f"; signed (entry 1, key {KEY.public.id})\n")
        assert "Only the signature of the service vouches for: " in checked.stderr
    run("verify", "--key", FOREIGN.public.text, "--key", KEY.public.text, str(log))


def test_F14_another_key_and_a_missing_signature_fail_and_without_a_key_nothing_is_checked(log: Path) -> None:
    unsigned = str(path("pool-nap-3"))

    checked, absent = run("verify", str(log)), run("verify", unsigned)
    foreign = run("verify", "--key", FOREIGN.public.text, str(log), status=1)
    missing = run("verify", "--key", KEY.public.text, unsigned, status=1)

    assert checked.stdout.endswith(f"; signature NOT CHECKED (entry 1, key {KEY.public.id}): pass --key\n")
    assert absent.stdout.endswith("; not signed\n")
    assert "A log does not prove: " in checked.stderr
    assert f"the signature after the last row is wrong: it was made with key {KEY.public.id}" in foreign.stdout
    assert "the log has no signature after its last row" in missing.stdout


def test_a_bad_key_is_refused(log: Path) -> None:
    for key in ("junk", "ed25519:12", "no/such/file"):
        assert "is not a public key" in run("verify", "--key", key, str(log), status=2).stderr


def test_F14_a_file_of_many_logs_keeps_each_signature_with_its_log(tmp_path: Path) -> None:
    first = signed_lines("pool-nap-3", 1, None)
    second = signed_lines("saint-poker-2", 2, digest(first[-1]))
    void = json.dumps({"match": parse_row(second[0])["match"], "reason": "a bug", "type": "void"}).encode()
    file, packed = tmp_path / "all.ndjson", tmp_path / "all.ndjson.gz"
    file.write_bytes(b"\n".join([*first, *second, void, b""]))
    packed.write_bytes(b"".join(gzip.compress(b"\n".join([*part, b""])) for part in (first, [*second, void])))

    for name in (file, packed):
        checked = run("verify", "--json", "--key", KEY.public.text, str(name))
        findings = [item["finding"] for item in json.loads(checked.stdout)["items"]]
        assert [finding.count("; signed (entry") for finding in findings] == [1, 1]
        assert findings[1].endswith("; void, so it does not count")

    exchanged = [*first[:-1], second[-1], *second[:-1], first[-1], b""]
    file.write_bytes(b"\n".join(exchanged))
    refused = run("verify", "--key", KEY.public.text, str(file), status=1)
    assert refused.stdout.count("FAILED") == 2
    assert "it is the signature of match" in refused.stdout or "not that of the last row" in refused.stdout

    file.write_bytes(b"\n".join([*first, first[-1], *second, b""]))
    assert "2 of 3 logs are valid" in run("verify", "--key", KEY.public.text, str(file), status=1).stdout


def test_the_second_verifier_reads_signed_logs_and_says_that_it_checks_no_signature(log: Path, tmp_path: Path) -> None:
    unsigned, swapped = tmp_path / "unsigned", tmp_path / "swapped"
    lines = log.read_bytes().splitlines()
    unsigned.write_bytes(b"\n".join(lines[:-1]))
    swapped.write_bytes(b"\n".join([*lines[:-1], signed_lines("saint-poker-2", 1, None)[-1]]))

    files = [str(file) for file in (log, unsigned, swapped)]
    checked = subprocess.run([sys.executable, VERIFIER, *files], capture_output=True, text=True, check=False)

    said = checked.stdout.splitlines()
    assert said[0].endswith("; signature not checked")
    assert said[1].endswith("; not signed")
    assert "FAILED: ValueError: the signature is that of another log" in said[2]


def test_narrating_and_the_page_of_a_match_leave_the_signature_out(log: Path, tmp_path: Path) -> None:
    page = tmp_path / "match.html"

    assert run("replay", str(log)).stdout == run("replay", str(path("pool-nap-3"))).stdout
    run("replay", str(log), "--html", str(page))
    assert page.exists()
