"""OpenMetrics text: gauges of kernels by series, without time stamps, for a textfile collector.

Source: OpenMetrics 1.0; Prometheus, node_exporter, "Textfile Collector".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from advisor.escaping import label_text
from advisor.records import dataclass
from advisor.reports.escaping import shorten
from advisor.reports.record.format_settings import FormatSettings
from advisor.reports.record.published import Published, PublishedKernel
from advisor.tracking.records import Verdict
from advisor.wording import known, one_line

OTHER = "(other)"
_GAUGES = (
    ("advisor_kernel_duration_seconds", "seconds", "Time of all launches of a kernel in the run."),
    ("advisor_kernel_roof_ratio", "ratio", "Least time over time, 1 is the roof."),
    ("advisor_kernel_wasted_seconds", "seconds", "Time above the least time."),
)


@dataclass(frozen=True, kw_only=True)
class _Sums:
    """What the launch shapes of a series come to; ``None`` is unknown."""

    labels: Mapping[str, str]
    values: Sequence[float | None]


def openmetrics(published: Published, settings: FormatSettings) -> str:
    """Return the metrics of the newest run; what is unknown has no sample."""
    sums = list(_sums(published, settings))
    lines = []
    for place, (name, unit, about) in enumerate(_GAUGES):
        lines += [f"# TYPE {name} gauge", f"# UNIT {name} {unit}", f"# HELP {name} {about}"]
        for each in sums:
            if known(value := each.values[place]):
                lines.append(f"{name}{_labels(each.labels, settings)} {value!r}")
    lines += _counts(published, settings)
    return "\n".join((*lines, "# EOF", ""))


def _counts(published: Published, settings: FormatSettings) -> Iterator[str]:
    whole = {"device": published.device, "configuration": published.configuration}
    found = Counter(each.severity for each in published.shown_findings)
    yield "# TYPE advisor_findings gauge"
    yield "# HELP advisor_findings Findings that are not suppressed."
    for severity in settings.severities["sarif"]:
        labels = _labels({"severity": severity, **whole}, settings)
        yield f"advisor_findings{labels} {found[severity]}"
    regressed = sum(each.verdict == Verdict.REGRESSED for each in published.open_moves)
    yield "# TYPE advisor_regressions gauge"
    yield "# HELP advisor_regressions Series that became slower and were not accepted."
    yield f"advisor_regressions{_labels(whole, settings)} {regressed}"


def _sums(published: Published, settings: FormatSettings) -> Iterator[_Sums]:
    """Yield the series that take most time, then the rest of each device as one."""
    groups: dict[str, list[PublishedKernel]] = defaultdict(list)
    for kernel in published.kernels:
        groups[kernel.series_id].append(kernel)
    ranked = sorted(groups.items(), key=lambda group: (-_duration(group[1]), group[0]))
    rest: dict[tuple[str, str], list[PublishedKernel]] = defaultdict(list)
    for place, (series, kernels) in enumerate(ranked):
        first = kernels[0]
        if place >= settings.limits.kernels:
            rest[first.device, first.configuration] += kernels
            continue
        yield _sum({"kernel": _name(kernels), "series": series}, kernels)
    for kernels in rest.values():
        yield _sum({"kernel": OTHER, "series": ""}, kernels)


def _name(kernels: Sequence[PublishedKernel]) -> str:
    """Return the name of a series: that of its kernel, and of its only launch shape."""
    return kernels[0].short_name if len(kernels) > 1 else kernels[0].kernel


def _sum(names: Mapping[str, str], kernels: Sequence[PublishedKernel]) -> _Sums:
    """Return sums over kernels; those without a roof are no part of the ratio."""
    of = {"device": kernels[0].device, "configuration": kernels[0].configuration}
    times = [k.duration for k in kernels if known(k.duration)]
    placed = [k for k in kernels if known(k.wasted_time) and known(k.duration)]
    wasted, took = sum(k.wasted_time or 0.0 for k in placed), _duration(placed)
    ratio = (took - wasted) / took if took else None
    values = (sum(times) if times else None, ratio, wasted if placed else None)
    return _Sums(labels={**names, **of}, values=values)


def _duration(kernels: Sequence[PublishedKernel]) -> float:
    return sum(kernel.duration or 0.0 for kernel in kernels)


def _labels(labels: Mapping[str, str], settings: FormatSettings) -> str:
    most = settings.limits.label
    pairs = (
        f'{name}="{label_text(shorten(one_line(value), most))}"' for name, value in labels.items()
    )
    return f"{{{','.join(pairs)}}}"
