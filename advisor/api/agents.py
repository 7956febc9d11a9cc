"""What agents may ask: each answer is a few plain values, and the call that comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.api.agent_limits import Answer, bounded
from advisor.configuration import Configuration
from advisor.errors import InputError, UsageError

if TYPE_CHECKING:
    from advisor.reports.record.kernel_records import Gain, KernelRecord
    from advisor.reports.record.records import Recommendation, Report

_MOST_ROWS = 100
_QUERY_SECONDS = 20.0


class Answers:
    """A database that is asked; ``ingest_below`` is where profiles may be taken from, if at all."""

    def __init__(
        self,
        database: str,
        *,
        wait: float,
        configuration: Configuration,
        ingest_below: Path | None = None,
    ) -> None:
        self._database = database
        self._wait = wait
        self._configuration = configuration
        self._ingest_below = None if ingest_below is None else ingest_below.resolve()

    def report(self, run: str = "latest") -> Answer:
        """Return what limits a run, what to do first, and what moved until then."""
        report = self._report(run)
        first = report.actions[0] if report.actions else None
        history = report.history
        answer = {
            **_about(report),
            "verdict": report.verdict.sentence,
            "paragraph": report.verdict.paragraph,
            "over_nights": report.first_night if history is None else history.sentence,
            "duration_s": report.duration,
            "wasted_s": report.wasted_time,
            "actions": [_action(action) for action in report.actions],
            "moved": []
            if history is None
            else [
                {"kernel": row.kernel, "verdict": row.verdict, "state": row.state,
                 "relative": row.relative, "cause": row.cause, "commit": row.commit}
                for row in history.moved
            ],
            "not_evaluated": None if report.collect is None else report.collect.rule_count,
        }  # fmt: skip
        if first is not None and first.kernels:
            arguments = {"rule": first.rule_id, "kernel": first.kernels[0].id}
            return bounded(answer, _next("explain", {**arguments, "run": report.run.run_id}))
        needs = report.collect is not None and report.collect.command is not None
        following = _next("collect", {"run": report.run.run_id}) if needs else None
        return bounded(answer, following)

    def show(self, kernel: str, run: str = "latest") -> Answer:
        """Return one kernel: its facts and findings, and which others the name may mean."""
        report = self._report(run, kernel)
        shown = report.kernels[0]
        found = [result for result in shown.results if result.outcome == "fires"]
        rules = [action.rule_id for action in report.actions if action.kernels[0].id == shown.id]
        rules += [result.rule_id for result in found]
        answer = {
            **_about(report),
            **_kernel(shown),
            "findings": [
                {"rule": each.rule_id, "title": each.title, "severity": each.severity,
                 "evidence": each.text, "gain_s": _gain(each.gain),
                 "gain_share": _gain(each.share)}
                for each in found
            ],
            "facts": [
                {"name": fact.name, "label": fact.label, "value": fact.value,
                 "unit": "1" if fact.unit == "share" else fact.unit}
                for group in shown.facts
                for fact in group.facts
            ],
            "others": [{"id": each.id, "name": each.full_name} for each in report.kernels[1:]],
        }  # fmt: skip
        arguments = {"kernel": shown.id, "run": report.run.run_id}
        following = _next("explain", {"rule": rules[0], **arguments}) if rules else None
        return bounded(answer, following)

    def explain(self, rule: str, kernel: str | None = None, run: str = "latest") -> Answer:
        """Return what a rule says about a kernel and why; where it advises, what to do."""
        from advisor.api.explaining import explain_rule

        found = explain_rule(
            self._database,
            rule,
            kernel,
            run=run,
            wait=self._wait,
            configuration=self._configuration,
        )
        report = self._report(run, kernel)
        first = found[0].explanation
        actions = [action for action in report.actions if action.rule_id == first.rule.id]
        answer = {
            **_about(report),
            "rule": first.rule.id,
            "kernel": found[0].name,
            "outcome": first.outcome.value,
            "because": first.because,
            "missing": list(first.missing),
            "action": _advice(actions[0]) if actions else None,
            "when": asdict(first.when),
            "kernels": len(found),
        }
        return bounded(answer, None)

    def compare(self, base: str, head: str = "latest") -> Answer:
        """Return what moved from one run to another, and why."""
        from advisor.api.comparison import compare
        from advisor.reports.write.comparison import headline, worst_first
        from advisor.tracking.records import Verdict

        found = compare(
            self._database, base, head, wait=self._wait, configuration=self._configuration
        )
        rows = [row for row in worst_first(found.rows) if row.verdict is not Verdict.UNCHANGED]
        answer = {
            "base": found.base.run_id,
            "head": found.head.run_id,
            "sentences": list(headline(found)),
            "moved": [
                {"kernel": row.kernel, "verdict": str(row.verdict), "relative": row.relative,
                 "lost_s": row.lost, "cause": row.cause}
                for row in rows
            ],
            "unchanged": len(found.rows) - len(rows),
        }  # fmt: skip
        return bounded(answer, _next("report", {"run": found.head.run_id}))

    def collect(self, run: str = "latest") -> Answer:
        """Return the profiler command that fills most of the gaps in a run."""
        from advisor.api.collecting import to_collect

        found = to_collect(
            self._database,
            run,
            kernel=None,
            wait=self._wait,
            configuration=self._configuration,
        )
        collection = found.collection
        answer = {
            "run": found.run_id,
            "command": None if collection is None else collection.command,
            "printed_note": found.printed_note or None,
            "kernels": list(found.kernels),
            "settles": [
                {"rule": each.rule_id, "title": each.title, "kernels": each.kernels}
                for each in found.settles
            ],
            "not_knowable": len(found.not_knowable),
        }
        return bounded(answer, None)

    def query(self, sql: str) -> Answer:
        """Return the first rows of one SELECT over the views of the database, read-only."""
        from itertools import islice

        from advisor.api.querying import run_query

        with run_query(
            self._database,
            sql,
            wait=self._wait,
            configuration=self._configuration,
            timeout=_QUERY_SECONDS,
        ) as found:
            rows = [list(row) for row in islice(found.rows, _MOST_ROWS + 1)]
        answer = {
            "columns": list(found.columns),
            "rows": rows[:_MOST_ROWS],
            "has_more": len(rows) > _MOST_ROWS,
        }
        return bounded(answer, None)

    def ingest(self, path: str) -> Answer:
        """Store a profile, or the profiles of a folder, below the allowed directory.

        Raises:
            UsageError: nothing may be ingested, or the path leads out of that directory.
        """
        from advisor.ingest.profiles import RunLabels, ingest_paths

        results = list(
            ingest_paths(
                self._database,
                [str(self._allowed(path))],
                labels=RunLabels(),
                wait=self._wait,
                configuration=self._configuration,
            )
        )
        answer = {
            "results": [
                {"name": Path(each.name).name, "status": each.status, "run": each.run_id,
                 "launches": each.launches,
                 "error": None if each.error is None else each.error.problem}
                for each in results
            ]
        }  # fmt: skip
        stored = next((each.run_id for each in results if each.run_id is not None), None)
        return bounded(answer, None if stored is None else _next("report", {"run": stored}))

    def rule(self, rule_id: str) -> str:
        """Return a rule as a page, as ``advisor rules show`` does.

        Raises:
            UsageError: there is no such rule.
        """
        from advisor.api.rule_listing import show_rule

        return show_rule(rule_id, self._configuration)

    def _allowed(self, path: str) -> Path:
        """Return the path with its links resolved."""
        if self._ingest_below is None:
            raise UsageError("nothing may be ingested", hint="start with --allow-ingest DIR")
        try:
            found = (self._ingest_below / path).resolve(strict=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError("there is no such file below the allowed directory") from error
        if not found.is_relative_to(self._ingest_below):
            raise UsageError("the path leads out of the allowed directory")
        return found

    def _report(self, run: str, kernel: str | None = None) -> Report:
        from advisor.api.reporting import HistoryAsked, load_report

        return load_report(
            self._database,
            run,
            kernel=kernel,
            history=HistoryAsked(since=None),
            wait=self._wait,
            configuration=self._configuration,
        )


def _next(tool: str, arguments: Mapping[str, str]) -> dict[str, Any]:
    return {"tool": tool, "arguments": dict(arguments)}


def _about(report: Report) -> dict[str, Any]:
    return {
        "run": report.run.run_id,
        "title": report.run.title,
        "device": report.device,
        "simulated": report.run.simulated,
    }


def _gain(gain: Gain | None) -> dict[str, float] | None:
    if gain is None:
        return None
    return {"low": gain.low, "likely": gain.likely, "high": gain.high}


def _action(action: Recommendation) -> dict[str, Any]:
    return {
        "number": action.number,
        "rule": action.rule_id,
        "title": action.title,
        "kernels": [{"id": each.id, "name": each.full_name} for each in action.shown_kernels],
        "gain_s": _gain(action.gain),
        "gain_share": _gain(action.share),
        "step": action.steps[0] if action.steps else action.evidence,
        "confidence": action.confidence,
    }


def _advice(action: Recommendation) -> dict[str, Any]:
    return {
        "title": action.title,
        "gain_s": _gain(action.gain),
        "gain_share": _gain(action.share),
        "evidence": action.evidence,
        "why": action.why,
        "steps": list(action.steps),
        "verify": list(action.verify),
        "caveats": list(action.caveats),
        "confidence": action.confidence,
        "references": list(action.references),
    }


def _kernel(kernel: KernelRecord) -> dict[str, Any]:
    return {
        "kernel_id": kernel.id,
        "kernel": kernel.full_name,
        "launch_shape": kernel.launch_shape,
        "launches": kernel.launch_count,
        "duration_s": kernel.duration,
        "time_share": kernel.time_share,
        "wasted_s": kernel.wasted_time,
        "roof_fraction": kernel.roof_fraction,
        "limiter": kernel.limiter,
        "note": kernel.limiter_note,
    }
