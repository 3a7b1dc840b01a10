"""The allow-list: today's offences by file and word. It may only shrink; after a merge it is simply written again."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

LIST: Final = Path(__file__).with_name("allowed.toml")
COMMAND: Final = "python -m tests.words"
HEAD: Final = f"""\
# Banned words that still stand in the code, by file and word (banned.toml). Counts only go down.
# Written by `{COMMAND}`, which never raises a count; after a merge, run it again.
"""
ENTRY: Final = re.compile(r'^"(?P<path>[^"|]+) \| (?P<word>[^"]+)" = (?P<count>\d+)$')
Key = tuple[str, str]


def read(text: str) -> dict[Key, int]:
    """Return the entries of the list, the higher count of one that a merge left in twice. Ignore other lines."""
    entries: dict[Key, int] = {}
    for line in text.splitlines():
        if match := ENTRY.match(line):
            key = (match["path"], match["word"])
            entries[key] = max(entries.get(key, 0), int(match["count"]))
    return entries


def dump(counts: Mapping[Key, int]) -> str:
    return HEAD + "".join(f'"{path} | {word}" = {count}\n' for (path, word), count in sorted(counts.items()) if count)


def raised(allowed: Mapping[Key, int], counts: Mapping[Key, int]) -> list[Key]:
    """Return the entries that would grow. Words may move with their file to another path: then no total may grow."""
    before, after = _totals(allowed), _totals(counts)
    paths = {path for path, _ in allowed}
    grown = [key for key, count in counts.items() if count > allowed.get(key, 0)]
    return [key for key in grown if key[0] in paths or after[key[1]] > before[key[1]]]


def _totals(counts: Mapping[Key, int]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for (_, word), count in counts.items():
        totals[word] += count
    return totals
