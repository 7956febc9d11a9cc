"""Which variant of one run is which of another: exact shapes first, then equal work, then order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

from advisor.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One variant of a run, by what it is paired by.

    ``series`` is the key over runs, ``kernel`` that of the function, ``shape`` grid and block as
    text, and ``work`` are counts of one launch that the same problem repeats, each None where
    unknown. ``position`` is its place in the run. ``index`` is the caller's.
    """

    index: int
    series: str
    kernel: str
    shape: str | None
    position: int
    work: tuple[float | None, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Indexes of a baseline's and a head's variant; None where one run has none."""

    base: int | None
    head: int | None
    shape_changed: bool = False


def pair_variants(
    base: Sequence[Variant], head: Sequence[Variant], *, equal_work: float
) -> list[Pair]:
    """Return the outer join of two runs: the baseline's variants in order, then what is new.

    Within a series exact shapes are paired first, then equal work (counts that differ by at most
    the share ``equal_work``), then what is left in order. Variants whose series only one run has
    are paired by their kernel in the same way.
    """
    pairs: list[Pair] = []
    left: list[Variant] = list(base)
    right: list[Variant] = list(head)
    for key in (_series, _kernel):
        left, right, found = _joined(left, right, key, equal_work)
        pairs += found
    pairs += [Pair(base=each.index, head=None) for each in left]
    pairs += [Pair(base=None, head=each.index) for each in right]
    order = {each.index: each.position for each in base}
    new = {each.index: each.position for each in head}
    return sorted(
        pairs,
        key=lambda pair: (
            pair.base is None,
            order[pair.base] if pair.base is not None else new[pair.head or 0],
        ),
    )


def _series(each: Variant) -> Hashable:
    return each.series


def _kernel(each: Variant) -> Hashable:
    return each.kernel


def _shape(each: Variant) -> Hashable:
    return each.shape


def _joined(
    base: Sequence[Variant],
    head: Sequence[Variant],
    key: Callable[[Variant], Hashable],
    equal_work: float,
) -> tuple[list[Variant], list[Variant], list[Pair]]:
    """Return what is left of both runs, and the pairs of those that share a key."""
    ours, theirs = _grouped(base, key), _grouped(head, key)
    pairs: list[Pair] = []
    left: list[Variant] = []
    right = [each for name, group in theirs.items() if name not in ours for each in group]
    for name, group in ours.items():
        before, after, found = _exact(group, theirs.get(name, []))
        pairs += found
        before, after, found = _by_work(before, after, equal_work)
        pairs += found
        pairs += [_changed(one, other) for one, other in zip(before, after, strict=False)]
        both = min(len(before), len(after))
        left += before[both:]
        right += after[both:]
    return left, right, pairs


def _grouped(
    variants: Iterable[Variant], key: Callable[[Variant], Hashable]
) -> dict[Hashable, list[Variant]]:
    groups: dict[Hashable, list[Variant]] = defaultdict(list)
    for each in sorted(variants, key=lambda each: each.position):
        groups[key(each)].append(each)
    return groups


def _exact(
    base: Sequence[Variant], head: Sequence[Variant]
) -> tuple[list[Variant], list[Variant], list[Pair]]:
    """Pair equal shapes, in order where several are equal."""
    waiting = _grouped(head, _shape)
    pairs: list[Pair] = []
    left = []
    for each in base:
        same = waiting.get(each.shape)
        if same:
            pairs.append(Pair(base=each.index, head=same.pop(0).index))
        else:
            left.append(each)
    taken = {pair.head for pair in pairs}
    return left, [each for each in head if each.index not in taken], pairs


def _by_work(
    base: Sequence[Variant], head: Sequence[Variant], tolerance: float
) -> tuple[list[Variant], list[Variant], list[Pair]]:
    pairs: list[Pair] = []
    right = list(head)
    left = []
    for each in base:
        same = next((other for other in right if _equal(each, other, tolerance)), None)
        if same is None:
            left.append(each)
        else:
            right.remove(same)
            pairs.append(_changed(each, same))
    return left, right, pairs


def _equal(one: Variant, other: Variant, tolerance: float) -> bool:
    """Return whether the first count that both know is the same; 0 tells nothing."""
    for before, after in zip(one.work, other.work, strict=True):
        if before is None or after is None or not before or not after:
            continue
        return abs(after - before) <= tolerance * max(abs(before), abs(after))
    return False


def _changed(one: Variant, other: Variant) -> Pair:
    known = one.shape is not None and other.shape is not None
    changed = known and one.shape != other.shape
    return Pair(base=one.index, head=other.index, shape_changed=changed)
