"""Nested SELECTs in dependency order: each layer computes what needs only the layers below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from advisor.quoting import quoted
from advisor.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column to add: ``sql`` computes it from the columns ``names``."""

    name: str
    sql: str
    names: frozenset[str]


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


def layered(source: str, columns: Sequence[Column], wanted: Iterable[str] | None = None) -> str:
    """Return a SELECT of all columns of ``source`` (a FROM item) and of ``columns``.

    The columns must not depend on each other in a circle. ``wanted`` says which of both are read;
    then no layer passes on what none above it needs, and there is less to plan.
    """
    by_name = {column.name: column for column in columns}
    layers, _ = dependency_order({name: column.names for name, column in by_name.items()})
    for layer, passed in zip(layers, _passed(layers, by_name, wanted), strict=True):
        added = (f"{by_name[name].sql} as {quoted(name)}" for name in layer)
        source = f"({select(', '.join((*passed, *added)), source)})"
    return select("*", source)


def _passed(
    layers: Sequence[Sequence[str]], columns: Mapping[str, Column], wanted: Iterable[str] | None
) -> list[list[str]]:
    """Return what each layer passes on from the one below."""
    if wanted is None:
        return [["*"]] * len(layers)
    needed = set(wanted)
    found = []
    for layer in reversed(layers):
        needed.difference_update(layer)
        found.append([quoted(name) for name in sorted(needed)])
        needed.update(*(columns[name].names for name in layer))
    return found[::-1]


def select(columns: str, source: str, *more: str) -> str:
    """Return a SELECT of ``columns`` from ``source``, with clauses after it."""
    return " ".join((f"select {columns} from {source}", *more))
