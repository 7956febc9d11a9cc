"""The worst instructions of a run's kernels."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from advisor.database.connect import open_for_reading
from advisor.database.read import find_run
from advisor.facts.counters import read_counter_files
from advisor.readers import reader_of
from advisor.reports.instructions import instruction_values, rankings, write_rankings
from advisor.reports.paper import Paper
from advisor.reports.rows import fetch
from advisor.reports.view import named
from advisor.resources import data_dir

if TYPE_CHECKING:
    from advisor.facts.counters import InstructionView

_KERNELS = """
    SELECT variant_id, kernel_id, name AS kernel_name, short_name, launch_shape
    FROM main.launch JOIN main.kernel USING (kernel_id) WHERE run_id = ?
    GROUP BY ALL ORDER BY sum(duration) DESC NULLS LAST, variant_id
"""


def render_instructions(
    database: str, kernel: str, *, run: str, width: int, wait: float, ascii_only: bool = False
) -> str:
    """Return the worst instructions of the kernels that a name, pattern or id means, as text.

    Raises:
        UsageError: there is no such run or kernel.
        DatabaseError: the database cannot be opened.
    """
    paper = Paper(width=width, ascii_only=ascii_only)
    with open_for_reading(database, wait) as connection:
        run_id = find_run(connection, run).run_id
        (about,) = fetch(connection, "SELECT format FROM main.run WHERE run_id = ?", [run_id])
        views = _views(str(about["format"]))
        for row in named(fetch(connection, _KERNELS, [run_id]), kernel, run_id):
            variant = str(row["variant_id"])
            found = rankings(instruction_values(connection, run_id, variant), views)
            command = f"advisor collect {run_id} --kernel {shlex.quote(variant)}"
            name = f"{row['short_name']} {row['launch_shape'] or ''}".strip()
            write_rankings(paper, name, found, command)
    return paper.text()


def _views(stored_as: str) -> list[InstructionView]:
    """Return the views of the profiler whose format a run was stored from."""
    counters = reader_of(stored_as).COUNTERS
    return read_counter_files(data_dir("rules") / "counters", counters).instruction_views
