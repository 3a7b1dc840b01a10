"""Choose faults for a game, run the tests on each fault until a test fails, and count the outcomes in a table."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from tools.mutants.copies import Copy
from tools.mutants.explained import EXPLAINED, Spot
from tools.mutants.faults import PlantedFault, faults_of, sample_faults

SUITES = ("own tests", "golden logs", "page", "battery")  # fastest first
CAUGHT_BY = ("import", *SUITES, "time limit")
TIMES_MEASURED, AT_LEAST_S = 5.0, 5.0  # limit of CPU time: this multiple of the time without a fault, but at least 5 s


@dataclass(frozen=True, slots=True)
class Target:
    """Name the files in which to plant faults, and the tests that should catch them. ``keyword`` selects the tests of a
    game from the common tests."""

    files: tuple[str, ...]  # patterns
    own_tests: tuple[str, ...]  # patterns
    keyword: str


def _of_game(name: str) -> Target:
    module = name.replace("-", "_")
    return Target((f"referee/games/{module}*.py",), (f"tests/games/test_{module}*.py",), name)


GAMES = {name: _of_game(name) for name in ("pool-nap", "prince-albert", "prisoners", "rummy-royal", "saint-poker")}
TARGETS = {
    **GAMES,
    "poker": Target(("referee/games/poker.py",), ("tests/games/test_poker.py",), "saint-poker or prince-albert"),
    "all games": Target(
        ("referee/games/state.py", "referee/games/options.py", "referee/games/cards.py"),
        tuple(pattern for game in GAMES.values() for pattern in game.own_tests),
        "",
    ),
}


@dataclass
class Outcome:
    """Count the outcomes of the faults of one target."""

    planted: int = 0
    caught: Counter[str] = field(default_factory=Counter)
    explained: list[tuple[PlantedFault, str]] = field(default_factory=list)
    survived: list[PlantedFault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Trial:
    suite: str
    arguments: list[str]
    limit_s: float  # of CPU time


def select_faults(
    copy: Copy, target: Target, count: int, dice: Random, kinds: Sequence[str] = ()
) -> list[PlantedFault]:
    """Return up to ``count`` faults to plant in this target, only of these ``kinds`` if any are given."""
    paths = sorted(path for pattern in target.files for path in copy.folder.glob(pattern))
    names = [str(path.relative_to(copy.folder)) for path in paths]
    faults = [fault for name in names for fault in faults_of(name, copy.source(name))]
    return sample_faults([fault for fault in faults if not kinds or fault.kind in kinds], count, dice)


def try_faults(
    copy: Copy,
    target: Target,
    faults: Sequence[PlantedFault],
    report: Callable[[str], None],
    *,
    only: Sequence[str] = SUITES,
) -> Outcome:
    """Run suites on each fault until a test fails, fastest first. Raise AssertionError if they fail without a fault."""
    outcome, left = Outcome(planted=len(faults)), [*faults]
    for suite in only:
        if not left:
            break
        arguments = _arguments(copy, target, suite)
        ran = copy.run(arguments)
        if ran["caught"]:
            raise AssertionError(f"without any fault {suite} fail: {ran['caught']}")
        trial = _Trial(suite, arguments, max(AT_LEAST_S, TIMES_MEASURED * ran["cpu_s"]))
        report(f"{suite}, {ran['cpu_s']:.1f} s without a fault, {len(left)} to try")
        left = [fault for fault in left if not _is_caught(copy, fault, trial, outcome, report)]
    for fault in left:
        reason = EXPLAINED.get(Spot(fault.path, fault.function, fault.before.strip(), fault.after.strip()))
        if reason:
            outcome.explained.append((fault, reason))
        else:
            outcome.survived.append(fault)
            report(f"SURVIVED {fault}")
    return outcome


def table(outcomes: dict[str, Outcome]) -> str:
    """Return a Markdown table with the counts of each target in a row."""
    head = ["", "planted", *CAUGHT_BY, "no difference", "survived"]
    lines = [head, ["---", *["--:"] * (len(head) - 1)]]
    for name, own in outcomes.items():
        counts = [own.planted, *(own.caught[by] for by in CAUGHT_BY), len(own.explained), len(own.survived)]
        lines.append([name, *map(str, counts)])
    sums = [str(sum(int(line[column]) for line in lines[2:])) for column in range(1, len(head))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [*lines, ["all", *sums]])


def _is_caught(copy: Copy, fault: PlantedFault, trial: _Trial, outcome: Outcome, report: Callable[[str], None]) -> bool:
    """Return whether these tests catch the fault. If so, record the suite in ``outcome``."""
    with copy.with_source(fault.path, fault.plant_in(copy.source(fault.path))):
        test = copy.run(trial.arguments, trial.limit_s)["caught"]
    if test:
        by = "import" if test.startswith("import of") else test if test == "time limit" else trial.suite
        outcome.caught[by] += 1
        report(f"{fault.path}:{fault.line} {fault.kind}: {by}, {test.split('::')[-1]}")
    return bool(test)


def _arguments(copy: Copy, target: Target, suite: str) -> list[str]:
    match suite:
        case "golden logs":
            return ["tests/match/test_golden.py", "-k", target.keyword]
        case "page":
            return ["tests/games/test_pages.py", "-k", target.keyword]
        case "battery":
            return ["tests/games/test_every_game.py", "-k", target.keyword]
        case _:
            found = sorted(path for pattern in target.own_tests for path in copy.folder.glob(pattern))
            return [str(path.relative_to(copy.folder)) for path in found]
