"""Which of 150 rules fire on a million kernels: in the database, and per row in Python.

The rules are the shipped ones and copies with shifted thresholds, since equal ones would be
computed once; the kernels are random. Python's turn is taken by closures over the checked
expressions, compiled once, on a sample of the same rows, and both must find the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import duckdb

from advisor.expression import Kind
from advisor.facts.vocabulary import load_vocabulary
from advisor.quoting import quoted
from advisor.rules.engine.program import compile_program
from advisor.rules.language.load import load_rules
from advisor.rules.language.rule import Outcome, Rule
from advisor.rules.language.settings import load_settings
from advisor.rules.language.subjects import KERNEL
from benchmarks.measure import Line
from tests.support.interpreter import CALLS, OPERATORS, Value

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.expression.tree import ExpressionNode
    from advisor.facts.vocabulary import Vocabulary
    from advisor.rules.engine.program import Program

KERNELS = 1_000_000
RULES = 150
SAMPLE = 500
SHIFT = 0.003  # of a threshold, per copy of a rule
Row = Mapping[str, Value]
Compiled = Callable[[Row], Value]


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    vocabulary = load_vocabulary()
    shipped = [r for r in load_rules(vocabulary) if r.subject == KERNEL]
    rules = list(_varied(shipped))
    settings = load_settings(vocabulary.symbols)
    program = compile_program(rules, settings, vocabulary)
    with duckdb.connect(str(folder / "kernels.duckdb")) as connection:
        _make_kernels(connection, program, vocabulary)
        started = perf_counter()
        fired = _fired(connection, program, "kernels")
        database = perf_counter() - started
        connection.execute(f"CREATE TABLE sample AS FROM kernels LIMIT {SAMPLE}")
        expected = _fired(connection, program, "sample")
        cursor = connection.execute("FROM sample")
        names = [column[0] for column in cursor.description or ()]
        rows = [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]
    decide = [_decision(rule) for rule in rules]
    started = process_time()
    found = [sum(fires(row) for row in rows) for fires in decide]
    python = (process_time() - started) * KERNELS / SAMPLE
    if found != expected:
        raise AssertionError("Python and the database disagree on which rules fire")
    remark = f"{len(shipped)} shipped; {sum(fired) / KERNELS / len(rules):.1%} fire"
    return [
        Line(
            what=f"{len(rules)} rules × {KERNELS:,} kernels in the database", value=database,
            unit="s", target="≤ 3 s", remark=remark,
        ),
        Line(
            what="the same in Python, per row", value=python, unit="s",
            remark=f"from {SAMPLE} rows",
        ),
        Line(what="Python / database", value=python / database, unit="×", target="≥ 50 ×"),
    ]  # fmt: skip


def _varied(shipped: Sequence[Rule]) -> list[Rule]:
    """Return ``RULES`` rules, each copy of one with other thresholds."""
    copies = zip(range(RULES), cycle(shipped), strict=False)
    return [_shifted(rule, 1 + SHIFT * (number // len(shipped))) for number, rule in copies]


def _shifted(rule: Rule, factor: float) -> Rule:
    thresholds = {
        name: replace(threshold, value=threshold.value * factor)
        for name, threshold in rule.thresholds.items()
    }
    return replace(rule, thresholds=thresholds)


def _make_kernels(
    connection: duckdb.DuckDBPyConnection, program: Program, vocabulary: Vocabulary
) -> None:
    """Make the table kernels with random facts, each unknown in one row of ten."""
    connection.execute("SELECT setseed(0.5)")
    columns = [f"{_random(name, vocabulary)} AS {quoted(name)}" for name in program.columns]
    connection.execute(
        f"CREATE TABLE kernels AS SELECT i::VARCHAR AS variant_id, {', '.join(columns)}"
        f" FROM range({KERNELS}) AS kernel(i)"
    )


def _random(name: str, vocabulary: Vocabulary) -> str:
    symbol = vocabulary.symbols[name]
    value = "exp(20 * random())"
    if symbol.kind is Kind.TEXT:
        value = "['memory', 'compute', 'latency', 'balanced', 'dram'][1 + (5 * random())::INTEGER]"
    elif symbol.kind is Kind.BOOLEAN:
        value = "random() < 0.5"
    elif vocabulary.unit(name) == "1":
        value = "random()"
    return f"CASE WHEN random() > 0.1 THEN {value} END"


def _fired(connection: duckdb.DuckDBPyConnection, program: Program, table: str) -> list[int]:
    """Return for each rule on how many kernels it fires."""
    code = list(Outcome).index(Outcome.FIRES)
    # A sum costs a third of `count(*) FILTER`, which is no work of the rules.
    counts = ", ".join(
        f"sum((o{number} = {code})::UTINYINT)" for number in range(len(program.rules))
    )
    query = f"SELECT {counts} FROM ({program.outcomes(table, 'variant_id')})"
    row = connection.execute(query).fetchone()
    return [] if row is None else [int(count) for count in row]


def _decision(rule: Rule) -> Callable[[Row], bool]:
    """Return a function that tells whether the rule fires, in the order of evaluation."""
    thresholds = {name: threshold.value for name, threshold in rule.thresholds.items()}
    needed = [_compiled(rule.when.tree, thresholds)]
    if rule.applies_to is not None:
        needed.insert(0, _compiled(rule.applies_to.tree, thresholds))
    guards = [(_compiled(g.when.tree, thresholds), g.required) for g in rule.unless]

    def fires(row: Row) -> bool:
        if any(condition(row) is not True for condition in needed):
            return False
        held = ((guard(row), required) for guard, required in guards)
        return not any(value is True or (value is None and required) for value, required in held)

    return fires


def _compiled(node: ExpressionNode, thresholds: Mapping[str, float]) -> Compiled:
    """Return a function of a row that computes the expression."""
    if node.head == "literal":
        return lambda _: node.value
    if node.head == "name":
        name = str(node.value)
        if name in thresholds:
            return lambda _: thresholds[name]
        return lambda row: row[name]
    parts = [_compiled(operand, thresholds) for operand in node.operands]
    if node.head == "case":
        branches = list(zip(parts[:-1:2], parts[1:-1:2], strict=True))
        return lambda row: next(
            (value(row) for condition, value in branches if condition(row) is True),
            parts[-1](row),
        )
    function = CALLS[str(node.value)] if node.head == "call" else OPERATORS[node.head]
    return lambda row: function(*[part(row) for part in parts])
