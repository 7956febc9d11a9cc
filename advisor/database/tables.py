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

from advisor.database.marked import tables_of_marks
from advisor.database.outcome_table import outcomes
from advisor.quantities import Quantities, Quantity, StoredFact, load_quantities
from advisor.quantities import load_stored_facts as load_facts


def metadata(quantities: Quantities | None = None) -> MetaData:
    """Return the schema; the columns of ``launch`` follow ``quantities``."""
    schema, quantities = MetaData(), quantities or load_quantities()
    for define in (_devices, _provenance, _kernels, tables_of_marks, _details, _advice, outcomes):
        define(schema)
    _launches(schema, quantities)
    _variants(schema, quantities, load_facts())
    return schema


def _text(name: str, comment: str) -> Column[str]:
    return Column(name, String, comment=comment)


def _number(name: str, comment: str) -> Column[float]:
    return Column(name, Double, comment=comment)


def _count(name: str, comment: str) -> Column[int]:
    return Column(name, BigInteger, comment=comment)


def _flag(name: str, comment: str) -> Column[bool]:
    return Column(name, Boolean, comment=comment)


def _time(name: str, comment: str) -> Column[object]:
    return Column(name, DateTime, comment=comment)


def _texts(name: str, comment: str) -> Column[object]:
    return Column(name, ARRAY(String), comment=comment)


def _key(name: str, comment: str) -> Column[str]:
    return Column(name, String, nullable=False, comment=comment)


def _position(comment: str) -> Column[int]:
    return Column("launch_index", BigInteger, nullable=False, comment=comment)


def _devices(schema: MetaData) -> None:
    Table(
        "device",
        schema,
        _key("device_id", "stable key, such as vendor-product-variant"),
        _text("name", "product name"),
        _text("vendor", "maker"),
        _text("architecture", "generation"),
        _text("chip", "name of the die"),
        _text("form_factor", "board or module"),
        _texts("aliases", "exact names that profilers and drivers report"),
        _text("isa", "instruction set, such as cc-9.0 or gfx942; key of occupancy_limit"),
        _text("unit_kind", "what the parallel units are called"),
        _number("unit_count", "parallel units (multiprocessors, compute units, cores)"),
        _number("base_clock", "rated base clock [Hz]"),
        _number("boost_clock", "rated boost clock [Hz]"),
        _text("memory_type", "kind of device memory"),
        _number("memory_size", "device memory [B]"),
        _number("memory_bus_width", "width of the memory bus [bit]"),
        _number("l2_size", "last-level cache on the device [B]"),
        _number("unit_memory_size", "L1 cache and shared memory of one unit [B]"),
        _number("power_limit", "rated board power [W]"),
        _number("tensor_fp16_rate", "dense fp16 matrix operations [FLOP/cycle] of one unit"),
        _number("tensor_tf32_rate", "dense tf32 matrix operations [FLOP/cycle] of one unit"),
        _number("tensor_int8_rate", "dense int8 matrix operations [FLOP/cycle] of one unit"),
        _texts("notes", "what a reader of the figures should know"),
        _texts("sources", "where the figures come from"),
        _text("confidence", "high, medium or low"),
        _text("origin", "seed: came with the program; user: added; report: told by a profile"),
        PrimaryKeyConstraint("device_id"),
    )
    Table(
        "ceiling",
        schema,
        _key("device_id", "device that the limit belongs to"),
        _key("resource", "dram, l2, l1, shared, compute, vector_<format>, tensor_<format>"),
        _key("kind", "nominal, measured, achievable_fraction, project"),
        Column("value", Double, nullable=False, comment="the limit, in `unit`"),
        _key("unit", "B/s, FLOP/s, or 1 for a fraction"),
        _text("basis", "published, derived, measured or assumed"),
        _text("method", "how the figure was got"),
        _number("reference", "what a measured figure is compared with, in `unit`"),
        _text("source", "where the figure comes from"),
        _text("confidence", "high, medium or low"),
        _text("note", "what a reader of the figure should know"),
    )
    Table(
        "occupancy_limit",
        schema,
        _key("isa", "instruction set that the limit holds for"),
        _key("resource", "name of the limit, or compute_capability: the number in isa"),
        Column("value", Double, nullable=False, comment="the limit: a count, or bytes [B]"),
        _text("source", "where the figure comes from"),
        _text("confidence", "high, medium or low"),
        PrimaryKeyConstraint("isa", "resource"),
    )
    Table(
        "meta",
        schema,
        _key("key", "name of a fact about this file"),
        _text("value", "the fact"),
        PrimaryKeyConstraint("key"),
    )


def _provenance(schema: MetaData) -> None:
    Table(
        "run",
        schema,
        _key("run_id", "first 12 hex digits of the content's SHA-256; -1, -2 … for further parts"),
        _key("content_hash", "SHA-256 of the profile, which may hold several runs"),
        Column(
            "part", BigInteger, nullable=False, comment="which of the profile's runs it is, from 0"
        ),
        _text("name", "name of the profile, without folders"),
        _key("format", "format of the profile"),
        _count("size", "size of the profile [B]"),
        _key("status", "complete, or partial where the profile was cut off or damaged"),
        Column("ingested_at", DateTime, nullable=False, comment="when it was stored (UTC)"),
        _time("started_at", "when the profiled program started (UTC)"),
        _count("clock_origin", "profile's clock at its first event; launches count from it [ns]"),
        _text("clock_epoch", "what that clock counts from: utc (1970), boot or session"),
        _text("profiler", "tool that made the profile"),
        _text("profiler_version", "its version"),
        _text("program", "profiled program"),
        _text("command_line", "the program's command line"),
        _text("host", "computer"),
        _text("operating_system", "its operating system"),
        _text("driver_version", "device driver"),
        _text("runtime", "device run-time library, such as CUDA or HIP"),
        _text("runtime_version", "its version"),
        _text("compiler", "compiler of the profiled program and its version, given by the user"),
        _text("clock_control", "what the profiler did to the clocks"),
        _text("cache_control", "what the profiler did to the caches before each pass"),
        _text("replay_mode", "how the profiler repeated the work for its passes"),
        _text("commit", "version of the profiled program, given by the user"),
        _text("branch", "branch of that version, given by the user"),
        _text("note", "what is new in it: the subject of the commit, or the user's words"),
        _text("configuration", "label of the configuration; runs of one label are compared"),
        _text("label", "the user's name for the run"),
        _texts("tags", "the user's marks"),
        _number("step_time", "end-to-end time of one step, given by the user [s]"),
        _text("group_id", "name that runs of one execution share, such as its ranks"),
        _count("rank", "which process of the group it is, from 0"),
        Column("simulated", Boolean, nullable=False, comment="made by a model, not measured"),
        _text("device_names", "devices as the profile names them, joined by commas"),
        _text("partition", "parts of devices that were profiled: 3g.20gb …, joined by commas"),
        _count("launches", "launches stored"),
        _count("launches_detailed", "launches with instructions, curves and the vendor's findings"),
        _count("skipped", "parts of the profile that were left out"),
        _text("skipped_reasons", "JSON list of {place, reason}: what was left out or is in doubt"),
        _text("advisor_version", "version of the program that stored the run"),
        _text("rules_hash", "hash of the rules that its findings come from"),
        _time(
            "pruned_at", "when its launches and counters were dropped (UTC); NULL: they are kept"
        ),
        PrimaryKeyConstraint("run_id"),
    )


def _kernels(schema: MetaData) -> None:
    Table(
        "kernel",
        schema,
        _key("kernel_id", "12 hex digits of BLAKE2b over the normalised name"),
        _key("name", "name as the profile gives it"),
        _key("short_name", "name without arguments and return type"),
        _key("normalised_name", "name by which runs are matched"),
        _text("mangled_name", "the linker's name"),
        PrimaryKeyConstraint("kernel_id"),
    )
    Table(
        "series",
        schema,
        _key("series_id", "12 hex digits of BLAKE2b over the key: a kernel over runs"),
        _key("kernel_id", "kernel"),
        _text("problem_key", "user's label, range, or order of appearance"),
        _text("device_name", "device model"),
        _text("configuration", "label of the configuration"),
        PrimaryKeyConstraint("series_id"),
    )


def _launches(schema: MetaData, quantities: Quantities) -> None:
    Table(
        "launch",
        schema,
        _key("run_id", "run that the launch belongs to"),
        _position("position of the launch in its profile, from 0"),
        _key("kernel_id", "function that ran"),
        _key("series_id", "series that the launch continues"),
        _key("variant_id", "launches of a kernel with one launch shape, in one run"),
        _text("launch_shape", "grid and block, as text"),
        _text("device_id", "device, where it is known"),
        _text("device_name", "device as the profile names it"),
        _count("device_ordinal", "the profile's number of the device"),
        _count("process", "process id"),
        _count("context", "the profile's number of the context"),
        _count("stream", "the profile's number of the stream"),
        _texts("nvtx", "ranges around the launch, outermost first"),
        _number("started_at", "when it started, after the profile's first event [s]"),
        _flag("clock_locked", "the profiler held the clock"),
        _count("invalid_counters", "counters whose value was not a finite number"),
        _flag("detailed", "its instructions, curves and the vendor's findings were read"),
        *(c for q in quantities.launch.values() if q.aggregate != "none" for c in _columns(q)),
        *(column for q in quantities.quantities.values() for column in _columns(q)),
        _text("counter_keys", "key_set that names the profiler's counters"),
        Column("counter_values", ARRAY(Double), comment="their values, the profiler's units"),
        _text("text_set", "text_set that holds the profiler's values that are texts"),
        _texts("flags", "what is odd about the launch"),
    )


def _variants(schema: MetaData, quantities: Quantities, facts: Sequence[StoredFact]) -> None:
    """What is known of all launches of a variant together; facts rest on it, not on launches."""
    Table(
        "variant",
        schema,
        _key("run_id", "run that the variant belongs to"),
        _key("variant_id", "launches of a kernel with one launch shape, in one run"),
        _key("kernel_id", "function that ran"),
        _key("series_id", "series that the variant continues"),
        _text("device_id", "device, where it is known"),
        _text("device_name", "device as the profile names it"),
        _text("launch_shape", "grid and block, as text"),
        _count("position", "place among the variants of the run, by first launch, from 0"),
        _count("launch_count", "launches"),
        _count("launches_excluded", "launches that are left out of totals: they did not run"),
        _count("launches_detailed", "launches with instructions, curves and the vendor's findings"),
        _number("duration_min", "shortest launch [s]"),
        _number("duration_median", "median launch [s]"),
        _number("duration_mean", "mean over the launches [s]"),
        _number("duration_max", "longest launch [s]"),
        _number("duration_first", "first launch [s]"),
        _number("duration_stddev", "standard deviation over the launches [s]"),
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
        _key("totals_hash", "hash of what the totals were computed by"),
        _key("facts_hash", "hash of what the tracked facts were computed by"),
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
        columns.append(Column(f"{quantity.name}_source", String, comment=comment))
    return columns


def _details(schema: MetaData) -> None:
    Table(
        "key_set",
        schema,
        _key("key_set", "12 hex digits of BLAKE2b over the keys"),
        Column("keys", ARRAY(String), nullable=False, comment="names of counters, opcodes, sizes"),
        PrimaryKeyConstraint("key_set"),
    )
    Table(
        "text_set",
        schema,
        _key("text_set", "12 hex digits of BLAKE2b over names and texts"),
        Column("texts", Map(String, String), nullable=False, comment="texts by counter"),
        PrimaryKeyConstraint("text_set"),
    )
    values = "the profiler's units"
    Table(
        "keyed_set",
        schema,
        _key("keyed_set", "12 hex digits of BLAKE2b over keys and values"),
        _key("key_set", "key_set of the opcodes, block sizes … that have a value"),
        Column("values", ARRAY(Double), nullable=False, comment=values),
        PrimaryKeyConstraint("keyed_set"),
    )
    Table(
        "launch_keyed",
        schema,
        _key("run_id", "run"),
        _position("launch"),
        _key("counter", "the vendor's counter"),
        _key("keyed_set", "its values by key"),
    )
    Table(
        "variant_instruction",
        schema,
        _key("run_id", "run"),
        _key("variant_id", "variant; each row adds up some of its launches"),
        _key("counter", "the vendor's counter"),
        Column(
            "addresses", ARRAY(BigInteger), nullable=False, comment="address of each instruction"
        ),
        Column("values", ARRAY(Double), nullable=False, comment=values),
    )
    Table(
        "variant_place",
        schema,
        _key("run_id", "run"),
        _key("variant_id", "variant; several rows may tell the same of an address"),
        Column(
            "addresses", ARRAY(BigInteger), nullable=False, comment="address of each instruction"
        ),
        Column("opcodes", ARRAY(String), nullable=False, comment="its name, where it is known"),
        Column("lines", ARRAY(String), nullable=False, comment="file:line, where it is known"),
        _text("code", "digest of all instructions of the function, operands included"),
    )
    Table(
        "reference_finding",
        schema,
        _key("run_id", "run"),
        _position("launch"),
        _key("rule", "the vendor's name of its rule"),
        _text("title", "the vendor's title"),
        _text("section", "section of the vendor's report"),
        _key("severity", "none, ok, warning, error or optimization"),
        _text("text", "the vendor's message"),
        _number("estimate", "share of run time that the vendor thinks removable [1]"),
        _text("scope", "local: of one unit; global: of the kernel"),
        Column("focus", Map(String, Double), comment="counters that the message rests on"),
    )


def _advice(schema: MetaData) -> None:
    Table(
        "finding",
        schema,
        _key("run_id", "run"),
        _key("rule_id", "rule: its path"),
        _key("rule_hash", "hash of the rule's text when it was evaluated"),
        _key("subject", "kernel, run or change"),
        _text("variant_id", "variant, for rules about kernels"),
        _key("outcome", "fires or ruled_out"),
        _key("severity", "error, warning or note"),
        _text("mechanism", "findings that share it have one cause"),
        _number("gain_low", "time that could be saved, low [s]"),
        _number("gain_likely", "time that could be saved, likely [s]"),
        _number("gain_high", "time that could be saved, high [s]"),
        _number("cap", "the most that could be saved by the profiled roof [s]"),
        _number("cap_likely", "the most that could be saved by the practical roof [s]"),
        _number("confidence", "how far the gain is trusted [1]"),
        _texts("confidence_because", "why it is trusted less"),
        _count("rank", "place among the run's findings, from 1"),
        _text("evidence", "the numbers it rests on, in words"),
        _text("because", "why it was ruled out"),
        _texts("unchecked", "guards that could not be checked"),
        _text("values", "JSON object: what it read, by name, in SI units"),
    )
