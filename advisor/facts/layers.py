"""Nested SELECTs in dependency order: each layer computes what needs only the layers below."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

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


def layered(
    source: str,
    columns: Sequence[Column],
    wanted: Sequence[str] | None = None,
    *,
    last: Sequence[str] = (),
    hidden: Sequence[str] = (),
    in_steps: bool = False,
) -> str:
    """Return a SELECT of all columns of ``source`` (a FROM item) and of ``columns``.

    The columns must not depend on each other in a circle. ``wanted`` says which of both are read,
    and in which order; then no layer passes on what none above it needs, and there is less to plan.
    ``last`` are those that stand behind the others, in their order; ``hidden`` are left out in the
    end. ``in_steps`` names each layer instead of nesting them, for an engine that pastes nested
    SELECTs into each other, or cannot read many.
    """
    by_name = {column.name: column for column in columns}
    layers, passing = _arranged(by_name, wanted)
    steps: list[str] = []
    for layer, below in zip(layers, passing, strict=True):
        passed, added = below, {name: f"{by_name[name].sql} as {quoted(name)}" for name in layer}
        if layer is layers[-1] and (last or hidden):
            passed, added = _at_the_end(added, last, hidden)
        listed = [*passed, *added.values()]
        if layer is layers[-1] and wanted is not None:
            listed = [added.get(name, quoted(name)) for name in wanted]
        written = select(", ".join(listed), source)
        if layer is layers[-1]:
            return f"with {', '.join(steps)} {written}" if steps else written
        if in_steps:
            source = f"layer{len(steps)}"
            steps.append(f"{source} as materialized ({written})")
        else:
            source = f"({written})"
    return select("*" if wanted is None else ", ".join(map(quoted, wanted)), source)


def _at_the_end(
    added: dict[str, str], last: Sequence[str], hidden: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Return what the last layer passes on, and its own columns in order, with some from below."""
    below = [*hidden, *(name for name in last if name not in added)]
    passed = [f"* exclude ({', '.join(map(quoted, below))})"] if below else ["*"]
    return passed, {name: added.get(name, quoted(name)) for name in last} | added


def _arranged(
    columns: Mapping[str, Column], wanted: Iterable[str] | None
) -> tuple[list[list[str]], list[list[str]]]:
    """Return the layers of columns, and what each passes on: as little as can be.

    What is computed early is passed on, and what is computed late has its operands passed on.
    """
    needs = {name: column.names for name, column in columns.items()}
    early, _ = dependency_order(needs)
    wanted = None if wanted is None else [*wanted]
    found = [(layers, _passed(layers, columns, wanted)) for layers in (_late(needs, early), early)]
    return min(found, key=lambda each: sum(map(len, each[1])))


def _late(needs: Mapping[str, Collection[str]], layers: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return names that stand in layers, each in the last that it can be in."""
    place = {name: len(layers) - 1 for layer in layers for name in layer}
    for name in (name for layer in reversed(layers) for name in layer):
        for below in needs[name]:
            if below in place:
                place[below] = min(place[below], place[name] - 1)
    late: list[list[str]] = [[] for _ in layers]
    for name in (name for layer in layers for name in layer):
        late[place[name]].append(name)
    return late


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
