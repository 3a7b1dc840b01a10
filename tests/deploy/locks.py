"""Read the lock files of the project: what each pins, on which machines, and which files it accepts."""

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deploy.compose import ROOT

RUNTIME = ROOT / "requirements.lock"
DEVELOPMENT = ROOT / "requirements-dev.lock"
COMPILER = ROOT / "requirements-uv.lock"
PEERS = ROOT / "bench" / "peers" / "requirements.lock"

_PIN = re.compile(r"(?P<requirement>[A-Za-z0-9_.-]+==[^=\s;*]+( ; .+?)?)(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)")


@dataclass(frozen=True, slots=True)
class Pin:
    """One version of a package, and the SHA-256 hashes of its files."""

    requirement: Requirement
    hashes: frozenset[str]

    @property
    def version(self) -> str:
        (specifier,) = self.requirement.specifier
        return specifier.version


def read_lock(path: Path) -> dict[str, Pin]:
    """Return the pins of a lock file by the normalized name. Raise ``ValueError`` for a line that is anything else."""
    joined = re.sub(r" \\\n\s*", " ", path.read_text())
    pins: dict[str, Pin] = {}
    for line in joined.splitlines():
        if line.startswith("#"):
            continue
        found = _PIN.fullmatch(line)
        if found is None:
            raise ValueError(f"{path.name} has a line that is not a pinned version with its hashes: {line}")
        requirement = Requirement(found["requirement"])
        name = canonicalize_name(requirement.name)
        if name in pins:
            raise ValueError(f"{path.name} pins {name} twice")
        pins[name] = Pin(requirement, frozenset(found["hashes"].split()))
    return pins
