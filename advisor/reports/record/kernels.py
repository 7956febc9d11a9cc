"""One row of the view ``kernels`` as a Kernel record: facts, bars, and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from advisor import wording
from advisor.facts import Vocabulary
from advisor.model import UNNAMED
from advisor.quantities import source_of
from advisor.records import dataclass
from advisor.reports.record.kernel_bars import occupancy, resources, stalls
from advisor.reports.record.kernel_naming import shape_of
from advisor.reports.record.kernel_records import (
    FactGroup,
    KernelName,
    KernelRecord,
    RuleResult,
    ShownFact,
    VendorFinding,
)
from advisor.reports.record.layout import FactLine, Layout, layout
from advisor.reports.record.rows import Row, finite, flag, lacks_peaks, number, text, whole
from advisor.rules.language.words import VendorWords

_WASTED, _COUNTED = "wasted_time", "t_sol"
_BOUNDS = {"t_least": "at least", _COUNTED: "at least", _WASTED: "at most"}  # terms are unknown
_TIME, _WORK = "duration", "flops"
_SEVERAL_WAYS = (_TIME, _WORK, *_BOUNDS)


@dataclass(frozen=True, kw_only=True)
class Said:
    """What rules, the vendor and cards say about a kernel."""

    results: tuple[RuleResult, ...] = ()
    vendor: tuple[VendorFinding, ...] = ()
    actions: tuple[int, ...] = ()
    smaller: int = 0


NOTHING_SAID = Said()


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A line of the list of facts in the vendor's words; ``column`` says how it was measured.

    ``is_plain``: it comes about in one way, whatever the kernel.
    """

    entry: FactLine
    label: str
    unit: str
    column: str | None
    is_plain: bool


@dataclass(frozen=True, kw_only=True)
class FactSheet:
    """What facts of kernels are written by: lines in groups, and words."""

    vocabulary: Vocabulary
    words: VendorWords
    layout: Layout
    groups: tuple[tuple[str, tuple[_Line, ...]], ...]


def fact_sheet(vocabulary: Vocabulary, words: VendorWords) -> FactSheet:
    """Return what the facts of all kernels of a run are written by."""
    shown = layout()
    return FactSheet(
        vocabulary=vocabulary,
        words=words,
        layout=shown,
        groups=tuple(
            (group.name, tuple(_line(entry, vocabulary, words) for entry in group.entries))
            for group in shown.groups
        ),
    )


def _line(entry: FactLine, vocabulary: Vocabulary, words: VendorWords) -> _Line:
    column = None if entry.name in vocabulary.facts else source_of(entry.name)
    return _Line(
        entry=entry,
        label=entry.label.format_map(words.terms),
        unit="share" if entry.share else vocabulary.unit(entry.name) or "",
        column=column,
        is_plain=column is None and not entry.of and entry.name not in _SEVERAL_WAYS,
    )


def kernel(
    row: Row, name: KernelName, sheet: FactSheet, *, every: bool = False, said: Said = NOTHING_SAID
) -> KernelRecord:
    """Return the record of one variant with what is ``said`` about it; ``every`` adds all facts."""
    return _measured(row, name, sheet)(
        facts=_facts(row, sheet, every=every),
        resources=resources(row, sheet.layout),
        stalls=stalls(row, sheet.layout),
        occupancy=occupancy(row, sheet.layout),
        flags=tuple(_flags(row)),
        results=said.results,
        vendor=said.vendor,
        actions=said.actions,
        smaller=said.smaller,
    )


def _measured(row: Row, name: KernelName, sheet: FactSheet) -> Callable[..., KernelRecord]:
    """Return a record with what the row itself says about a variant, to be filled in."""
    work = number(row, "roofline_work")
    return partial(
        KernelRecord,
        id=name.id,
        name=text(row, "kernel_name") or UNNAMED,
        short_name=name.short_name,
        told_apart=name.told_apart,
        launch_shape=shape_of(row),
        registers=number(row, "registers_per_thread"),
        launch_count=whole(row, "launch_count"),
        launches_excluded=whole(row, "launches_excluded"),
        launches_detailed=whole(row, "launches_detailed"),
        duration=number(row, "duration"),
        duration_min=number(row, "duration_min"),
        duration_max=number(row, "duration_max"),
        time_share=number(row, "time_share"),
        t_sol=_least(row),
        t_sol_complete=flag(row, "t_sol_complete"),
        t_sol_known=text(row, "t_sol_known") or "",
        wasted_time=number(row, "wasted_time"),
        roof_fraction=number(row, "roof_fraction"),
        roof_fraction_achievable=number(row, "roof_fraction_achievable"),
        roof_name=_roof_name(row, sheet.layout),
        limiter=text(row, "limiter"),
        limiter_note=_limiter_note(row, sheet.layout),
        roofline_bound=text(row, "roofline_bound"),
        evidence_level=whole(row, "evidence_level") or None,
        has_flops=None if work is None else work > 0,
        performance=number(row, "performance"),
        arithmetic_intensity=number(row, "arithmetic_intensity") if work else None,
        arithmetic_intensity_l2=number(row, "arithmetic_intensity_l2") if work else None,
        arithmetic_intensity_l1=number(row, "arithmetic_intensity_l1") if work else None,
        dram_bandwidth=number(row, "dram_bandwidth"),
        dram_fraction=number(row, "dram_fraction"),
        compute_utilization=number(row, "compute_utilization"),
        memory_utilization=number(row, "memory_utilization"),
        remark=_remark(row, sheet),
    )


def _least(row: Row) -> float | None:
    """Return the least time of a kernel that has a roof, which all shares of the roof rest on."""
    return None if number(row, "t_sol") is None else number(row, "t_least")


def _roof_name(row: Row, shown: Layout) -> str:
    binding = text(row, "binding_resource")
    return f"profiled {shown.label(binding or '', 'known')} roof"


def _limiter_note(row: Row, shown: Layout) -> str:
    if because := text(row, "waiting_because"):
        return shown.waiting.get(because, because)
    if text(row, "limiter") == "latency" and (waves := number(row, "waves") or 1.0) < 1:
        return f"{wording.significant(waves, 2)} waves"
    unit, share = text(row, "shown_unit"), number(row, "shown_share")
    if unit is None:
        return "busiest unit unknown"
    return unit if share is None else f"{unit} {wording.share(share)}"


def _rated(row: Row, sheet: FactSheet) -> str:
    """Return what the rated bandwidth tells where a profile gives no peak."""
    share, memory = number(row, "rated_share"), sheet.words.terms["Device_memory"]
    if share is None:
        return ""
    return f" {memory} was busy for {wording.share(share)} of the time by its rated bandwidth."


def _remark(row: Row, sheet: FactSheet) -> str:
    """Return the sentence that reads the roofline for one kernel."""
    fraction, binding = number(row, "roof_fraction"), text(row, "binding_resource")
    if fraction is None and lacks_peaks(row):
        lack = "No roof to compare with: this profile gives no peaks of the device."
        return lack + _rated(row, sheet)
    if fraction is None or binding is None:
        return "No roofline: the profile lacks counters for one."
    label = sheet.layout.label(binding)
    parts = [f"{wording.share(fraction)} of the profiled {label} roof"]
    achievable = number(row, "roof_fraction_achievable")
    if achievable is not None:
        parts.append(f"{wording.share(achievable)} of the achievable one")
    sentence = f"{', '.join(parts)}."
    if flag(row, "measured_above_roof"):
        return f"{sentence} That is more than the roof allows, so the counters disagree."
    return f"{sentence} {_room(row, binding, achievable or fraction, sheet)}".rstrip()


def _room(row: Row, binding: str, fraction: float, sheet: FactSheet) -> str:
    """Return what the roof leaves to win; nothing where it is not what holds the kernel."""
    is_behind = (number(row, "t_units") or 0.0) > fraction * (number(row, "duration") or 0.0)
    if is_behind or text(row, "limiter") == "latency" or not flag(row, "t_sol_complete"):
        return ""
    reached = max(fraction, number(row, "roof_reached") or 0.0)
    most = wording.ratio(1 / max(reached, 1e-9))
    factor = f"In practice, at most {most}" if reached < 1 else "In practice, no speed-up"
    if binding in sheet.layout.levels:
        return f"{factor} is possible without moving fewer bytes."
    work, traffic = number(row, "t_compute"), number(row, "t_dram")
    if work and traffic is not None:
        memory = sheet.words.terms["Device_memory"]
        return (
            f"{memory} traffic alone would take {wording.seconds(traffic)}, "
            f"{wording.share(traffic / work)} of what the arithmetic takes."
        )
    return f"{factor} is possible without doing less work."


def _flags(row: Row) -> Iterable[str]:
    if flag(row, "very_short"):
        yield "Each launch is very short, so its counters are uncertain."
    if flag(row, "hierarchy_violated"):
        yield "A cache level reports more bytes than the one above it; intensities are uncertain."
    if flag(row, "occupancy_mismatch"):
        yield "The profile's theoretical occupancy differs from the computed one."
    if excluded := whole(row, "launches_excluded"):
        launches = wording.count(excluded, "launch")
        yield f"{launches} without a time or a grid: not in the totals."


def _facts(row: Row, sheet: FactSheet, *, every: bool) -> tuple[FactGroup, ...]:
    groups = []
    for name, lines in sheet.groups:
        wanted = [line for line in lines if _wanted(row, line.entry, every=every)]
        if wanted:
            facts = tuple([_fact(row, line, sheet.layout) for line in wanted])
            groups.append(FactGroup(name=name, facts=facts))
    if every:
        groups.append(_others(row, sheet))
    return tuple(groups)


def _wanted(row: Row, entry: FactLine, *, every: bool) -> bool:
    if entry.least_launches > 1 and whole(row, "launch_count") < entry.least_launches:
        return False
    value = row.get(entry.name)
    if entry.hides_zero and value == 0:
        return every
    if entry.part_of and value in (0, row.get(entry.part_of)):
        return every
    return every or entry.essential or value is not None


def _fact(row: Row, line: _Line, words: Layout) -> ShownFact:
    entry = line.entry
    value = row.get(entry.name)
    shown = value if isinstance(value, str) else finite(value)
    if shown is None:
        kind = "not collected"
    else:
        kind = entry.kind if line.is_plain else _kind(row, line, words)
    return ShownFact(
        name=entry.name,
        label=line.label,
        value=shown,
        unit=line.unit,
        kind=kind,
        essential=entry.essential,
    )


def _kind(row: Row, line: _Line, layout: Layout) -> str:
    """Return how a value came about, of what it is a share, and how many launches have it."""
    entry, sources = line.entry, layout.sources
    if of := number(row, entry.of) if entry.of else None:
        return f"{wording.percent(of, 1)} {entry.of_what}"
    if entry.name == _TIME:
        launches = whole(row, "launch_count") - whole(row, "launches_excluded")
        return "measured, 1 launch" if launches == 1 else f"sum of {launches:,} launches"
    if entry.name == _WORK:
        label = text(row, "work_source") or "derived"
        return sources.get(label, label)
    if entry.name in _BOUNDS and not flag(row, "t_sol_complete"):
        return _bound(row, entry.name, layout)
    if line.column is None:
        return entry.kind
    label = text(row, line.column) or "measured"
    words = sources.get(label, label)
    covered = (row.get("coverage") or {}).get(entry.name)
    some = "" if covered is None else f", {covered:,} of {whole(row, 'launch_count'):,} launches"
    return words + some


def _bound(row: Row, name: str, layout: Layout) -> str:
    """Return that a value is a bound, and of the counted work what that is."""
    known = filter(None, (text(row, "t_sol_known") or "").split(", "))
    counted = ", ".join(layout.label(each) for each in known)
    if name != _COUNTED or not counted:
        return _BOUNDS[name]
    return f"{_BOUNDS[name]}, by {counted} alone"


def _others(row: Row, sheet: FactSheet) -> FactGroup:
    """Return what the list above leaves out, under the names of the vocabulary."""
    vocabulary, words = sheet.vocabulary, sheet.words
    shown = {entry.name for group in sheet.layout.groups for entry in group.entries}
    facts = []
    for name in vocabulary.symbols:
        if name in shown or name not in row:
            continue
        value = row[name]
        unit = vocabulary.unit(name) or ""
        if isinstance(value, bool):
            value = "yes" if value else "no"
        kept = words.value(name, value) if isinstance(value, str) else number(row, name)
        kind = "derived" if name in vocabulary.facts else "measured"
        label = words.name(name).text
        facts.append(ShownFact(name=name, label=label, value=kept, unit=unit, kind=kind))
    return FactGroup(name="everything else", facts=tuple(facts))
