"""A report, and perhaps a gate, as what other programs read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from advisor.commands import program
from advisor.database.ids import key_id
from advisor.records import dataclass
from advisor.reports.record.checkout import Checkout
from advisor.reports.record.format_settings import FormatSettings
from advisor.reports.record.gate import Gate
from advisor.reports.record.kernel_records import KernelRecord, RuleResult
from advisor.reports.record.published import (
    Published,
    PublishedAction,
    PublishedFinding,
    PublishedKernel,
    RuleText,
    SeriesOfVariant,
    SourcePlace,
)
from advisor.reports.record.published_moves import moves_of_comparison, moves_of_history
from advisor.reports.record.published_verdicts import Did, did_by_gate, did_by_night, unknown
from advisor.reports.record.records import Recommendation, Report


@dataclass(frozen=True, kw_only=True)
class PublishContext:
    """What else is known: series by variant, texts of rules, files, and what is settled."""

    series: Mapping[str, SeriesOfVariant]
    rules: Mapping[str, RuleText]
    checkout: Checkout
    settings: FormatSettings


def publish(report: Report, context: PublishContext, gate: Gate | None = None) -> Published:
    """Return what every format is written from; with a gate, what moved is what it read."""
    first = next(iter(context.series.values()), None)
    comparison = None if gate is None else gate.comparison
    advisor = program(report.provenance.database)
    if comparison is None:
        moved = moves_of_history(report, context.settings, context.checkout)
    else:
        moved = moves_of_comparison(comparison, advisor, context.settings, context.checkout)
    did = did_by_night(report) if gate is None else did_by_gate(gate)
    otherwise = Did() if gate is not None else unknown(report)
    return Published(
        run_id=report.run.run_id,
        title=report.run.title,
        ran=report.run.ran,
        device=report.device,
        configuration="default" if first is None else first.configuration,
        simulated=report.run.simulated,
        sentence=report.verdict.sentence,
        paragraph=report.verdict.paragraph,
        moved_sentence=_over_time(report) if comparison is None else "",
        duration=report.duration,
        kernels=tuple(
            _kernel(kernel, did.get(kernel.id, otherwise), context) for kernel in report.kernels
        ),
        actions=tuple(_action(action) for action in report.actions if not action.about_measurement),
        findings=tuple(_findings(report, context)),
        moved=tuple(moved),
        rules=context.rules,
        report_command=report.provenance.report_command,
        gate=gate,
    )


def _action(action: Recommendation) -> PublishedAction:
    return PublishedAction(
        title=action.title,
        kernels=tuple(kernel.full_name for kernel in action.kernels),
        gain=action.gain,
        share=action.share,
        step=action.steps[0] if action.steps else action.evidence,
    )


def _over_time(report: Report) -> str:
    return report.first_night if report.history is None else report.history.sentence


def _series(variant_id: str, context: PublishContext) -> SeriesOfVariant:
    unknown = SeriesOfVariant(series_id=variant_id, device="unknown", configuration="default")
    return context.series.get(variant_id, unknown)


def _kernel(kernel: KernelRecord, did: Did, context: PublishContext) -> PublishedKernel:
    series = _series(kernel.id, context)
    return PublishedKernel(
        variant_id=kernel.id,
        series_id=series.series_id,
        device=series.device,
        configuration=series.configuration,
        kernel=kernel.full_name,
        short_name=kernel.short_name,
        name=kernel.name,
        launch_shape=kernel.launch_shape,
        launches=kernel.launch_count,
        duration=kernel.duration,
        t_sol=kernel.t_sol,
        wasted_time=kernel.wasted_time,
        roof_fraction=kernel.roof_fraction,
        limiter=kernel.limiter,
        verdict=did.verdict,
        relative=did.relative,
        failures=did.failures,
        undecided=did.undecided,
        remarks=did.remarks,
    )


@dataclass(frozen=True, kw_only=True)
class _Found:
    """A finding of one kernel."""

    kernel: KernelRecord
    result: RuleResult

    @property
    def weight(self) -> float:
        found = self.result.gain or self.result.share
        return 0.0 if found is None else found.likely


def _findings(report: Report, context: PublishContext) -> Iterator[PublishedFinding]:
    """Yield findings, the worst first; then those of the run, then what is suppressed."""
    steps = {action.rule_id: action.steps[0] for action in report.actions if action.steps}
    groups: dict[tuple[str, str], list[_Found]] = defaultdict(list)
    for kernel in report.kernels:
        for result in kernel.results:
            if result.outcome == "fires":
                series = _series(kernel.id, context).series_id
                groups[result.rule_id, series].append(_Found(kernel=kernel, result=result))
    order = list(context.settings.severities["sarif"])
    ranked = sorted(
        groups.items(),
        key=lambda group: (
            order.index(group[1][0].result.severity),
            -sum(each.weight for each in group[1]),
            group[0],
        ),
    )
    for (rule_id, series_id), found in ranked:
        yield _finding(rule_id, series_id, found, steps.get(rule_id, ""), context)
    yield from _of_run(report, context)
    yield from _suppressed(report, context)


def _finding(
    rule_id: str, series_id: str, found: list[_Found], step: str, context: PublishContext
) -> PublishedFinding:
    ordered = sorted(found, key=lambda each: (-each.weight, each.kernel.id))
    worst = ordered[0]
    return PublishedFinding(
        rule_id=rule_id,
        fingerprint=key_id("finding", series_id, rule_id),
        series_id=series_id,
        kernels=tuple(each.kernel.full_name for each in ordered),
        title=worst.result.title,
        severity=worst.result.severity,
        evidence=worst.result.text,
        step=step,
        gain=worst.result.gain,
        share=worst.result.share,
        place=_place(worst.result, context.checkout),
    )


def _place(result: RuleResult, checkout: Checkout) -> SourcePlace:
    worst = () if result.instructions is None else result.instructions.worst
    return checkout.place(next((each.line for each in worst if each.line), None))


def _of_run(report: Report, context: PublishContext) -> Iterator[PublishedFinding]:
    first = next(iter(context.series.values()), None)
    whole = ("", "") if first is None else (first.configuration, first.device)
    for finding in report.findings:
        yield PublishedFinding(
            rule_id=finding.rule_id,
            fingerprint=key_id("finding", *whole, finding.rule_id),
            series_id=None,
            kernels=(),
            title=finding.title,
            severity=finding.severity,
            evidence=finding.evidence,
            step=finding.step,
            gain=finding.gain,
            place=context.checkout.place(None),
        )


def _suppressed(report: Report, context: PublishContext) -> Iterator[PublishedFinding]:
    if report.suppressed is None:
        return
    seen = set()
    for finding in report.suppressed.findings:
        series_id = _series(finding.kernel_id, context).series_id
        if (series_id, finding.rule_id) in seen:
            continue
        seen.add((series_id, finding.rule_id))
        rule = context.rules.get(finding.rule_id)
        yield PublishedFinding(
            rule_id=finding.rule_id,
            fingerprint=key_id("finding", series_id, finding.rule_id),
            series_id=series_id,
            kernels=(finding.kernel,),
            title=finding.title,
            severity="note" if rule is None else rule.severity,
            evidence=finding.title,
            step="",
            gain=None,
            place=context.checkout.place(None),
            suppressed=finding.reason,
        )
