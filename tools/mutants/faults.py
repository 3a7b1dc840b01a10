"""Find faults that can be planted in one line of a source, and choose some of them. ``campaign`` runs the tests.

Faults change no texts, annotations, parameters of types, imports, decorators, asserts or raised errors.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "//"), ast.FloorDiv: ("//", "*")}
EXTREMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
LAPS = ("around", "_lap", "_clockwise", "seats_in")  # methods that return seats in an order that matters
SEATS = ("seat", "bidder", "winner", "buyer", "dealer", "payer", "payee", "opener", "rival", "owner", "other", "first")
GENERIC = {
    "dict",
    "defaultdict",
    "list",
    "tuple",
    "set",
    "frozenset",
    "type",
    "Callable",
    "Iterable",
    "Iterator",
    "Mapping",
}
KEPT_IN_ORDER = ("Option", "isinstance", "range", "getattr", "zip")  # calls whose arguments are not exchanged


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """Describe a fault in one line of a file."""

    path: str
    line: int
    kind: str
    function: str
    before: str  # the line as it is
    after: str

    def plant_in(self, source: str) -> str:
        """Return the source with the fault. Raise AssertionError if the line has changed."""
        lines = source.split("\n")
        assert lines[self.line - 1] == self.before, f"{self.path}:{self.line} has changed"
        return "\n".join([*lines[: self.line - 1], self.after, *lines[self.line :]])

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({self.kind})\n    - {self.before.strip()}\n    + {self.after.strip()}"


def faults_of(path: str, source: str) -> list[PlantedFault]:
    """Return all faults that can be planted in this source, in the order of lines."""
    found: dict[tuple[int, str], PlantedFault] = {}
    for fault in _Planter(path, source).faults():
        if fault.after != fault.before:
            found.setdefault((fault.line, fault.after), fault)
    return sorted(found.values(), key=lambda fault: fault.line)


def sample_faults(faults: Sequence[PlantedFault], count: int, dice: Random) -> list[PlantedFault]:
    """Return up to ``count`` random faults, at most one per line, spread over all functions and kinds."""
    functions: dict[tuple[str, str], list[PlantedFault]] = {}
    for fault in dice.sample(faults, len(faults)):
        functions.setdefault((fault.path, fault.function), []).append(fault)
    picked: list[PlantedFault] = []
    kinds, lines = Counter[str](), set[tuple[str, int]]()
    while functions and len(picked) < count:
        for function in [*functions]:
            left = [fault for fault in functions[function] if (fault.path, fault.line) not in lines]
            if not left:
                del functions[function]
            elif len(picked) < count:
                fault = min(left, key=lambda fault: kinds[fault.kind])
                functions[function] = left
                picked.append(fault)
                kinds[fault.kind] += 1
                lines.add((fault.path, fault.line))
    return sorted(picked, key=lambda fault: (fault.path, fault.line))


class _Planter:
    def __init__(self, path: str, source: str) -> None:
        self.path = path
        self.lines = source.split("\n")
        self.tree = ast.parse(source)

    def faults(self) -> Iterator[PlantedFault]:
        yield from self._within(self.tree, ())

    def _within(self, node: ast.AST, place: tuple[str, ...]) -> Iterator[PlantedFault]:
        """Yield the faults of this node and of all its descendants."""
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.Raise | ast.JoinedStr):
            return
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in GENERIC:
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            place = (*place, node.name)
        for kind, first, last, text in self._changes(node):
            if first[0] == last[0]:
                yield self._fault(kind, ".".join(place) or "module", first, last, text)
        for name, below in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases", "type_params"):
                continue
            for child in below if isinstance(below, list) else [below]:
                if isinstance(child, ast.AST):
                    yield from self._within(child, place)

    def _fault(self, kind: str, function: str, first: "_Place", last: "_Place", text: str) -> PlantedFault:
        before = self.lines[first[0] - 1]
        written = before.encode()  # columns count bytes
        after = (written[: first[1]] + text.encode() + written[last[1] :]).decode()
        return PlantedFault(self.path, first[0], kind, function, before, after)

    def _changes(self, node: ast.AST) -> Iterator["_Change"]:
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for left, right, op in zip(sides, sides[1:], node.ops, strict=False):
                    yield from self._operator("comparison", left, right, *COMPARISONS[type(op)])
            case ast.BoolOp():
                words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield from self._operator("and/or", left, right, *words)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
                yield from self._operator("arithmetic", left, right, *ARITHMETIC[type(op)])
                if not isinstance(op, ast.Add | ast.Mult):
                    yield from self._exchange(left, right)
            case ast.Constant(value=bool() as value):
                yield "flag", *_span(node), str(not value)
            case ast.Constant(value=int() as value):
                yield "off by one", *_span(node), str(value + 1)
                yield "off by one", *_span(node), str(value - 1)
            case ast.If() | ast.While() | ast.IfExp():
                yield from self._negate(node.test)
            case ast.comprehension():
                for test in node.ifs:
                    yield from self._negate(test)
            case ast.UnaryOp(op=ast.Not()):
                yield "condition", *_span(node), f"({self._text(node.operand)})"
            case ast.Assign(targets=[target]) if not any(isinstance(part, ast.Name) for part in _parts(target)):
                yield "forgotten", *_span(node), "pass"
            case ast.AugAssign(op=op, target=target, value=value):
                yield "forgotten", *_span(node), "pass"
                if type(op) in ARITHMETIC:
                    old, new = ARITHMETIC[type(op)]
                    yield from self._operator("payer", target, value, old + "=", new + "=")
            case ast.Delete() | ast.Expr(value=ast.Call()):
                yield "forgotten", *_span(node), "pass"
            case ast.Call():
                yield from self._call(node)
            case ast.List(elts=[first, second, *_]) | ast.Tuple(elts=[first, second, *_], ctx=ast.Load()):
                yield from self._exchange(first, second)
            case ast.Dict(keys=[*_, ast.Constant(), ast.Constant()], values=[*_, first, second]):
                yield from self._exchange(first, second)
            case ast.Subscript():
                yield from self._subscript(node)

    def _call(self, node: ast.Call) -> Iterator["_Change"]:
        name = self._text(node.func).split(".")[-1]
        if name in EXTREMES and isinstance(node.func, ast.Name):
            yield "min/max", *_span(node.func), EXTREMES[name]
        if name == "sorted":
            keywords = {keyword.arg for keyword in node.keywords}
            if "reverse" not in keywords and not isinstance(node.args[0], ast.GeneratorExp):
                yield "order", *_span(node), f"{self._text(node)[:-1]}, reverse=True)"
            yield "order", *_span(node), f"list({self._text(node.args[0])})"
        if name in LAPS:
            yield "order", *_span(node), f"{self._text(node)}[::-1]"
            if len(node.args) == 1:
                yield "seat", *_span(node.args[0]), f"({self._text(node.args[0])} + 1) % self.players"
        plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
        if name not in KEPT_IN_ORDER and len(plain) > 1:
            yield from self._exchange(plain[0], plain[1])

    def _subscript(self, node: ast.Subscript) -> Iterator["_Change"]:
        match node.slice:
            case ast.Name(id=name) if name in SEATS:
                yield "seat", *_span(node.slice), f"{name} - 1"
            case ast.Slice(lower=None, upper=None, step=None) if isinstance(node.ctx, ast.Load):
                yield "shared list", *_span(node), self._text(node.value)
            case ast.Slice(lower=None, upper=None, step=ast.UnaryOp()):
                yield "order", *_span(node), self._text(node.value)

    def _negate(self, test: ast.expr) -> Iterator["_Change"]:
        if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            yield "condition", *_span(test), f"not ({self._text(test)})"

    def _exchange(self, first: ast.expr, second: ast.expr) -> Iterator["_Change"]:
        between = self._text_between(first, second)
        if between is not None:
            text = f"{self._text(second)}{between}{self._text(first)}"
            yield "exchanged", _span(first)[0], _span(second)[1], text

    def _operator(self, kind: str, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator["_Change"]:
        between = self._text_between(left, right)
        pattern = rf"\b{old}\b" if old[0].isalpha() else re.escape(old)
        if between is not None:
            yield kind, _span(left)[1], _span(right)[0], re.sub(pattern, new, between, count=1)

    def _text_between(self, left: ast.expr, right: ast.expr) -> str | None:
        (line, first), (last_line, last) = _span(left)[1], _span(right)[0]
        return self.lines[line - 1].encode()[first:last].decode() if line == last_line else None

    def _text(self, node: ast.expr) -> str:
        """Return the source of a node, or its first line. Nodes on several lines are not changed."""
        (line, first), (last_line, last) = _span(node)
        return self.lines[line - 1].encode()[first : last if line == last_line else None].decode()


_Place = tuple[int, int]  # line, column
_Change = tuple[str, _Place, _Place, str]  # kind, from, to, what is written there


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple) else [target]


def _span(node: ast.expr | ast.stmt) -> tuple[_Place, _Place]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
