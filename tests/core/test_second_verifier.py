"""The verifier that stands in the docs: small, on its own, and of one mind with ours about links and deals."""

import ast
import gzip
import runpy
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.chance import CommittedChance
from referee.matchlog import reveal_line
from referee.rows import digest, parsed
from tests.core.playing import GROUP, SEED, at_random, header, played, tables
from tests.core.test_matchlog import forged, set_commitment, set_deal, set_nonce, set_seed

FILE = Path(__file__).parents[2] / "docs" / "verify_log.py"
NONCES = ["first", ""]


@pytest.fixture(scope="module")
def check() -> Any:
    return runpy.run_path(str(FILE))["check"]


@pytest.fixture(scope="module")
def good() -> list[bytes]:
    source = CommittedChance(SEED, GROUP, NONCES)
    match = played(header("saint-poker", 2), at_random(Random(1)), source)
    hashes = [digest(b"first"), ""]
    return [*match.lines, reveal_line(len(match.lines), match.lines[-1], SEED, NONCES, hashes)]


def test_it_is_at_most_60_lines_of_standard_library() -> None:
    text = FILE.read_text()
    imported = {
        alias.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for alias in node.names
    }

    assert len(text.splitlines()) <= 60
    assert imported <= sys.stdlib_module_names


@pytest.mark.parametrize(("game", "seats"), tables())
def test_it_accepts_what_we_accept(check: Any, game: str, seats: int) -> None:
    match = played(header(game, seats), at_random(Random(9)))
    reveal = reveal_line(len(match.lines), match.lines[-1], SEED, [""] * seats, [""] * seats)

    assert check(b"\n".join([*match.lines, reveal]))["placements"] == match.state.placements()


def test_it_runs_as_a_program_on_plain_and_packed_files(good: list[bytes], tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.ndjson", tmp_path / "a.ndjson.gz"
    plain.write_bytes(b"\n".join(good))
    packed.write_bytes(gzip.compress(b"\n".join(good)))

    done = subprocess.run([sys.executable, FILE, plain, packed], capture_output=True, text=True, check=True)

    assert done.stdout.count("is sound; placements by seat: [") == 2


@pytest.mark.parametrize("change", [set_deal, set_seed, set_nonce, set_commitment])
def test_it_refuses_what_we_refuse(check: Any, good: list[bytes], change: Any) -> None:
    with pytest.raises(ValueError, match=r"seed|nonce|promised"):
        check(b"\n".join(forged(good, change)))


def test_it_refuses_a_broken_link(check: Any, good: list[bytes]) -> None:
    touched = good[3].replace(b'"ms":', b'"ms":9')

    assert parsed(touched) != parsed(good[3])
    with pytest.raises(ValueError, match="row 4"):
        check(b"\n".join([*good[:3], touched, *good[4:]]))


def test_it_refuses_a_log_without_its_seed(check: Any, good: list[bytes]) -> None:
    with pytest.raises(ValueError, match="no seed"):
        check(b"\n".join(good[:-1]))
