"""The SELECT of kernels: facts over the variants of runs, layer upon layer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from advisor.database.dialects import spelled
from advisor.database.relations import STORED, Relations
from advisor.facts.aggregation import paired_sums
from advisor.facts.devices import with_device
from advisor.facts.layers import layered, select
from advisor.facts.naming import OfKernel
from advisor.facts.variants import (
    KEYS,
    column_of,
    tracked_facts,
    variant_columns,
    variants_select,
)
from advisor.facts.vocabulary import Vocabulary

_OF_KERNEL = {"kernel_name": "kernel.name", "short_name": "kernel.short_name"}
_OF_RUN = {  # aggregate, and the columns of the variants that it is over
    "run_duration": ("sum(duration)", ("run_id",)),
    "run_sm_clock": ("max(sm_clock)", ("run_id", "device_id")),
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
        facts = [fact.name for fact in vocabulary.facts.values() if fact.level == "kernel"]
        sums = [] if relations.even else [each.name for each in paired_sums(vocabulary)]
        query = _kernels(vocabulary, None, relations, last=facts, hidden=sums)
        return spelled(query, relations.dialect)
    is_stored = relations.variant is not None and not relations.from_launches
    known = frozenset(tracked_facts(vocabulary)) if relations.tracked else frozenset[str]()
    wanted = {*names, *(() if is_stored else _OF_LAUNCHES)}
    read = vocabulary.rests_on(wanted, totals=is_stored, known=known)
    needed = vocabulary.narrowed(read, totals=is_stored, known=known)
    return spelled(_kernels(needed, [*names], relations, read), relations.dialect)


def _kernels(
    vocabulary: Vocabulary,
    names: Sequence[str] | None,
    relations: Relations,
    read: Collection[str] | None = None,
    *,
    last: Sequence[str] = (),
    hidden: Sequence[str] = (),
) -> str:
    """Take variants with their names and what their run says, then compute facts in layers."""
    if read is not None:
        read = {*read, *_of_kernels(vocabulary)}
        read |= {*_keys_of(read)}
    variants = variants_select(vocabulary, relations, read)
    source = f"({variants}) as variant"
    columns = ["variant.*"]
    if of_kernel := _wanted([name for name in _OF_KERNEL if name not in relations.named], read):
        columns += [f"{_OF_KERNEL[name]} as {name}" for name in of_kernel]
        kernel = relations.item("kernel")
        source += f" left join {kernel} on kernel.kernel_id = variant.kernel_id"
    for name in _wanted(_OF_RUN, read):
        column, joined = _of_run(name, relations)
        columns.append(column)
        source += joined
    in_run = f"({select(', '.join(columns), source)}) as in_run"
    facts = [
        fact
        for fact in vocabulary.facts.values()
        if fact.level == "kernel"
        and not (relations.tracked and fact.stored)
        and fact.name not in relations.named
    ]
    with_devices = with_device(in_run, vocabulary.quantities.device, relations)
    columns_of_facts = [column_of(fact, relations) for fact in facts]
    return layered(
        with_devices,
        columns_of_facts,
        names,
        last=last,
        hidden=hidden,
        in_steps=relations.dialect == "sqlite",
    )


def every_column(vocabulary: Vocabulary, relations: Relations) -> list[str]:
    """Return the columns of kernels over relations that have all that is stored, facts last."""
    facts = [fact.name for fact in vocabulary.facts.values() if fact.level == "kernel"]
    columns = [*variant_columns(vocabulary, relations), *_OF_KERNEL, *_OF_RUN]
    columns += vocabulary.quantities.device
    return [*(name for name in dict.fromkeys(columns) if name not in facts), *facts]


def told_by_names(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the columns of kernels that are their names, or follow from these and their shapes."""
    facts = (fact for fact in vocabulary.facts.values() if fact.level == "kernel")
    return (*_OF_KERNEL, *(fact.name for fact in facts if isinstance(fact.expression, OfKernel)))


def _of_run(name: str, relations: Relations) -> tuple[str, str]:
    """Return a column over all variants of a run, and what must be joined for it.

    Stored variants are read again: a window would hold every column of all of them. To aggregate
    launches twice would be worse.
    """
    aggregate, keys = _OF_RUN[name]
    if relations.variant is None or relations.from_launches:
        return f"{aggregate} over (partition by {', '.join(keys)}) as {name}", ""
    named = ", ".join(keys)
    grouped = select(f"{named}, {aggregate} as {name}", relations.item("variant"))
    same = " and ".join(
        f"of_{name}.{key} is not distinct from variant.{key}"
        if key != "run_id"
        else f"of_{name}.{key} = variant.{key}"
        for key in keys
    )
    return f"of_{name}.{name}", f" join ({grouped} group by {named}) as of_{name} on {same}"


def _keys_of(read: Collection[str]) -> Iterable[str]:
    """Return the columns of a variant that lead to what is read of its kernel, run and device."""
    yield from KEYS
    yield "device_id"
    if any(name in read for name in _OF_KERNEL):
        yield "kernel_id"


def _of_kernels(vocabulary: Vocabulary) -> Iterable[str]:
    """Return the columns of kernels that facts follow from by their names or shapes."""
    for fact in vocabulary.facts.values():
        if isinstance(fact.expression, OfKernel):
            yield from fact.expression.kernel_columns


def _wanted(names: Iterable[str], read: Collection[str] | None) -> list[str]:
    return [name for name in names if read is None or name in read]
