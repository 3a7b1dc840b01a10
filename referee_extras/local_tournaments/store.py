"""Store the plan of a local tournament and the logs of its finished deals in a directory.

    plan.json                        the plan; a different plan is refused
    deal-00001/mat_….ndjson          all matches of a finished deal
    deal-00002.part/mat_….ndjson     a deal in progress; after an interruption it is played again

The directory of a deal is renamed atomically when its last match is over, so no finished deal is incomplete.
"""

import fcntl
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from referee.errors import Conflict, RefereeError
from referee.local.matches import LocalResult, PlannedMatch
from referee.match.canonical import Json
from referee.match.log import digest, parse_row
from referee_extras.local_tournaments.plan import LocalPlan

PLAN: Final = "plan.json"
LOCK: Final = ".lock"


class DamagedStore(RefereeError):
    """Signal that a file is missing or changed."""


class LocalOutcome(NamedTuple):
    """Hold the names of the players of a finished match, in seat order, and its result as in its log."""

    names: Sequence[str]
    result: Json


class LocalStore:
    """Read and write the logs of one plan. Only one process can have the store open."""

    def __init__(self, directory: Path, plan: LocalPlan) -> None:
        self.directory = directory
        self._plan = plan

    def read_finished(self) -> Iterator[tuple[int, list[LocalOutcome]]]:
        """Yield the number and outcomes of each finished deal. Raise ``DamagedStore`` if a log is not as planned."""
        for deal in range(1, self._plan.deals + 1):
            if self._finished_path(deal).is_dir():
                yield deal, [self._read(deal, sitting) for sitting in self._plan.matches_of_deal(deal)]

    def begin(self, deal: int) -> None:
        """Create an empty directory for a deal, removing the leftovers of an interruption."""
        shutil.rmtree(self._unfinished_path(deal), ignore_errors=True)
        self._unfinished_path(deal).mkdir()

    def write(self, deal: int, played: LocalResult) -> LocalOutcome:
        path = self._unfinished_path(deal) / f"{played.header['match']}.ndjson"
        path.write_bytes(b"".join(line + b"\n" for line in played.lines))
        return LocalOutcome(played.names, played.result)

    def finish(self, deal: int) -> None:
        """Mark a deal as finished after all its matches have been written."""
        self._unfinished_path(deal).rename(self._finished_path(deal))

    def drop_unfinished_deals(self) -> None:
        """Remove the directories of unfinished deals."""
        for folder in self.directory.glob("deal-*.part"):
            shutil.rmtree(folder, ignore_errors=True)

    def _finished_path(self, deal: int) -> Path:
        return self.directory / f"deal-{deal:05}"

    def _unfinished_path(self, deal: int) -> Path:
        return self.directory / f"deal-{deal:05}.part"

    def _read(self, deal: int, sitting: PlannedMatch) -> LocalOutcome:
        path = self._finished_path(deal) / f"{sitting.match_id}.ndjson"
        try:
            lines = path.read_bytes().splitlines()
            rows = [parse_row(line) for line in lines]
            linked = all(row["prev"] == digest(line) for row, line in zip(rows[1:], lines, strict=False))
            seated = [(player["bot"], player["name"]) for player in rows[0]["players"]]
            planned = [(entrant.id, entrant.name) for entrant in sitting.seated]
            is_planned = rows[0]["match"] == sitting.match_id and seated == planned
            if not (linked and is_planned and rows[-1]["type"] == "reveal" and rows[-1]["seed"] == sitting.seed.hex()):
                raise ValueError("not the log of this match")
            return LocalOutcome([name for _, name in planned], rows[-2])
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            remedy = f"Remove {self._finished_path(deal)} to have its deal played again."
            raise DamagedStore(f"{path} cannot be counted ({error}). {remedy}") from error


def stored_seed(directory: Path) -> str | None:
    """Return the seed of the tournament in this directory, or None if there is no tournament."""
    stored = _read_plan(directory)
    return None if stored is None else str(stored.get("seed"))


@contextmanager
def open_store(directory: Path, plan: LocalPlan) -> Iterator[LocalStore]:
    """Create or reopen the store of a plan. Raise ``Conflict`` if the directory has a different plan, is in use by
    another process, or cannot be written to."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / LOCK).open("w")
    except OSError as error:
        raise Conflict(f"Cannot write to {directory}: {error.strerror}.") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict(f"{directory} is in use by another process. Wait for it, or pass another --out.") from None
        _claim(directory, plan.to_json())
        yield LocalStore(directory, plan)


def _claim(directory: Path, ours: Json) -> None:
    stored = _read_plan(directory)
    if stored is None:
        _write_plan(directory, ours)
    elif stored != ours:
        differ = [name for name in {**stored, **ours} if stored.get(name) != ours.get(name)]
        differences = "; ".join(
            f"{name} is {json.dumps(stored.get(name))} there, {json.dumps(ours.get(name))} here" for name in differ
        )
        raise Conflict(f"{directory} has a different tournament: {differences}. Pass another --out.")


def _write_plan(directory: Path, ours: Json) -> None:
    new = directory / f"{PLAN}.new"
    new.write_text(json.dumps(ours, indent=2) + "\n")
    new.rename(directory / PLAN)


def _read_plan(directory: Path) -> Json | None:
    try:
        stored = json.loads((directory / PLAN).read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise DamagedStore(f"{directory / PLAN} cannot be read: {error}") from error
    if not isinstance(stored, dict):
        raise DamagedStore(f"{directory / PLAN} does not contain a plan.")
    return stored
