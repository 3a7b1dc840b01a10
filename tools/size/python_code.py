"""Count the code of Python files. Code is every line that is not blank, not a comment and not part of a docstring."""

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class CodeSize(NamedTuple):
    """Hold the size of some files. ``functions`` has the lines of code of each function, its nested ones included."""

    files: int = 0
    lines: int = 0
    statements: int = 0
    functions: tuple[int, ...] = ()

    @classmethod
    def measure(cls, source: str) -> Self:
        """Measure a file."""
        tree = ast.parse(source)
        docstrings = set(_list_docstrings(tree))
        hidden = {line for text in docstrings for line in range(text.lineno, (text.end_lineno or text.lineno) + 1)}
        code = _code_lines(source) - hidden
        nodes = list(ast.walk(tree))
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        return cls(
            1,
            len(code),
            sum(isinstance(node, ast.stmt) and node not in docstrings for node in nodes),
            tuple(len(code & {*range(node.lineno, (node.end_lineno or 0) + 1)}) for node in functions),
        )

    @classmethod
    def total(cls, sizes: Iterable["CodeSize"]) -> Self:
        """Add sizes up."""
        counted = list(sizes)
        return cls(
            sum(size.files for size in counted),
            sum(size.lines for size in counted),
            sum(size.statements for size in counted),
            tuple(function for size in counted for function in size.functions),
        )


def measure_folder(folder: Path) -> CodeSize:
    """Measure all Python files in a folder and its subfolders. A folder that does not exist has none."""
    return CodeSize.total(CodeSize.measure(path.read_text()) for path in sorted(folder.rglob("*.py")))


def _list_docstrings(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0]


def _code_lines(source: str) -> set[int]:
    """Return the numbers of the lines with code, from 1; of a text in several lines, all of them."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {line for token in tokens if token.type not in SILENT for line in range(token.start[0], token.end[0] + 1)}
