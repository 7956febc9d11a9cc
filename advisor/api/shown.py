"""What the Python API returns: tables, a report, a comparison; each shows itself in a notebook."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from advisor.database.arrow import ArrowTable
from advisor.reports.write import notebook

if TYPE_CHECKING:
    from advisor.reports.record.compared import RunComparison
    from advisor.reports.record.records import Report


class Table:
    """Rows under named columns, in stored units; ``polars.DataFrame(table)`` takes it as it is."""

    def __init__(self, held: ArrowTable) -> None:
        self._held = held

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return self._held.columns

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a mapping for each row; unknown is None."""
        return [dict(zip(self.columns, row, strict=True)) for row in self._held.rows()]

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_dicts())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows to another library."""
        return self._held.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<{len(self):,} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        return notebook.table_html(self.columns, self._shown(), len(self))

    def _repr_markdown_(self) -> str:
        return notebook.table_markdown(self.columns, self._shown(), len(self))

    def _shown(self) -> list[list[str]]:
        rows = self._held.rows(notebook.MOST_ROWS)
        return [[notebook.shown_value(value) for value in row] for row in rows]


class Picture:
    """A drawing as SVG; a notebook shows it as an image."""

    def __init__(self, svg: str, about: str) -> None:
        self.svg = svg
        self._about = about

    def _repr_html_(self) -> str:
        return notebook.picture_html(self.svg, self._about)


class RunReport:
    """A run: what limits it, what to do first, and what moved until then."""

    def __init__(self, report: Report) -> None:
        self.record = report

    @property
    def run_id(self) -> str:
        """Return the id of the run."""
        return self.record.run.run_id

    @property
    def sentence(self) -> str:
        """Return what limits the run and what to do first."""
        return self.record.verdict.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return what ``advisor report --format json`` prints."""
        from advisor.reports.write.machine import json_text

        found: dict[str, Any] = json.loads(json_text(self.record))
        return found

    @property
    def roofline(self) -> Picture | None:
        """Return the first roofline; None where no kernel can be placed."""
        from advisor.reports.write.render import svg

        drawn = svg(self.record)
        about = f"Roofline of {self.record.run.title} on {self.record.device}"
        return None if drawn is None else Picture(drawn, about)

    def __repr__(self) -> str:
        return f"<report of {self.run_id}: {self.sentence}>"

    def _repr_html_(self) -> str:
        return notebook.report_html(self.record)

    def _repr_markdown_(self) -> str:
        return notebook.report_markdown(self.record)


class RunsCompared:
    """Two runs side by side: what moved, how sure that is, and why."""

    def __init__(self, comparison: RunComparison) -> None:
        self.record = comparison

    def to_dict(self) -> dict[str, Any]:
        """Return what ``advisor compare --format json`` prints."""
        from advisor.escaping import json_text
        from advisor.reports.write.comparison import as_json

        found: dict[str, Any] = json.loads(json_text(as_json(self.record)))
        return found

    def __repr__(self) -> str:
        from advisor.reports.write.comparison import headline

        return f"<{next(headline(self.record))}>"

    def _repr_html_(self) -> str:
        return notebook.comparison_html(self.record)

    def _repr_markdown_(self) -> str:
        from advisor.reports.write.comparison import markdown

        return markdown(self.record)
