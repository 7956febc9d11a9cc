"""How each kernel of a run did: by its nights, or by what a gate looked at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from advisor.records import dataclass
from advisor.reports.record.gate import BUDGET, REGRESSION, Gate, Looked
from advisor.reports.record.over_time import ACCEPTED, MENDED, KernelNights, MovedSeries
from advisor.reports.record.records import Report
from advisor.tracking.records import Verdict

_UNDECIDED = {
    Verdict.INCONCLUSIVE: "inconclusive: the newest result stands alone, which proves nothing",
    Verdict.INSUFFICIENT: "insufficient: too few results to tell",
}


@dataclass(frozen=True, kw_only=True)
class Did:
    """How a kernel did: see ``PublishedKernel``."""

    verdict: str | None = None
    relative: float | None = None
    failures: tuple[str, ...] = ()
    undecided: str = ""
    remarks: tuple[str, ...] = ()


def unknown(report: Report) -> Did:
    """Return the remark on a kernel without history."""
    why = report.first_night if report.history is None else "no earlier result of this kernel"
    return Did(verdict=str(Verdict.INSUFFICIENT), undecided=f"insufficient: {why}")


def did_by_night(report: Report) -> dict[str, Did]:
    """Return how kernels did, by variant: what became slower and was not accepted is a failure."""
    if report.history is None:
        return {}
    moved: dict[str, list[MovedSeries]] = defaultdict(list)
    for row in report.history.moved:
        if row.variant_id is not None and row.state not in (ACCEPTED, MENDED):
            moved[row.variant_id].append(row)
    return {
        variant: _tracked(known, moved[variant])
        for variant, known in report.history.kernels.items()
    }


def _tracked(known: KernelNights, moved: Sequence[MovedSeries]) -> Did:
    is_open = known.verdict == Verdict.REGRESSED and known.state != ACCEPTED
    cause = next((row.cause for row in moved if row.cause and row.verdict == known.verdict), None)
    return Did(
        verdict=str(known.verdict),
        relative=known.relative,
        failures=(f"{known.verdict}: {cause or 'it takes longer than before'}",) * is_open,
        undecided=_UNDECIDED.get(Verdict(known.verdict), ""),
    )


def did_by_gate(gate: Gate) -> dict[str, Did]:
    """Return how kernels did, by variant: regressions and budgets fail, findings never fail."""
    looked: dict[str, list[Looked]] = defaultdict(list)
    for each in gate.looked:
        if each.variant_id is not None:
            looked[each.variant_id].append(each)
    rows = [] if gate.comparison is None else gate.comparison.rows
    compared = {row.head.variant_id: row for row in rows if row.head is not None}
    return {
        variant: Did(
            verdict=str(compared[variant].verdict) if variant in compared else None,
            relative=compared[variant].relative if variant in compared else None,
            failures=tuple(_line(each) for each in looked[variant] if _fails(each)),
            undecided="; ".join(_line(e) for e in looked[variant] if e.tripped is None),
            remarks=tuple(_line(e) for e in looked[variant] if e.tripped and not _fails(e)),
        )
        for variant in {**compared, **looked}
    }


def _fails(each: Looked) -> bool:
    return bool(each.tripped) and each.kind in (REGRESSION, BUDGET)


def _line(each: Looked) -> str:
    return f"{each.kind}: {each.text} ({each.command})"
