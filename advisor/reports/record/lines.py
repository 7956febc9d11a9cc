"""The lines of source that cost most over all kernels, and which advice says so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from advisor import wording
from advisor.records import dataclass
from advisor.reports.record.instructions import Instruction, Ranking
from advisor.reports.record.kernel_records import KernelRecord, RuleResult

MOST_LINES = 10
_EDITOR = "vscode://file"


@dataclass(frozen=True, kw_only=True)
class LineReason:
    """What is wrong at a line: the advice, and the line's part of what it is about."""

    rule_id: str
    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class CostlyLine:
    """A line of source, or an instruction where the profile knows no lines.

    ``saving`` is the likely gain of the advice that saves most there, by the line's share [s].
    ``editor`` opens the line in an editor; empty where the profile has no whole path.
    """

    place: str
    editor: str
    kernels: tuple[KernelRecord, ...]
    saving: float
    reasons: tuple[LineReason, ...]


@dataclass(frozen=True, kw_only=True)
class _Cost:
    """What one finding of one kernel says about one place."""

    place: str
    line: str | None
    kernel: KernelRecord
    result: RuleResult
    ranking: Ranking
    share: float

    @property
    def saving(self) -> float:
        return self.result.gain.likely * self.share if self.result.gain else 0.0


def costly_lines(kernels: Sequence[KernelRecord]) -> tuple[CostlyLine, ...]:
    """Return the lines that cost most, at most ten, the most time first."""
    by_place: dict[tuple[str, str], list[_Cost]] = defaultdict(list)
    for cost in _costs(kernels):
        own = "" if cost.line else cost.kernel.id  # an offset says nothing outside of its kernel
        by_place[own, cost.place].append(cost)
    lines = (_line(each) for each in by_place.values())
    ranked = sorted((each for each in lines if each.saving > 0), key=lambda each: -each.saving)
    return tuple(ranked[:MOST_LINES])


def _costs(kernels: Sequence[KernelRecord]) -> Iterator[_Cost]:
    for kernel in kernels:
        for result in kernel.results:
            if result.outcome == "fires" and result.instructions and result.gain:
                yield from _of_finding(kernel, result, result.instructions)


def _of_finding(kernel: KernelRecord, result: RuleResult, ranking: Ranking) -> Iterator[_Cost]:
    """Yield each line of a finding once, with the shares of its instructions."""
    shares: dict[str, float] = defaultdict(float)
    lines: dict[str, Instruction] = {}
    for each in ranking.worst:
        place = each.line or each.where
        shares[place] += each.share
        lines.setdefault(place, each)
    for place, share in shares.items():
        yield _Cost(
            place=place,
            line=lines[place].line,
            kernel=kernel,
            result=result,
            ranking=ranking,
            share=share,
        )


def _line(cost: Sequence[_Cost]) -> CostlyLine:
    """Return a place: over kernels savings add up, in one kernel the largest counts."""
    kernels = {each.kernel.id: each.kernel for each in cost}
    most = {key: max(each.saving for each in cost if each.kernel.id == key) for key in kernels}
    reasons = {
        each.result.rule_id: LineReason(
            rule_id=each.result.rule_id, title=each.result.title, text=_text(each)
        )
        for each in sorted(cost, key=lambda each: each.saving)
    }
    return CostlyLine(
        place=cost[0].place,
        editor=_editor(cost[0].line),
        kernels=tuple(kernels.values()),
        saving=sum(most.values()),
        reasons=tuple(reversed(reasons.values())),
    )


def _text(cost: _Cost) -> str:
    ranking = cost.ranking
    excess = "" if ranking.excess == ranking.value else " in excess"
    return (
        f"{wording.percent(cost.share)} of {wording.amount(ranking.excess)} {ranking.unit}{excess}"
    )


def _editor(line: str | None) -> str:
    """Return the address by which editors open a line of a file whose whole path is known."""
    return _EDITOR + quote(line, safe="/:") if line and line.startswith("/") else ""
