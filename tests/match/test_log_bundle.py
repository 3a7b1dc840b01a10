"""Bundles of logs: what is split, and where a file can be cut."""

import gzip
import json

import pytest

from referee.match import log_bundle
from referee.match.kinds import LogRemark
from referee.match.log_bundle import CutOff, split_logs


def pack(match: str, *, rows: int = 3) -> bytes:
    """Return a log as a service sends it: two gzip members."""
    lines = [{"row": row, "type": "header" if row == 0 else "play", "match": match} for row in range(rows)]
    body = gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines), mtime=0)
    return body + gzip.compress(json.dumps({"row": rows, "type": "reveal"}).encode() + b"\n", mtime=0)


def remark(match: str, kind: str) -> bytes:
    return log_bundle.pack_remark(match, kind, "it rained")


BUNDLE = pack("mat_1") + pack("mat_2") + remark("mat_2", "cancelled") + remark("mat_3", "damaged") + pack("mat_4")


@pytest.mark.parametrize("size", [1, 7, len(BUNDLE)])
def test_logs_are_told_apart_with_the_offsets_at_which_they_end(size: int) -> None:
    found = list(split_logs([BUNDLE[at : at + size] for at in range(0, len(BUNDLE), size)], "cup", start=10))

    first = len(pack("mat_1"))
    assert [(log.match, len(log.lines), log.remark) for log in found] == [
        ("mat_1", 4, ""),
        ("mat_2", 4, LogRemark.CANCELLED),
        ("mat_3", 0, LogRemark.DAMAGED),
        ("mat_4", 4, ""),
    ]
    assert (found[0].end, found[-1].end) == (10 + first, 10 + len(BUNDLE))


@pytest.mark.parametrize("packed", [gzip.decompress(BUNDLE), gzip.compress(gzip.decompress(BUNDLE))])
def test_the_same_lines_are_read_from_files_that_are_not_bundles(packed: bytes) -> None:
    assert [log.match for log in split_logs([packed], "cup")] == ["mat_1", "mat_2", "mat_3", "mat_4"]


def test_a_bundle_that_is_cut_gives_the_logs_before_the_cut() -> None:
    logs = split_logs([BUNDLE[:-3]], "cup")

    found = [next(logs) for _ in range(4)]

    assert [(log.match, log.may_lack_end) for log in found] == [(f"mat_{n}", n == 4) for n in (1, 2, 3, 4)]
    with pytest.raises(CutOff, match="cup cannot be unpacked completely"):
        next(logs)


def test_a_large_member_is_unpacked_in_pieces_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_bundle, "PIECE_BYTES", 10)

    found = list(split_logs([pack("mat_1", rows=500)], "cup"))

    assert [(len(log.lines), log.end) for log in found] == [(501, len(pack("mat_1", rows=500)))]
