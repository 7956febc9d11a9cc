"""What becomes of files that cannot be read, that change, or that hold no profile."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.ingest.batches import Ingested, ProfileWriter
from advisor.ingest.profiles import read_profiles
from advisor.ingest.records import Profile, RunLabels
from advisor.ingest.spool import spool_paths
from advisor.knowledge.load import load_knowledge
from advisor.resources import data_dir

pytestmark = pytest.mark.usefixtures("unjudged")

NIGHT = data_dir("seed") / "runs" / "nightly" / "night-01.ncu-rep"


def outcomes(*paths: Path) -> dict[str, str]:
    """Return what becomes of each file: the run's id, or the status and why."""
    found = {}
    for each in read_profiles([str(path) for path in paths], labels=RunLabels()):
        if isinstance(each, Profile):
            found[each.source.name] = "read"
        else:
            found[each.name] = f"{each.status}: {each.error and each.error.problem}"
    return found


def stored(folder: Path, profiles: Iterator[Profile | Ingested]) -> list[Ingested]:
    return list(ProfileWriter(str(folder / "a.duckdb"), load_knowledge(), wait=10).store(profiles))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that fails to be read")
def test_refuses_only_the_file_that_fails_while_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.ncu-rep").symlink_to("/proc/self/mem")
    (tmp_path / "b.ncu-rep").write_bytes(NIGHT.read_bytes())
    assert outcomes(tmp_path / "a.ncu-rep", tmp_path / "b.ncu-rep") == {
        str(tmp_path / "a.ncu-rep"): "refused: cannot be read: Input/output error",
        str(tmp_path / "b.ncu-rep"): "read",
    }


@pytest.mark.parametrize("replaced", [False, True])
def test_refuses_a_file_that_changed_after_it_was_hashed(tmp_path: Path, replaced: bool) -> None:
    path, other = tmp_path / "a.ncu-rep", tmp_path / "b.ncu-rep"
    path.write_bytes(NIGHT.read_bytes())

    def changing() -> Iterator[Profile | Ingested]:
        yield from read_profiles([str(path)], labels=RunLabels())
        if replaced:
            other.write_bytes(NIGHT.with_name("night-02.ncu-rep").read_bytes())
            other.replace(path)
        else:
            path.write_bytes(NIGHT.with_name("night-02.ncu-rep").read_bytes())

    (result,) = stored(tmp_path, changing())
    assert result.error is not None
    assert str(result.error) == f"{path}: changed while it was read"
    assert "ingest it again" in str(result.error.hint)
    (again,) = stored(tmp_path, read_profiles([str(path)], labels=RunLabels()))
    assert again.status == "new"


def test_takes_a_file_below_a_directory_that_vanishes_for_refused(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.ncu-rep").write_bytes(NIGHT.read_bytes())

    def vanishing() -> Iterator[Profile | Ingested]:
        yield from read_profiles([str(tmp_path)], labels=RunLabels())
        (tmp_path / "a.ncu-rep").unlink()

    first, second = stored(tmp_path, vanishing())
    assert isinstance(first.error, InputError)
    assert (first.status, second.status) == ("refused", "new")


def test_spools_no_file_that_changes_while_it_is_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, spool = tmp_path / "a.ncu-rep", tmp_path / "spool"
    path.write_bytes(NIGHT.read_bytes())
    check = Profile.check_unchanged

    def change_after(profile: Profile) -> None:
        check(profile)
        path.write_bytes(NIGHT.with_name("night-02.ncu-rep").read_bytes())

    monkeypatch.setattr(Profile, "check_unchanged", change_after)
    (result,) = spool_paths(str(spool), [str(path)], labels=RunLabels())
    assert "changed while it was read" in str(result.error)
    assert not list(spool.iterdir())


def test_skips_archives_below_a_directory_that_hold_no_profile(tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "night.ncu-rep").write_bytes(NIGHT.read_bytes())
    (folder / "log.gz").write_bytes(gzip.compress(b"all is well"))
    (folder / "damaged.ncu-rep.gz").write_bytes(gzip.compress(b"no report"))
    for name, members in (("one.zip", "a"), ("two.zip", "ab")):
        with zipfile.ZipFile(folder / name, "w") as archive:
            for member in members:
                archive.writestr(member, "all is well")
    with tarfile.open(folder / "source.tar.gz", "w:gz") as tar:
        tar.add(__file__, "test.py")
    found = outcomes(folder)
    problem = found.pop(str(folder / "damaged.ncu-rep.gz"))
    assert problem.startswith("refused: not a profile")
    assert found.pop(str(folder / "night.ncu-rep")) == "read"
    archives = [folder / name for name in ("log.gz", "one.zip", "source.tar.gz", "two.zip")]
    assert found == {str(path): "skipped: None" for path in archives}
    for path in archives:
        (named,) = outcomes(path).values()
        assert named.startswith("refused")
