"""What the operations of a scenario need, in FLOP and B, whatever they run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.errors import UsageError
from advisor.modelling.given import Sizes
from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.errors import Location
    from advisor.modelling.scenario import Costs, DeclaredOperation, Item, ScenarioState


_LEAST_PER = 1e-9  # less would be no count
_ALWAYS = ("flops", "bytes")
_OF_FUSED = (*_ALWAYS, "writes")
WEIGHTS = "weights"


@dataclass(frozen=True, kw_only=True)
class Need:
    """What one run of a kernel needs; ``pieces`` are FLOP and the ceilings they may use.

    ``writes`` and ``weights`` [B] are parts of ``bytes``, None where it is unknown.
    ``dram_bytes`` are what DRAM moves: fewer than ``bytes`` where they are used more than once.
    """

    name: str
    operation: str | None
    repeat: float
    pieces: tuple[tuple[float, tuple[str, ...]], ...]
    flops: float
    bytes: float
    dram_bytes: float
    reuse: float
    writes: float | None
    weights: float | None
    served_by: str | None
    reaches: float | None
    costs: Costs | None
    modelled: bool
    at: Location | None


def needs(
    state: ScenarioState, fixed: Mapping[str, float] | None = None
) -> tuple[tuple[Need, ...], float]:
    """Return what each kernel needs, and how many results a pass has.

    ``fixed`` are sizes of the scenario that are to have another value.

    Raises:
        UsageError: a size, an amount or a count makes no sense; with its place.
    """
    sizes = Sizes(state.sizes, fixed)
    per = state.per.amount(sizes)
    if per < _LEAST_PER:
        raise UsageError("a pass without results has no time per result", at=state.per.at)
    return tuple(need(item, sizes) for item in state.items), per


def need(item: Item, sizes: Sizes, *more: str) -> Need:
    """Return what a kernel needs; ``more`` are amounts that few ask for, such as weights.

    Raises:
        UsageError: a size or an amount makes no sense, or fused operations do not touch.
    """
    keys = _OF_FUSED if len(item.parts) > 1 else _ALWAYS
    first, *others = (_of_part(part, sizes, (*keys, *more)) for part in item.parts)
    for part, other in zip(item.parts[1:], others, strict=True):
        first = _fused(first, other, part)
    return first if first.name == item.name else _named(first, item.name)


def _named(found: Need, name: str) -> Need:
    return replace(found, name=name)


def _of_part(part: DeclaredOperation, sizes: Sizes, keys: Sequence[str]) -> Need:
    given = {name: size.amount(sizes) for name, size in part.sizes.items()}
    amounts = {key: part.amounts[key](given) for key in keys if key in part.amounts}
    if part.operation is None:
        amounts = {"flops": 0.0, "bytes": 0.0}
    amounts |= {key: each.amount(sizes) for key, each in part.fixed.items()}
    flops, moved = (_amount(part, key, amounts.get(key)) for key in ("flops", "bytes"))
    if not flops and not moved:
        raise UsageError(f"{part.name!r} has no FLOP and moves no bytes", at=part.at)
    repeat = part.repeat.amount(sizes)
    if repeat < 1:
        raise UsageError(
            f"{part.name!r} repeats {repeat:g} times", at=part.repeat.at, hint="1 or more"
        )
    writes, weights = amounts.get("writes"), amounts.get("weights")
    if writes is not None and writes > moved:
        raise UsageError(f"{part.name!r} writes more bytes than it moves", at=part.at)
    return Need(
        name=part.name,
        operation=None if part.operation is None else part.operation.id,
        repeat=repeat,
        pieces=((flops, part.works or _usual(part, given)),) if flops else (),
        flops=flops,
        bytes=moved,
        dram_bytes=moved / part.reuse,
        reuse=part.reuse,
        writes=writes,
        weights=weights,
        served_by=part.served_by,
        reaches=part.reaches,
        costs=part.costs,
        modelled=part.modelled,
        at=part.at,
    )


def _usual(part: DeclaredOperation, given: Mapping[str, float]) -> tuple[str, ...]:
    """Return the ceilings of work on elements as wide as these; the widest for wider ones."""
    width = part.amounts["width"](given) if "width" in part.amounts else None
    wide_enough = (works for most, works in part.usual.items() if (width or 0.0) <= most)
    return next(wide_enough, tuple(part.usual.values())[-1])


def _amount(part: DeclaredOperation, key: str, value: float | None) -> float:
    unit = "FLOP" if key == "flops" else "B"
    if value is None or value < 0:
        came = f"no number of {unit}" if value is None else f"{value:.10g} {unit}"
        hint = (
            None
            if part.operation is None
            else "; ".join(f"{name}: {size.about}" for name, size in part.operation.sizes.items())
        )
        raise UsageError(f"{part.name!r} comes to {came}", at=part.at, hint=hint)
    return value


def _fused(first: Need, second: Need, part: DeclaredOperation) -> Need:
    """Return both as one kernel: what the first writes, the second reads, stays on chip."""
    moved = first.bytes + second.bytes - 2 * _passed(first, second, part)
    return Need(
        name=f"{first.name} + {second.name}",
        operation=_joined(first.operation, second.operation),
        repeat=first.repeat,
        pieces=(*first.pieces, *second.pieces),
        flops=first.flops + second.flops,
        bytes=moved,
        dram_bytes=moved / second.reuse,
        reuse=second.reuse,
        writes=second.writes,
        weights=second.weights,
        served_by=second.served_by,
        reaches=second.reaches,
        costs=None,
        modelled=first.modelled or second.modelled,
        at=second.at,
    )


def _joined(first: str | None, second: str | None) -> str | None:
    names = [name for name in (first, second) if name is not None]
    return " + ".join(names) if names else None


def _passed(first: Need, second: Need, part: DeclaredOperation) -> float:
    """Return the bytes that the first leaves for the second."""
    both = f"{first.name!r} and {second.name!r}"
    if (first.reuse, first.served_by) != (second.reuse, second.served_by):
        hint = "give both the same, or fuse first and then give it to what is fused"
        raise UsageError(f"{both} differ in their reuse", at=part.at, hint=hint)
    for each in (first, second):
        if each.writes is None:
            hint = "give `writes`, in bytes"
            raise UsageError(f"it is not known what {each.name!r} writes", at=part.at, hint=hint)
    passed = first.writes or 0.0
    reads = second.bytes - (second.writes or 0.0)
    if first.repeat != second.repeat:
        problem = f"{both} do not touch: one repeats {first.repeat:g} times, one {second.repeat:g}"
        raise UsageError(problem, at=part.at)
    if reads < passed or not passed:
        problem = f"{both} do not touch: one writes {passed:,.10g} B, one reads {reads:,.10g} B"
        raise UsageError(problem, at=part.at)
    return passed
