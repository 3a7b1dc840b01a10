"""Lower the allow-list to what stands in the code. Refuse to raise a count: the word has to go instead."""

import sys

from tests.words import Offence, counts, offences
from tests.words.allowed import COMMAND, LIST, dump, raised, read


def describe(found: list[Offence]) -> str:
    """Return a line for each offence: where it is and what should stand there."""
    return "\n".join(f"{each.path}:{each.line}: {each.kind} {each.word!r}: use {each.instead}" for each in found)


def main() -> int:
    found = offences()
    now, allowed = counts(found), read(LIST.read_text())
    grown = set(raised(allowed, now))
    if grown:
        print(describe([offence for offence in found if offence.key in grown]))
        print(
            f"{COMMAND}: the list may only shrink; {len(grown)} counts would grow, nothing was written", file=sys.stderr
        )
        return 1
    LIST.write_text(dump(now))
    print(f"{sum(allowed.values())} offences were allowed, {sum(now.values())} are now")
    return 0


if __name__ == "__main__":
    sys.exit(main())
