from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.api import revision
from advisor.api.revision import Revision

pytestmark = pytest.mark.usefixtures("unjudged")

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


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_path_that_names_nothing_is_refused_and_the_others_are_stored(
    advisor: Run, night: str, tmp_path: Path, more: tuple[str, ...]
) -> None:
    (tmp_path / "empty").mkdir()
    absent, empty = str(tmp_path / "absent.ncu-rep"), str(tmp_path / "empty")
    outcome = advisor("ingest", absent, night, empty, *more)
    assert outcome.status == 3
    assert f"refused  {absent}: no such file\n  hint: quote patterns" in outcome.err
    assert f"refused  {empty}: none of the 0 files below it is a profile" in outcome.err
    assert outcome.out.splitlines()[-1] == "1 new, 2 refused"
    assert more or len(runs(advisor, "run_id")) == 1


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
    ranks = (
        "--note",
        "Faster\n copies",
        "--compiler",
        "nvcc 12.4",
        "--group",
        "job",
        "--rank",
        "0",
    )
    assert advisor("ingest", night, *words, *more, *ranks).status == 0
    columns = (
        'label, configuration, "commit", branch, tags, started_at, step_time, note, compiler,'
        " group_id, rank"
    )
    assert runs(advisor, columns) == [
        {
            "label": "l",
            "configuration": "c",
            "commit": "1a2b",
            "branch": "b",
            "tags": ["x", "y"],
            "started_at": "2026-11-20 02:00:00",
            "step_time": 0.25,
            "note": "Faster\n copies",
            "compiler": "nvcc 12.4",
            "group_id": "job",
            "rank": 0,
        }
    ]


def test_takes_commit_branch_and_subject_from_git(
    advisor: Run, night: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (
        ("init", "-q", "-b", "trunk"),
        (*who, "commit", "-q", "--allow-empty", "-m", "Copy less", "-m", "Why."),
    ):
        work.mkdir(exist_ok=True)
        subprocess.run(["git", *words], cwd=work, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=work, check=True, capture_output=True, text=True
    )
    monkeypatch.chdir(work)
    assert advisor("ingest", night, "--git").status == 0
    commit = head.stdout.strip()
    (stored,) = runs(advisor, '"commit", branch, note')
    assert stored == {"commit": commit, "branch": "trunk", "note": "Copy less"}


@pytest.mark.parametrize(
    ("words", "note"), [(("--note", "mine"), "mine"), (("--commit", "other"), None)]
)
def test_the_subject_is_that_of_the_commit_unless_the_user_says_more(
    advisor: Run, night: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, words, note
) -> None:
    found = Revision(commit="1a2b", branch="trunk", note="Copy less")
    monkeypatch.setattr(revision, "git_revision", lambda: found)
    assert advisor("ingest", night, "--git", *words).status == 0
    assert runs(advisor, "branch, note") == [{"branch": "trunk", "note": note}]


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


ODD = "m\udcfcller"  # what Python makes of a name in Latin-1


def test_stores_names_that_are_not_utf_8_escaped(
    advisor: Run, night: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    profile = tmp_path / "in" / f"{ODD}.ncu-rep"
    profile.write_bytes(Path(night).read_bytes())
    (tmp_path / "in" / "second.ncu-rep").write_bytes(Path(night.replace("01", "02")).read_bytes())
    words = ("--label", ODD, "--config", ODD, "--commit", ODD, "--branch", ODD, "--tag", ODD)
    assert advisor("ingest", str(tmp_path / "in"), *words).status == 0
    columns = 'label, configuration, "commit", branch, tags'
    escaped = "m\\udcfcller"
    both = [{**dict.fromkeys(["label", "configuration", "commit", "branch"], escaped),
             "tags": [escaped]}] * 2  # fmt: skip
    assert runs(advisor, columns) == both
    names = {str(row["name"]) for row in runs(advisor, "name")}
    assert f"{tmp_path}/in/{escaped}.ncu-rep" in names
    assert "Kernels" in advisor("report", ODD).out
    sql = f"select count(*) as n from runs where label = '{ODD}'"
    assert json.loads(advisor("query", sql, "--format", "json").out) == [{"n": 2}]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(os.fsencode(sql))))
    assert json.loads(advisor("query", "--format", "json").out) == [{"n": 2}]


def test_tells_what_is_left_out_of_a_file_whose_name_is_not_utf_8(
    advisor: Run, night: str, tmp_path: Path
) -> None:
    content = Path(night).read_bytes()
    (tmp_path / f"{ODD}.ncu-rep").write_bytes(content[: len(content) // 2])
    words = ("--allow-truncated", str(tmp_path / f"{ODD}.ncu-rep"))
    assert advisor("ingest", *words).status == 0
    (run,) = runs(advisor, "skipped_reasons")
    (reason,) = json.loads(str(run["skipped_reasons"]))
    assert "m\\udcfcller.ncu-rep" in reason["place"]


def test_spools_and_merges_names_that_are_not_utf_8(
    advisor: Run, night: str, tmp_path: Path
) -> None:
    profile, spool = tmp_path / f"{ODD}.ncu-rep", str(tmp_path / "spool")
    profile.write_bytes(Path(night).read_bytes())
    assert advisor("ingest", str(profile), "--spool", spool, "--label", ODD).status == 0
    assert advisor("db", "merge", spool).out.startswith("new ")
    assert runs(advisor, "label") == [{"label": "m\\udcfcller"}]


@pytest.mark.parametrize("words", [("report",), ("runs", "show"), ("runs", "remove", "--yes")])
def test_a_name_that_is_not_utf_8_is_no_run(filled: Run, words: tuple[str, ...]) -> None:
    outcome = filled(*words, "\udcff")
    assert outcome.status == 2
    assert "there is no run" in outcome.err


def test_takes_empty_texts_for_missing_ones_and_every_tag_once(advisor: Run, night: str) -> None:
    empty = ("--label", "", "--config", "", "--commit", "", "--branch", "")
    tags = ("--tag", "", "--tag", "b", "--tag", "a", "--tag", "b")
    assert advisor("ingest", night, *empty, *tags).status == 0
    assert runs(advisor, 'label, configuration, "commit", branch, tags') == [
        {"label": None, "configuration": None, "commit": None, "branch": None, "tags": ["b", "a"]}
    ]


@pytest.mark.parametrize("option", ["--spool", "DIR", "--done"])
def test_refuses_a_directory_without_a_name(
    advisor: Run, night: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {
        "--spool": ("ingest", night, "--spool", ""),
        "DIR": ("db", "merge", ""),
        "--done": ("db", "merge", ".", "--done", ""),
    }
    monkeypatch.chdir(tmp_path)
    outcome = advisor(*words[option])
    assert outcome.status == 2
    assert "the name of a directory is empty" in outcome.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("at", ["0001-01-01T00:00+14:00", "9999-12-31T23:59-10:00"])
def test_says_when_a_time_is_beyond_all_calendars(advisor: Run, night: str, at: str) -> None:
    outcome = advisor("ingest", night, "--at", at)
    assert outcome.status == 2
    assert "is no time such as" in outcome.err


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "0"])
def test_a_step_takes_some_seconds(advisor: Run, night: str, text: str, tmp_path: Path) -> None:
    outcome = advisor("ingest", night, "--step-time", text, "--spool", str(tmp_path / "spool"))
    assert outcome.status == 2
    assert "--step-time" in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_needs_no_repository_where_commit_and_branch_are_named(
    advisor: Run, night: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    words = ("--git", "--commit", "c", "--branch", "b")
    assert advisor("ingest", night, *words).status == 0
    assert runs(advisor, '"commit", branch') == [{"commit": "c", "branch": "b"}]


def test_says_what_is_not_stored_of_a_known_run(advisor: Run, night: str, tmp_path: Path) -> None:
    program = f"advisor --db {tmp_path / 'test.duckdb'}"
    first = ("--label", "A", "--commit", "c1", "--tag", "x", "--at", "2026-11-20")
    assert "not stored" not in advisor("ingest", night, *first).err
    assert "not stored" not in advisor("ingest", night, *first).err
    more = ("--label", "B", "--commit", "c2", "--step-time", "3", "--tag", "x", "--tag", "y")
    outcome = advisor("ingest", night, *more, "--at", "2026-11-21")
    assert outcome.status == 0
    assert outcome.out.startswith("known ")
    run = outcome.out.split()[1]
    assert (
        f"  note on {night}: not stored: tag y, label B (it has A), commit c2 (it has c1), "
        "step time 3.0 (it has none), at 2026-11-21 00:00:00 (it has 2026-11-20 "
        f"00:00:00); to change that, `{program} runs label {run} --label B --commit c2 "
        f"--at '2026-11-21 00:00:00' --tag y`; for the rest `{program} runs remove {run}` and "
        "ingest it again\n"
    ) in outcome.err
    again = advisor("ingest", night, "--label", "a b").err
    assert f"to change that, `{program} runs label {run} --label 'a b'`\n" in again
    assert advisor("runs", "label", run, "--at", "2026-11-21 00:00:00").status == 0


def test_says_what_is_not_stored_of_a_known_bundle(
    advisor: Run, night: str, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    advisor("ingest", night, "--spool", str(spool), "--label", "A")
    outcome = advisor("ingest", night, "--spool", str(spool), "--label", "B", "--commit", "c")
    (bundle,) = spool.iterdir()
    assert (
        "not stored: label B (it has A), commit c (it has none); "
        f"to change that, remove {bundle} and spool it again"
    ) in outcome.err
    advisor("ingest", night, "--label", "C")
    merged = advisor("db", "merge", str(spool)).err
    assert "not stored: label A (it has C)" in merged
    assert f"`advisor --db {tmp_path / 'test.duckdb'} runs label " in merged


def test_tells_once_of_many_that_keep_their_labels(
    advisor: Run, night: str, tmp_path: Path
) -> None:
    profiles = [str(path) for path in sorted(Path(night).parent.glob("*.ncu-rep"))[:3]]
    advisor("ingest", *profiles, "--label", "monday")
    again = advisor("ingest", *profiles, "--label", "tuesday")
    assert (again.status, again.err.count("labels")) == (0, 1)
    assert "3 known profiles keep their labels" in again.err
    assert f"`advisor --db {tmp_path / 'test.duckdb'} runs label RUN…` changes them" in again.err


def test_a_name_forges_no_line(advisor: Run, night: str, tmp_path: Path) -> None:
    profile = tmp_path / "a\nnew      000000000000  1 launch  forged.ncu-rep"
    profile.write_bytes(Path(night).read_bytes())
    done = advisor("ingest", str(profile))
    assert done.status == 0
    assert not any(line.startswith("new      0000") for line in done.out.splitlines())
    assert r"a\nnew" in done.out
