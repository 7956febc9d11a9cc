"""The worst instructions of a kernel: which cost the most beyond what would have been enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor import wording

if TYPE_CHECKING:
    import duckdb

    from advisor.facts.counters import InstructionView
    from advisor.reports.paper import Paper

MOST_INSTRUCTIONS = 5
_WIDTHS = (9, -6, -12, -12, -6)
_HEAD = ("offset", "share", "counted", "ideal", "ratio")
_WIDTHS_OF_KINDS = (9, -6, -12, 0)
_HEAD_OF_KINDS = ("offset", "share", "counted", "of these")
_VALUES = """
    WITH pairs AS (
        SELECT counter, unnest(addresses) AS address, unnest("values") AS value
        FROM main.launch_instruction JOIN main.launch USING (run_id, launch_index)
        WHERE run_id = ? AND variant_id = ?
    )
    SELECT counter, address, sum(value) FROM pairs
    WHERE value IS NOT NULL GROUP BY counter, address ORDER BY counter, address
"""

Values = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One instruction, summed over the launches of a variant.

    ``offset`` counts bytes from the first instruction that has a value. ``excess`` is what exceeds
    ``ideal`` (all of ``value`` where that is None), ``share`` its part of the excess of all, in
    [0, 1]. ``kinds`` are the largest parts of ``value``, by name, as shares of it.
    """

    address: int
    offset: int
    value: float
    ideal: float | None
    excess: float
    share: float
    kinds: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The worst instructions by one view; ``value`` and ``excess`` are totals of the kernel."""

    title: str
    about: str
    unit: str
    value: float
    excess: float
    count: int
    worst: tuple[Instruction, ...]


def instruction_values(
    connection: duckdb.DuckDBPyConnection, run_id: str, variant_id: str
) -> dict[str, dict[int, float]]:
    """Return the values of a variant's instructions: counter → address → sum over launches.

    Only values that are not zero were kept.
    """
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for counter, address, value in connection.execute(_VALUES, [run_id, variant_id]).fetchall():
        found[counter][address] = value
    return dict(found)


def rankings(
    values: Values, views: Sequence[InstructionView], most: int = MOST_INSTRUCTIONS
) -> list[Ranking]:
    """Return the worst instructions by each view that has values, and some excess.

    A view whose ideal has no value at all is left out: it was not collected.
    """
    first = min((address for held in values.values() for address in held), default=0)
    found = (_ranking(values, view, first, most) for view in views)
    return [each for each in found if each is not None and each.excess > 0]


def _ranking(values: Values, view: InstructionView, first: int, most: int) -> Ranking | None:
    counters = [counter for counter in values if view.covers(counter)]
    totals: dict[int, float] = defaultdict(float)
    for counter in counters:
        for address, value in values[counter].items():
            totals[address] += view.times * value
    ideals = None if view.ideal is None else values.get(view.ideal)
    if not totals or (view.ideal is not None and not ideals):
        return None
    excess = {
        address: total if ideals is None else max(0.0, total - ideals.get(address, 0.0))
        for address, total in totals.items()
    }
    whole = sum(excess.values())
    worst = sorted(excess, key=lambda address: (-excess[address], address))[:most]
    return Ranking(
        title=view.title,
        about=view.about,
        unit=view.unit,
        value=sum(totals.values()),
        excess=whole,
        count=len(totals),
        worst=tuple(
            Instruction(
                address=address,
                offset=address - first,
                value=totals[address],
                ideal=None if ideals is None else ideals.get(address, 0.0),
                excess=excess[address],
                share=excess[address] / whole if whole else 0.0,
                kinds=_kinds(values, view, address) if view.wildcard else (),
            )
            for address in worst
            if excess[address] > 0
        ),
    )


def _kinds(values: Values, view: InstructionView, address: int) -> tuple[tuple[str, float], ...]:
    parts = {
        view.kind(counter): view.times * held[address]
        for counter, held in values.items()
        if view.covers(counter) and address in held
    }
    whole = sum(parts.values())
    ordered = sorted(parts.items(), key=lambda part: (-part[1], part[0]))
    return tuple((name, value / whole) for name, value in ordered[:2])


def write_rankings(paper: Paper, name: str, found: Sequence[Ranking], collect: str) -> None:
    """Write the worst instructions of one kernel, or ``collect`` where none is known."""
    paper.heading(f"Instructions of {name}")
    if not found:
        paper.write("No instruction exceeds its ideal, or none was measured. To measure more:")
        paper.command(collect)
        return
    for each in found:
        paper.blank()
        paper.write(f"{each.title}: {_total(each)}; {each.about}")
        kinds = any(worst.kinds for worst in each.worst)
        head, widths = (_HEAD_OF_KINDS, _WIDTHS_OF_KINDS) if kinds else (_HEAD, _WIDTHS)
        paper.row(head, widths)
        for worst in each.worst:
            paper.row(_cells_of_kinds(worst) if kinds else _cells(worst), widths)
    first = found[0].worst[0]
    paper.blank()
    paper.write(
        f"Offsets are in bytes from the first measured instruction of the kernel, at "
        f"0x{first.address - first.offset:x}. Neither opcodes nor source lines are stored."
    )


def _total(ranking: Ranking) -> str:
    excess, value = (wording.number(total) for total in (ranking.excess, ranking.value))
    places = f"{ranking.count:,} instruction{'' if ranking.count == 1 else 's'}"
    if ranking.excess == ranking.value:
        return f"{value} {ranking.unit} in {places}"
    return f"{excess} of {value} {ranking.unit} in {places}"


def _cells(worst: Instruction) -> tuple[str, ...]:
    ratio = wording.ratio(worst.value / worst.ideal, 2) if worst.ideal else ""
    ideal = "" if worst.ideal is None else wording.number(worst.ideal)
    return (*_place(worst), wording.number(worst.value), ideal, ratio)


def _cells_of_kinds(worst: Instruction) -> tuple[str, ...]:
    kinds = ", ".join(f"{name} {wording.percent(share)}" for name, share in worst.kinds)
    return (*_place(worst), wording.number(worst.value), kinds)


def _place(worst: Instruction) -> tuple[str, str]:
    return f"+0x{worst.offset:04x}", wording.percent(worst.share)
