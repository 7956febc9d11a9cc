from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "Outcome"]


class Outcome:
    status: int
    out: str
    err: str


def runs(advisor: Run, columns: str) -> list[dict[str, object]]:
    return list(json.loads(advisor("query", f"select {columns} from runs", "--format", "json").out))


def test_tells_of_a_file_that_is_there_already(filled: Run, night: str) -> None:
    outcome = filled("ingest", night)
    assert outcome.status == 0
    assert outcome.out.startswith("known ")
    assert len(runs(filled, "run_id")) == 1


def test_sums_up_what_is_new_known_skipped_and_refused(
    filled: Run, night: str, tmp_path: Path
) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    content = Path(night).read_bytes()
    (folder / "known.ncu-rep").write_bytes(content)
    (folder / "second.ncu-rep").write_bytes(Path(night.replace("01", "02")).read_bytes())
    (folder / "cut.ncu-rep").write_bytes(content[: len(content) // 2])
    (folder / "notes.txt").write_text("nothing to see\n")
    outcome = filled("ingest", str(folder))
    assert outcome.status == 3
    expected = "1 new, 1 already known, 1 skipped (no profiles), 1 refused"
    assert outcome.out.splitlines()[-1] == expected
    assert "cut.ncu-rep" in outcome.err
    assert "--allow-truncated" in outcome.err
    assert len(runs(filled, "run_id")) == 2


def test_a_dry_run_makes_no_database(advisor: Run, night: str, tmp_path: Path) -> None:
    outcome = advisor("ingest", night, "--dry-run")
    assert outcome.status == 0
    assert "14 launches" in outcome.out
    assert "quantities known" in outcome.out
    assert "nothing was stored" in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_knows_what_is_stored(filled: Run, night: str) -> None:
    assert filled("ingest", night, "--dry-run").out.startswith("known ")


def test_keeps_what_the_user_says_of_the_run(advisor: Run, night: str) -> None:
    words = ("--label", "l", "--config", "c", "--commit", "1a2b", "--branch", "b", "--tag", "x")
    more = ("--tag", "y", "--at", "2026-11-20T03:00+01:00", "--step-time", "0.25")
    assert advisor("ingest", night, *words, *more).status == 0
    columns = 'label, configuration, "commit", branch, tags, started_at, step_time'
    assert runs(advisor, columns) == [
        {
            "label": "l",
            "configuration": "c",
            "commit": "1a2b",
            "branch": "b",
            "tags": ["x", "y"],
            "started_at": "2026-11-20 02:00:00",
            "step_time": 0.25,
        }
    ]


def test_takes_commit_and_branch_from_git(
    advisor: Run, night: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (
        ("init", "-q", "-b", "trunk"),
        (*who, "commit", "-q", "--allow-empty", "-m", "x"),
    ):
        work.mkdir(exist_ok=True)
        subprocess.run(["git", *words], cwd=work, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=work, check=True, capture_output=True, text=True
    )
    monkeypatch.chdir(work)
    assert advisor("ingest", night, "--git").status == 0
    assert runs(advisor, '"commit", branch') == [{"commit": head.stdout.strip(), "branch": "trunk"}]


def test_says_that_there_is_no_repository(
    advisor: Run, night: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    outcome = advisor("ingest", night, "--git")
    assert outcome.status == 2
    assert "not a git repository" in outcome.err
    assert "--commit" in outcome.err


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_reads_standard_input(
    advisor: Run,
    night: str,
    monkeypatch: pytest.MonkeyPatch,
    pack: Callable[[bytes], bytes],
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(pack(Path(night).read_bytes())))
    monkeypatch.setattr(sys, "stdin", stream)
    assert advisor("ingest", "-").status == 0
    assert runs(advisor, "name, launches") == [{"name": "<stdin>", "launches": 14}]


def test_spools_once_and_merges_once(advisor: Run, night: str, tmp_path: Path) -> None:
    spool, done = tmp_path / "spool", tmp_path / "done"
    first = advisor("ingest", night, "--spool", str(spool), "--label", "l")
    assert first.out.startswith("new ")
    assert not (tmp_path / "test.duckdb").exists()
    assert advisor("ingest", night, "--spool", str(spool)).out.startswith("known ")
    assert advisor("db", "merge", str(spool)).out.startswith("new ")
    assert advisor("db", "merge", str(spool), "--done", str(done)).out.startswith("known ")
    assert list(spool.iterdir()) == []
    assert len(list(done.iterdir())) == 1
    assert runs(advisor, "name, label") == [{"name": night, "label": "l"}]


def test_spools_no_garbage(advisor: Run, tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.ncu-rep"
    garbage.write_bytes(b"NVR\0 and no more")
    spool = tmp_path / "spool"
    assert advisor("ingest", str(garbage), "--spool", str(spool)).status == 3
    assert list(spool.iterdir()) == []


def test_says_when_a_time_is_none(advisor: Run, night: str) -> None:
    outcome = advisor("ingest", night, "--at", "yesterday")
    assert outcome.status == 2
    assert "2026-11-20T03:00" in outcome.err


CSV = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"\n'
    '"0","77","app","host","copy(int)","1","7","(256, 1, 1)","(64, 2, 1)","0","8.6",'
    '"GPU Speed Of Light Throughput","Duration","usecond","12.00"\n'
)


def test_tells_what_is_in_doubt_about_which_file(advisor: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    outcome = advisor("ingest", str(tmp_path / "a.csv"))
    assert outcome.out.split() == [
        "new",
        outcome.out.split()[1],
        "1",
        "launch",
        f"{tmp_path}/a.csv",
    ]
    doubt = "the profile does not name its device: the peaks in the profile are used"
    assert f"  note on {tmp_path}/a.csv: {doubt}, rated ones are unknown\n" in outcome.err
    assert "skipped" not in outcome.err
    # Nothing was left out, so the report tells of no gaps.
    assert "with gaps" not in advisor("report").out
