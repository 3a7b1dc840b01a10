"""List the rulings that no test has in its name; exit with 1 if there are any. ``python -m tests.games.rulings``"""

import sys

from referee.games import catalogue
from referee.rulebook import rules_page
from tests.games.pages import rulings, tested_rulings


def untested() -> list[str]:
    tested = tested_rulings()
    return [ruling for name in catalogue() for ruling in rulings(rules_page(name)) if ruling not in tested]


if __name__ == "__main__":
    missing = untested()
    print("\n".join(missing) or "every ruling has a test")
    sys.exit(bool(missing))
