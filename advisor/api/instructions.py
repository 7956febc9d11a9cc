"""The worst instructions of a run's kernels."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from advisor.api.reporting import load_report
from advisor.commands import program
from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import open_for_reading
from advisor.database.parts import variants_of
from advisor.database.read import find_run
from advisor.knowledge.load import load_knowledge
from advisor.reports.record.instructions import worst_instructions
from advisor.reports.record.lines import costly_lines
from advisor.reports.record.rows import Row
from advisor.reports.record.source import named
from advisor.reports.write.instructions import write_lines, write_rankings
from advisor.reports.write.paper import Paper


def render_instructions(
    database: str,
    kernel: str,
    *,
    run: str,
    width: int,
    wait: float,
    ascii_only: bool = False,
    configuration: Configuration = DEFAULTS,
) -> str:
    """Return the worst instructions of the kernels that a name, pattern or id means, as text.

    And the lines that cost most over them, with the advice that says so.

    Raises:
        UsageError: there is no such run or kernel.
        DatabaseError: the database cannot be opened.
    """
    paper = Paper(width=width, ascii_only=ascii_only)
    views = load_knowledge(configuration).settings.instruction_views
    with open_for_reading(database, wait) as connection:
        run_id = find_run(connection, run).run_id
        rows = named(_by_time(variants_of(connection, run_id)), kernel, run_id)
        asked = [(str(row["variant_id"]), view) for row in rows for view in views]
        found = worst_instructions(connection, run_id, asked)
    for row in rows:
        variant = str(row["variant_id"])
        command = f"{program(database)} collect {run_id} --kernel {shlex.quote(variant)}"
        name = f"{row['short_name']} {row['launch_shape'] or ''}".strip()
        of_kernel = [found[variant, v.name] for v in views if (variant, v.name) in found]
        write_rankings(paper, name, of_kernel, command)
    report = load_report(database, run_id, kernel=kernel, wait=wait, configuration=configuration)
    write_lines(paper, costly_lines(report.kernels))
    return paper.text()


def _by_time(rows: Iterable[Row]) -> list[Row]:
    """Return variants, the longest first; those of unknown time last."""
    return sorted(rows, key=lambda row: (-(row["duration"] or 0.0), row["variant_id"]))
