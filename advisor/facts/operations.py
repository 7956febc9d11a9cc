"""Operations: what a piece of work needs at least, as formulas over named sizes.

They are read from ``rules/operations/*.yaml`` and from directories of the user. Which kernel does
which operation is for the user to say: ``facts.bindings``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.documents import DocumentNode, MappingNode, add_document
from advisor.errors import Location, RuleError
from advisor.expression import Expression, Kind, Symbol, compile_expression
from advisor.facts.formulas import Formula, NamedNumber, compile_formula, read_numbers
from advisor.facts.sizes import NUMBERS, wrong_sizes, wrong_value
from advisor.records import dataclass
from advisor.resources import rule_dirs
from advisor.units import Unit, parse_unit

if TYPE_CHECKING:
    from advisor.expression.calculate import Calculation, Value

Calculated = Callable[[Mapping[str, float]], float | None]

FOLDER = "operations"
REQUIRED = ("id", "title", "sizes", "flops", "bytes", "references", "tests")
OPTIONAL = ("writes", "weights", "pipe", "width", "caveats", "constants", "extends")
SIZE_KEYS = ("about", "unit", "number", "default")
EXAMPLE_REQUIRED = ("name", "sizes", "flops", "bytes")
EXAMPLE_KEYS = (*EXAMPLE_REQUIRED, "writes")

TOLERANCE = 1e-6

PIPES = ("matrix", "vector")
_UNITS = {"flops": "FLOP", "bytes": "B", "writes": "B", "weights": "B", "width": "B"}


@dataclass(frozen=True, kw_only=True)
class OperationSize:
    """A number that the user gives; ``default`` is a number or a formula over the sizes before.

    ``number`` is the kind of number, one of ``NUMBERS``; None for one that may be anything.
    """

    name: str
    about: str
    unit: str
    number: str | None
    default: float | Expression | None

    @property
    def default_text(self) -> str:
        """Return the default as it is written; empty without one."""
        if self.default is None:
            return ""
        return f"{self.default:g}" if isinstance(self.default, float) else self.default.text


@dataclass(frozen=True, kw_only=True)
class WorkedExample:
    """Sizes and what was worked out for them by hand, in FLOP and B; ``writes`` may be left out."""

    name: str
    sizes: Mapping[str, float]
    flops: float
    bytes: float
    writes: float | None
    at: Location


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What a piece of work needs: ``flops`` of arithmetic, ``bytes`` of compulsory traffic.

    ``writes`` is the part of the bytes that it writes, ``weights`` the part that is the same
    however much it is given to do at once; None where its file does not say. ``pipe`` usually
    does its work, one of ``PIPES``, on elements of ``width``.
    """

    id: str
    title: str
    sizes: Mapping[str, OperationSize]
    constants: Mapping[str, NamedNumber]
    flops: Formula
    bytes: Formula
    writes: Formula | None
    weights: Formula | None
    width: Formula | None
    pipe: str | None
    caveats: tuple[str, ...]
    references: tuple[str, ...]
    examples: tuple[WorkedExample, ...]
    at: Location

    def check(self, given: Iterable[str]) -> tuple[str, str | None] | None:
        """Return what is wrong with the names of given sizes, and a hint; None if nothing is."""
        return wrong_sizes(self.id, self.abouts, self.optional, given)

    def wrong_value(self, name: str, value: float) -> tuple[str, str] | None:
        """Return what is wrong with the value of a size, and a hint; None if nothing is."""
        return wrong_value(name, value, self.sizes[name].number, self.sizes[name].about)

    @property
    def abouts(self) -> dict[str, str]:
        """Return what each size is about."""
        return {name: size.about for name, size in self.sizes.items()}

    @property
    def usual_work(self) -> str:
        """Return in words what usually does its work; empty where its file does not say."""
        if self.pipe is None or self.width is None:
            return ""
        return f"{self.pipe} units, on elements of {self.width.expression.text} B"

    @property
    def optional(self) -> frozenset[str]:
        """Return the sizes that have a default."""
        return frozenset(name for name, size in self.sizes.items() if size.default is not None)

    @property
    def formulas(self) -> dict[str, Formula]:
        """Return the formulas that its file gives: flops and bytes, and perhaps others."""
        found = ((key, getattr(self, key)) for key in _UNITS)
        return {key: formula for key, formula in found if formula is not None}

    def calculations(self) -> dict[str, Calculated]:
        """Return its formulas as functions of given sizes, by key; defaults are filled in."""
        defaults = {
            name: size.default.calculation()
            if isinstance(size.default, Expression)
            else size.default
            for name, size in self.sizes.items()
        }

        def calculated(formula: Calculation) -> Calculated:
            def amount(given: Mapping[str, float]) -> float | None:
                def value(name: str) -> Value:
                    size = given.get(name, defaults[name])
                    return size(value) if callable(size) else size

                found = formula(value)
                return None if found is None else float(found)

            return amount

        return {key: calculated(each.calculation()) for key, each in self.formulas.items()}


def operation_paths(directory: Path) -> list[Path]:
    """Return the files of operations of a directory of rules, sorted."""
    return sorted((directory / FOLDER).glob("*.yaml"))


def load_operations(extra_dirs: Sequence[Path] = ()) -> dict[str, Operation]:
    """Return the operations by id; those of ``extra_dirs`` extend the shipped ones, or are new.

    Raises:
        RuleError: a file is wrong, or one is there already; with file, line and column.
    """
    nodes: dict[str, MappingNode] = {}
    for directory in (*rule_dirs(), *extra_dirs):
        for path in operation_paths(directory):
            add_operation(path, nodes)
    return {name: read_operation(node) for name, node in sorted(nodes.items())}


def add_operation(path: Path, nodes: dict[str, MappingNode]) -> str:
    """Read a file into ``nodes``, merged with the operation that it extends; return its id.

    Raises:
        RuleError: it is not YAML, its id is not its name, or what it extends is not in ``nodes``.
    """
    merged = ("sizes", "constants")
    return add_document(path, nodes, wanted=path.stem, what="operation", merged=merged)


def read_operation(node: MappingNode) -> Operation:
    """Return the operation that a mapping describes.

    Raises:
        RuleError: a key, name, unit or test is wrong or missing; with its place. Where that
            is in a file that this one extends, it is the place of this one.
    """
    try:
        return _read(node)
    except RuleError as error:
        if error.at is None or error.at.name == node.at.name:
            raise
        inherited = f"it comes with what is extended, from {error.at}"
        hint = f"{error.hint}; {inherited}" if error.hint else inherited
        raise RuleError(error.problem, at=node.at, hint=hint) from error


def _read(node: MappingNode) -> Operation:
    node.refuse_unknown((*REQUIRED, *OPTIONAL))
    for key in REQUIRED:
        _ = node[key]
    sizes = {size.name: size for size in _sizes(node.mapping("sizes"))}
    constants = read_numbers(node.mapping("constants")) if "constants" in node else {}
    for name in constants:
        if name in sizes:
            at = node.mapping("constants").places[name]
            raise RuleError(f"{name!r} is a size, and cannot be a constant", at=at)
    formulas = {key: _formula(node[key], key, sizes, constants) for key in _UNITS if key in node}
    if ("pipe" in node) != ("width" in node):
        raise RuleError("pipe and width come together", at=node.at, hint="add the other")
    _check_use(node, (formulas["flops"], formulas["bytes"]), sizes, constants)
    operation = Operation(
        id=node.text("id"),
        title=node.text("title"),
        sizes=sizes,
        constants=constants,
        flops=formulas["flops"],
        bytes=formulas["bytes"],
        writes=formulas.get("writes"),
        weights=formulas.get("weights"),
        width=formulas.get("width"),
        pipe=_one_of(node["pipe"], PIPES) if "pipe" in node else None,
        caveats=node.sequence("caveats").texts() if "caveats" in node else (),
        references=node.sequence("references").texts(),
        examples=tuple(_example(entry.as_mapping()) for entry in node.sequence("tests")),
        at=node.at,
    )
    _check_examples(operation, node["tests"])
    return operation


def least(
    cases: Sequence[tuple[Operation, Mapping[str, float]]],
) -> Sequence[tuple[float | None, float | None]]:
    """Return the least work [FLOP] and traffic [B] of operations with sizes; None is no number."""
    found = ((operation.calculations(), sizes) for operation, sizes in cases)
    return [(made["flops"](sizes), made["bytes"](sizes)) for made, sizes in found]


def run_operation_examples(
    operations: Iterable[Operation],
) -> Iterator[tuple[Operation, WorkedExample, tuple[str, ...]]]:
    """Yield every example with what came out otherwise than it says."""
    for operation in operations:
        calculations = operation.calculations()
        for each in operation.examples:
            expected = {key: getattr(each, key) for key in _UNITS if key in EXAMPLE_KEYS}
            found = {key: made(each.sizes) for key, made in calculations.items()}
            problems = (
                f"expected {key} {wanted:.10g} {_UNITS[key]}, found {_shown(found.get(key))}"
                for key, wanted in expected.items()
                if wanted is not None and not _close(wanted, found.get(key))
            )
            yield operation, each, tuple(problems)


def _close(wanted: float, value: float | None) -> bool:
    return value is not None and math.isclose(wanted, value, rel_tol=TOLERANCE)


def _shown(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.10g}"


def read_size(node: DocumentNode) -> float:
    """Return a number that is not negative.

    Raises:
        RuleError: it is something else; with its place.
    """
    value = node.as_number()
    if value < 0:
        raise node.unexpected("a size, 0 or more")
    return value


def _sizes(node: MappingNode) -> Iterator[OperationSize]:
    symbols: dict[str, Symbol] = {}
    for name in node:
        entry = node.mapping(name)
        entry.refuse_unknown(SIZE_KEYS)
        unit_text = entry.text("unit") if "unit" in entry else "1"
        unit = parse_unit(unit_text, at=entry["unit"].at if "unit" in entry else entry.at)
        if unit.scale != 1:
            raise RuleError("sizes are in SI units: B, FLOP or 1", at=entry["unit"].at)
        default = _default(entry["default"], symbols, unit) if "default" in entry else None
        yield OperationSize(
            name=name,
            about=entry.text("about"),
            unit=unit_text,
            number=_one_of(entry["number"], NUMBERS) if "number" in entry else None,
            default=default,
        )
        symbols[name] = Symbol(kind=Kind.NUMBER, unit=unit)


def _one_of(node: DocumentNode, known: Collection[str]) -> str:
    if (found := node.as_text()) not in known:
        raise node.unexpected(f"one of {', '.join(known)}")
    return found


def _default(node: DocumentNode, symbols: Mapping[str, Symbol], unit: Unit) -> float | Expression:
    if isinstance(node.plain(), str):
        return compile_expression(node.as_text(), symbols, at=node.at, kind=Kind.NUMBER, unit=unit)
    return read_size(node)


def _formula(
    node: DocumentNode,
    key: str,
    sizes: Mapping[str, OperationSize],
    constants: Mapping[str, NamedNumber],
) -> Formula:
    symbols = {
        name: Symbol(kind=Kind.NUMBER, unit=parse_unit(size.unit)) for name, size in sizes.items()
    }
    return compile_formula(node, symbols, constants, unit=parse_unit(_UNITS[key]))


def _check_use(
    node: MappingNode,
    formulas: Iterable[Formula],
    sizes: Mapping[str, OperationSize],
    constants: Mapping[str, NamedNumber],
) -> None:
    used: frozenset[str] = frozenset().union(*(each.expression.names for each in formulas))
    for size in sizes.values():
        if isinstance(size.default, Expression):
            used |= size.default.names
    for key, names in (("sizes", sizes), ("constants", constants)):
        for name in names:
            if name not in used:
                at = node.mapping(key).places[name]
                raise RuleError(f"{name!r} is not used", at=at, hint="use it or remove it")


def _example(node: MappingNode) -> WorkedExample:
    node.refuse_unknown(EXAMPLE_KEYS)
    return WorkedExample(
        name=node.text("name"),
        sizes={name: read_size(value) for name, value in node.mapping("sizes").items()},
        flops=node.number("flops"),
        bytes=node.number("bytes"),
        writes=node.number("writes") if "writes" in node else None,
        at=node.at,
    )


def _check_examples(operation: Operation, node: DocumentNode) -> None:
    if not operation.examples:
        hint = "work one out by hand: sizes, flops, bytes"
        raise RuleError("the operation has no test", at=node.at, hint=hint)
    for example in operation.examples:
        if wrong := operation.check(example.sizes):
            raise RuleError(wrong[0], at=example.at, hint=wrong[1])
