"""Read a run's data beside facts: kernels, launches, findings, values per instruction.

Rows are mappings from column to value; instructions, of which there are many, are tuples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from advisor.database.fetching import rows_of_cursor
from advisor.database.relations import of_runs
from advisor.quoting import quoted

_VARIANTS = """
    SELECT variant_id, kernel_id, name AS kernel_name, short_name, launch_shape, duration
    FROM variant JOIN kernel USING (kernel_id) WHERE {of_run} ORDER BY position, variant_id
"""
_LAUNCHES = """
    SELECT variant_id, short_name FROM launch JOIN kernel USING (kernel_id)
    WHERE {of_run} ORDER BY launch_index
"""
_LAUNCHES_OF_VARIANTS = """
    SELECT variant_id, short_name FROM (
        SELECT variant_id, short_name, position, unnest(range(launch_count)) AS launch
        FROM variant JOIN kernel USING (kernel_id) WHERE {of_run}
    ) ORDER BY position, launch
"""
_KERNELS = """
    SELECT DISTINCT name, short_name, launch_shape FROM variant JOIN kernel USING (kernel_id)
"""
_FINDINGS = """
    SELECT rule_id, variant_id, outcome, gain_low, gain_likely, gain_high, cap, cap_likely,
        share_low, share_likely, share_high, share_cap, share_cap_likely, confidence,
        confidence_because, evidence, because, unchecked, "values"
    FROM finding WHERE {of_run} ORDER BY rule_id, variant_id
"""
_RULED_OUT = """
    SELECT variant_id, rule_id, because FROM finding JOIN run USING (run_id)
    WHERE run_id = $run AND outcome = 'ruled_out' AND rules_hash = $digest AND because IS NOT NULL
"""
_NUMBERS = r"\b[0-9][0-9.,]*(e[-+]?[0-9]+)?"  # not those in names, such as FP32
_VENDOR_FINDINGS = """
    SELECT variant_id, rule, section,
      arg_max(title, (coalesce(estimate, 0), -launch_index, length(text), text, title)) AS title,
      severity, scope,
      arg_max(text, (coalesce(estimate, 0), -launch_index, length(text), text, title)) AS text,
      max(estimate) AS estimate, count(DISTINCT launch_index) AS launches
    FROM reference_finding JOIN launch USING (run_number, run_id, launch_index)
    WHERE {of_run} AND text <> '' AND (severity NOT IN ('none', 'ok') OR estimate IS NOT NULL)
    GROUP BY variant_id, rule, section, severity, scope, regexp_replace(text, $numbers, '', 'g')
    ORDER BY estimate DESC NULLS LAST, rule, section, variant_id, severity, scope, text
"""
_CURVES = """
    SELECT variant_id, counter, keys, values
    FROM launch_keyed JOIN keyed_set USING (keyed_set) JOIN key_set USING (key_set)
      JOIN launch USING (run_number, run_id, launch_index)
    WHERE {of_run} AND list_contains(?, counter)
    QUALIFY row_number() OVER (PARTITION BY variant_id, counter ORDER BY launch_index) = 1
"""
_VALUES = """
    WITH pairs AS (
        SELECT variant_id, counter, unnest(addresses) AS address, unnest("values") AS value
        FROM variant_instruction
        WHERE {of_run} AND list_contains($variants, variant_id)
            AND list_contains($counters, counter)
    )
    SELECT variant_id, counter, address, sum(value) FROM pairs
    WHERE value IS NOT NULL GROUP BY ALL
"""
_FIRSTS = """
    SELECT variant_id, min(list_min(addresses))
    FROM variant_instruction
    WHERE {of_run} AND list_contains($variants, variant_id) GROUP BY variant_id
"""
_SAMPLES = """
    SELECT variant_id, launches_detailed, launch_count FROM variant
    WHERE {of_run} AND list_contains($variants, variant_id)
        AND launches_detailed < launch_count
"""
_OPCODES = """
    SELECT variant_id, unnest(addresses), unnest(opcodes)
    FROM variant_place WHERE {of_run} AND list_contains($variants, variant_id)
"""
_PLACES = """
    WITH places AS (
        SELECT variant_id, unnest(addresses) AS address, unnest(opcodes) AS opcode,
            unnest(lines) AS line
        FROM variant_place WHERE {of_run} AND list_contains($variants, variant_id)
    )
    SELECT DISTINCT * FROM places WHERE list_contains($addresses, address)
"""

Row = Mapping[str, Any]


def variants_of(connection: duckdb.DuckDBPyConnection, run_id: str) -> Sequence[Row]:
    """Return name, shape and time [s] of the variants of a run, in order of their first launch."""
    return rows_of_cursor(connection.execute(_of_run(_VARIANTS, run_id)))


def first_launch(connection: duckdb.DuckDBPyConnection, run_id: str, variant_id: str) -> int | None:
    """Return the position of a variant's first launch; None where its launches were dropped."""
    query = f"SELECT min(launch_index) FROM launch WHERE {of_runs([run_id])} AND variant_id = ?"
    found: int | None = connection.execute(query, [variant_id]).fetchall()[0][0]
    return found


def launches_of(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[tuple[str, str]]:
    """Return variant and short name of the launches of a run, in the order of the profile.

    Of a run whose launches were dropped, those of one variant after the other.
    """
    found = connection.execute(_of_run(_LAUNCHES, run_id)).fetchall()
    return found or connection.execute(_of_run(_LAUNCHES_OF_VARIANTS, run_id)).fetchall()


def kernels_and_shapes(
    connection: duckdb.DuckDBPyConnection,
) -> list[tuple[str, str, str | None]]:
    """Return name, short name and shape of everything that was ever launched."""
    return connection.execute(_KERNELS).fetchall()


def counts(connection: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Return how many runs and launches there are."""
    query = "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM launch)"
    runs, launches = connection.execute(query).fetchall()[0]
    return runs, launches


def known_counts(
    connection: duckdb.DuckDBPyConnection, run_id: str, names: Sequence[str]
) -> dict[str, int]:
    """Return in how many launches of a run each of some quantities is known."""
    columns = ", ".join(f"count({quoted(name)})" for name in names)
    query = f"SELECT {columns} FROM launch WHERE {of_runs([run_id])}"
    return dict(zip(names, connection.execute(query).fetchall()[0], strict=True))


def stored_findings(connection: duckdb.DuckDBPyConnection, run_id: str) -> Sequence[Row]:
    """Return what was stored of a run's findings, by rule and variant."""
    return rows_of_cursor(connection.execute(_of_run(_FINDINGS, run_id)))


def ruled_out_of(
    connection: duckdb.DuckDBPyConnection, run_id: str, digest: str
) -> dict[tuple[str, str], str]:
    """Return why rules were ruled out in a run, by variant and rule, if its rules had a digest."""
    rows = connection.execute(_RULED_OUT, {"run": run_id, "digest": digest}).fetchall()
    return {(variant, rule): because for variant, rule, because in rows}


def findings_of_vendor(connection: duckdb.DuckDBPyConnection, run_id: str) -> Sequence[Row]:
    """Return the vendor's findings by variant, the largest estimate first.

    Messages that differ in nothing but numbers are one: the one that promises most, else the
    longest of the first launch, whose counts have the most digits.
    """
    asked = {"numbers": _NUMBERS}
    return rows_of_cursor(connection.execute(_of_run(_VENDOR_FINDINGS, run_id), asked))


def curves_of(
    connection: duckdb.DuckDBPyConnection, run_id: str, counters: Sequence[str]
) -> Sequence[Row]:
    """Return keys and values of counters by variant, from its first launch that has them."""
    return rows_of_cursor(connection.execute(_of_run(_CURVES, run_id), [list(counters)]))


def instruction_values(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    variants: Sequence[str],
    counters: Sequence[str],
) -> list[tuple[str, str, int, float]]:
    """Return variant, counter, address and the sum over launches; the only reading of these."""
    asked = {"variants": list(variants), "counters": list(counters)}
    return connection.execute(_of_run(_VALUES, run_id), asked).fetchall()


def first_addresses(
    connection: duckdb.DuckDBPyConnection, run_id: str, variants: Sequence[str]
) -> dict[str, int]:
    """Return the first address of each variant that has values per instruction."""
    asked = {"variants": list(variants)}
    return dict(connection.execute(_of_run(_FIRSTS, run_id), asked).fetchall())


def samples_of(
    connection: duckdb.DuckDBPyConnection, run_id: str, variants: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """Return how many launches were read in detail, of how many, where that is not all."""
    asked = {"variants": list(variants)}
    rows = connection.execute(_of_run(_SAMPLES, run_id), asked).fetchall()
    return {variant: (detailed, launches) for variant, detailed, launches in rows}


def opcodes_of(
    connection: duckdb.DuckDBPyConnection, run_id: str, variants: Sequence[str]
) -> list[tuple[str, int, str | None]]:
    """Return variant, address and opcode of instructions."""
    asked = {"variants": list(variants)}
    return connection.execute(_of_run(_OPCODES, run_id), asked).fetchall()


def places_of(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    variants: Sequence[str],
    addresses: Sequence[int],
) -> list[tuple[str, int, str | None, str | None]]:
    """Return variant, address, opcode and line of the instructions at some addresses."""
    asked = {"variants": list(variants), "addresses": list(addresses)}
    return connection.execute(_of_run(_PLACES, run_id), asked).fetchall()


def _of_run(statement: str, run_id: str) -> str:
    return statement.format(of_run=of_runs([run_id]))


def profilers_of(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]
) -> list[tuple[str, str | None]]:
    """Return runs with the profiler that each comes from."""
    query = "SELECT run_id, profiler FROM run WHERE list_contains($runs, run_id)"
    return connection.execute(query, {"runs": list(run_ids)}).fetchall()


def rows_of(
    connection: duckdb.DuckDBPyConnection, select: str, run_ids: Sequence[str]
) -> Sequence[Row]:
    """Return the rows of some runs that a SELECT of kernels gives, the longest first."""
    order = "ORDER BY duration DESC NULLS LAST, run_id, variant_id"
    which = _in(run_ids)
    return rows_of_cursor(connection.execute(f"SELECT * FROM ({select}) {which} {order}", run_ids))


def keep_rows(
    connection: duckdb.DuckDBPyConnection, table: str, select: str, run_ids: Sequence[str]
) -> None:
    """Put what a SELECT gives of some runs into a table of this connection alone.

    Rows are in order of run and variant: sums over them have the same last digit every time.
    """
    made = f"CREATE OR REPLACE TEMP TABLE {quoted(table)} AS SELECT * FROM ({select})"
    order = "ORDER BY run_id, variant_id"
    connection.execute(f"{made} {_in(run_ids)} {order}", list(run_ids))


def _in(run_ids: Sequence[str]) -> str:
    """Return the clause for the rows of runs, whose ids are its parameters.

    DuckDB reads all runs for the sums of one that is a list of one, and not of one that is equal.
    """
    several = f"IN ({', '.join('?' * len(run_ids))})"
    return f"WHERE run_id {'= ?' if len(run_ids) == 1 else several}"
