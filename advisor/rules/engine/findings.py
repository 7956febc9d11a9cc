"""The findings of a run: the stored ones, or the run judged again where the rules are others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from advisor.database.parts import stored_findings
from advisor.rules.engine.compiled import Compiled
from advisor.rules.engine.evaluate import evaluate_table, not_collected, run_program, within_reach
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.engine.gains import Seconds
from advisor.rules.engine.settle import settle
from advisor.rules.language.rule import Outcome, Rule
from advisor.rules.language.subjects import KERNEL
from advisor.rules.language.words import VendorWords

if TYPE_CHECKING:
    import duckdb

    from advisor.rules.engine.reach import Reach

_OUTCOMES = {"fires": Outcome.FIRES, "ruled_out": Outcome.RULED_OUT}


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the rules say about a run and its kernels, in order of the rules.

    What is unknown is among it, of kernels only and never from the database. ``are_stored`` tells
    whether the findings are the stored ones; otherwise the run was judged again.
    """

    evaluations: tuple[Evaluation, ...]
    are_stored: bool


def findings_of_run(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    run_id: str,
    *,
    judged_by: str | None,
    kernels: str,
    words: VendorWords,
    reach: Reach | None = None,
) -> Findings:
    """Return the findings of a run; ``judged_by`` is the digest of what the stored ones rest on.

    ``kernels`` is a table of the facts of the run's kernels, with the columns that
    ``compiled.kernels`` has; ``reach`` is what the run's profiler can tell. Sentences made here are
    in ``words``; stored ones stay as they are.
    """
    if judged_by != compiled.digest:
        found = evaluate_table(connection, compiled, kernels, words={run_id: words})
        judged = within_reach(found, reach)
        return Findings(evaluations=tuple(judged), are_stored=False)
    stored = _stored(connection, compiled, run_id, words)
    known = {(each.variant_id, each.rule.id) for each in stored}
    part = compiled.parts[KERNEL]
    unknown = run_program(
        connection,
        part.program,
        kernels,
        key=part.kind.key,
        outcomes=(Outcome.UNKNOWN,),
        words={run_id: words},
    )
    unknown = within_reach(unknown, reach)
    open_ones = [each for each in unknown if (each.variant_id, each.rule.id) not in known]
    settled = settle((*stored, *open_ones), part.program.settings.relations.exclusions)
    return Findings(evaluations=tuple(settled), are_stored=True)


def _stored(
    connection: duckdb.DuckDBPyConnection, compiled: Compiled, run_id: str, words: VendorWords
) -> list[Evaluation]:
    rules = {rule.id: rule for rule in compiled.rules}
    rows = stored_findings(connection, run_id)
    return [_evaluation(row, rules[str(row["rule_id"])], run_id, words) for row in rows]


def _evaluation(row: Mapping[str, Any], rule: Rule, run_id: str, words: VendorWords) -> Evaluation:
    """Return the evaluation that became a row of ``finding``."""
    values = json.loads(row["values"])
    shown = {**values, **{name: each.value for name, each in rule.thresholds.items()}}
    outcome = _OUTCOMES[row["outcome"]]
    fires = outcome is Outcome.FIRES
    unchecked = tuple(row["unchecked"] or ())
    return Evaluation(
        rule=rule,
        run_id=run_id,
        variant_id=row["variant_id"] or run_id,
        outcome=outcome,
        values=values,
        words=words,
        gain=_gain(row),
        cap=row["cap"],
        cap_likely=row["cap_likely"],
        confidence=row["confidence"] if fires else 1.0,
        confidence_because=tuple(row["confidence_because"] or ()),
        evidence=row["evidence"],
        recommendation=tuple(words.fill(s, shown) for s in rule.recommendation) if fires else (),
        because=row["because"],
        unchecked=unchecked,
        not_collected=not_collected(rule, unchecked, values),
    )


def _gain(row: Mapping[str, Any]) -> Seconds | None:
    if row["gain_likely"] is None:
        return None
    return Seconds(low=row["gain_low"], likely=row["gain_likely"], high=row["gain_high"])
