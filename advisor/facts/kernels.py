"""The SELECT of kernels: facts over the variants of runs, layer upon layer."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from advisor.database.relations import STORED, Relations
from advisor.facts.aggregation import paired_sums
from advisor.facts.devices import with_device
from advisor.facts.layers import identifier, layered, select
from advisor.facts.variants import KEYS, column_of, variants_select
from advisor.facts.vocabulary import Vocabulary

_OF_KERNEL = {"kernel_name": "kernel.name", "short_name": "kernel.short_name"}
_OF_RUN = {
    "run_duration": "sum(duration) over (partition by run_id)",
    "run_sm_clock": "max(sm_clock) over (partition by run_id, device_id)",
}
_OF_LAUNCHES = ("launch_valid", "duration")  # read where launches are aggregated


def kernels_select(
    vocabulary: Vocabulary,
    names: Collection[str] | None = None,
    relations: Relations = STORED,
) -> str:
    """Return the SELECT of the view ``kernels``, or of some of its columns, from relations alone.

    What only other columns need is left out: to plan the statement takes longer than to run it
    over a few variants.
    """
    if names is None:
        hidden = (identifier(each.name) for each in paired_sums(vocabulary))
        every = f"* exclude ({', '.join(hidden)})"
        return select(every, f"({_kernels(vocabulary, None, relations)}) as kernel")
    is_stored = relations.variant is not None and not relations.from_launches
    read = vocabulary.rests_on({*names, *(() if is_stored else _OF_LAUNCHES)}, totals=is_stored)
    needed = vocabulary.narrowed(read, totals=is_stored)
    kernels = _kernels(needed, names, relations, read)
    return select(", ".join(map(identifier, names)), f"({kernels}) as kernel")


def _kernels(
    vocabulary: Vocabulary,
    names: Collection[str] | None,
    relations: Relations,
    read: Collection[str] | None = None,
) -> str:
    """Take variants with their names and what their run says, then compute facts in layers."""
    if read is not None:
        read = {*read, *_keys_of(read)}
    variants = variants_select(vocabulary, relations, read)
    source = f"({variants}) as variant"
    columns = ["variant.*"]
    if of_kernel := _wanted(_OF_KERNEL, read):
        columns += [f"{_OF_KERNEL[name]} as {name}" for name in of_kernel]
        source += f" left join {relations.item('kernel')} using (kernel_id)"
    columns += [f"{_OF_RUN[name]} as {name}" for name in _wanted(_OF_RUN, read)]
    in_run = f"({select(', '.join(columns), source)}) as in_run"
    facts = [fact for fact in vocabulary.facts.values() if fact.level == "kernel"]
    with_devices = with_device(in_run, vocabulary, relations)
    return layered(with_devices, [column_of(fact) for fact in facts], names)


def _keys_of(read: Collection[str]) -> Iterable[str]:
    """Return the columns of a variant that lead to what is read of its kernel, run and device."""
    yield from KEYS
    yield "device_id"
    if any(name in read for name in _OF_KERNEL):
        yield "kernel_id"


def _wanted(names: Iterable[str], read: Collection[str] | None) -> list[str]:
    return [name for name in names if read is None or name in read]
