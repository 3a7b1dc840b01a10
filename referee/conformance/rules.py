"""Read the rules of the conformance suite from the table of findings in ``docs/checking.md``."""

import re
from dataclasses import dataclass
from typing import Literal, cast

from referee.project_files import DOCS

Severity = Literal["fail", "warn", "ok"]

_ROW = re.compile(r"^\| `(\w+)` \| (fail|warn) \| (.+) \| (.+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rule:
    """Describe a rule. ``severity`` is that of a violation; ``advice`` is Markdown for the bot's author."""

    id: str
    severity: Severity
    expected: str
    advice: str


def _read_rules(page: str) -> dict[str, Rule]:
    table = page.partition("\n## Findings\n")[2]
    return {id: Rule(id, cast(Severity, severity), *texts) for id, severity, *texts in _ROW.findall(table)}


RULES = _read_rules((DOCS / "checking.md").read_text(encoding="utf-8"))  # in the order of the page
