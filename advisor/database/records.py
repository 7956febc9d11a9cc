"""Insert a few rows of any type by one statement.

The rows travel as one JSON document: DuckDB's driver looks for optional packages again for every
Python value that it is handed, which takes 0.1 ms each; a document is one value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

import duckdb

from advisor.quoting import literal, quoted

_NO_UTF8 = re.compile("[\ud800-\udfff]")  # what Python makes of bytes that are none


def insert_records(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    records: Sequence[Mapping[str, object]],
    *,
    known: Literal["keep", "replace"] | None = None,
) -> None:
    """Insert rows into ``table``; each has the columns of the first one.

    ``known`` is what becomes of a row whose key is there already: it is kept, it is replaced, or
    (None) the statement fails. Times are UTC without a zone. Text is stored as ``storable`` has it.

    Raises:
        ValueError: a number is not finite.
        duckdb.ConstraintException: a key is there already, and ``known`` is None.
    """
    if not records:
        return
    described = connection.execute(f"DESCRIBE {quoted(table)}").fetchall()
    types = {name: kind for name, kind, *_ in described if name in records[0]}
    verb = "INSERT OR REPLACE INTO" if known == "replace" else "INSERT INTO"
    conflict = "ON CONFLICT DO NOTHING" if known == "keep" else ""
    statement = f"{verb} {quoted(table)} BY NAME {records_select(types)} {conflict}"
    connection.execute(statement, [document(records)])


def records_select(types: Mapping[str, str]) -> str:
    """Return the SELECT of the records of a document, its parameter, as columns of these types."""
    shape = literal(json.dumps([types]))
    return f"SELECT record.* FROM (SELECT unnest(from_json($1, {shape})) AS record)"


def document(records: Sequence[Mapping[str, object]]) -> str:
    """Return records as the document that a statement takes.

    Raises:
        ValueError: a number is not finite.
    """
    written = json.dumps(records, default=str, allow_nan=False, ensure_ascii=False)
    return _NO_UTF8.sub(lambda found: f"\\{_escaped(found)}", written)  # JSON's own backslash


def storable(text: str) -> str:
    """Return the text with what is not UTF-8 escaped: file names and arguments may be any bytes."""
    return _NO_UTF8.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):x}"
