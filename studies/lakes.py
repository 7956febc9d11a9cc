"""Profiles through a lake: every report, finding and history equals that of the database.

``python -m studies.lakes FOLDER…`` stores all profiles of each folder in a database, adds that to a
lake, and compares the answers, but for the name of the database and the time of writing.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from advisor.api.history import history
from advisor.api.history_json import as_json
from advisor.api.reporting import ReportForm, render_report
from advisor.database.connect import open_for_reading
from advisor.database.lake.scan import scan
from advisor.database.read import list_runs
from advisor.errors import AdvisorError
from advisor.ingest.lake import add_database
from advisor.ingest.profiles import RunLabels, ingest_paths

_WAIT = 60.0  # seconds
_WRITTEN = re.compile(r'"written_at": ?[^,\n]*')
_FINDINGS = "FROM main.finding WHERE run_id = ? ORDER BY ALL"
_JSON = ReportForm(style="json")


def differences(folder: Path, scratch: Path, counts: Counter[str]) -> Iterator[str]:
    """Yield what differs between a database of the profiles in a folder and a lake of it."""
    database, lake = str(scratch / "files.duckdb"), str(scratch / "lake")
    for each in ingest_paths(database, [str(folder)], labels=RunLabels(), wait=_WAIT):
        counts[f"profiles {each.status}"] += 1
    list(add_database(lake, database, wait=_WAIT))
    names = (database, f"lake:{lake}")
    left_out = scan(Path(lake).resolve()).left_out
    yield from (f"left out: {each.place}: {each.reason}" for each in left_out)
    with open_for_reading(names[0]) as here, open_for_reading(names[1]) as there:
        runs, added = list_runs(here), list_runs(there)
        if [run.run_id for run in runs] != [run.run_id for run in added]:
            yield f"{len(runs)} runs in the database, {len(added)} in the lake"
        for run in runs:
            mine, others = (
                connection.execute(_FINDINGS, [run.run_id]).fetchall()
                for connection in (here, there)
            )
            counts["findings"] += len(mine)
            if mine != others:
                yield f"findings of {run.run_id} ({run.name})"
    for number, run in enumerate(runs, start=1):
        print(f"report {number:,} of {len(runs):,}", file=sys.stderr, flush=True)
        counts["reports"] += 1
        if len({_report(name, run.run_id) for name in names}) > 1:
            yield f"report of {run.run_id} ({run.name})"
    for branch in dict.fromkeys(run.branch for run in runs):
        counts["histories"] += 1
        if len({_history(name, branch) for name in names}) > 1:
            yield f"history of branch {branch}"


def _report(database: str, run_id: str) -> str:
    try:
        (text,) = render_report(database, run_id, form=_JSON, wait=_WAIT).values()
    except AdvisorError as error:
        text = str(error)
    return _plain(text, database)


def _history(database: str, branch: str | None) -> str:
    return _plain(json.dumps(as_json(history(database, branch=branch)), default=str), database)


def _plain(text: str, database: str) -> str:
    return _WRITTEN.sub("", text.replace(database, "DB"))


def main(folders: list[str]) -> int:
    """Compare the profiles of some folders; return 1 where anything differs."""
    failed = 0
    for each in folders:
        counts: Counter[str] = Counter()
        try:
            with tempfile.TemporaryDirectory() as scratch:
                found = list(differences(Path(each), Path(scratch), counts))
        except AdvisorError as error:  # no profile in it
            print(error)
            continue
        told = ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items()))
        print(f"{each}: {told}; {len(found)} differences", flush=True)
        for line in found:
            print(f"  {line}")
        failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
