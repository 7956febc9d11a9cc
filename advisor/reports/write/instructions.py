"""Rankings of instructions as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor import wording
from advisor.reports.escaping import shorten
from advisor.reports.record.instructions import MOST_OF_LINE

if TYPE_CHECKING:
    from advisor.reports.record.instructions import Instruction, Ranking
    from advisor.reports.record.lines import CostlyLine
    from advisor.reports.write.paper import Paper

_MOST_KERNELS = 3
_PLACE = ("offset", "opcode", "share", "counted")
_WIDTHS_OF_PLACE = (8, 9, -5, -13)
_WIDTHS = (*_WIDTHS_OF_PLACE, -6, 0)
_HEAD = (*_PLACE, "ratio", "line")
_WIDTHS_OF_KINDS = (7, 9, -5, -10, 0)
_HEAD_OF_KINDS = (*_PLACE, "of these, line")


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
        cells = map(_cells_of_kinds if kinds else _cells, each.worst)
        paper.table([head, *cells], widths)
    first = found[0].worst[0]
    paper.blank()
    paper.write(
        f"Offsets are in bytes from the first measured instruction of the kernel, at "
        f"0x{first.address - first.offset:x}. {_untold(found)}".strip()
    )


def write_lines(paper: Paper, lines: Sequence[CostlyLine]) -> None:
    """Write the lines that cost most over kernels, with what is wrong there; nothing for none."""
    if not lines:
        return
    paper.heading("Lines that cost most")
    for each in lines:
        kernels = ", ".join(kernel.short_name for kernel in each.kernels[:_MOST_KERNELS])
        place = f"{shorten(each.place, MOST_OF_LINE)} ({kernels})"
        paper.blank()
        paper.write(f"{wording.seconds(each.saving, 2)} likely saving at {place}")
        for reason in each.reasons:
            paper.write(f"- {reason.title}: {reason.text}; {reason.rule_id}")


def _untold(found: Sequence[Ranking]) -> str:
    """Return why lines are missing, if they are."""
    worst = [each for ranking in found for each in ranking.worst]
    if any(each.line for each in worst):
        return ""
    if any(each.opcode for each in worst):
        return "Compile with -lineinfo to get source lines in profiles."
    return "The profile contains no code with opcodes and source lines."


def _total(ranking: Ranking) -> str:
    excess, value = (wording.amount(total) for total in (ranking.excess, ranking.value))
    places = ranking.counted
    if ranking.excess == ranking.value:
        return f"{value} {ranking.unit} in {places}"
    return f"{excess} of {value} {ranking.unit} in {places}"


def _cells(worst: Instruction) -> tuple[str, ...]:
    ratio = wording.ratio(worst.value / worst.ideal, 2) if worst.ideal else ""
    line = "" if worst.line is None else shorten(worst.line, MOST_OF_LINE)
    return (*_place(worst), ratio, line)


def _cells_of_kinds(worst: Instruction) -> tuple[str, ...]:
    kinds = worst.kinds if worst.line is None else worst.kinds[:1]
    parts = [f"{name} {wording.percent(share)}" for name, share in kinds]
    parts += [] if worst.line is None else [shorten(worst.line, MOST_OF_LINE)]
    return (*_place(worst), ", ".join(parts))


def _place(worst: Instruction) -> tuple[str, str, str, str]:
    share, value = wording.percent(worst.share), wording.number(worst.value)
    return f"+0x{worst.offset:04x}", worst.opcode or "", share, value
