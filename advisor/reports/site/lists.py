"""The lists of a site's kernels and rules, and what its search looks through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from advisor import wording
from advisor.escaping import json_text
from advisor.records import dataclass
from advisor.reports.charts.nights import Spark
from advisor.reports.record.kernel_naming import written_shape
from advisor.reports.site.addresses import series_page
from advisor.reports.site.index_page import history_title
from advisor.reports.site.series_page import over_time, worst_first
from advisor.reports.write.links import Links

if TYPE_CHECKING:
    from advisor.reports.site.rule_page import FoundNow, RecordShown
    from advisor.reports.site.whole import Track, Whole
    from advisor.rules.language.rule import Rule
    from advisor.rules.language.words import VendorWords

_LONGEST = 200  # characters of a name in the search


@dataclass(frozen=True, kw_only=True)
class ListRow:
    """One page of a list."""

    name: str
    href: str
    cells: tuple[str, ...]
    spark: Spark | None = None


@dataclass(frozen=True, kw_only=True)
class ListPart:
    """A table of pages under one heading."""

    heading: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[ListRow, ...]
    is_simulated: bool = False
    is_code: bool = False
    has_sparks: bool = False


@dataclass(frozen=True, kw_only=True)
class ListPage:
    """A page that lists others."""

    title: str
    footer: str
    parts: tuple[ListPart, ...]


def kernels_listed(wholes: Sequence[Whole], links: Links, footer: str) -> ListPage:
    """Return the list of all series by history, what became slower first."""
    return ListPage(
        title="Kernels",
        footer=footer,
        parts=tuple(
            ListPart(
                heading=history_title(whole),
                about="What became slower first.",
                columns=(
                    "Kernel",
                    "Nights",
                    "Verdict",
                    "Change",
                    "Time of a launch",
                    "Grid × block",
                ),
                rows=tuple(_series(whole, links)),
                is_simulated=whole.newest.simulated,
                is_code=True,
                has_sparks=True,
            )
            for whole in wholes
        ),
    )


def _series(whole: Whole, links: Links) -> list[ListRow]:
    drawn = [(track, over_time(whole, track, charts=False)) for track in whole.tracks]
    drawn.sort(key=lambda pair: worst_first(pair[1], pair[0]))
    return [
        ListRow(
            name=track.series.kernel,
            href=links.series.get(track.series.series_id, ""),
            spark=None if over is None else over.spark,
            cells=(
                str(track.series.result.newest.verdict) if over is None else over.verdict,
                "" if over is None else " ".join(filter(None, (over.change, over.note))),
                wording.seconds(track.series.durations[-1]),
                written_shape(track.series.launch_shape),
            ),
        )
        for track, over in drawn
    ]


def rules_listed(
    rules: Sequence[Rule],
    words: VendorWords,
    found: Mapping[str, Sequence[FoundNow]],
    records: Mapping[str, Sequence[RecordShown]],
    links: Links,
    footer: str,
) -> ListPage:
    """Return the list of all rules by family, those found now first."""
    families: dict[str, list[Rule]] = {}
    for rule in sorted(rules, key=lambda one: one.id):
        families.setdefault(rule.family, []).append(rule)
    return ListPage(
        title="Rules",
        footer=footer,
        parts=tuple(
            ListPart(
                heading=family.capitalize(),
                about=wording.count(len(members), "rule"),
                columns=("Rule", "Found now", "Record"),
                rows=tuple(
                    ListRow(
                        name=words.fill(rule.title),
                        href=links.rule(rule.id),
                        cells=(
                            wording.count(len(now), "kernel")
                            if (now := found.get(rule.id))
                            else "",
                            " ".join(each.sentence for each in records.get(rule.id, ())),
                        ),
                    )
                    for rule in members
                ),
            )
            for family, members in families.items()
        ),
    )


def search_script(wholes: Sequence[Whole]) -> str:
    """Return the names that the search looks through, as a script: a disk serves nothing else."""
    found: dict[str, tuple[str, str]] = {}
    for whole in wholes:
        for track in whole.tracks:
            found.setdefault(track.series.series_id, (track.series.kernel, _note(track)))
    entries = sorted(
        (wording.printable(name)[:_LONGEST], series_page(series), wording.printable(note))
        for series, (name, note) in found.items()
    )
    lines = ",\n".join(json_text(list(entry)).replace("<", "\\u003c") for entry in entries)
    return f"const advisorKernels = [\n{lines}\n];\n"


def _note(track: Track) -> str:
    parts = (track.series.problem, track.series.device, track.series.configuration)
    return ", ".join(filter(None, parts))
