"""Facts of kernels and outcomes of rules on Spark: the SELECTs of DuckDB, in its dialect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from advisor.database.lake.spark import SparkLake
from advisor.database.relations import Relations, named_by
from advisor.facts import kernels_select
from advisor.quoting import listed
from advisor.rules.engine.compiled import FACTS_TABLE, Compiled
from advisor.rules.engine.fleet import OUTCOMES_TABLE
from advisor.rules.engine.program import outcomes_in
from advisor.rules.language.subjects import KERNEL


def write_on_spark(
    spark: SparkLake, compiled: Compiled, run_ids: Sequence[str], relations: Relations
) -> tuple[Path, Path]:
    """Write facts of kernels and outcomes of rules about them; return the folders of both.

    Spark works out the facts of kernels and what each rule about them decides; the rest stays here.

    Raises:
        DatabaseError: Spark fails.
        RuleError: Spark has nothing that means what a rule says.
    """
    named = named_by(spark.name)
    there = replace(
        named,
        variant=None if relations.variant is None else named.variant,
        from_launches=relations.from_launches,
        tracked=relations.tracked,
        even=relations.even,
        dialect="spark",
    )
    kernels = kernels_select(compiled.vocabulary, compiled.names, there)
    runs = listed(run_ids)
    query = f"SELECT * FROM ({kernels}) AS kernels WHERE run_id IN ({runs})"
    facts = spark.write(query, FACTS_TABLE)
    key = compiled.parts[KERNEL].kind.key
    decided = outcomes_in(compiled.of_kernels, FACTS_TABLE, key, "spark")
    return facts, spark.write(decided, OUTCOMES_TABLE)
