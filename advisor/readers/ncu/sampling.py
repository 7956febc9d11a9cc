"""Which launches of a report are read in detail: some of each variant, spread over the run.

Values per instruction take most of the time that a full report needs, and launches of a variant are
alike. How many there are of each is counted before: that needs their names and shapes only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from advisor.readers.ncu.container import Container, PayloadEntry
from advisor.readers.ncu.launch import kernel_name, ranges


def sampled(
    container: Container, results: Sequence[PayloadEntry], most: int | None
) -> frozenset[int] | None:
    """Return the places of the results to read in detail, ``most`` of each variant; None for all.

    Raises:
        InputError: a result is damaged.
    """
    if most is None or len(results) <= most:
        return None
    if not most:
        return frozenset()
    variants: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    ends = (container.identity(entry, with_ranges=True) for entry in (results[0], results[-1]))
    with_ranges = any(each.HasField("nvtx") for each in ends)  # one option for the whole run
    for place, entry in enumerate(results):
        identity = container.identity(entry, with_ranges=with_ranges)
        variants[_variant(identity)].append(place)
    return frozenset(place for places in variants.values() for place in spread(places, most))


def spread(places: Sequence[int], most: int) -> Iterable[int]:
    """Return at most so many of the places, in equal steps, the first and the last among them.

    >>> [*spread(range(100, 111), 3)]
    [100, 105, 110]
    """
    if len(places) <= most:
        return places
    steps = max(most - 1, 1)
    return (places[step * (len(places) - 1) // steps] for step in range(most))


def _variant(result: Any) -> tuple[Any, ...]:
    return kernel_name(result), result.grid, result.block, *ranges(result)
