"""Run the tests that rule files carry, through the SQL of production, many in one go."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import duckdb

from advisor.database.facts_table import FactsTable
from advisor.expression import Symbol
from advisor.facts.vocabulary import Vocabulary
from advisor.quoting import quoted
from advisor.records import dataclass
from advisor.rules.engine.evaluate import run_program
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.engine.gains import Seconds, Share
from advisor.rules.engine.program import OUTCOMES, Program, compile_program
from advisor.rules.language.rule import BOUNDS, Outcome, Rule, RuleExample, Value
from advisor.rules.language.settings import EvaluationSettings
from advisor.rules.language.subjects import SUBJECTS, Subjects
from advisor.wording import NO_BREAK

TOLERANCE = 1e-6

_TOGETHER = 16  # rules: each is asked about the examples of all of them
_TABLE = "rule_examples"
_KEY = "example"


@dataclass(frozen=True, kw_only=True)
class ExampleResult:
    """The outcome of one test; ``problems`` is empty where it passed."""

    rule: Rule
    example: RuleExample
    outcome: Outcome
    evaluation: Evaluation | None
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Return whether everything came out as the test says."""
        return not self.problems


def run_examples(
    rules: Sequence[Rule],
    *,
    vocabulary: Vocabulary,
    settings: EvaluationSettings,
    subjects: Subjects = SUBJECTS,
) -> list[ExampleResult]:
    """Return the result of every example of the rules, by subject, then in order."""
    results = []
    for name, kind in subjects.items():
        chosen = [rule for rule in rules if rule.subject == name]
        for first in range(0, len(chosen), _TOGETHER):
            together = chosen[first : first + _TOGETHER]
            program = compile_program(together, kind.counted(settings), vocabulary)
            results += _results(program, kind.vocabulary(vocabulary, settings))
    return results


def _results(program: Program, symbols: Mapping[str, Symbol]) -> list[ExampleResult]:
    cases = [(at, example) for at, rule in enumerate(program.rules) for example in rule.examples]
    rows = {id(example): example for _, example in cases}  # rules may share their examples
    keys = {each: str(number) for number, each in enumerate(rows)}
    with duckdb.connect(":memory:") as connection:
        _fill(connection, program, list(rows.values()), symbols)
        table = FactsTable(engine=connection, name=_TABLE)
        outcomes = table.fetch(program.outcomes(_TABLE, _KEY))
        found = {row[0]: row[1:] for row in outcomes}
        evaluations = {
            (each.variant_id, each.rule.id): each
            for each in run_program(table, program, key=_KEY, run_id=_TABLE)
        }
        assumed = {
            index: _assumed(connection, program, index)
            for index in {at for at, example in cases if example.assumed}
        }
    results = []
    for index, example in cases:
        key, rule = keys[id(example)], program.rules[index]
        outcome = OUTCOMES[found[key][index]]
        evaluation = evaluations.get((key, rule.id))
        problems = _problems(example, outcome, evaluation)
        if example.assumed and not problems:
            problems = _differences("assumed", example.assumed, assumed[index][key])
        results.append(
            ExampleResult(
                rule=rule,
                example=example,
                outcome=outcome,
                evaluation=evaluation,
                problems=tuple(problems),
            )
        )
    return results


def _assumed(
    connection: duckdb.DuckDBPyConnection, program: Program, index: int
) -> dict[str, dict[str, float | None]]:
    """Return what a rule assumes, by example and quantity; NULL is None."""
    names = list(program.rules[index].assumes)
    rows = connection.execute(program.assumptions(_TABLE, _KEY, index)).fetchall()
    return {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}


def _fill(
    connection: duckdb.DuckDBPyConnection,
    program: Program,
    examples: Sequence[RuleExample],
    symbols: Mapping[str, Symbol],
) -> None:
    """Make the table of examples: one row each; facts that an example does not name are NULL."""
    columns = {_KEY: "VARCHAR"}
    columns |= {name: symbols[name].kind.column_type for name in program.columns}
    values: list[list[Value]] = [[str(number) for number in range(len(examples))]]
    values += [[e.facts.get(name) for e in examples] for name in program.columns]
    lists = (f"unnest(?::{kind}[]) AS {quoted(name)}" for name, kind in columns.items())
    made = ("CREATE TEMP TABLE", _TABLE, "AS SELECT", ", ".join(lists))
    connection.execute(" ".join(made), values)


def _problems(example: RuleExample, outcome: Outcome, evaluation: Evaluation | None) -> list[str]:
    if outcome is not example.expect:
        missing = evaluation.missing if evaluation and evaluation.missing else ()
        because = f" (no value for {', '.join(missing)})" if missing else ""
        return [f"expected {example.expect.value}, found {outcome.value}{because}"]
    if evaluation is None:
        return []
    problems = _gain_problems(example.gain, evaluation.gain, "gain", " s")
    problems += _gain_problems(example.share, evaluation.share, "share")
    texts = (
        ("evidence", example.evidence, evaluation.evidence),
        ("because", example.because, evaluation.because or ""),
    )
    for name, expected, found in texts:
        if expected is not None and _plain(expected) != _plain(found):
            problems.append(f"expected {name} {_plain(expected)!r}, found {_plain(found)!r}")
    return problems


def _gain_problems(
    expected: Mapping[str, float], found: Seconds | Share | None, what: str, unit: str = ""
) -> list[str]:
    if not expected:
        return []
    if found is None:
        return [f"expected a {what}, found none"]
    return _differences(what, expected, {each: getattr(found, each) for each in BOUNDS}, unit)


def _differences(
    what: str,
    expected: Mapping[str, float],
    found: Mapping[str, float | None],
    unit: str = "",
) -> list[str]:
    problems = []
    for name, value in expected.items():
        came = found.get(name)
        if came is None or not math.isclose(value, came, rel_tol=TOLERANCE, abs_tol=1e-12):
            shown = "nothing" if came is None else f"{came:.6g}{unit}"
            problems.append(f"expected {name} {what} {value:.6g}{unit}, found {shown}")
    return problems


def _plain(text: str) -> str:
    return " ".join(text.replace(NO_BREAK, " ").split())
