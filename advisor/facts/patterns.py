"""Patterns of names as files list them, checked by the engine that looks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from advisor.documents import DocumentNode
from advisor.errors import RuleError

if TYPE_CHECKING:
    import duckdb

_FIND_ALL = "SELECT list_transform($1::VARCHAR[], lambda pattern: regexp_matches('', pattern))"


def read_patterns(lists: Mapping[str, DocumentNode]) -> dict[str, str]:
    """Return by label the one pattern that is found where one of its list is.

    Raises:
        RuleError: a list or pattern is empty, or is none to the engine; with its place.
    """
    patterns = {label: tuple(_texts(node)) for label, node in lists.items()}
    _check(pattern for each in patterns.values() for pattern in each)
    return {label: "|".join(text for text, _ in each) for label, each in patterns.items()}


def _texts(node: DocumentNode) -> Iterator[tuple[str, DocumentNode]]:
    entries = node.as_sequence()
    if not len(entries):
        raise RuleError("expected patterns of names", at=node.at)
    for entry in entries:
        text = entry.as_text()
        if not text:
            hint = "remove it, or write what a name has"
            raise RuleError("an empty pattern is found in every name", at=entry.at, hint=hint)
        yield text, entry


def _check(patterns: Iterable[tuple[str, DocumentNode]]) -> None:
    """Refuse the first that is no pattern; all are asked for at once, for that is usual."""
    import duckdb  # what is remembered needs no check

    asked = list(patterns)
    with duckdb.connect(":memory:") as connection:
        try:
            connection.execute(_FIND_ALL, [[text for text, _ in asked]])
        except duckdb.Error:
            for text, node in asked:
                _check_one(connection, text, node)
            raise


def _check_one(connection: duckdb.DuckDBPyConnection, text: str, node: DocumentNode) -> None:
    import duckdb

    try:
        connection.execute(_FIND_ALL, [[text]])
    except duckdb.Error as error:
        reason = str(error).strip().partition(": ")[2]
        hint = "patterns are those of RE2: without look-around and references to groups"
        raise RuleError(f"not a regular expression: {reason}", at=node.at, hint=hint) from error
