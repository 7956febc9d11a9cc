"""A table with a row of facts for each subject, and the engine that has it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from advisor.database.fetching import rows_of_cursor
from advisor.quoting import quoted
from advisor.records import dataclass

if TYPE_CHECKING:
    import duckdb

Parameters = Sequence[object] | Mapping[str, object]

Spelling = Literal["duckdb", "sqlite"]

PAIRS: Mapping[Spelling, str] = {
    "duckdb": """
        SELECT unnest(string_split($subjects, ' ')) AS {subject},
            unnest(string_split($rules, ' ')::BIGINT[]) AS {rule}
    """,
    "sqlite": """
        SELECT subject.value AS {subject}, rule.value AS {rule}
        FROM json_each('["' || replace($subjects, ' ', '","') || '"]') AS subject
        JOIN json_each('[' || replace($rules, ' ', ',') || ']') AS rule USING (key)
    """,
}
"""The SELECT of the pairs that two lists name, which have spaces between their items."""


class FactsEngine(Protocol):
    """What runs a statement: a connection of DuckDB, or ``few.FewRows``."""

    def execute(self, query: str, parameters: Any = ..., /) -> Any:
        """Run a statement; what it returns has its rows."""


@dataclass(frozen=True, kw_only=True)
class FactsTable:
    """The table ``name`` of an engine, which has a row of facts for each subject.

    ``dialect`` is the engine's own. ``decided`` is a table of the outcomes of rules about the
    subjects, where another engine decided them.
    """

    engine: FactsEngine
    name: str
    dialect: Spelling = "duckdb"
    decided: str | None = None

    def fetch(self, query: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query that reads this table."""
        rows: list[tuple[Any, ...]] = self.engine.execute(query, parameters).fetchall()
        return rows

    def rows(self, names: Collection[str] | None = None) -> list[dict[str, Any]]:
        """Return the rows with some of the columns, or with all, each by their names."""
        columns = "*" if names is None else ", ".join(map(quoted, names))
        return rows_of_cursor(self.engine.execute(f"SELECT {columns} FROM {self.name}"))

    def in_database(self, connection: duckdb.DuckDBPyConnection, names: Collection[str]) -> str:
        """Return the name of a table of the connection with those columns: this one's own."""
        del connection, names
        return self.name
