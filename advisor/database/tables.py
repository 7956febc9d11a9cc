"""The schema as it is today: every table and column, with meaning and unit.

Made and changed by ``migrations/`` only; a test holds both together. Ids are made by the
application, and there are no foreign keys, secondary indexes or checks: they would break upserts
and ALTERs. Times of day are UTC without a zone.
"""

from __future__ import annotations

from collections.abc import Sequence

from duckdb_sqlalchemy.datatypes import Map
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
)

from advisor.database.kinds import (
    count,
    flag,
    key,
    number,
    position,
    run_number,
    text,
    texts,
    time,
)
from advisor.database.marked import tables_of_marks
from advisor.database.outcome_table import outcomes
from advisor.quantities import (
    Quantities,
    Quantity,
    StoredFact,
    load_quantities,
    load_stored_facts,
    source_of,
)


def metadata() -> MetaData:
    """Return the schema; the columns of ``launch`` follow the quantities."""
    schema, quantities = MetaData(), load_quantities()
    for define in (_devices, _provenance, _kernels, tables_of_marks, _details, _advice, outcomes):
        define(schema)
    _launches(schema, quantities)
    _variants(schema, quantities, load_stored_facts())
    return schema


def _devices(schema: MetaData) -> None:
    Table(
        "device",
        schema,
        key("device_id", "stable key, such as vendor-product-variant"),
        text("name", "product name"),
        text("vendor", "maker"),
        text("architecture", "generation"),
        text("chip", "name of the die"),
        text("form_factor", "board or module"),
        texts("aliases", "exact names that profilers and drivers report"),
        text("isa", "instruction set, such as cc-9.0 or gfx942; key of occupancy_limit"),
        text("unit_kind", "what the parallel units are called"),
        number("unit_count", "parallel units (multiprocessors, compute units, cores)"),
        number("base_clock", "rated base clock [Hz]"),
        number("boost_clock", "rated boost clock [Hz]"),
        text("memory_type", "kind of device memory"),
        number("memory_size", "device memory [B]"),
        number("memory_bus_width", "width of the memory bus [bit]"),
        number("l2_size", "last-level cache on the device [B]"),
        number("unit_memory_size", "L1 cache and shared memory of one unit [B]"),
        number("power_limit", "rated board power [W]"),
        number("tensor_fp16_rate", "dense fp16 matrix operations [FLOP/cycle] of one unit"),
        number("tensor_tf32_rate", "dense tf32 matrix operations [FLOP/cycle] of one unit"),
        number("tensor_int8_rate", "dense int8 matrix operations [FLOP/cycle] of one unit"),
        texts("notes", "what a reader of the figures should know"),
        texts("sources", "where the figures come from"),
        text("confidence", "high, medium or low"),
        text("origin", "seed: came with the program; user: added; report: described by a profile"),
        PrimaryKeyConstraint("device_id"),
    )
    Table(
        "ceiling",
        schema,
        key("device_id", "device that the limit belongs to"),
        key("resource", "dram, l2, l1, shared, compute, vector_<format>, tensor_<format>"),
        key("kind", "nominal, measured, achievable_fraction, project"),
        Column("value", Double, nullable=False, comment="the limit, in `unit`"),
        key("unit", "B/s, FLOP/s, or 1 for a fraction"),
        text("basis", "published, derived, measured or assumed"),
        text("method", "how the figure was got"),
        number("reference", "what a measured figure is compared with, in `unit`"),
        text("source", "where the figure comes from"),
        text("confidence", "high, medium or low"),
        text("note", "what a reader of the figure should know"),
    )
    Table(
        "occupancy_limit",
        schema,
        key("isa", "instruction set that the limit holds for"),
        key("resource", "name of the limit, or compute_capability: the number in isa"),
        Column("value", Double, nullable=False, comment="the limit: a count, or bytes [B]"),
        text("source", "where the figure comes from"),
        text("confidence", "high, medium or low"),
        PrimaryKeyConstraint("isa", "resource"),
    )
    Table(
        "meta",
        schema,
        key("key", "name of a fact about this file"),
        text("value", "the fact"),
        PrimaryKeyConstraint("key"),
    )


def _provenance(schema: MetaData) -> None:
    Table(
        "run",
        schema,
        key("run_id", "first 12 hex digits of the content's SHA-256; -1, -2 … for further parts"),
        run_number(),
        key("content_hash", "SHA-256 of the profile, which may hold several runs"),
        Column(
            "part", BigInteger, nullable=False, comment="which of the profile's runs it is, from 0"
        ),
        text("name", "name of the profile, without folders"),
        key("format", "format of the profile"),
        count("size", "size of the profile [B]"),
        key("status", "complete, or partial where the profile was cut off or damaged"),
        Column("ingested_at", DateTime, nullable=False, comment="when it was stored (UTC)"),
        time("started_at", "when the profiled program started (UTC)"),
        count("clock_origin", "profile's clock at its first event; launches count from it [ns]"),
        text("clock_epoch", "what that clock counts from: utc (1970), boot or session"),
        text("profiler", "tool that made the profile"),
        text("profiler_version", "its version"),
        text("program", "profiled program"),
        text("command_line", "the program's command line"),
        text("host", "computer"),
        text("operating_system", "its operating system"),
        text("driver_version", "device driver"),
        text("runtime", "device run-time library, such as CUDA or HIP"),
        text("runtime_version", "its version"),
        text("compiler", "compiler of the profiled program and its version, given by the user"),
        text("clock_control", "what the profiler did to the clocks"),
        text("cache_control", "what the profiler did to the caches before each pass"),
        text("replay_mode", "how the profiler repeated the work for its passes"),
        text("commit", "version of the profiled program, given by the user"),
        text("branch", "branch of that version, given by the user"),
        text("note", "what is new in it: the subject of the commit, or the user's words"),
        text("configuration", "label of the configuration; runs of one label are compared"),
        text("label", "the user's name for the run"),
        texts("tags", "the user's marks"),
        number("step_time", "end-to-end time of one step, given by the user [s]"),
        text("group_id", "name that runs of one execution share, such as its ranks"),
        count("rank", "which process of the group it is, from 0"),
        Column("simulated", Boolean, nullable=False, comment="made by a model, not measured"),
        text("device_names", "devices as the profile names them, joined by commas"),
        text("partition", "parts of devices that were profiled: 3g.20gb …, joined by commas"),
        count("launches", "launches stored"),
        count("launches_detailed", "launches with instructions, curves and the vendor's findings"),
        count("skipped", "parts of the profile that were left out"),
        text("skipped_reasons", "JSON list of {place, reason}: what was left out or is in doubt"),
        text("advisor_version", "version of the program that stored the run"),
        text("rules_hash", "hash of the rules that its findings come from"),
        time("pruned_at", "when its launches and counters were dropped (UTC); NULL: they are kept"),
        PrimaryKeyConstraint("run_id"),
    )


def _kernels(schema: MetaData) -> None:
    Table(
        "kernel",
        schema,
        key("kernel_id", "12 hex digits of BLAKE2b over the normalised name"),
        key("name", "name as the profile gives it"),
        key("short_name", "name without arguments and return type"),
        key("normalised_name", "name by which runs are matched"),
        text("mangled_name", "the linker's name"),
        PrimaryKeyConstraint("kernel_id"),
    )
    Table(
        "series",
        schema,
        key("series_id", "12 hex digits of BLAKE2b over the key: a kernel over runs"),
        key("kernel_id", "kernel"),
        text("problem_key", "user's label, range, or order of appearance"),
        text("device_name", "device model"),
        text("configuration", "label of the configuration"),
        PrimaryKeyConstraint("series_id"),
    )


def _launches(schema: MetaData, quantities: Quantities) -> None:
    Table(
        "launch",
        schema,
        key("run_id", "run that the launch belongs to"),
        run_number(),
        position("position of the launch in its profile, from 0"),
        key("kernel_id", "function that ran"),
        key("series_id", "series that the launch continues"),
        key("variant_id", "launches of a kernel with one launch shape, in one run"),
        text("launch_shape", "grid and block, as text"),
        text("device_id", "device, where it is known"),
        text("device_name", "device as the profile names it"),
        count("device_ordinal", "the profile's number of the device"),
        count("process", "process id"),
        count("context", "the profile's number of the context"),
        count("stream", "the profile's number of the stream"),
        texts("nvtx", "ranges around the launch, outermost first"),
        number("started_at", "when it started, after the profile's first event [s]"),
        flag("clock_locked", "the profiler held the clock"),
        count("invalid_counters", "counters whose value was not a finite number"),
        flag("detailed", "its instructions, curves and the vendor's findings were read"),
        *(c for q in quantities.launch.values() if q.aggregate != "none" for c in _columns(q)),
        *(column for q in quantities.quantities.values() for column in _columns(q)),
        text("counter_keys", "key_set that names the profiler's counters"),
        Column("counter_values", ARRAY(Double), comment="their values, the profiler's units"),
        text("text_set", "text_set that holds the profiler's values that are texts"),
        texts("flags", "what is odd about the launch"),
    )


def _variants(schema: MetaData, quantities: Quantities, facts: Sequence[StoredFact]) -> None:
    """What is known of all launches of a variant together; facts rest on it, not on launches."""
    Table(
        "variant",
        schema,
        key("run_id", "run that the variant belongs to"),
        run_number(),
        key("variant_id", "launches of a kernel with one launch shape, in one run"),
        key("kernel_id", "function that ran"),
        key("series_id", "series that the variant continues"),
        text("device_id", "device, where it is known"),
        text("device_name", "device as the profile names it"),
        text("launch_shape", "grid and block, as text"),
        count("position", "place among the variants of the run, by first launch, from 0"),
        count("launch_count", "launches"),
        count("launches_excluded", "launches that are left out of totals: they did not run"),
        count("launches_detailed", "launches with instructions, curves and the vendor's findings"),
        number("duration_min", "shortest launch [s]"),
        number("duration_median", "median launch [s]"),
        number("duration_mean", "mean over the launches [s]"),
        number("duration_max", "longest launch [s]"),
        number("duration_first", "first launch [s]"),
        number("duration_stddev", "standard deviation over the launches [s]"),
        *(c for q in quantities.launch.values() if q.aggregate != "none" for c in _columns(q)),
        *(column for q in quantities.quantities.values() for column in _columns(q)),
        *(_of_fact(fact) for fact in facts),
        Column(
            "paired_sums",
            Map(String, Double),
            comment="sums over the launches that have all of several values, where some lack one",
        ),
        Column(
            "coverage",
            Map(String, BigInteger),
            comment="launches that have a quantity, for those that some launches lack",
        ),
        key("totals_hash", "hash of what the totals were computed by"),
        key("facts_hash", "hash of what the tracked facts were computed by"),
    )


def _of_fact(fact: StoredFact) -> Column[object]:
    unit = "" if fact.unit is None else f" [{fact.unit}]"
    kinds = {"text": String, "boolean": Boolean, "number": Double}
    return Column(fact.name, kinds[fact.kind], comment=fact.about + unit)


def _columns(quantity: Quantity) -> list[Column[object]]:
    unit = "" if quantity.unit is None else f" [{quantity.unit}]"
    kind = String if quantity.is_text else Double
    columns = [Column(quantity.name, kind, comment=quantity.about + unit)]
    if quantity.remember_source:
        comment = f"which of its formulas gave {quantity.name}"
        columns.append(Column(source_of(quantity.name), String, comment=comment))
    return columns


def _details(schema: MetaData) -> None:
    Table(
        "key_set",
        schema,
        key("key_set", "12 hex digits of BLAKE2b over the keys"),
        Column("keys", ARRAY(String), nullable=False, comment="names of counters, opcodes, sizes"),
        PrimaryKeyConstraint("key_set"),
    )
    Table(
        "text_set",
        schema,
        key("text_set", "12 hex digits of BLAKE2b over names and texts"),
        Column("texts", Map(String, String), nullable=False, comment="texts by counter"),
        PrimaryKeyConstraint("text_set"),
    )
    values = "the profiler's units"
    Table(
        "keyed_set",
        schema,
        key("keyed_set", "12 hex digits of BLAKE2b over keys and values"),
        key("key_set", "key_set of the opcodes, block sizes … that have a value"),
        Column("values", ARRAY(Double), nullable=False, comment=values),
        PrimaryKeyConstraint("keyed_set"),
    )
    Table(
        "launch_keyed",
        schema,
        key("run_id", "run"),
        run_number(),
        position("launch"),
        key("counter", "the vendor's counter"),
        key("keyed_set", "its values by key"),
    )
    Table(
        "variant_instruction",
        schema,
        key("run_id", "run"),
        run_number(),
        key("variant_id", "variant; each row adds up some of its launches"),
        key("counter", "the vendor's counter"),
        Column(
            "addresses", ARRAY(BigInteger), nullable=False, comment="address of each instruction"
        ),
        Column("values", ARRAY(Double), nullable=False, comment=values),
    )
    Table(
        "variant_place",
        schema,
        key("run_id", "run"),
        run_number(),
        key("variant_id", "variant; several rows may tell the same of an address"),
        Column(
            "addresses", ARRAY(BigInteger), nullable=False, comment="address of each instruction"
        ),
        Column("opcodes", ARRAY(String), nullable=False, comment="its name, where it is known"),
        Column("lines", ARRAY(String), nullable=False, comment="file:line, where it is known"),
        text("code", "digest of all instructions of the function, operands included"),
    )
    Table(
        "reference_finding",
        schema,
        key("run_id", "run"),
        run_number(),
        position("launch"),
        key("rule", "the vendor's name of its rule"),
        text("title", "the vendor's title"),
        text("section", "section of the vendor's report"),
        key("severity", "none, ok, warning, error or optimization"),
        text("text", "the vendor's message"),
        number("estimate", "share of run time that the vendor thinks removable [1]"),
        text("scope", "local: of one unit; global: of the kernel"),
        Column("focus", Map(String, Double), comment="counters that the message rests on"),
    )


def _advice(schema: MetaData) -> None:
    Table(
        "finding",
        schema,
        key("run_id", "run"),
        run_number(),
        key("rule_id", "rule: its path"),
        key("rule_hash", "hash of the rule's text when it was evaluated"),
        key("subject", "kernel, run or change"),
        text("variant_id", "variant, for rules about kernels"),
        key("outcome", "fires or ruled_out"),
        key("severity", "error, warning or note"),
        text("mechanism", "findings that share it have one cause"),
        number("gain_low", "time that could be saved, low [s]"),
        number("gain_likely", "time that could be saved, likely [s]"),
        number("gain_high", "time that could be saved, high [s]"),
        number("cap", "the most that could be saved by the profiled roof [s]"),
        number("cap_likely", "the most that could be saved by the practical roof [s]"),
        number("share_low", "of a kernel without a time: share of it that could be saved, low [1]"),
        number("share_likely", "the same, likely [1]"),
        number("share_high", "the same, high [1]"),
        number("share_cap", "the largest share that could be saved by the profiled roof [1]"),
        number("share_cap_likely", "the same by the practical roof [1]"),
        number("confidence", "how far the gain is trusted [1]"),
        texts("confidence_because", "why it is trusted less"),
        count("rank", "place among the run's findings, from 1"),
        text("evidence", "the numbers it rests on, in words"),
        text("because", "why it was ruled out"),
        texts("unchecked", "guards that could not be checked"),
        text("values", "JSON object: what it read, by name, in SI units"),
    )
