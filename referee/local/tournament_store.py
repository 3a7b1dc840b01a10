"""The directory of a local tournament: what is being played, and the logs of the deals that are over.

    plan.json                        another plan is refused
    deal-00001/mat_….ndjson          all matches of a deal
    deal-00002.part/mat_….ndjson     a deal under way; what a cut left there is played again

A deal's directory gets its name when its last match is over, in one step: there is no half of a deal.
"""

import fcntl
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from referee.errors import Conflict, RefereeError
from referee.local.matches import LocalResult, Sitting
from referee.local.tournament_plan import LocalPlan
from referee.match.canonical import Json
from referee.match.log import digest, parse_row

PLAN: Final = "plan.json"
LOCK: Final = ".lock"


class DamagedRecord(RefereeError):
    """What lies in the directory is not what was written there."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What counts of a finished match, by seat."""

    deal: int
    names: Sequence[str]
    placements: Sequence[int]
    returns: Sequence[int]
    faults: Sequence[int]

    @classmethod
    def from_log(cls, deal: int, header: Json, result: Json) -> "Finished":
        names = [player["name"] for player in header["players"]]
        return cls(deal, names, result["placements"], result["returns"], result["faults"])


class LocalStore:
    """The logs of one plan. One process at a time has it open."""

    def __init__(self, directory: Path, plan: LocalPlan) -> None:
        self.directory = directory
        self._plan = plan

    def finished(self) -> Iterator[tuple[int, list[Finished]]]:
        """The deals that are over, up to those the plan has. Raises ``DamagedRecord``."""
        for deal in range(1, self._plan.deals + 1):
            if self._whole(deal).is_dir():
                yield deal, [self._read(deal, sitting) for sitting in self._plan.sittings(deal)]

    def begin(self, deal: int) -> None:
        """Makes room for a deal; what a cut left of it goes."""
        shutil.rmtree(self._part(deal), ignore_errors=True)
        self._part(deal).mkdir()

    def write(self, deal: int, played: LocalResult) -> Finished:
        path = self._part(deal) / f"{played.header['match']}.ndjson"
        path.write_bytes(b"".join(line + b"\n" for line in played.lines))
        return Finished.from_log(deal, played.header, played.result)

    def close(self, deal: int) -> None:
        """Every match of the deal is written."""
        self._part(deal).rename(self._whole(deal))

    def drop_cut_deals(self) -> None:
        """Takes away what was begun and is not to be finished."""
        for left in self.directory.glob("deal-*.part"):
            shutil.rmtree(left, ignore_errors=True)

    def _whole(self, deal: int) -> Path:
        return self.directory / f"deal-{deal:05}"

    def _part(self, deal: int) -> Path:
        return self.directory / f"deal-{deal:05}.part"

    def _read(self, deal: int, sitting: Sitting) -> Finished:
        path = self._whole(deal) / f"{sitting.match_id}.ndjson"
        try:
            lines = path.read_bytes().splitlines()
            rows = [parse_row(line) for line in lines]
            linked = all(row["prev"] == digest(line) for row, line in zip(rows[1:], lines, strict=False))
            seated = [(player["bot"], player["name"]) for player in rows[0]["players"]]
            ours = rows[0]["match"] == sitting.match_id and seated == [(one.id, one.name) for one in sitting.seated]
            if not (linked and ours and rows[-1]["type"] == "reveal" and rows[-1]["seed"] == sitting.seed.hex()):
                raise ValueError("not the log of this match")
            return Finished.from_log(deal, rows[0], rows[-2])
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            again = f"remove {self._whole(deal)} to have its deal played again"
            raise DamagedRecord(f"{path} cannot be counted ({error}); {again}") from error


def kept_seed(directory: Path) -> str | None:
    """The seed of the tournament that lies there, if one does."""
    kept = _read_plan(directory)
    return None if kept is None else str(kept.get("seed"))


@contextmanager
def open_store(directory: Path, plan: LocalPlan) -> Iterator[LocalStore]:
    """The record of this plan, new or gone on with. Raises ``Conflict`` where another plan lies there, or where
    another process plays it."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / LOCK).open("w")
    except OSError as error:
        raise Conflict(f"cannot write to {directory}: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict(f"{directory} is being played by another process") from None
        _claim(directory, plan.to_json())
        yield LocalStore(directory, plan)


def _claim(directory: Path, ours: Json) -> None:
    kept = _read_plan(directory)
    if kept is None:
        _write_plan(directory, ours)
    elif kept != ours:
        differ = [name for name in {**kept, **ours} if kept.get(name) != ours.get(name)]
        told = "; ".join(
            f"{name} is {json.dumps(kept.get(name))} there, {json.dumps(ours.get(name))} here" for name in differ
        )
        raise Conflict(f"{directory} has another tournament: {told}. Take another --out")


def _write_plan(directory: Path, ours: Json) -> None:
    new = directory / f"{PLAN}.new"
    new.write_text(json.dumps(ours, indent=2) + "\n")
    new.rename(directory / PLAN)


def _read_plan(directory: Path) -> Json | None:
    try:
        kept = json.loads((directory / PLAN).read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise DamagedRecord(f"{directory / PLAN} cannot be read: {error}") from error
    if not isinstance(kept, dict):
        raise DamagedRecord(f"{directory / PLAN} is not a plan")
    return kept
