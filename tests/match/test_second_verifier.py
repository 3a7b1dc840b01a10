"""The independent verifier in the documentation agrees with ours about links and deals."""

import ast
import gzip
import runpy
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.match.chance import CommittedChance
from referee.match.log import digest, parse_row, reveal_line
from referee.match.reveal import Reveal
from tests.golden import RECORDED, path
from tests.match.playing import GROUP, SEED, at_random, header, played, tables
from tests.match.test_log import Rows, forged, relinked, set_commitment, set_deal, set_nonce, set_seed, some_of

FILE = Path(__file__).parents[2] / "docs" / "verify_log.py"
NONCES = ["first", ""]
SAID = "links, seed and deals are valid; moves and result are not checked (referee verify checks them)"


@pytest.fixture(scope="module")
def check() -> Any:
    return runpy.run_path(str(FILE))["check"]


@pytest.fixture(scope="module")
def good() -> list[bytes]:
    source = CommittedChance(SEED, GROUP, NONCES)
    match = played(header("saint-poker", 2), at_random(Random(1)), source)
    hashes = [digest(b"first"), ""]
    return [
        *match.lines,
        reveal_line(len(match.lines), match.lines[-1], Reveal(SEED, NONCES, hashes, [True, None]).to_json()),
    ]


def test_it_is_some_90_lines_of_standard_library() -> None:
    text = FILE.read_text()
    imported = {
        alias.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for alias in node.names
    }

    assert len([line for line in text.splitlines() if line.strip()]) < 100
    assert imported <= sys.stdlib_module_names


@pytest.mark.parametrize(("game", "seats"), tables())
def test_it_accepts_what_we_accept(check: Any, game: str, seats: int) -> None:
    match = played(header(game, seats), at_random(Random(9)))
    reveal = reveal_line(len(match.lines), match.lines[-1], Reveal.without_nonces(SEED, seats).to_json())

    check([*match.lines, reveal])


def test_it_runs_as_a_program_on_plain_and_packed_files(good: list[bytes], tmp_path: Path) -> None:
    def forge_result(rows: Rows) -> None:
        rows[-2].update(placements=rows[-2]["placements"][::-1], scores=[score + 100 for score in rows[-2]["scores"]])

    plain, packed, unchecked = tmp_path / "a.ndjson", tmp_path / "a.ndjson.gz", tmp_path / "b.ndjson"
    plain.write_bytes(b"\n".join(good))
    packed.write_bytes(gzip.compress(b"\n".join(good)))
    unchecked.write_bytes(b"\n".join(forged(good, forge_result)))

    done = run(plain, packed, unchecked)

    assert done.returncode == 0
    assert done.stdout.count(SAID) == 3
    assert "placements" not in done.stdout
    assert done.stdout.endswith("none failed\n")


def run(*files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, FILE, *files], capture_output=True, text=True, check=False)


def test_it_judges_each_log_of_each_file_whatever_the_others_are(good: list[bytes], tmp_path: Path) -> None:
    remark = b'{"match":"mat_%b","reason":"why","type":"%b"}'
    cut = relinked([*(parse_row(line) for line in good[:6]), {**parse_row(good[-1]), "row": 6}])
    files = {
        "rubbish": b"\x00\xff{",
        "empty": b"",
        "zip": b"PK\x03\x04",
        "gzip": gzip.compress(b"\n".join(good))[:-20],
        "deep": b"[" * 100_000,
        "several": b"\n".join(
            [
                *good,
                remark % (b"1", b"void"),
                *cut,
                *good,
                remark % (b"2", b"damaged"),
                *cut,
                remark % (b"3", b"cancelled"),
            ]
        ),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)

    done = run(tmp_path / "missing", tmp_path, *(tmp_path / name for name in files))

    said = [line.removeprefix(f"{tmp_path}/") for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (1, "")
    assert [line.split()[0].strip(",") for line in said[2:7]] == list(files)[:5]
    assert all("FAILED: " in line for line in said[:7])
    assert [SAID in line for line in said[7:12]] == [True, False, True, False, True]
    assert said[8].endswith("FAILED: ValueError: the log has no result")
    assert "mat_2, FAILED: ValueError: there is no log" in said[10]
    assert f"{SAID}; 1 nonces of bots, 0 " in said[11]
    assert said[12:] == ["9 failed"]


@pytest.mark.parametrize("name", RECORDED)
def test_K18_it_refuses_a_log_cut_short_anywhere(check: Any, name: str) -> None:
    lines = path(name).read_bytes().splitlines()
    rows = [parse_row(line) for line in lines]
    for end in some_of(len(rows) - 1)[1:]:
        for cut in (lines[:end], relinked([*rows[:end], {**rows[-1], "row": end}])):
            with pytest.raises(ValueError, match=r"the log has no result|no seed is revealed"):
                check(cut)


@pytest.mark.parametrize("change", [set_deal, set_seed, set_nonce, set_commitment])
def test_D8_it_refuses_what_we_refuse(check: Any, good: list[bytes], change: Any) -> None:
    with pytest.raises(ValueError, match=r"seed|nonce|promised"):
        check(forged(good, change))


def test_it_refuses_a_broken_link(check: Any, good: list[bytes]) -> None:
    touched = good[3].replace(b'"ms":', b'"ms":9')

    assert parse_row(touched) != parse_row(good[3])
    with pytest.raises(ValueError, match="row 4"):
        check([*good[:3], touched, *good[4:]])


def test_D8_it_refuses_a_log_without_its_seed(check: Any, good: list[bytes]) -> None:
    with pytest.raises(ValueError, match="no seed"):
        check(good[:-1])
