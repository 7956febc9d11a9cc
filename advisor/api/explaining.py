"""Why a rule says what it says about a kernel, as text and as JSON."""

from __future__ import annotations

import shlex
from dataclasses import asdict, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from advisor.commands import program
from advisor.configuration import DEFAULTS, Configuration
from advisor.counters.instructions import of_symptom
from advisor.database.parts import ruled_out_of, variants_of
from advisor.database.read import open_run
from advisor.errors import UsageError
from advisor.escaping import json_text
from advisor.facts import current, kernels_select
from advisor.knowledge.load import find_rule, load_knowledge
from advisor.records import dataclass
from advisor.reports.record.instructions import worst_instructions
from advisor.reports.record.source import named
from advisor.rules import Outcome
from advisor.rules.engine.collect import asking
from advisor.rules.engine.evaluate import run_words
from advisor.rules.engine.explain import Explanation, Language, explain
from advisor.rules.engine.reach import ProfilerRequest
from advisor.rules.language.subjects import RUN, SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from advisor.database.read import StoredRun
    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.instructions import Ranking, Rankings
    from advisor.reports.record.rows import Row
    from advisor.rules import EvaluationSettings, Rule
    from advisor.rules.engine.collect import Asking
    from advisor.rules.engine.reach import Reach


@dataclass(frozen=True, kw_only=True)
class Explained:
    """One explanation, the subject's name, and the command to collect what it lacks.

    ``asked`` are the sections and counters that would decide it, ``decided_by`` the words that ask
    for them. ``instructions`` are the worst ones by what the rule looks at, whether it fires or
    not.
    """

    explanation: Explanation
    run_id: str
    name: str
    collect: str | None
    asked: ProfilerRequest = field(default_factory=ProfilerRequest)
    decided_by: str = ""
    instructions: Ranking | None = None


def explain_rule(
    database: str,
    rule: str,
    kernel: str | None,
    *,
    run: str,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> list[Explained]:
    """Return what a rule says about the kernels that a name, a pattern or an id means, and why.

    Raises:
        UsageError: there is no such rule, run or kernel, or a rule about kernels has none.
        DatabaseError: the database cannot be opened.
    """
    knowledge = load_knowledge(configuration)
    found = find_rule(knowledge.rules, rule)
    if not SUBJECTS[found.subject].is_part_of_run:
        hint = "advisor compare BASE HEAD says where it fires"
        raise UsageError(f"{rule} is about two runs, not about one", hint=hint)
    with open_run(database, run, wait=wait) as (connection, about):
        rows = _chosen(variants_of(connection, about.run_id), found, kernel, about.run_id)
        return explanations(connection, database, about, [found], rows, knowledge)


def explanations(
    connection: duckdb.DuckDBPyConnection,
    database: str,
    about: StoredRun,
    rules: Sequence[Rule],
    rows: Sequence[Row],
    knowledge: Knowledge,
) -> list[Explained]:
    """Return what rules of one subject say about the variants ``rows`` of a run, rule by rule."""
    run_id = about.run_id
    relations = current(connection, knowledge.vocabulary, [run_id])
    found = explain(
        connection,
        rules,
        run_id,
        [str(row["variant_id"]) for row in rows],
        kernels=partial(kernels_select, knowledge.vocabulary, relations=relations),
        language=Language(
            vocabulary=knowledge.vocabulary,
            settings=knowledge.settings,
            words=run_words(connection, [run_id], knowledge.settings)[run_id],
        ),
    )
    reach = knowledge.compiled.reach(about.profiler)
    excluded = ruled_out_of(connection, run_id, knowledge.compiled.digest)
    found = [_excluded(_within_reach(each, reach), excluded) for each in found]
    missing = [name for each in found for name in each.missing]
    ask = asking(connection, run_id, reach, about.profiler_version, missing)
    worst = _worst(connection, run_id, found, knowledge.settings)
    names = {str(row["variant_id"]): kernel_label(row) for row in rows}
    return [
        Explained(
            explanation=each,
            run_id=run_id,
            name=names.get(each.subject, f"run {run_id}"),
            collect=_collect(each, run_id, database) if each.outcome is Outcome.UNKNOWN else None,
            asked=_asked(each, ask),
            decided_by="" if ask is None else ask.words(each.subject, each.missing),
            instructions=worst.get((each.subject, each.rule.instructions or "")),
        )
        for each in found
    ]


def _within_reach(explanation: Explanation, reach: Reach | None) -> Explanation:
    """Return the explanation; it says so where the run's profiler can never decide the rule."""
    unknown = explanation.outcome is Outcome.UNKNOWN
    if reach is None or not unknown or explanation.rule.id not in reach.hopeless:
        return explanation
    lost = reach.lost(explanation.missing)
    why = reach.why(lost)
    because = f"{reach.profiler.name} cannot measure {', '.join(lost or explanation.missing)}"
    return replace(
        explanation,
        outcome=Outcome.NOT_KNOWABLE,
        because=because if why is None else f"{because}: {why}",
    )


def _excluded(explanation: Explanation, excluded: Mapping[tuple[str, str], str]) -> Explanation:
    """Return the explanation, ruled out where another finding of the kernel excludes the rule."""
    because = excluded.get((explanation.subject, explanation.rule.id))
    if because is None or explanation.outcome is not Outcome.FIRES:
        return explanation
    return replace(
        explanation,
        outcome=Outcome.RULED_OUT,
        because=f"its condition is true, but another finding excludes it: {because}",
    )


def _asked(explanation: Explanation, ask: Asking | None) -> ProfilerRequest:
    if ask is None or explanation.outcome is not Outcome.UNKNOWN:
        return ProfilerRequest()
    return ask.ask([(explanation.subject, explanation.missing)])


def _worst(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    explanations: Sequence[Explanation],
    settings: EvaluationSettings,
) -> Rankings:
    asked = [
        (each.subject, view)
        for each in explanations
        if each.rule.instructions is not None
        for view in of_symptom(settings.instruction_views, each.rule.instructions)
    ]
    return worst_instructions(connection, run_id, asked) if asked else {}


def _chosen(rows: Sequence[Row], rule: Rule, kernel: str | None, run_id: str) -> Sequence[Row]:
    if rule.subject == RUN:
        return ()
    if kernel is None:
        hint = f"advisor rules explain {rule.id} KERNEL; `advisor report` lists the kernels"
        raise UsageError(f"{rule.id} is about a kernel, and none is named", hint=hint)
    return named(rows, kernel, run_id)


def kernel_label(row: Row) -> str:
    """Return what to call a variant: its kernel and launch shape."""
    shape = f" {row['launch_shape']}" if row["launch_shape"] else ""
    return f"{row['short_name']}{shape}"


def _collect(explanation: Explanation, run_id: str, database: str) -> str:
    command = f"{program(database)} collect {run_id}"
    if explanation.rule.subject == RUN:
        return command
    return f"{command} --kernel {shlex.quote(explanation.subject)}"


def explained_text(found: Sequence[Explained], *, width: int, ascii_only: bool) -> str:
    """Return the explanations for a terminal ``width`` columns wide (0: 80), without colours."""
    from advisor.reports.write.explained import explanation_text
    from advisor.reports.write.paper import Paper

    paper = Paper(width=width, colour=False, ascii_only=ascii_only)
    for each in found:
        explanation_text(
            paper,
            each.explanation,
            name=each.name,
            instructions=each.instructions,
            collect=each.collect,
            decided_by=each.decided_by,
        )
    return paper.text()


def explained_json(found: Sequence[Explained]) -> str:
    """Return the explanations as JSON; values are in SI units."""
    record = {"schema_version": 1, "explanations": [_record(each) for each in found]}
    return json_text(record, indent=2)


def _record(found: Explained) -> dict[str, Any]:
    explanation = found.explanation
    parts = ("applies_to", "when", "gain")
    return {
        "rule": explanation.rule.id,
        "run": found.run_id,
        "subject": explanation.subject,
        "name": found.name,
        "outcome": explanation.outcome.value,
        "because": explanation.because,
        **{name: _plain(getattr(explanation, name)) for name in parts},
        "share": _plain(explanation.share),
        "unless": [_plain(guard) for guard in explanation.unless],
        "confidence": explanation.confidence,
        "confidence_because": explanation.confidence_because,
        "missing": explanation.missing,
        "instructions": _plain(found.instructions),
        "collect": {
            "sections": found.asked.sections,
            "metrics": found.asked.metrics,
            "next_command": found.collect,
        },
    }


def _plain(record: Any) -> dict[str, Any] | None:
    return None if record is None else asdict(record)
