"""Print how much there is to read and to run: ``python -m tools.size [FOLDER]``, of this checkout by default.

The library knows no SQL, Flask or click; the service stands on it; extras are in ``referee_extras``.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

import click

from referee.cli import main as program
from tools.size.python_code import CodeSize, measure_folder

LIBRARY = {
    *("games", "match", "ratings", "pairing", "standings"),
    *("protocol", "botclient", "conformance", "house", "viewer"),
}
PRODUCT = ("referee", "api", "workers", "referee_extras")
BESIDE = ("tests", "tools", "bench", "bots", "deploy", "examples", "docs")
REGISTERS = ("threats.md", "performance.md", "mutants.md")  # for those who build the service
WRITTEN = {  # what is read beside Python: folders and endings
    "JavaScript": (("api", "referee", "referee_extras"), ".js"),
    "style sheets": (("api", "referee", "referee_extras"), ".css"),
    "templates": (("api", "referee", "referee_extras"), ".html"),
    "JSON": (("api", "referee", "workers", "referee_extras"), ".json"),
    "TOML": (("api", "referee", "workers", "referee_extras"), ".toml"),
}


def main() -> int:
    """Print the table."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent.parent
    rooms = dict(measure_rooms(root))
    print(f"{'ring and room':<28}{'files':>7}{'code':>8}{'statements':>12}")
    for ring in ("library", "service", "extras"):
        of_ring = {room: size for (of, room), size in rooms.items() if of == ring}
        for room, size in of_ring.items():
            show(f"  {room}", size)
        show(ring, CodeSize.total(of_ring.values()))
    product = CodeSize.total(rooms.values())
    show("product", product)
    for folder in BESIDE:
        show(folder, measure_folder(root / folder))
    print(f"functions of the product, lines of code: median {median(product.functions):.0f}, ", end="")
    print(f"p90 {quantiles(product.functions, n=10)[8]:.0f}, longest {max(product.functions)}")
    for name, (folders, ending) in WRITTEN.items():
        print(f"{name}: {count_lines(root, folders, ending)} lines")
    people, registers = count_words(root)
    print(f"words for people: {people}; in registers ({', '.join(REGISTERS)}): {registers}")
    commands = list(list_commands())
    print(f"commands: {len(commands)} with {sum(commands)} options")
    return 0


def measure_rooms(root: Path) -> Iterator[tuple[tuple[str, str], CodeSize]]:
    """Yield ((ring, room), size) for each package of the product; files beside packages are the room ``(top)``."""
    for top in PRODUCT:
        folder = root / top
        packages = sorted(path for path in folder.glob("*") if path.is_dir() and any(path.rglob("*.py")))
        ring = "extras" if top == "referee_extras" else "service"
        for package in packages:
            is_library = top == "referee" and package.name in LIBRARY
            yield ("library" if is_library else ring, f"{top}/{package.name}"), measure_folder(package)
        yield (
            (ring, f"{top}/(top)"),
            CodeSize.total(CodeSize.measure(path.read_text()) for path in sorted(folder.glob("*.py"))),
        )


def show(name: str, size: CodeSize) -> None:
    print(f"{name:<28}{size.files:>7}{size.lines:>8}{size.statements:>12}")


def count_lines(root: Path, folders: tuple[str, ...], ending: str) -> int:
    """Count the lines of our files with this ending that are not blank."""
    files = (path for folder in folders for path in (root / folder).rglob(f"*{ending}"))
    own = (path for path in files if not {"vendor", "swagger-ui"} & {*path.parts})
    return sum(sum(bool(line.strip()) for line in path.read_text().splitlines()) for path in own)


def count_words(root: Path) -> tuple[int, int]:
    """Return the words of README, CONTRIBUTING and docs: those for people, and those of the registers."""
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    counts = {path: len(path.read_text().split()) for path in pages}
    registers = sum(count for path, count in counts.items() if path.name in REGISTERS)
    return sum(counts.values()) - registers, registers


def list_commands() -> Iterator[int]:
    """Yield, for each command that does something, how many options it has."""
    pending: list[click.Command] = [program]
    while pending:
        command = pending.pop()
        if not isinstance(command, click.Group):
            yield sum(isinstance(parameter, click.Option) for parameter in command.params)
            continue
        context = click.Context(command)
        found = (command.get_command(context, name) for name in command.list_commands(context))
        pending += [child for child in found if child is not None]


if __name__ == "__main__":
    sys.exit(main())
