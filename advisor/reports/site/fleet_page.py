"""The page about a whole lake: questions to all runs at once, each with the runs behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from advisor import wording
from advisor.database.questions import QUESTIONS, AskedRows, FleetTotals, ask, totals
from advisor.documents import load
from advisor.errors import RuleError
from advisor.records import dataclass
from advisor.reports.site.frame import full_day
from advisor.reports.write.links import Links
from advisor.resources import data_dir
from advisor.tracking.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

Row = Mapping[str, Any]

_HOUR = 3600.0  # seconds
_LEAST_HOURS = 0.1  # below it seconds are read more easily


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell of a table; ``share`` of the largest in its column is drawn as a bar.

    ``full`` is what ``text`` is short for, if anything.
    """

    text: str
    full: str = ""
    href: str = ""
    tone: str = ""
    is_number: bool = False
    is_code: bool = False
    share: float | None = None


@dataclass(frozen=True, kw_only=True)
class FleetRow:
    """A row, with links to some of the runs behind it and how many more there are."""

    cells: tuple[Cell, ...]
    runs: tuple[tuple[str, str], ...]
    more_runs: int
    is_simulated: bool


@dataclass(frozen=True, kw_only=True)
class FleetPart:
    """One question; ``more`` counts the rows that are not shown, ``empty`` says there is none."""

    id: str
    heading: str
    about: str
    empty: str
    columns: tuple[str, ...]
    rows: tuple[FleetRow, ...]
    more: int


@dataclass(frozen=True, kw_only=True)
class FleetPage:
    """Everything on the page."""

    title: str
    footer: str
    verdict: str
    about: str
    ahead: str
    parts: tuple[FleetPart, ...]


@dataclass(frozen=True, kw_only=True)
class FleetWords:
    """What ``rules/labels/fleet.yaml`` says, and how many rows and runs are shown."""

    texts: Mapping[str, str]
    parts: Mapping[str, Mapping[str, Any]]
    whats: Mapping[str, str]
    rows: int
    runs: int


@dataclass(frozen=True, kw_only=True)
class FleetAsked:
    """What the page is made of; ``titles`` are those of rules, by id."""

    connection: duckdb.DuckDBPyConnection
    titles: Mapping[str, str]
    links: Links
    footer: str


def fleet_file() -> Path:
    """Return the file of the page's words."""
    return data_dir("rules") / "labels" / "fleet.yaml"


def load_fleet_words() -> FleetWords:
    """Return the words of the page.

    Raises:
        RuleError: an entry is missing or wrong; with its place.
    """
    document = load(fleet_file())
    parts = {}
    for name in document.mapping("parts"):
        part = document.mapping("parts").mapping(name)
        texts = {key: part.text(key) for key in ("heading", "about", "empty")}
        parts[name] = {**texts, "columns": part.sequence("columns").texts()}
        if name not in QUESTIONS:
            raise RuleError(f"there is no view {name}", at=part.at)
    whats = document.mapping("whats")
    return FleetWords(
        texts={
            key: document.text(key) for key in ("title", "verdict", "unknown", "about", "ahead")
        },
        parts=parts,
        whats={name: whats.text(name) for name in whats},
        rows=int(document.mapping("rows").number("value")),
        runs=int(document.mapping("runs").number("value")),
    )


def fleet_shown(asked: FleetAsked) -> FleetPage:
    """Return the page of a lake whose views there are on the connection."""
    words = load_fleet_words()
    sums = totals(asked.connection)
    return FleetPage(
        title=words.texts["title"],
        footer=asked.footer,
        verdict=_verdict(sums, words),
        about=words.texts["about"],
        ahead=_ahead(sums.ahead, words),
        parts=tuple(_part(name, asked, words) for name in words.parts),
    )


def _ahead(runs: int, words: FleetWords) -> str:
    return words.texts["ahead"].format(runs=wording.count(runs, "run")) if runs else ""


def _verdict(sums: FleetTotals, words: FleetWords) -> str:
    template = words.texts["verdict" if sums.judged_time else "unknown"]
    return template.format(
        runs=wording.count(sums.runs, "run"),
        wasted=gpu_time(sums.wasted_time),
        time=gpu_time(sums.judged_time),
    )


def gpu_time(value: float | None) -> str:
    """Return a time of GPUs: in hours where there are some, else in seconds.

    >>> gpu_time(7200.0), gpu_time(0.0031), gpu_time(None)
    ('2 GPU hours', '3.10\\xa0ms', 'unknown')
    """
    if value is None or value < _LEAST_HOURS * _HOUR:
        return wording.seconds(value)
    return wording.number(value / _HOUR, noun="GPU hour")


def _part(name: str, asked: FleetAsked, words: FleetWords) -> FleetPart:
    part = words.parts[name]
    found = ask(asked.connection, name, words.rows, _where(name))
    cells = _Cells(asked, words, found)
    return FleetPart(
        id=name.replace("_", "-"),
        heading=part["heading"],
        about=part["about"],
        empty=part["empty"],
        columns=tuple(part["columns"]),
        rows=tuple(_row(row, cells.of(name, row), asked, words) for row in found.rows),
        more=found.total - len(found.rows),
    )


def _where(name: str) -> str:
    """Return which rows are shown: of hosts, those that are slower by what people act on."""
    return f"ratio > {1 + load_settings().smallest_effect}" if name == "fleet_devices" else "true"


def _row(row: Row, cells: tuple[Cell, ...], asked: FleetAsked, words: FleetWords) -> FleetRow:
    runs = list(dict.fromkeys(row["run_ids"]))
    shown = runs[-words.runs :]
    return FleetRow(
        cells=cells,
        runs=tuple((run, asked.links.run(run)) for run in shown),
        more_runs=len(runs) - len(shown),
        is_simulated=row["simulated"],
    )


class _Cells:
    """The cells of rows, by the view that they are of."""

    def __init__(self, asked: FleetAsked, words: FleetWords, found: AskedRows) -> None:
        self._asked = asked
        self._words = words
        self._found = found

    def of(self, view: str, row: Row) -> tuple[Cell, ...]:
        """Return the cells of a row of a view."""
        made = {
            "fleet_kernels": self._kernel,
            "fleet_findings": self._finding,
            "fleet_week": self._week,
            "fleet_devices": self._device,
            "fleet_environments": self._environment,
        }
        return made[view](row)

    def _share(self, value: float | None, name: str) -> float | None:
        largest = max((row[name] or 0.0 for row in self._found.rows), default=0.0)
        return value / largest if value is not None and largest > 0 else None

    def _kernel(self, row: Row) -> tuple[Cell, ...]:
        wasted, judged = row["wasted_time"], row["judged_time"]
        of_it = wasted / judged if wasted is not None and judged else None
        return (
            Cell(
                text=row["short_name"],
                full=row["kernel_name"],
                href=self._asked.links.series.get(row["series_id"], ""),
                is_code=True,
            ),
            Cell(text=gpu_time(wasted), is_number=True, share=self._share(wasted, "wasted_time")),
            Cell(text=gpu_time(row["duration"]), is_number=True),
            Cell(text=wording.percent(of_it), is_number=True),
            Cell(text=wording.count(row["launches"]), is_number=True),
        )

    def _finding(self, row: Row) -> tuple[Cell, ...]:
        rule, duration = row["rule_id"], row["duration"]
        return (
            Cell(text=self._asked.titles.get(rule, rule), href=self._asked.links.rule(rule)),
            Cell(text=gpu_time(duration), is_number=True, share=self._share(duration, "duration")),
            Cell(text=f"{wording.count(row['findings'])}×", is_number=True),
            Cell(text=wording.count(row["kernels"]), is_number=True),
            Cell(text=gpu_time(row["gain_likely"]), is_number=True),
        )

    def _week(self, row: Row) -> tuple[Cell, ...]:
        is_advice = row["kind"] == "advice"
        href = (
            self._asked.links.rule(row["id"])
            if is_advice
            else self._asked.links.series.get(row["id"], "")
        )
        name = self._asked.titles.get(row["id"], row["id"]) if is_advice else row["short_name"]
        change = "" if row["head"] is None else _change(row)
        place = (row["branch"], row["label"], row["device_names"])
        return (
            Cell(text=self._words.whats.get(row["what"], row["what"]), tone=row["what"]),
            Cell(text=full_day(row["night"])),
            Cell(
                text=name, full="" if is_advice else row["name"], href=href, is_code=not is_advice
            ),
            Cell(text=change),
            Cell(text=", ".join(filter(None, place))),
        )

    def _device(self, row: Row) -> tuple[Cell, ...]:
        return (
            Cell(text=row["host"], is_code=True),
            Cell(text=wording.percent(row["ratio"] - 1, 1), is_number=True),
            Cell(text=row["device_name"] or ""),
            Cell(text=wording.count(row["kernels"]), is_number=True),
            Cell(text=wording.count(row["hosts"]), is_number=True),
        )

    def _environment(self, row: Row) -> tuple[Cell, ...]:
        return (
            Cell(text=f"{row['what']} {row['base']}"),
            Cell(text=f"{row['head']}"),
            Cell(text=wording.signed_percent(row["ratio"] - 1), is_number=True),
            Cell(text=row["device_name"] or ""),
            Cell(text=wording.count(row["kernels"]), is_number=True),
        )


def _change(row: Row) -> str:
    levels = f"{wording.seconds(row['base'])} → {wording.seconds(row['head'])}"
    return f"{wording.signed_percent(row['relative'])}, {levels}"
