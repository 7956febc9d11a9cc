"""The views that people, rules and reports read: runs, launches, kernels, findings and so on.

They are TEMP views of a connection, so they follow the vocabulary of the command and work on files
opened for reading. ``kernels`` has one row per run and variant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from advisor.facts.aggregation import (
    aggregated_columns,
    coverage,
    paired_columns,
    paired_name,
)
from advisor.facts.layers import Column, identifier, layered, select, text
from advisor.facts.vocabulary import Fact, Vocabulary

if TYPE_CHECKING:
    import duckdb

_KEYS = ("run_id", "variant_id")
_OF_LAUNCH = ("kernel_id", "series_id", "device_id", "launch_shape")
_OF_KERNEL = ("kernel_name", "short_name")
_COVERAGE, _COUNTS = "coverage", "coverage_counts"
_READ = ("launch_valid", "duration", "sm_clock")  # by the view itself


def create_views(
    connection: duckdb.DuckDBPyConnection,
    vocabulary: Vocabulary,
    names: Collection[str] | None = None,
) -> None:
    """Make the views, or some, on a driver connection; they last as long as the connection."""
    for name, query in view_selects(vocabulary).items():
        if names is None or name in names:
            connection.execute(" ".join(("create or replace temp view", name, "as", query)))


def view_selects(vocabulary: Vocabulary) -> dict[str, str]:
    """Return the SELECT of every view by its name, in an order in which they can be made."""
    return {
        "runs": select("*", "main.run"),
        "devices": _devices(vocabulary),
        "ceilings": select(
            "ceiling.*, device.name", "main.ceiling join main.device using (device_id)"
        ),
        "measured_launches": _measured_launches(vocabulary),
        "launches": _launches(),
        "kernels": kernels_select(vocabulary),
        "findings": _findings(),
    }


def _findings() -> str:
    names = "run_id, variant_id, kernel_id, kernel.name as kernel_name, launch_shape"
    variants = select(f"distinct {names}", "main.launch join main.kernel using (kernel_id)")
    return select(
        "finding.*, variant.kernel_id, variant.kernel_name, variant.launch_shape",
        f"main.finding left join ({variants}) variant using (run_id, variant_id)",
    )


def _devices(vocabulary: Vocabulary) -> str:
    """One row per device: its attributes, ceilings and limits as columns."""
    return _of_devices(f"device.* exclude ({_own_columns(vocabulary)})", vocabulary)


def _of_devices(columns: str, vocabulary: Vocabulary) -> str:
    return select(
        f"{columns}, {_device_values(vocabulary)}",
        "main.device",
        f"left join ({_ceilings(vocabulary)}) using (device_id)",
        f"left join ({_limits(vocabulary)}) using (isa)",
    )


def _device_values(vocabulary: Vocabulary) -> str:
    return ", ".join(
        f"device.{identifier(quantity.attribute)} as {identifier(name)}"
        if quantity.attribute
        else identifier(name)
        for name, quantity in vocabulary.quantities.device.items()
    )


def _own_columns(vocabulary: Vocabulary) -> str:
    """Return the columns of the table device that are values of the vocabulary themselves."""
    return ", ".join(
        identifier(name)
        for name, quantity in vocabulary.quantities.device.items()
        if quantity.attribute == name
    )


def _ceilings(vocabulary: Vocabulary) -> str:
    values = [
        _picked(
            name, f"resource = {text(quantity.ceiling[0])} and kind = {text(quantity.ceiling[1])}"
        )
        for name, quantity in vocabulary.quantities.device.items()
        if quantity.ceiling
    ]
    return select(", ".join(["device_id", *values]), "main.ceiling", "group by device_id")


def _limits(vocabulary: Vocabulary) -> str:
    values = [
        _picked(name, f"resource = {text(quantity.occupancy)}")
        for name, quantity in vocabulary.quantities.device.items()
        if quantity.occupancy
    ]
    return select(", ".join(["isa", *values]), "main.occupancy_limit", "group by isa")


def _picked(name: str, condition: str) -> str:
    return f"max(case when {condition} then value end) as {identifier(name)}"


def _with_device(source: str, vocabulary: Vocabulary) -> str:
    """Return ``source`` (a FROM item with device_id) joined with every value of the device."""
    if not vocabulary.quantities.device:
        return source
    devices = _of_devices("device_id", vocabulary)
    return f"({select('*', source, f'left join ({devices}) using (device_id)')})"


def _launches() -> str:
    """One row per launch: what is measured, and the raw counters and texts as maps."""
    columns = (
        "measured_launches.* exclude (counter_keys, counter_values, text_set)",
        "map(coalesce(key_set.keys, []), coalesce(counter_values, [])) as counters",
        "coalesce(text_set.texts, map([]::varchar[], []::varchar[])) as texts",
    )
    return select(
        ", ".join(columns),
        "measured_launches",
        "left join main.key_set on key_set.key_set = counter_keys",
        "left join main.text_set on text_set.text_set = measured_launches.text_set",
    )


def _measured_launches(vocabulary: Vocabulary, columns: str = "launch.*") -> str:
    named = select(
        f"{columns}, kernel.name as kernel_name, kernel.short_name",
        "main.launch left join main.kernel using (kernel_id)",
    )
    facts = [fact for fact in vocabulary.facts.values() if fact.level == "launch"]
    return layered(_with_device(f"({named})", vocabulary), [_column(fact) for fact in facts])


def kernels_select(vocabulary: Vocabulary, names: Collection[str] | None = None) -> str:
    """Return the SELECT of the view ``kernels``, or of some of its columns, from tables alone.

    What only other columns need is left out: to plan the statement takes longer than to run it
    over a few launches.
    """
    if names is None:
        hidden = (_COUNTS, *(name for name, _ in paired_columns(vocabulary)))
        every = f"* exclude ({', '.join(map(identifier, hidden))})"
        return select(every, f"({_kernels(vocabulary)})")
    needed = vocabulary.narrowed({*names, *_READ})
    return select(", ".join(map(identifier, names)), f"({_kernels(needed, names)})")


def _kernels(vocabulary: Vocabulary, names: Collection[str] | None = None) -> str:
    """Aggregate launches per run and variant, then compute the facts of a kernel in layers."""
    values = [*_identity(), *aggregated_columns(vocabulary), *paired_columns(vocabulary)]
    of_run = [
        "sum(duration) over (partition by run_id) as run_duration",
        "max(sm_clock) over (partition by run_id, device_id) as run_sm_clock",
    ]
    if names is None or _COVERAGE in names:
        counts, covered = coverage(vocabulary)
        values.append((_COUNTS, counts))
        of_run.append(f"{covered} as {_COVERAGE}")
    selected = ", ".join(f"{sql} as {identifier(name)}" for name, sql in values)
    launches = _measured_launches(vocabulary, _launch_columns(vocabulary))
    groups = select(selected, f"({launches})", "group by run_id, variant_id")
    in_run = select(", ".join(("*", *of_run)), f"({groups})")
    facts = [fact for fact in vocabulary.facts.values() if fact.level == "kernel"]
    source = _with_device(f"({in_run})", vocabulary)
    return layered(source, [_column(fact) for fact in facts], names)


def _launch_columns(vocabulary: Vocabulary) -> str:
    names = [*_KEYS, *_OF_LAUNCH]
    for group in (vocabulary.quantities.launch, vocabulary.quantities.quantities):
        for quantity in group.values():
            names.append(quantity.name)
            if quantity.remember_source:
                names.append(f"{quantity.name}_source")
    return ", ".join(f"launch.{identifier(name)}" for name in names)


def _identity() -> Iterator[tuple[str, str]]:
    for name in _KEYS:
        yield name, name
    for name in (*_OF_LAUNCH, *_OF_KERNEL):
        yield name, f"any_value({name})"
    yield "launch_count", "count(*)"
    yield "launches_excluded", "count(case when not launch_valid then 1 end)"
    for name in ("min", "median", "max"):
        yield f"duration_{name}", f"{name}(case when launch_valid then duration end)"
    yield "duration_stddev", "stddev_samp(case when launch_valid then duration end)"


def _column(fact: Fact) -> Column:
    names = fact.expression.names
    if not fact.paired:
        return Column(name=fact.name, sql=fact.expression.sql(), names=names)
    sums = {name: identifier(paired_name(name, names)) for name in names}
    read = frozenset(paired_name(name, names) for name in names)
    return Column(name=fact.name, sql=fact.expression.sql(sums), names=read)
