"""Two runs side by side, as text: worst first, with the numbers of both gates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from advisor.cli.output import Narrow, table
from advisor.reports.write.comparison import (
    COLUMNS,
    cells,
    columns_note,
    headline,
    moved_rows,
    reasons,
    renamed,
    worst_first,
    wrapped,
)
from advisor.tracking.records import Verdict
from advisor.wording import count

if TYPE_CHECKING:
    from advisor.reports.record.compared import RunComparison

_EXPLAINED = 10
_SHOWN = 40
_LINKS = 5


def as_text(comparison: RunComparison, database: str, *, width: int) -> str:
    """Return the answer as text of at most ``width`` columns; 0 is no limit."""
    return "\n".join(_blocks(comparison, database, width)) + "\n"


def _blocks(comparison: RunComparison, database: str, width: int) -> Iterator[str]:
    for line in headline(comparison):
        yield from wrapped(line, width)
    shown = [row for row in worst_first(comparison.rows) if row.verdict != Verdict.UNCHANGED]
    if shown:
        narrow = Narrow(
            whole=("verdict", "change", "before", "after"),
            names=("kernel",),
            spare=("least change", "noise", "p-value", "main part"),
        )
        yield ""
        rows = table(COLUMNS, [cells(row) for row in shown[:_SHOWN]], width=width, narrow=narrow)
        yield rows
        yield from wrapped(columns_note(shown, rows.partition("\n")[0]), width)
    if shown[_SHOWN:]:
        yield f"and {len(shown[_SHOWN:]):,} more; --format json lists all"
    for row in moved_rows(comparison)[:_EXPLAINED]:
        yield ""
        yield from wrapped(f"{row.kernel}: {row.verdict}", width)
        for reason in reasons(row):
            yield from wrapped(f"  {reason}", width, indent="    ")
    few = sum(row.verdict is Verdict.INSUFFICIENT for row in shown)
    if few:
        yield ""
        yield from wrapped(
            f"insufficient: too few launches of {count(few, 'kernel')} to tell a change from noise;"
            " profile at least 4 launches of each kernel in both runs, or let nights add up.",
            width,
        )
    links = list(renamed(comparison.rows, database))[:_LINKS]
    is_one_device = comparison.base.device_names == comparison.head.device_names
    if links and is_one_device:
        yield ""
        yield "If a kernel that is gone goes on as the new one:"
        yield from (f"  {command}" for command in links)
