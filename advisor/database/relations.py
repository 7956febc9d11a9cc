"""Where the rows come from that facts are computed of: one of the doors for SQL that names tables.

Facts and rules are written over ``Relations``, so the same SELECT reads the open file, another
one beside it, or what launches would be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from advisor.quoting import listed, literal, quoted
from advisor.records import dataclass

_MAIN = "main"


@dataclass(frozen=True, kw_only=True)
class Relations:
    """FROM items, each with the columns of the table it is called after.

    Where ``variant`` is None, variants are aggregated from launches. So are those of the runs
    ``from_launches``, whose stored variants do not have what is asked for. Where ``tracked``, the
    facts that are stored of kernels hold as they are; where ``even``, no stored variant has a sum
    over fewer launches than others (``paired_sums``). ``named`` are columns of variants with what
    the names of their kernels tell, ``devices`` is a table of the values of devices, where these
    were read before. ``dialect`` is that of the engine that has the tables.
    """

    run: str
    kernel: str
    series: str
    launch: str
    variant: str | None
    device: str
    ceiling: str
    occupancy_limit: str
    finding: str
    key_set: str
    text_set: str
    from_launches: tuple[str, ...] = ()
    tracked: bool = False
    even: bool = False
    named: tuple[str, ...] = ()
    devices: str | None = None
    dialect: Literal["duckdb", "spark", "sqlite"] = "duckdb"

    def item(self, table: str) -> str:
        """Return the FROM item of a table, under the table's name."""
        found = getattr(self, table)
        return f"{found} as {table}"


def of_runs(run_ids: Sequence[str], run: str = "run") -> str:
    """Return the condition for the rows of runs, in a table that has their numbers.

    The engine finds by the numbers where they lie, and skips what it need not read. ``run`` is the
    table of runs. A list of one is no reason to it to read the rows of one run alone.
    """
    which = f"run_id IN ({listed(run_ids)})"
    if len(run_ids) == 1:
        which = f"run_id = {literal(run_ids[0])}"
    return f"{which} AND run_number IN (SELECT run_number FROM {run} WHERE {which})"


def only_runs(relations: Relations, run_ids: Sequence[str]) -> Relations:
    """Return relations with the rows of some runs alone."""
    which = of_runs(run_ids, relations.run)
    launch, finding = (
        f"(select * from {each} where {which})" for each in (relations.launch, relations.finding)
    )
    variant = relations.variant and f"(select * from {relations.variant} where {which})"
    return replace(relations, launch=launch, finding=finding, variant=variant)


def named_by(name: Callable[[str], str]) -> Relations:
    """Return the relations that a function names by the names of their tables."""
    return Relations(
        run=name("run"),
        kernel=name("kernel"),
        series=name("series"),
        launch=name("launch"),
        variant=name("variant"),
        device=name("device"),
        ceiling=name("ceiling"),
        occupancy_limit=name("occupancy_limit"),
        finding=name("finding"),
        key_set=name("key_set"),
        text_set=name("text_set"),
    )


def relations_of(schema: str) -> Relations:
    """Return the tables of a schema, as SQL names it: ``main`` or ``other.main``."""
    return named_by(lambda table: f"{schema}.{table}")


STORED = relations_of(_MAIN)
"""The tables of the open file."""

USUAL = replace(STORED, tracked=True, even=True)
"""The same where all that is stored of variants holds, and no launch lacks what others have."""


def over_variants_of(select: str, relations: Relations) -> str | None:
    """Return a SELECT over ``USUAL`` for relations that are these but for some rows, else None."""
    others = {name: getattr(USUAL, name) for name in ("launch", "variant", "finding")}
    if relations.variant is None or replace(relations, **others) != USUAL:
        return None
    return select.replace(USUAL.item("variant"), relations.item("variant"))


def attached(database: str) -> Relations:
    """Return the tables of a file that is attached under the name ``database``."""
    return relations_of(f"{quoted(database)}.{_MAIN}")


def what_if(relations: Relations, changes: Mapping[str, str]) -> Relations:
    """Return relations in which columns of every launch are what SQL expressions over it say.

    Variants come from these launches: what was stored of them holds for the launches as they were.
    """
    changed = ", ".join(f"{sql} as {quoted(name)}" for name, sql in changes.items())
    launches = f"(select * replace ({changed}) from {relations.launch})"
    return replace(
        relations, launch=launches, variant=None, from_launches=(), tracked=False, even=False
    )
