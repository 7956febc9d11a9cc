"""Which kernel does which operation, as the configuration says, and what that makes known of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from advisor.configuration import KernelOperation
from advisor.errors import ConfigError, Location
from advisor.expression import Kind
from advisor.facts.naming import OfKernel
from advisor.facts.operations import Operation, least
from advisor.quoting import double, literal, quoted
from advisor.records import dataclass
from advisor.suggest import did_you_mean

# What a fact may take from an operation: its kind and unit.
PARTS: Mapping[str, tuple[Kind, str | None]] = {
    "name": (Kind.TEXT, None),
    "flops": (Kind.NUMBER, "FLOP"),
    "bytes": (Kind.NUMBER, "B"),
}

_NAMES = ("kernel_name", "short_name")
_SHAPE = "launch_shape"


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What one launch of the kernels that two patterns mean needs at least, in FLOP and B."""

    kernel: re.Pattern[str]
    shape: re.Pattern[str] | None
    name: str
    flops: float
    bytes: float

    def condition(self) -> str:
        """Return the SQL that tells whether a row is such a kernel."""
        named = " or ".join(_matches(column, self.kernel) for column in _NAMES)
        return f"({named}) and {_matches(_SHAPE, self.shape)}" if self.shape else named

    def value(self, part: str) -> str:
        """Return a part as an SQL literal."""
        found = getattr(self, part)
        return literal(found) if isinstance(found, str) else double(found)


@dataclass(frozen=True, kw_only=True)
class OfOperation(OfKernel):
    """A part of the operation that a kernel is bound to; NULL where it is bound to none.

    The first that matches says it.
    """

    part: str
    bound: tuple[Bound, ...] = ()

    @property
    def kernel_columns(self) -> tuple[str, ...]:
        """Return the columns that are looked at: none where no kernel is bound."""
        return (*_NAMES, _SHAPE) if self.bound else ()

    def case(self) -> str:
        """Return the SQL: an operation after the other is compared."""
        kind = "VARCHAR" if PARTS[self.part][0] is Kind.TEXT else "DOUBLE"
        cases = [f"when {each.condition()} then {each.value(self.part)}" for each in self.bound]
        return f"case {' '.join(cases)} end" if cases else f"CAST(NULL AS {kind})"


def bind(
    declared: Sequence[KernelOperation], operations: Mapping[str, Operation]
) -> tuple[Bound, ...]:
    """Return what the configuration says about kernels, worked out.

    Raises:
        ConfigError: there is no such operation or size, one is missing, or together they make no
            sense; with its place.
    """
    chosen = [_operation(each, operations) for each in declared]
    cases = [
        (operation, {name: size.value for name, size in each.sizes.items()})
        for each, operation in zip(declared, chosen, strict=True)
    ]
    return tuple(
        _bound(each, operation, found)
        for each, operation, found in zip(declared, chosen, least(cases), strict=True)
    )


def _matches(column: str, pattern: re.Pattern[str]) -> str:
    return f"regexp_full_match({quoted(column)}, {literal(pattern.pattern)}, 's')"


def _operation(declared: KernelOperation, operations: Mapping[str, Operation]) -> Operation:
    operation = operations.get(declared.operation.value)
    if operation is None:
        lists = "advisor rules operations lists them"
        near = did_you_mean(declared.operation.value, operations, like=0.4)
        hint = f"{near} {lists}" if near else lists
        at = Location(name=declared.operation.origin)
        raise ConfigError(f"there is no operation {declared.operation.value!r}", at=at, hint=hint)
    if wrong := operation.check(declared.sizes):
        unknown = [
            size.origin for name, size in declared.sizes.items() if name not in operation.sizes
        ]
        at = Location(name=unknown[0]) if unknown else declared.at
        raise ConfigError(wrong[0], at=at, hint=wrong[1])
    for name, size in declared.sizes.items():
        if slip := operation.wrong_value(name, size.value):
            raise ConfigError(slip[0], at=Location(name=size.origin), hint=slip[1])
    return operation


def _bound(
    declared: KernelOperation, operation: Operation, found: tuple[float | None, float | None]
) -> Bound:
    flops, moved = found
    if flops is None or moved is None or flops < 0 or moved < 0:
        amounts = " and ".join((_amount(flops, "FLOP"), _amount(moved, "B")))
        problem = f"with these sizes {operation.id} comes to {amounts}"
        raise ConfigError(problem, at=declared.at, hint=_sizes(operation))
    return Bound(
        kernel=declared.kernel_pattern,
        shape=declared.shape_pattern,
        name=operation.id,
        flops=flops,
        bytes=moved,
    )


def _amount(value: float | None, unit: str) -> str:
    return f"no number of {unit}" if value is None else f"{value:.10g} {unit}"


def _sizes(operation: Operation) -> str:
    return "; ".join(f"{name}: {size.about}" for name, size in operation.sizes.items())
