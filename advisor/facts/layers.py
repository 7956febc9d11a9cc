"""Nested SELECTs in dependency order: each layer computes what needs only the layers below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column to add: ``sql`` computes it from the columns ``names``."""

    name: str
    sql: str
    names: frozenset[str]


def identifier(name: str) -> str:
    """Return ``name`` quoted for SQL.

    >>> identifier('a.b')
    '"a.b"'
    """
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return ``value`` as an SQL string literal."""
    return "'" + value.replace("'", "''") + "'"


def dependency_order(needs: Mapping[str, Iterable[str]]) -> tuple[list[list[str]], list[str]]:
    """Return the names of ``needs`` in layers, and those that wait for each other in a circle.

    A name that is no key of ``needs`` is there from the beginning.
    """
    waiting = {name: set(others) & needs.keys() for name, others in needs.items()}
    layers: list[list[str]] = []
    while ready := [name for name, others in waiting.items() if not others]:
        layers.append(ready)
        waiting = {
            name: others.difference(ready) for name, others in waiting.items() if name not in ready
        }
    return layers, list(waiting)


def layered(source: str, columns: Sequence[Column]) -> str:
    """Return a SELECT of all columns of ``source`` (a FROM item) and of ``columns``.

    The columns must not depend on each other in a circle.
    """
    by_name = {column.name: column for column in columns}
    layers, _ = dependency_order({name: column.names for name, column in by_name.items()})
    for layer in layers:
        added = ", ".join(f"{by_name[name].sql} as {identifier(name)}" for name in layer)
        source = f"({select(f'*, {added}', source)})"
    return select("*", source)


def select(columns: str, source: str, *more: str) -> str:
    """Return a SELECT of ``columns`` from ``source``, with clauses after it."""
    return " ".join(("select", columns, "from", source, *more))
