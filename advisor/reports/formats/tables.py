"""Three tables of a run: kernels, findings, and what moved; times in s, shares in [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from advisor.escaping import csv_lines, utc_text
from advisor.records import dataclass
from advisor.reports.record.kernel_records import Gain
from advisor.reports.record.published import Published, PublishedFinding, PublishedMove

KINDS: Mapping[str, Mapping[str, type]] = {
    "kernels": {
        "run_id": str, "series_id": str, "variant_id": str, "kernel": str, "kernel_name": str,
        "launch_shape": str, "device": str, "configuration": str, "launches": int,
        "duration": float, "t_sol": float, "wasted_time": float, "roof_fraction": float,
        "limiter": str, "verdict": str, "relative": float,
    },
    "findings": {
        "run_id": str, "series_id": str, "rule_id": str, "fingerprint": str, "kernel": str,
        "launch_shapes": int, "severity": str, "title": str, "evidence": str, "step": str,
        "gain_low": float, "gain_likely": float, "gain_high": float, "file": str, "line": int,
        "suppressed": str, "share_low": float, "share_likely": float, "share_high": float,
    },
    "moved": {
        "run_id": str, "series_id": str, "fingerprint": str, "kernel": str, "verdict": str,
        "state": str, "first_run_id": str, "time": str, "commit": str, "note": str,
        "base": float, "head": float, "relative": float, "p_value": float, "lost": float,
        "cause": str, "accepted": str,
    },
}  # fmt: skip
"""The columns of each table and what they hold."""

Row = Sequence[object]


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """Rows under the columns of one of ``KINDS``; ``None`` is unknown."""

    name: str
    rows: Sequence[Row]

    @property
    def kinds(self) -> Mapping[str, type]:
        """Return the columns and what they hold."""
        return KINDS[self.name]

    @property
    def csv(self) -> str:
        """Return the table as CSV."""
        return "".join(csv_lines(list(self.kinds), self.rows))


def tables(published: Published) -> tuple[PublishedTable, ...]:
    """Return the tables of a run, each in the order of the report."""
    run = published.run_id
    return (
        PublishedTable(name="kernels", rows=_kernels(published)),
        PublishedTable(name="findings", rows=[_finding(run, each) for each in published.findings]),
        PublishedTable(name="moved", rows=[_move(run, each) for each in published.moved]),
    )


def _kernels(published: Published) -> list[Row]:
    return [
        (
            published.run_id,
            each.series_id,
            each.variant_id,
            each.kernel,
            each.name,
            each.launch_shape,
            each.device,
            each.configuration,
            each.launches,
            each.duration,
            each.t_sol,
            each.wasted_time,
            each.roof_fraction,
            each.limiter,
            each.verdict,
            each.relative,
        )
        for each in published.kernels
    ]


def _finding(run: str, each: PublishedFinding) -> Row:
    return (
        run,
        each.series_id,
        each.rule_id,
        each.fingerprint,
        each.kernels[0] if each.kernels else None,
        len(each.kernels),
        each.severity,
        each.title,
        each.evidence,
        each.step,
        *_bounds(each.gain),
        each.place.path,
        each.place.line,
        each.suppressed,
        *_bounds(each.share),
    )


def _bounds(gain: Gain | None) -> Row:
    return (None,) * 3 if gain is None else (gain.low, gain.likely, gain.high)


def _move(run: str, each: PublishedMove) -> Row:
    return (
        run,
        each.series_id,
        each.fingerprint,
        each.kernel,
        each.verdict,
        each.state,
        each.run_id,
        utc_text(each.time),
        each.commit,
        each.note,
        each.base,
        each.head,
        each.relative,
        each.p_value,
        each.lost,
        each.cause,
        each.accepted,
    )
