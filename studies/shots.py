"""Picture reports in a headless browser and check what only a browser can tell.

Each page is opened light and dark, 1400 and 400 pixels wide. Nothing may scroll sideways, no two
words of a chart may overlap, every mark and every roof must lie in its frame, no error may be
logged, nothing may be asked of any network, and no dialog may open.

    python -m studies.shots [REPORT.html …] [--out out/shots]

Without names: the report of ``make demo``, the same run with a hostile kernel name, and, where
other people's profiles lie beside the project, one report for each of five different devices.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from dataclasses import replace
from pathlib import Path

from advisor.api.reporting import ReportForm, load_report, render_report
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.reports.write.render import html
from studies.browser import Browser

HERE = Path(__file__).parent
ROOT = HERE.parent
_WIDTHS = (1400, 560, 400)
_HOSTILE = "<img src=x onerror=alert(1)>|=cmd()"
_REAL = ROOT.parent / "shared" / "data"
_DEVICES = 5
_WAIT = 30.0


def main() -> int:
    """Check every page that was named; return 0 where all are well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/shots"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    pages = arguments.pages or [*demo_pages(arguments.out), *real_pages(arguments.out)]
    problems = []
    with Browser() as browser:
        for page in pages:
            for width in _WIDTHS:
                for dark in (False, True):
                    problems += check(browser, page, arguments.out, width=width, dark=dark)
            browser.open(page.resolve().as_uri(), width=1400)
            browser.pdf(arguments.out / f"{page.stem}.pdf")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def demo_pages(out: Path) -> list[Path]:
    """Write the demo's last run, and the same with a name that would do harm if it could."""
    report = load_report(str(ROOT / "out" / "demo.duckdb"), wait=_WAIT)
    kernels = tuple(replace(k, name=_HOSTILE, short_name=_HOSTILE) for k in report.kernels)
    pages = {"demo": html(report), "hostile": html(replace(report, kernels=kernels))}
    return [_write(out / f"{name}.html", page) for name, page in pages.items()]


def real_pages(out: Path) -> list[Path]:
    """Write a report for five devices: for each, the full profile with the most launches."""
    if not _REAL.is_dir():
        print("no profiles of other people beside the project: their reports are left out")
        return []
    with (_REAL / "MANIFEST.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if _is_full(row)]
    chosen: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: -int(row["launches"])):
        chosen.setdefault(row["gpu"], row["path"])
    database = out / "real.duckdb"
    database.unlink(missing_ok=True)
    pages = []
    for number, path in enumerate(list(chosen.values())[:_DEVICES], start=1):
        for stored in ingest_paths(
            str(database), [str(_REAL / path)], labels=RunLabels(), wait=_WAIT
        ):
            if stored.run_id is not None:
                page = render_report(
                    str(database), stored.run_id, form=ReportForm(style="html"), wait=_WAIT
                )
                pages.append(_write(out / f"real-{number}.html", page["-"]))
    return pages


def _is_full(row: dict[str, str]) -> bool:
    """Return whether every launch has a roofline's counters, going by the note in the list."""
    if row["kind"] != "ncu-rep" or not row["gpu"]:
        return False
    counted = re.search(r"roofline inputs .* for (\d+) of (\d+) launches", row["note"])
    return counted is not None and counted[1] == counted[2] != "0"


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def check(browser: Browser, page: Path, out: Path, *, width: int, dark: bool) -> list[str]:
    """Picture one page in one way; return what is wrong with it."""
    name = f"{page.stem}-{width}-{'dark' if dark else 'light'}"
    url = page.resolve().as_uri()
    browser.open(url, width=width, dark=dark)
    browser.screenshot(out / f"{name}.png", width=width)
    found = browser.evaluate((HERE / "check_page.js").read_text())
    browser.evaluate((HERE / "use_page.js").read_text())
    problems = [*found["problems"], *told(browser, url)]
    print(
        f"{name}: {found['marks']} marks, {found['roofs']} lines, {found['texts']} words, "
        f"{len(problems)} problems"
    )
    return [f"{name}: {problem}" for problem in problems]


def told(browser: Browser, url: str) -> list[str]:
    """Return the errors, requests and dialogs that the browser reported."""
    problems = []
    for event in browser.events:
        method, data = event["method"], event["params"]
        if method == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            problems.append(f"exception: {details.get('exception', details).get('description')}")
        elif method == "Log.entryAdded" and data["entry"]["level"] == "error":
            problems.append(f"log: {data['entry']['text']}")
        elif method == "Runtime.consoleAPICalled" and data["type"] == "error":
            problems.append(f"console: {data['args']}")
        elif method == "Network.requestWillBeSent":
            asked = data["request"]["url"]
            if asked != url and not asked.startswith(("data:", "about:", "file:")):
                problems.append(f"request: {asked}")
        elif method == "Page.javascriptDialogOpening":
            problems.append(f"dialog: {data['message']}")
    return problems


if __name__ == "__main__":
    sys.exit(main())
