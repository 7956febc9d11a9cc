"""The findings of a run: stored, read back, or judged again where the rules are others.

Those that a user suppresses until a day are set apart and counted, never deleted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import duckdb

from advisor.configuration import Suppression
from advisor.database.facts_table import FactsTable
from advisor.database.parts import stored_findings
from advisor.database.rows import FindingRow
from advisor.database.write import insert_findings
from advisor.records import dataclass
from advisor.rules.engine.compiled import Compiled
from advisor.rules.engine.evaluate import evaluate_table, not_collected, run_program, within_reach
from advisor.rules.engine.evaluation import Evaluation, settle
from advisor.rules.engine.gains import Seconds, Share
from advisor.rules.engine.rank import rank
from advisor.rules.language.rule import Outcome, Rule, Value
from advisor.rules.language.subjects import KERNEL, SUBJECTS
from advisor.rules.language.words import VendorWords

if TYPE_CHECKING:
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
    kernels: FactsTable,
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
        kernels,
        part.program,
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
    # Parsed as one list, whose names are the same all over.
    values = json.loads(f"[{','.join([row['values'] for row in rows])}]")
    return [
        _evaluation(row, rules[str(row["rule_id"])], run_id, words, read)
        for row, read in zip(rows, values, strict=True)
    ]


def _evaluation(
    row: Mapping[str, Any],
    rule: Rule,
    run_id: str,
    words: VendorWords,
    values: Mapping[str, Value],
) -> Evaluation:
    """Return the evaluation that became a row of ``finding``, with the values it read."""
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
        share=_share(row),
        cap=row["cap"],
        cap_likely=row["cap_likely"],
        confidence=row["confidence"] if fires else 1.0,
        confidence_because=tuple(row["confidence_because"] or ()),
        evidence=row["evidence"],
        because=row["because"],
        unchecked=unchecked,
        not_collected=not_collected(rule, unchecked, values) if unchecked else (),
    )


def _gain(row: Mapping[str, Any]) -> Seconds | None:
    if row["gain_likely"] is None:
        return None
    return Seconds(low=row["gain_low"], likely=row["gain_likely"], high=row["gain_high"])


_SHARE = ("low", "likely", "high", "cap", "cap_likely")


def _share(row: Mapping[str, Any]) -> Share | None:
    if row["share_likely"] is None:
        return None
    return Share(**{name: row[f"share_{name}"] for name in _SHARE})


def store_evaluations(
    connection: duckdb.DuckDBPyConnection, run_id: str, evaluations: Sequence[Evaluation]
) -> None:
    """Store what fires and what was ruled out, in place of what the run had."""
    insert_findings(connection, run_id, rows_of_findings(evaluations))


def rows_of_findings(evaluations: Sequence[Evaluation]) -> list[FindingRow]:
    """Return what fires and what was ruled out in a run as rows of ``finding``."""
    positions = {
        (action.evaluation.variant_id, action.evaluation.rule.id): action.position
        for action in rank(evaluations)
    }
    return [
        _row(each, positions.get((each.variant_id, each.rule.id)))
        for each in evaluations
        if each.outcome not in (Outcome.UNKNOWN, Outcome.NOT_KNOWABLE)
    ]


def _row(evaluation: Evaluation, position: int | None) -> FindingRow:
    rule, gain = evaluation.rule, evaluation.gain
    fires = evaluation.outcome is Outcome.FIRES
    column = SUBJECTS[rule.subject].stored_in
    named: dict[str, Any] = {} if column is None else {column: evaluation.variant_id}
    if (share := evaluation.share) is not None:
        named |= {f"share_{name}": getattr(share, name) for name in _SHARE}
    return FindingRow(
        run_id=evaluation.run_id,
        rule_id=rule.id,
        rule_hash=rule.text_hash,
        subject=rule.subject,
        outcome="fires" if fires else "ruled_out",
        severity=rule.severity.value,
        mechanism=rule.mechanism,
        gain_low=None if gain is None else gain.low,
        gain_likely=None if gain is None else gain.likely,
        gain_high=None if gain is None else gain.high,
        cap=evaluation.cap,
        cap_likely=evaluation.cap_likely,
        confidence=evaluation.confidence if fires else None,
        confidence_because=evaluation.confidence_because,
        rank=position,
        evidence=evaluation.evidence,
        because=evaluation.because,
        unchecked=evaluation.unchecked,
        values=json.dumps(evaluation.values, sort_keys=True, allow_nan=False),
        **named,
    )


@dataclass(frozen=True, kw_only=True)
class Screened:
    """Evaluations after suppression.

    ``shown`` are to be ranked. ``suppressed`` are findings with what silences them; ``returned``
    are findings, shown again, with the suppression that has expired.
    """

    shown: tuple[Evaluation, ...]
    suppressed: tuple[tuple[Evaluation, Suppression], ...]
    returned: tuple[tuple[Evaluation, Suppression], ...]


def kernel_names(rows: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the names of the kernel of each variant, by which suppressions know it."""
    return {
        str(row["variant_id"]): (str(row["kernel_name"]), str(row["short_name"])) for row in rows
    }


def screen(
    evaluations: Iterable[Evaluation],
    suppressions: Sequence[Suppression],
    *,
    kernel_names: Mapping[str, tuple[str, ...]],
    today: date,
) -> Screened:
    """Set apart what suppressions cover; ``kernel_names`` are those of each variant.

    What a covered rule does not know is left out too: its counters need not be collected.
    """
    if not suppressions:
        return Screened(shown=tuple(evaluations), suppressed=(), returned=())
    shown: list[Evaluation] = []
    suppressed: list[tuple[Evaluation, Suppression]] = []
    returned: list[tuple[Evaluation, Suppression]] = []
    for each in evaluations:
        names = kernel_names.get(each.variant_id, ())
        covering = [s for s in suppressions if s.covers(each.rule.id, names)]
        active = next((s for s in covering if not s.expired(today)), None)
        if active is None or each.outcome is Outcome.RULED_OUT:
            shown.append(each)
        elif each.outcome is Outcome.FIRES:
            suppressed.append((each, active))
        if active is None and covering and each.outcome is Outcome.FIRES:
            returned.append((each, covering[0]))
    return Screened(shown=tuple(shown), suppressed=tuple(suppressed), returned=tuple(returned))
