"""Every fact of a few kernels by SQLite: the same SELECT, planned in a tenth of the time.

What the names of kernels tell stays with DuckDB, whose patterns are not those of Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.database.few import (
    OF_DEVICE,
    ROWS,
    VERSION,
    FewRows,
    FewTable,
    RowsOfTable,
    are_few,
    read_few,
)
from advisor.database.relations import STORED, USUAL, Relations, over_variants_of
from advisor.database.variants import INCOMING
from advisor.facts.devices import DEVICE_ID, device_values
from advisor.facts.kernels import every_column, kernels_select, told_by_names
from advisor.facts.layers import select
from advisor.facts.variants import KEYS, variant_columns
from advisor.facts.vocabulary import Vocabulary
from advisor.records import dataclass

if TYPE_CHECKING:
    import duckdb

INCOMING_ROWS = replace(STORED, variant=INCOMING, even=True)


@dataclass(frozen=True, kw_only=True)
class FewFacts:
    """The SELECTs that give every fact of a few kernels.

    ``named`` and ``devices`` are DuckDB's: what names tell about variants, and the values of
    their devices. ``facts`` is SQLite's, over both and what is stored of variants
    (``few.ROWS``). ``types`` are those of all symbols, ``columns`` those that the tables have at
    least. ``version`` of SQLite is the one that was asked whether it can.
    """

    named: str
    devices: str
    facts: str
    types: Mapping[str, str]
    columns: Mapping[str, tuple[str, ...]]
    version: str | None = VERSION

    def over(self, tables: Mapping[str, RowsOfTable], name: str) -> FewTable:
        """Return a table of every fact over the rows of the tables."""
        few = FewRows({**self.types, **tables["variant"].types})
        for table, rows in tables.items():
            few.take(table, rows)
        ordered = f"SELECT * FROM ({self.facts}) ORDER BY {', '.join(KEYS)}"
        few.execute(f"CREATE TABLE {name} AS {ordered}")
        return FewTable(engine=few, name=name)

    def over_nothing(self, name: str) -> FewTable:
        """Return the same without a row: what SQLite refuses, it refuses then.

        Raises:
            REFUSED: SQLite is too old, or a formula is nested too deeply for it.
        """
        return self.over(
            {
                table: RowsOfTable(types=dict.fromkeys(columns, ""), rows=())
                for table, columns in self.columns.items()
            },
            name,
        )


def few_facts(vocabulary: Vocabulary, relations: Relations = USUAL) -> FewFacts:
    """Return the SELECTs for a vocabulary, over relations that have even variants."""
    named = told_by_names(vocabulary)
    few = replace(ROWS, tracked=relations.tracked, even=True, named=named)
    devices = device_values(vocabulary.quantities.device, relations)
    of_variants = select(DEVICE_ID, relations.item("variant"))
    return FewFacts(
        named=kernels_select(vocabulary, [*KEYS, *named], relations),
        devices=select("*", f"({devices})", f"where {DEVICE_ID} in ({of_variants})"),
        facts=kernels_select(vocabulary, every_column(vocabulary, few), few),
        types={name: symbol.kind.column_type for name, symbol in vocabulary.symbols.items()},
        columns={
            "variant": tuple(variant_columns(vocabulary, few)),
            OF_DEVICE: (DEVICE_ID, *vocabulary.quantities.device),
        },
    )


def take_few(
    connection: duckdb.DuckDBPyConnection, facts: FewFacts, relations: Relations, name: str
) -> FewTable | None:
    """Return a table of every fact of the kernels of relations; None where they are not few.

    Nor is there one where not all that is stored of their variants holds (``facts.stored``).
    """
    named, devices = (over_variants_of(query, relations) for query in (facts.named, facts.devices))
    if named is None or devices is None or facts.version != VERSION:
        return None
    if not are_few(connection, relations):
        return None
    return facts.over(read_few(connection, relations, named, devices), name)


def take_incoming(
    connection: duckdb.DuckDBPyConnection, facts: FewFacts, name: str
) -> FewTable | None:
    """Return the same of variants that are to be stored: ``facts`` are over ``INCOMING_ROWS``."""
    if facts.version != VERSION or not are_few(connection, INCOMING_ROWS):
        return None
    found = read_few(connection, INCOMING_ROWS, facts.named, facts.devices)
    return facts.over(found, name)
