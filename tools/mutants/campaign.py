"""One campaign: faults chosen for a game, each run until a test fails, and what came of it as a table."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from tools.mutants.copies import Copy
from tools.mutants.explained import EXPLAINED, Spot
from tools.mutants.faults import Fault, chosen, faults_of

STAGES = ("own tests", "golden logs", "page", "battery")  # the quicker first
CAUGHT_BY = ("import", *STAGES, "time limit")
TIMES_MEASURED, AT_LEAST_S = 5.0, 5.0  # the limit of computing: a multiple of what the tests take without a fault


@dataclass(frozen=True, slots=True)
class Target:
    """What is planted in, and the tests meant to notice; ``keyword`` chooses those of a game from the common ones."""

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
    """What became of the faults of one target."""

    planted: int = 0
    caught: Counter[str] = field(default_factory=Counter)
    explained: list[tuple[Fault, str]] = field(default_factory=list)
    survived: list[Fault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Trial:
    stage: str
    arguments: list[str]
    limit_s: float  # of computing


def planted(copy: Copy, target: Target, count: int, dice: Random, kinds: Sequence[str] = ()) -> list[Fault]:
    """The faults that are tried on this target."""
    paths = sorted(path for pattern in target.files for path in copy.folder.glob(pattern))
    names = [str(path.relative_to(copy.folder)) for path in paths]
    faults = [fault for name in names for fault in faults_of(name, copy.source(name))]
    return chosen([fault for fault in faults if not kinds or fault.kind in kinds], count, dice)


def tried(
    copy: Copy,
    target: Target,
    faults: Sequence[Fault],
    tell: Callable[[str], None],
    *,
    only: Sequence[str] = STAGES,
) -> Outcome:
    """Runs every fault until a test fails, the quicker tests first; refuses tests that fail without a fault."""
    outcome, left = Outcome(planted=len(faults)), [*faults]
    for stage in only:
        if not left:
            break
        arguments = _arguments(copy, target, stage)
        ran = copy.run(arguments)
        if ran["caught"]:
            raise AssertionError(f"without any fault {stage} fail: {ran['caught']}")
        trial = _Trial(stage, arguments, max(AT_LEAST_S, TIMES_MEASURED * ran["cpu_s"]))
        tell(f"{stage}, {ran['cpu_s']:.1f} s without a fault, {len(left)} to try")
        left = [fault for fault in left if not _caught(copy, fault, trial, outcome, tell)]
    for fault in left:
        reason = EXPLAINED.get(Spot(fault.path, fault.function, fault.before.strip(), fault.after.strip()))
        if reason:
            outcome.explained.append((fault, reason))
        else:
            outcome.survived.append(fault)
            tell(f"SURVIVED {fault}")
    return outcome


def table(outcomes: dict[str, Outcome]) -> str:
    """The counts of every target in a row of Markdown."""
    head = ["", "planted", *CAUGHT_BY, "no difference", "survived"]
    lines = [head, ["---", *["--:"] * (len(head) - 1)]]
    for name, own in outcomes.items():
        counts = [own.planted, *(own.caught[by] for by in CAUGHT_BY), len(own.explained), len(own.survived)]
        lines.append([name, *map(str, counts)])
    sums = [str(sum(int(line[column]) for line in lines[2:])) for column in range(1, len(head))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [*lines, ["all", *sums]])


def _caught(copy: Copy, fault: Fault, trial: _Trial, outcome: Outcome, tell: Callable[[str], None]) -> bool:
    """Whether these tests notice the fault; writes down how."""
    with copy.with_source(fault.path, fault.planted_in(copy.source(fault.path))):
        test = copy.run(trial.arguments, trial.limit_s)["caught"]
    if test:
        by = "import" if test.startswith("import of") else test if test == "time limit" else trial.stage
        outcome.caught[by] += 1
        tell(f"{fault.path}:{fault.line} {fault.kind}: {by}, {test.split('::')[-1]}")
    return bool(test)


def _arguments(copy: Copy, target: Target, stage: str) -> list[str]:
    match stage:
        case "golden logs":
            return ["tests/match/test_golden.py", "-k", target.keyword]
        case "page":
            return ["tests/games/test_pages.py", "-k", target.keyword]
        case "battery":
            return ["tests/games/test_every_game.py", "-k", target.keyword]
        case _:
            found = sorted(path for pattern in target.own_tests for path in copy.folder.glob(pattern))
            return [str(path.relative_to(copy.folder)) for path in found]
