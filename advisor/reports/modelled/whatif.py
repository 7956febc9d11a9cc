"""Answers of what-if on a terminal, for programs, and as rows of CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from advisor import escaping, wording
from advisor.reports.modelled.ceilings import ceiling_label
from advisor.reports.write.paper import Paper

if TYPE_CHECKING:
    from advisor.modelling.prospects import Gap, Outlook, Prospect, Sum, WhatIf

_KERNEL = (
    "name", "launches", "measured", "low", "likely", "high", "binding_resource", "caveats",
    "reason",
)  # fmt: skip
_RANKED_BY = "First the devices on which most of the time can be predicted, then by likely time."
_GAP = ("operation", "least", "gap", "avoidable_traffic", "avoidable_work", "efficiency")
_TOTAL = ("measured", "measured_covered", "low", "likely", "high", "covered")
_RANKING = (-4, -10, -22, -8, -12, 0)  # the last one wraps: what tells devices apart stays
_NARROW = (0, 1, 4, 5)  # the columns of the ranking that a narrow terminal keeps
_NAME = 24  # columns that the names of devices take at least
_WIDE = sum(map(abs, _RANKING)) + 2 * (len(_RANKING) - 1) + _NAME
_KERNELS = (31, -8, -10, -10, -22, 13)
_NARROW_KERNELS = {0: 20, 2: -8, 3: -8, 4: -18}  # likewise, with their widths
_GAPS = (28, 16, -10, -10, -8, -9, -8, -11)
_NARROW_GAPS = {0: 20, 4: -6, 5: -7, 6: -6, 7: -10}
_MOST = 3  # scenarios of many whose kernels are shown
_ALL_OF_IT = (
    "All that the advice changes counts as done, and kernels keep their share of the roof."
    " A report estimates likely gains otherwise, and mostly lower."
)


def json_text(found: WhatIf) -> str:
    """Return the answer as JSON; what is not known is null."""
    content = {
        "run": found.run_id,
        "measured_on": found.measured_on,
        "simulated": found.simulated,
        "scenarios": [_scenario(each) for each in found.scenarios],
    }
    return escaping.json_text(content, indent=2) + "\n"


def _scenario(found: Outlook) -> dict[str, Any]:
    record: dict[str, Any] = {"name": found.name, "device": found.device}
    if found.rank is not None:
        record["rank"] = found.rank
    if found.rules:
        record["rules"] = list(found.rules)
    if found.adds is not None:
        record["adds"] = found.adds
    record["kernels"] = [_kernel(each) for each in found.kernels]
    record["total"] = _total(found.total)
    return record


def _kernel(found: Prospect) -> dict[str, Any]:
    record = {key: getattr(found.predicted, key) for key in _KERNEL}
    return record if found.gap is None else {**record, **asdict(found.gap)}


def _total(found: Sum) -> dict[str, float | None]:
    return {**{key: getattr(found, key) for key in _TOTAL}, "speedup": found.speedup}


def table_rows(found: WhatIf) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Return columns and a row per scenario and kernel."""
    has_gaps = any(each.gap is not None for s in found.scenarios for each in s.kernels)
    gaps = _GAP if has_gaps else ()
    return ("scenario", "device", "rank", *_KERNEL, *gaps), _rows(found, gaps)


def _rows(found: WhatIf, gaps: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
    for scenario in found.scenarios:
        for each in scenario.kernels:
            caveats = "; ".join(each.predicted.caveats)
            cells = (
                caveats if key == "caveats" else getattr(each.predicted, key) for key in _KERNEL
            )
            more = (getattr(each.gap, key, None) for key in gaps)
            yield (scenario.name, scenario.device, scenario.rank, *cells, *more)


def text(found: WhatIf, *, width: int = 0, ascii_only: bool = False) -> str:
    """Return the answer for a terminal ``width`` columns wide (0: 100)."""
    paper = Paper(width=max(width or 100, 60), ascii_only=ascii_only)
    paper.write(headline(found))
    ranked = len(found.scenarios) > 1 and found.scenarios[0].rank is not None
    if ranked:
        _ranking(paper, found)
    for scenario in found.scenarios if not ranked else found.scenarios[:_MOST]:
        _kernels(paper, scenario)
    if ranked and found.scenarios[_MOST:]:
        paper.blank()
        paper.write(f"Kernels of the first {_MOST} only; --format json has all.")
    return paper.text()


def headline(found: WhatIf) -> str:
    """Return what was measured, and that nothing else was."""
    total = found.scenarios[0].total
    simulated = ", simulated" if found.simulated else ""
    return (
        f"Run {found.run_id} took {wording.seconds(total.measured)} in kernels on"
        f" {found.measured_on}{simulated}. All other times are predictions."
    )


def summary(outlook: Outlook) -> str:
    """Return what becomes of the run, as a sentence."""
    total = outlook.total
    if total.likely is None:
        return "Nothing can be predicted; the reasons stand beside the kernels."
    sentence = (
        f"Likely {wording.seconds(total.likely)} ({span(total)}) instead of"
        f" {wording.seconds(total.measured_covered)}, {faster(total.speedup)}."
    )
    if total.covered < 1:
        verb = "changes" if outlook.rules or outlook.adds is not None else "is covered"
        part = f"{wording.share(total.covered)} of the run's kernel time"
        sentence += f" It {verb} {part}." if verb == "changes" else f" {part} {verb}."
    if outlook.adds is not None:
        saved = wording.seconds(max(outlook.adds, 0.0))
        sentence += f" Beside all other advice, {' and '.join(outlook.rules)} saves {saved}."
    return sentence


def span(of: Sum) -> str:
    """Return the range of a total."""
    return f"{wording.seconds(of.low)} to {wording.seconds(of.high)}"


def faster(speedup: float | None) -> str:
    """Return how much faster, in words.

    >>> faster(0.5)
    '2.00× slower'
    """
    if speedup is None:
        return "unknown"
    if speedup >= 1:
        return f"{wording.ratio(speedup)} faster" if speedup > 1 else "as fast"
    return f"{wording.ratio(1 / speedup)} slower"


def _ranking(paper: Paper, found: WhatIf) -> None:
    paper.blank()
    paper.write(_RANKED_BY)
    paper.blank()
    head = ("rank", "likely", "range", "covered", "compared", "device")
    lines = [head, *map(_ranked, found.scenarios)]
    shown = range(len(head)) if paper.width >= _WIDE else _NARROW
    paper.table([[cells[i] for i in shown] for cells in lines], [_RANKING[i] for i in shown])


def _ranked(each: Outlook) -> tuple[str, ...]:
    total = each.total
    known = total.likely is not None
    return (
        str(each.rank),
        wording.seconds(total.likely) if known else "unknown",
        span(total) if known else "",
        wording.share(total.covered),
        faster(total.speedup) if known else "",
        each.device_name,
    )


def _kernels(paper: Paper, outlook: Outlook) -> None:
    paper.heading(outlook.name)
    paper.write(summary(outlook))
    paper.blank()
    if any(each.gap is not None for each in outlook.kernels):
        _gaps(paper, outlook)
    else:
        head = ("kernel", "launches", "measured", "likely", "range", "bound by")
        _fitting(paper, [head, *map(_cells, outlook.kernels)], _KERNELS, _NARROW_KERNELS)
    for line in notes(outlook):
        paper.write(line)


def _fitting(
    paper: Paper,
    rows: Sequence[Sequence[str]],
    widths: Sequence[int],
    narrow: Mapping[int, int],
) -> None:
    """Write a table, or its ``narrow`` columns without room for two thirds of its texts."""
    texts = sum(width for width in widths if width > 0)
    numbers = sum(map(abs, widths)) - texts + 2 * (len(widths) - 1)
    if 3 * (paper.width - numbers) < 2 * texts:
        rows, widths = [[row[i] for i in narrow] for row in rows], [*narrow.values()]
    paper.table(rows, widths)


def _cells(found: Prospect) -> tuple[str, ...]:
    each = found.predicted
    if each.likely is None:
        unknown = ("unknown", "", "")
        return (each.name, f"{each.launches:g}", wording.seconds(each.measured), *unknown)
    return (
        each.name,
        f"{each.launches:g}",
        wording.seconds(each.measured),
        wording.seconds(each.likely),
        f"{wording.seconds(each.low)} to {wording.seconds(each.high)}",
        bound_by(each.binding_resource),
    )


def bound_by(resource: str | None) -> str:
    """Return what binds, as people call it."""
    return "" if resource is None else ceiling_label(resource)


def _gaps(paper: Paper, outlook: Outlook) -> None:
    head = ("kernel", "operation", "measured", "least", "gap", "traffic", "work", "efficiency")
    lines = [
        (
            each.predicted.name,
            gap.operation,
            wording.seconds(each.predicted.measured),
            wording.seconds(gap.least),
            *(wording.ratio(factor) for factor in factors(gap)),
        )
        for each in outlook.kernels
        if (gap := each.gap) is not None
    ]
    _fitting(paper, [head, *lines], _GAPS, _NARROW_GAPS)
    paper.write("gap = avoidable traffic × avoidable work × efficiency")


def factors(gap: Gap) -> tuple[float | None, ...]:
    """Return the gap and its three factors."""
    return gap.gap, gap.avoidable_traffic, gap.avoidable_work, gap.efficiency


def notes(outlook: Outlook) -> Iterator[str]:
    """Yield the notes about kernels: reasons and caveats, each once, with the kernels it is of."""
    if outlook.rules and outlook.kernels:
        yield _ALL_OF_IT
    remarks: dict[str, list[str]] = {}
    for each in outlook.kernels:
        predicted = each.predicted
        if predicted.reason is not None:
            remarks.setdefault(f"No prediction: {predicted.reason}", []).append(predicted.name)
        for caveat in predicted.caveats:
            remarks.setdefault(f"Caveat: {caveat}", []).append(predicted.name)
    for line, names in remarks.items():
        if len(names) == len(outlook.kernels):
            yield f"{line}."
        else:
            more = f" and {len(names) - 2} more" if len(names) > 2 else ""
            yield f"{line}: {', '.join(names[:2])}{more}."
