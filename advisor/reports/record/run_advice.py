"""What the rules say about a run, ours and the vendor's own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from advisor import wording
from advisor.commands import program
from advisor.configuration import in_force
from advisor.database.parts import findings_of_vendor
from advisor.model import UNNAMED
from advisor.profilers import Options
from advisor.profilers.command import profiled
from advisor.records import dataclass
from advisor.reports.record import advice
from advisor.reports.record.further import Further, further
from advisor.reports.record.instructions import of_findings
from advisor.reports.record.kernel_records import Gain, RuleResult, VendorFinding
from advisor.reports.record.records import (
    Collect,
    Recommendation,
    RunFinding,
    Suppressed,
    SuppressedFinding,
)
from advisor.reports.record.rows import Row, number, text, whole
from advisor.reports.record.source import ReportSource
from advisor.rules import collect, named_launches, rank
from advisor.rules.engine.collect import Asking, Collection, asking, missing_facts
from advisor.rules.engine.findings import Findings, Screened, findings_of_run, screen
from advisor.rules.engine.rank import believed
from advisor.rules.engine.reach import Reach
from advisor.rules.language.rule import Outcome
from advisor.rules.language.subjects import RUN

if TYPE_CHECKING:
    import duckdb

    from advisor.configuration import Suppression
    from advisor.rules import Evaluation

_NAMES = ("kernel_name", "short_name")
_REJUDGED = (
    "The stored findings come from other rules, facts or thresholds, so this report judges the run"
    " again; `{advisor} refresh {run_id}` stores the result."
)
_UNPROVEN = "Unproven: no real profiles have shown yet where this holds and where it does not."


@dataclass(frozen=True, kw_only=True)
class RunAdvice:
    """What the rules say about a run; ``results`` by variant, ``findings`` of the run as a whole.

    ``further`` is what no action speaks of, by variant; ``more_actions`` how much that is in all.
    ``rejudged`` says that stored findings were passed over, where they were.
    """

    actions: tuple[Recommendation, ...]
    more_actions: int
    further: Mapping[str, Further]
    results: Mapping[str, tuple[RuleResult, ...]]
    collect: Collect | None
    suppressed: Suppressed | None
    findings: tuple[RunFinding, ...]
    rejudged: str


def advice_of_run(source: ReportSource) -> RunAdvice:
    """Return what our rules say about a run and its kernels."""
    request, run_id = source.request, source.request.run_id
    reach = source.compiled.reach(text(source.run, "profiler"))
    judged = _judged(source, reach)
    screened = _screened(source, judged)
    evaluations = believed(screened.shown, request.records or {})
    ranked = rank(evaluations)
    views = source.compiled.of_kernels.settings.instruction_views
    worst = of_findings(source.connection, run_id, evaluations, views)
    actions = advice.cards(source, ranked, worst)
    version = text(source.run, "profiler_version")
    missing = missing_facts(evaluations)
    ask = asking(source.connection, run_id, reach, version, missing)
    collection = _collection(source, evaluations, ask)
    return RunAdvice(
        actions=actions,
        more_actions=len(ranked) - sum(len(action.kernels) for action in actions),
        further=further(source, ranked, actions),
        results=advice.results(source, evaluations, ranked, worst, ask),
        collect=advice.to_collect(evaluations, collection, reach, text(source.run, "format")),
        suppressed=suppressed(screened, source.variants),
        findings=run_findings(judged.evaluations, request.suppressions, request.today),
        rejudged=""
        if judged.are_stored
        else _REJUDGED.format(advisor=program(request.database), run_id=run_id),
    )


def _judged(source: ReportSource, reach: Reach | None) -> Findings:
    return findings_of_run(
        source.connection,
        source.compiled,
        source.request.run_id,
        judged_by=text(source.run, "rules_hash"),
        kernels=source.kernels,
        words=source.words,
        reach=reach,
    )


def _screened(source: ReportSource, judged: Findings) -> Screened:
    variants = source.variants
    return screen(
        [each for each in judged.evaluations if each.variant_id in variants],
        source.request.suppressions,
        kernel_names={variant: _names(row) for variant, row in variants.items()},
        today=source.request.today,
    )


def _names(row: Row) -> tuple[str, ...]:
    return tuple(name for key in _NAMES if (name := text(row, key)) is not None)


def _collection(
    source: ReportSource, evaluations: Sequence[Evaluation], ask: Asking | None
) -> Collection | None:
    launches = named_launches(source.connection, source.request.run_id)
    options = Options() if ask is None else ask.reach.profiler.options
    ran = profiled(text(source.run, "command_line"), text(source.run, "program"), options)
    return collect(evaluations, launches, source.compiled.of_kernels.settings.collect, ran, ask)


def run_findings(
    evaluations: Sequence[Evaluation], suppressions: Sequence[Suppression], today: date
) -> tuple[RunFinding, ...]:
    """Return the findings about a run, the most time first; what another covers comes last."""
    silenced = in_force(suppressions, today)
    found = [
        each for each in evaluations if each.rule.subject == RUN and each.outcome is Outcome.FIRES
    ]
    places = {action.evaluation.rule.id: action.position for action in rank(found)}
    last = len(found) + 1
    found.sort(key=lambda each: (places.get(each.rule.id, last), each.rule.id))
    return tuple(
        _finding(each)
        for each in found
        if not any(silence.covers(each.rule.id, ()) for silence in silenced)
    )


def _finding(evaluation: Evaluation) -> RunFinding:
    rule, gain = evaluation.rule, evaluation.gain
    return RunFinding(
        rule_id=rule.id,
        title=evaluation.words.fill(rule.title),
        severity=rule.severity.value,
        evidence=evaluation.evidence,
        step=evaluation.recommendation[0],
        gain=None if gain is None else Gain(low=gain.low, likely=gain.likely, high=gain.high),
        remark=_UNPROVEN if rule.is_unproven else "",
    )


def suppressed(screened: Screened, rows: Mapping[str, Row]) -> Suppressed | None:
    """Return what suppressions did to a run; None where they did nothing.

    ``rows`` are the kernels by variant.
    """
    if not screened.suppressed and not screened.returned:
        return None
    findings = tuple(
        SuppressedFinding(
            kernel_id=finding.variant_id,
            kernel=text(rows[finding.variant_id], "short_name") or UNNAMED,
            rule_id=finding.rule.id,
            title=finding.words.fill(finding.rule.title),
            reason=suppression.reason,
            owner=suppression.owner,
            expires=None if suppression.expires is None else suppression.expires.isoformat(),
        )
        for finding, suppression in screened.suppressed
    )
    expired = dict.fromkeys(
        f"The suppression of {suppression.rule} for {suppression.kernel} expired on "
        f"{suppression.expires} ({suppression.reason}; {suppression.at})."
        for _, suppression in screened.returned
    )
    return Suppressed(sentence=_sentence(findings), findings=findings, expired=tuple(expired))


def _sentence(findings: tuple[SuppressedFinding, ...]) -> str:
    if not findings:
        return ""
    days = Counter(finding.expires for finding in findings if finding.expires is not None)
    until = ", ".join(
        f"{count} expire{'s' if count == 1 else ''} {day}" for day, count in sorted(days.items())
    )
    return f"{wording.count(len(findings), 'finding')} suppressed" + (
        f" ({until})." if until else "."
    )


def vendor_findings(
    connection: duckdb.DuckDBPyConnection, run_id: str
) -> Mapping[str, tuple[VendorFinding, ...]]:
    """Return the vendor's findings by variant, the largest estimate first."""
    found: dict[str, list[VendorFinding]] = defaultdict(list)
    for row in findings_of_vendor(connection, run_id):
        found[str(row["variant_id"])].append(
            VendorFinding(
                rule=str(row["rule"]),
                section=text(row, "section") or "",
                title=text(row, "title") or "",
                text=text(row, "text") or "",
                severity=str(row["severity"]),
                estimate=number(row, "estimate"),
                scope=text(row, "scope") or "",
                launches=whole(row, "launches"),
            )
        )
    return {variant: tuple(findings) for variant, findings in found.items()}
