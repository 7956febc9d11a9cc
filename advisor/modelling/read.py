"""The operations of a scenario from YAML: every key checked, with its place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.documents import DocumentNode, MappingNode, ScalarNode, SequenceNode
from advisor.errors import Location, RuleError
from advisor.modelling.costs import costs_of, read_costs
from advisor.modelling.given import Given, check_circles, number, read_given
from advisor.modelling.names import check_ceiling, check_name
from advisor.modelling.scenario import ROOFS, Costs, DeclaredOperation, Roof
from advisor.records import dataclass
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from advisor.facts.operations import Operation
    from advisor.hardware.machines import Machine, Machines
    from advisor.modelling.defaults import Defaults

OPERATION_KEYS = (
    "name", "operation", "work", "repeat", "sizes", "flops", "bytes", "writes", "costs", "reuse",
    "served_by", "reaches",
)  # fmt: skip
_AMOUNTS = ("flops", "bytes", "writes")
_FLOPS, _BYTES = "FLOP/s", "B/s"


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a scenario may speak of."""

    operations: Mapping[str, Operation]
    machines: Machines
    defaults: Defaults


def read_devices(node: DocumentNode, known: Known) -> tuple[Machine, ...]:
    """Return the devices of a list, or the one that is named alone."""
    entries = node.nodes if isinstance(node, SequenceNode) else (node,)
    return tuple(known.machines.read(entry) for entry in entries)


def read_sizes(node: MappingNode) -> dict[str, Given]:
    """Return the sizes of a scenario; each formula may use all others.

    Raises:
        RuleError: one is wrong, or they go in a circle; with its place.
    """
    sizes = {name: read_given(entry, node.nodes) for name, entry in node.items()}
    check_circles(sizes)
    return sizes


def read_works(node: DocumentNode, known: Known) -> tuple[str, ...]:
    """Return the ceilings of a name or of a list of names.

    Raises:
        RuleError: no device rates one; names the nearest.
    """
    entries = node.nodes if isinstance(node, SequenceNode) else (node,)
    if not entries:
        raise node.unexpected("a ceiling such as 'tensor_bf16'")
    return tuple(_resource(entry, known, _FLOPS) for entry in entries)


def _resource(node: DocumentNode, known: Known, unit: str) -> str:
    name = node.as_text()
    check_ceiling(name, known.machines.resources, unit, node.at)
    return name


def read_roof(node: DocumentNode) -> Roof:
    """Return the kind of roof.

    Raises:
        RuleError: there is no such kind.
    """
    found = node.as_text()
    for roof in ROOFS:
        if roof == found:
            return roof
    hint = did_you_mean(found, ROOFS, f"one of {', '.join(ROOFS)}")
    raise RuleError(f"there is no roof {found!r}", at=node.at, hint=hint)


def read_collectives(node: DocumentNode) -> float:
    """Return the share of time in collectives, in [0, 1)."""
    share = node.as_number()
    if not 0 <= share < 1:
        raise node.unexpected("a share of time, 0 or more and below 1")
    return share


def read_reuse(node: DocumentNode) -> float:
    """Return how often a byte is used per time that DRAM moves it."""
    value = node.as_number()
    if value < 1:
        raise node.unexpected("a reuse, 1 or more")
    return value


def read_reaches(node: DocumentNode) -> float:
    """Return the share of its roof that an operation is taken to reach."""
    value = node.as_number()
    if not 0 < value <= 1:
        raise node.unexpected("a share of the roof, above 0 and at most 1")
    return value


def read_served_by(node: DocumentNode, known: Known) -> str:
    """Return the memory that serves what DRAM does not move."""
    return _resource(node, known, _BYTES)


def read_operations(
    nodes: SequenceNode,
    known: Known,
    sizes: Mapping[str, Given],
    works: tuple[str, ...],
    base: Path,
) -> tuple[DeclaredOperation, ...]:
    """Return the operations of a list, each with a name of its own.

    Raises:
        UsageError: a key, name or number is wrong; with its place.
    """
    parts: dict[str, DeclaredOperation] = {}
    for entry in nodes:
        part = read_operation(entry.as_mapping(), known, sizes, works, base)
        if part.name in parts:
            problem = f"two operations are called {part.name!r}"
            raise RuleError(problem, at=entry.at, hint="give each a `name`")
        parts[part.name] = part
    if not parts:
        raise nodes.unexpected("one operation at least")
    return tuple(parts.values())


def read_operation(
    node: MappingNode,
    known: Known,
    sizes: Mapping[str, Given],
    works: tuple[str, ...],
    base: Path,
) -> DeclaredOperation:
    """Return one operation.

    Raises:
        UsageError: a key, name or number is wrong; with its place.
    """
    node.refuse_unknown(OPERATION_KEYS)
    operation = _operation(node["operation"], known) if "operation" in node else None
    fixed = {key: read_given(node[key], sizes, what=key) for key in _AMOUNTS if key in node}
    costs = _costs(node["costs"], known, base) if "costs" in node else None
    given = _sizes(node, operation, sizes)
    modelled = operation is None and costs is not None and not fixed
    if modelled and costs is not None:
        fixed = {"flops": number(costs.flops), "bytes": number(costs.bytes)}
    _check_amounts(node, operation, fixed)
    return DeclaredOperation(
        name=_name(node, operation),
        operation=operation,
        amounts={} if operation is None else operation.calculations(),
        sizes=given,
        fixed=fixed,
        repeat=read_given(node["repeat"], sizes, what="a count") if "repeat" in node else number(1),
        works=read_works(node["work"], known) if "work" in node else works,
        usual=known.defaults.usual(None if operation is None else operation.pipe),
        costs=costs,
        reuse=read_reuse(node["reuse"]) if "reuse" in node else 1.0,
        served_by=read_served_by(node["served_by"], known) if "served_by" in node else None,
        reaches=read_reaches(node["reaches"]) if "reaches" in node else None,
        modelled=modelled,
        at=node.at,
    )


def _name(node: MappingNode, operation: Operation | None) -> str:
    if "name" in node:
        return node.text("name")
    if operation is None:
        raise RuleError("the operation has no name", at=node.at, hint="give it a `name`")
    return operation.id


def _operation(node: DocumentNode, known: Known) -> Operation:
    return find_operation(node.as_text(), known.operations, node.at)


def find_operation(
    name: str, operations: Mapping[str, Operation], at: Location | None = None
) -> Operation:
    """Return the operation of a name.

    Raises:
        UsageError: there is none; names the nearest.
    """
    check_name(name, operations, at)
    return operations[name]


def _sizes(
    node: MappingNode, operation: Operation | None, sizes: Mapping[str, Given]
) -> dict[str, Given]:
    given = node.mapping("sizes") if "sizes" in node else None
    if operation is None:
        if given is not None:
            at = node.places["sizes"]
            raise RuleError("sizes belong to an operation", at=at, hint="give `operation` as well")
        return {}
    if wrong := operation.check(given.nodes if given is not None else ()):
        raise RuleError(wrong[0], at=_place_of(given, operation, node), hint=wrong[1])
    if given is None:
        return {}
    return {name: _size(name, entry, operation, sizes) for name, entry in given.items()}


def _size(name: str, node: DocumentNode, operation: Operation, sizes: Mapping[str, Given]) -> Given:
    """Return the size of an operation; what a formula comes to may be a mean, and so a fraction."""
    found = read_given(node, sizes)
    if found.value is not None and (wrong := operation.wrong_value(name, found.value)):
        raise RuleError(wrong[0], at=node.at, hint=wrong[1])
    return found


def _place_of(given: MappingNode | None, operation: Operation, node: MappingNode) -> Location:
    """Return the place of the first size that the operation has not."""
    if given is None:
        return node.at
    unknown = [given.places[name] for name in given.nodes if name not in operation.sizes]
    return unknown[0] if unknown else given.at


def _check_amounts(
    node: MappingNode, operation: Operation | None, fixed: Mapping[str, Given]
) -> None:
    if operation is not None:
        for key in ("flops", "bytes"):
            if key in fixed:
                problem = f"{operation.id} works out its {key} itself"
                raise RuleError(problem, at=node.places[key], hint=f"leave out `{key}`")
    elif "flops" not in fixed and "bytes" not in fixed:
        hint = "give `operation` and its sizes, or `flops` and `bytes`"
        raise RuleError("the operation has no FLOP and no bytes", at=node.at, hint=hint)


def _costs(node: DocumentNode, known: Known, base: Path) -> Costs:
    if isinstance(node, ScalarNode):
        found = read_costs(base / Path(node.as_text()).expanduser(), known.defaults)
        if len(found) != 1:
            raise node.unexpected("a file with one estimate")
        return next(iter(found.values()))
    return costs_of(node.as_mapping().plain(), node.at, known.defaults)
