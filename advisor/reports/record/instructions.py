"""The worst instructions of a kernel: which cost the most beyond what would have been enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from advisor import wording
from advisor.counters.instructions import of_symptom
from advisor.database.parts import (
    first_addresses,
    instruction_values,
    opcodes_of,
    places_of,
    samples_of,
)
from advisor.records import dataclass
from advisor.reports.escaping import shorten
from advisor.rules.language.rule import Outcome

if TYPE_CHECKING:
    import duckdb

    from advisor.counters.instructions import InstructionView
    from advisor.rules.engine.evaluation import Evaluation

MOST_INSTRUCTIONS = 5
MOST_IN_FINDINGS = 3
MOST_OF_LINE = 60  # characters of a file's name and line
_WORTH_NAMING = 0.01  # of all excess: less is not worth a sentence

Values = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One instruction, summed over the launches of a variant.

    ``offset`` counts bytes from the first instruction that has a value. ``excess`` is what exceeds
    ``ideal`` (all of ``value`` where that is None), ``share`` its part of the excess of all, in
    [0, 1]. ``kinds`` are the largest parts of ``value``, by name, as shares of it. ``opcode`` and
    ``line`` (``file:line`` of the source) are what the profile says about it.
    """

    address: int
    offset: int
    value: float
    ideal: float | None
    excess: float
    share: float
    kinds: tuple[tuple[str, float], ...] = ()
    opcode: str | None = None
    line: str | None = None

    @property
    def where(self) -> str:
        """Return the offset, and as far as they are known the opcode and the line."""
        line = None if self.line is None else shorten(self.line, MOST_OF_LINE)
        return " ".join(filter(None, (f"+0x{self.offset:04x}", self.opcode, line)))


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The worst instructions by one view; ``value`` and ``excess`` are totals of the kernel.

    ``sample`` says which launches they are of, where not all were read in detail.
    """

    title: str
    about: str
    unit: str
    value: float
    excess: float
    count: int
    worst: tuple[Instruction, ...]
    sample: str = ""

    @property
    def counted(self) -> str:
        """Return how many instructions there are, and of which launches."""
        return f"{counted(self.count)}{self.sample and f' of {self.sample}'}"

    @property
    def sentence(self) -> str:
        """Return the worst places and their shares, as a finding tells them."""
        shown = [each for each in self.worst if each.share >= _WORTH_NAMING] or self.worst[:1]
        places = ", ".join(f"{wording.percent(each.share)} at {each.where}" for each in shown)
        excess = "" if self.excess == self.value else " in excess"
        whole = f"{wording.amount(self.excess)} {self.unit}{excess}"
        return f"Worst instructions: {places}, of {whole} ({self.counted}; {self.title})."


Asked = tuple[str, "InstructionView"]
"""A variant, and what to rank its instructions by."""

Rankings = Mapping[tuple[str, str], Ranking]
"""The worst instructions by variant and name of the view."""


def worst_instructions(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    asked: Iterable[Asked],
    most: int = MOST_INSTRUCTIONS,
) -> dict[tuple[str, str], Ranking]:
    """Return the worst instructions by variant and name of the view, where there is some excess.

    A view whose ideal has no value at all is left out: it was not collected.
    """
    pairs = list(asked)
    if not pairs:
        return {}
    values, firsts = _measured(connection, run_id, pairs)
    opcodes = _opcodes(connection, run_id, pairs)
    found = {}
    for variant, view in pairs:
        kept, shown = _of_kind(values[variant], view, opcodes.get(variant, {}))
        ranking = _ranking(kept, shown, firsts.get(variant, 0), most)
        if ranking is not None:
            found[variant, view.name] = ranking
    return _placed(connection, run_id, found)


def of_findings(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    evaluations: Iterable[Evaluation],
    views: Sequence[InstructionView],
) -> Rankings:
    """Return the worst instructions that findings rest on, of the rules that name a view."""
    shown_by = cache(lambda symptom: of_symptom(views, symptom))
    asked = [
        (each.variant_id, view)
        for each in evaluations
        if each.outcome is Outcome.FIRES and each.rule.instructions is not None
        for view in shown_by(each.rule.instructions)
    ]
    return worst_instructions(connection, run_id, asked, MOST_IN_FINDINGS)


def _measured(
    connection: duckdb.DuckDBPyConnection, run_id: str, asked: Sequence[Asked]
) -> tuple[Mapping[str, Values], Mapping[str, int]]:
    """Return the values that are asked for, summed over launches, and the first addresses.

    The first: variant → counter → address → sum. The second: variant → address.
    """
    counters = {name for _, view in asked for name in (*view.counters, view.ideal) if name}
    variants = list({variant for variant, _ in asked})
    rows = instruction_values(connection, run_id, variants, list(counters))
    values: dict[str, dict[str, dict[int, float]]] = {each: {} for each in variants}
    for variant, counter, address, value in rows:
        values[variant].setdefault(counter, {})[address] = value
    return values, first_addresses(connection, run_id, variants)


def _placed(
    connection: duckdb.DuckDBPyConnection, run_id: str, found: Mapping[tuple[str, str], Ranking]
) -> dict[tuple[str, str], Ranking]:
    """Return the rankings with what the profile says about the instructions in them."""
    variants = list({variant for variant, _ in found})
    addresses = list({each.address for rank in found.values() for each in rank.worst})
    rows = places_of(connection, run_id, variants, addresses) if found else []
    known = {(variant, address): (opcode, line) for variant, address, opcode, line in rows}
    samples = samples_of(connection, run_id, variants)
    placed = {}
    for (variant, view), ranking in found.items():
        places = [
            (each, known.get((variant, each.address), (None, None))) for each in ranking.worst
        ]
        worst = tuple(replace(each, opcode=opcode, line=line) for each, (opcode, line) in places)
        sample = _sample(*samples[variant]) if variant in samples else ""
        placed[variant, view] = replace(ranking, worst=worst, sample=sample)
    return placed


def _sample(detailed: int, launches: int) -> str:
    return f"{wording.fixed(detailed)} of {wording.count(launches, 'launch')}"


def _opcodes(
    connection: duckdb.DuckDBPyConnection, run_id: str, asked: Sequence[Asked]
) -> dict[str, dict[int, str]]:
    """Return opcodes by variant and address, for views of some instructions only."""
    variants = list({variant for variant, view in asked if view.only is not None})
    found: dict[str, dict[int, str]] = {}
    if variants:
        rows = opcodes_of(connection, run_id, variants)
        for variant, address, opcode in rows:
            if opcode is not None:
                found.setdefault(variant, {})[address] = opcode
    return found


def _of_kind(
    values: Values, view: InstructionView, opcodes: Mapping[int, str]
) -> tuple[Values, InstructionView]:
    """Return the values of the instructions that the view is of, all where none has an opcode."""
    if view.only is None or not opcodes:
        return values, view
    wanted = view.opcodes[view.only]
    kept = {
        counter: {at: value for at, value in held.items() if opcodes.get(at) in wanted}
        for counter, held in values.items()
    }
    return kept, replace(view, title=f"{view.title}, {view.only}")


def _ranking(values: Values, view: InstructionView, first: int, most: int) -> Ranking | None:
    totals: dict[int, float] = defaultdict(float)
    for counter in view.counters:
        for address, value in values.get(counter, {}).items():
            totals[address] += view.times * value
    ideals = {} if view.ideal is None else values.get(view.ideal)
    if ideals is None:
        return None
    excess = {at: max(0.0, total - ideals.get(at, 0.0)) for at, total in totals.items()}
    whole = sum(excess.values())
    if whole <= 0:
        return None
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
                ideal=None if view.ideal is None else ideals.get(address, 0.0),
                excess=excess[address],
                share=excess[address] / whole,
                kinds=_kinds(values, view, address),
            )
            for address in worst
            if excess[address] > 0
        ),
    )


def _kinds(values: Values, view: InstructionView, address: int) -> tuple[tuple[str, float], ...]:
    """Return the two largest kinds of a view that has several, as shares of the value."""
    if len(view.counters) == 1:
        return ()
    parts = [
        (kind.replace("_", " "), values[counter][address])
        for counter, kind in view.counters.items()
        if address in values.get(counter, {})
    ]
    whole = sum(value for _, value in parts)
    ordered = sorted(parts, key=lambda part: (-part[1], part[0]))
    return tuple((name, value / whole) for name, value in ordered[:2])


def counted(instructions: int) -> str:
    """Return a number of instructions in words."""
    return f"{instructions:,} instruction{'' if instructions == 1 else 's'}"
