"""What rules rest on beside their conditions, read from the database: guards, gains and floors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from advisor.database.facts_table import FactsTable
from advisor.rules.engine.gains import Raw
from advisor.rules.engine.program import DetailNames, Program, detail_columns
from advisor.rules.language.rule import Outcome, Value
from advisor.rules.language.settings import EvaluationSettings

Row = Mapping[str, Value]


def read_details(
    table: FactsTable,
    program: Program,
    key: str,
    pairs: Sequence[tuple[Value, int]],
    source: str | None = None,
) -> Mapping[Value, Row]:
    """Return what rules rest on, by subject, under the names of ``detail_columns``.

    ``pairs`` are those of a subject and the index of a rule that are asked for. ``source`` is the
    FROM item that stands for the table, by default its name.
    """
    source = source or table.name
    indexes = sorted({index for _, index in pairs})
    select, named = program.details(source, key, indexes)
    found = {
        row[0]: {name: value for names, value in zip(named, row[1:], strict=True) for name in names}
        for row in table.fetch(select)
    }
    assuming = [(subject, index) for subject, index in pairs if program.rules[index].assumes]
    if assuming:
        subjects, rules = zip(*assuming, strict=True)
        lists = {"subjects": " ".join(map(str, subjects)), "rules": " ".join(map(str, rules))}
        select = program.floors(source, key, sorted(set(rules)), table.dialect)
        rows = table.fetch(select, lists)
        for subject, index, floor, floor_achievable, busy_after, busy in rows:
            names = detail_columns(program.rules[index], index)
            found[subject][names.floor] = floor
            found[subject][names.floor_achievable] = floor_achievable
            if index in program.relieving:
                found[subject][names.busy] = busy
                found[subject][names.busy_after] = busy_after
    return found


def read_shares(
    table: FactsTable,
    program: Program,
    key: str,
    decided: Sequence[tuple[Value, int, Outcome]],
    rows: Mapping[Value, Row],
) -> Mapping[Value, Row]:
    """Return the details of rules that fire for kernels without a time, in that time, by kernel.

    ``rows`` are the facts of the subjects.
    """
    pairs = [
        (subject, index)
        for subject, index, outcome in decided
        if index in program.sharing
        and outcome is Outcome.FIRES
        and rows[subject][program.settings.time] is None
    ]
    if not pairs:
        return {}
    return read_details(table, program, key, pairs, program.in_own_time(table.name, key))


def raw_of(names: DetailNames, details: Row, duration: Value, settings: EvaluationSettings) -> Raw:
    """Return what the details of a subject say about the gain of a rule, given its duration."""
    bounds = [number(details[column]) for column in names.bounds]
    low, likely, high = bounds or (None, None, None)
    return Raw(
        duration=number(duration),
        low=low,
        likely=likely,
        high=high,
        floor=number(details[names.floor]),
        floor_achievable=number(details[names.floor_achievable]),
        busy=number(details.get(names.busy)),
        busy_after=number(details.get(names.busy_after)),
        goes_along=settings.goes_along,
    )


def number(value: Value) -> float | None:
    """Return a value that is a number; None for any other."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
