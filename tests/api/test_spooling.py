from __future__ import annotations

import errno
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.errors import AdvisorError, DatabaseError, InputError
from advisor.ingest.batches import Ingested
from advisor.ingest.bundles import unpack
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.ingest.spool import merge_spool, spool_paths
from advisor.resources import data_dir

pytestmark = pytest.mark.usefixtures("unjudged")

NIGHTS = sorted((data_dir("seed") / "runs" / "nightly").glob("*.ncu-rep"))


@pytest.fixture(scope="session")
def spooled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a spool of two bundles to copy."""
    path = tmp_path_factory.mktemp("spooled") / "spool"
    labels = RunLabels(label="l", tags=("t",), step_time=1.0)
    list(spool_paths(str(path), [str(night) for night in NIGHTS[:2]], labels=labels))
    return path


@pytest.fixture
def spool(spooled: Path, tmp_path: Path) -> Path:
    """Return a spool of two bundles, the first of which tests change."""
    return Path(shutil.copytree(spooled, tmp_path / "spool"))


@pytest.fixture
def database(tmp_path: Path) -> str:
    """Return where a database can be made."""
    return str(tmp_path / "test.duckdb")


def bundles(spool: Path) -> list[Path]:
    return sorted(spool.glob("*.bundle"))


def manifest_of(bundle: Path) -> dict[str, Any]:
    with zipfile.ZipFile(bundle) as archive:
        manifest: dict[str, Any] = json.loads(archive.read("manifest.json"))
    return manifest


def repacked(bundle: Path, manifest: bytes, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(buffer, "w", compression) as new:
        new.writestr("manifest.json", manifest)
        new.writestr("profile", old.read("profile"))
    return buffer.getvalue()


def merged(database: str, spool: Path, **more: Any) -> list[Ingested]:
    return list(merge_spool(database, str(spool), wait=10, **more))


def refused_first(results: list[Ingested], bundle: Path) -> AdvisorError:
    """Return why the first one is refused, after making sure that the other one is loaded."""
    assert [result.status for result in results] == ["refused", "new"]
    error = results[0].error
    assert error is not None
    assert str(error).startswith(f"{bundle}: the bundle cannot be read: ")
    assert error.hint is not None
    return error


@pytest.mark.parametrize("bytes_left", [0, 100, -200])
def test_a_damaged_bundle_is_replaced_when_its_profile_is_spooled_again(
    spool: Path, database: str, bytes_left: int
) -> None:
    bundle = bundles(spool)[0]
    whole = bundle.read_bytes()
    name = manifest_of(bundle)["name"]
    bundle.write_bytes(whole[:bytes_left])
    again = [*spool_paths(str(spool), [name], labels=RunLabels(label="again"))]
    assert [(result.status, result.notes) for result in again] == [("new", ())]
    assert [path.name for path in spool.iterdir() if path.suffix != ".bundle"] == []
    assert [result.status for result in merged(database, spool)] == ["new", "new"]


def test_a_bundle_with_other_bytes_is_replaced(spool: Path) -> None:
    first, second = bundles(spool)
    name = manifest_of(first)["name"]
    first.write_bytes(second.read_bytes())
    (again,) = spool_paths(str(spool), [name], labels=RunLabels())
    assert again.status == "new"
    assert unpack(first, spool / "scratch").digest == first.stem


def nested(depth: int) -> object:
    """Return a list in a list, and so on."""
    return [nested(depth - 1)] if depth else []


def labelled(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    """Return what gives a manifest one label more, or another value of one."""
    return lambda told: told | {"labels": told["labels"] | {name: value}}


BAD_MANIFESTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "no object": lambda told: [told],
    "nothing in it": lambda _: {},
    "a version that is true": lambda told: told | {"version": True},
    "a version before the first": lambda told: told | {"version": "1"},
    "a size below 0": lambda told: told | {"size": -5},
    "a size that is true": lambda told: told | {"size": True},
    "a name that is a number": lambda told: told | {"name": 5},
    "a name of a megabyte": lambda told: told | {"name": "x" * 1_000_000},
    "lists in lists in lists": lambda told: told | {"labels": nested(900)},
    "a format that is none": lambda told: told | {"format": None},
    "a flag that is a text": lambda told: told | {"allow_truncated": "no"},
    "labels in a list": lambda told: told | {"labels": ["l"]},
    **{
        f"{name} {value!r:.20}": labelled(name, value)
        for name, value in (
            ("label", 5),
            ("label", {"a": 1}),
            ("tags", [1, None, {}]),
            ("tags", None),
            ("step_time", float("nan")),
            ("step_time", -3),
            ("step_time", 0),
            ("step_time", True),
            ("step_time", "abc"),
            ("step_time", 10**400),
            ("note", 5),
            ("note", "x" * 1_000_000),
            ("tags", [*map(str, range(101))]),
            ("tags", ["x" * 5000]),
            ("rank", -1),
            ("rank", True),
            ("rank", 2**31),
            ("at", "yesterday"),
            ("at", "2026-11-20T03:00+01:00"),
            ("colour", "red"),
        )
    },
}


@pytest.mark.parametrize("change", BAD_MANIFESTS.values(), ids=BAD_MANIFESTS)
def test_refuses_a_manifest_that_tells_odd_things(
    spool: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    bundle = bundles(spool)[0]
    bundle.write_bytes(repacked(bundle, json.dumps(change(manifest_of(bundle))).encode()))
    with pytest.raises(InputError, match="the bundle cannot be read: ") as caught:
        unpack(bundle, spool / "scratch")
    assert caught.value.hint == "spool the profile again, or remove the bundle"


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("format", "nope", "no format is called 'nope'"),
        ("version", 2, "version 2 of bundles is not known"),
    ],
)
def test_says_that_a_bundle_may_be_of_a_newer_version(
    spool: Path, database: str, key: str, value: object, problem: str
) -> None:
    bundle = bundles(spool)[0]
    manifest = manifest_of(bundle) | {key: value}
    bundle.write_bytes(repacked(bundle, json.dumps(manifest).encode()))
    error = refused_first(merged(database, spool), bundle)
    assert problem in str(error)
    assert "or a newer one" in str(error.hint)


def test_loads_a_name_that_is_no_unicode(spool: Path, database: str) -> None:
    bundle = bundles(spool)[0]
    manifest = manifest_of(bundle) | {"name": "\ud800"}
    bundle.write_bytes(repacked(bundle, json.dumps(manifest).encode()))
    assert [result.status for result in merged(database, spool)] == ["new", "new"]


def test_a_manifest_that_unpacks_to_much_is_not_read(spool: Path, database: str) -> None:
    bundle = bundles(spool)[0]
    bundle.write_bytes(repacked(bundle, b" " * 40_000_000))
    code = (
        "import resource, sys; from advisor.ingest.bundles import read_wishes\n"
        "from pathlib import Path\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: read_wishes(Path(sys.argv[1]))\n"
        "except Exception as error: print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    command = [sys.executable, "-c", code, str(bundle)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    problem, kilobytes = done.stdout.splitlines()
    assert "its manifest has more than 16,777,216 bytes" in problem
    assert int(kilobytes) < 36_000
    refused_first(merged(database, spool), bundle)


def test_a_bundle_packed_in_another_way_is_not_unpacked(spool: Path, database: str) -> None:
    bundle = bundles(spool)[0]
    manifest = json.dumps(manifest_of(bundle)).encode()
    bundle.write_bytes(repacked(bundle, manifest, zipfile.ZIP_LZMA))
    assert "manifest.json is packed in a way" in str(refused_first(merged(database, spool), bundle))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("nowhere")])
def test_what_is_no_file_is_no_bundle(
    spool: Path, database: str, make: Callable[[Path], None]
) -> None:
    bundle = bundles(spool)[0]
    bundle.unlink()
    make(bundle)
    refused_first(merged(database, spool), bundle)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_bundle_is_read_or_refused_whatever_is_wrong_with_it(
    spooled: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bundles(spooled)[0]
    bundle = tmp_path_factory.mktemp("fuzz") / whole.name
    content = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        # The end holds the directory of the archive, the beginning the manifest.
        where = data.draw(st.one_of(st.integers(0, 600), st.integers(-300, -1)))
        content[where] = data.draw(st.integers(0, 255))
    bundle.write_bytes(content)
    try:
        profile = unpack(bundle, bundle.with_name("scratch"))
    except InputError:
        return
    assert profile.digest == bundle.stem


def test_a_spool_that_cannot_be_read_is_not_called_empty(
    spool: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: object, *_: object) -> list[str]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(os, "listdir", denied)
    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(InputError, match="spool: the spool cannot be read: Permission denied"):
        merged(database, spool)


def test_looks_where_loaded_bundles_go_before_it_loads_one(spool: Path, database: str) -> None:
    with pytest.raises(DatabaseError, match="the directory cannot be made: Not a directory"):
        merged(database, spool, done=str(bundles(spool)[0] / "done"))
    assert not Path(database).exists()


def test_moves_bundles_to_another_file_system(
    spool: Path, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.replace

    def replace(path: Path, target: Path) -> Path:
        if path.is_relative_to(spool) and not target.is_relative_to(spool):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    done = tmp_path / "done"
    contents = {bundle.name: bundle.read_bytes() for bundle in bundles(spool)}
    results = merged(database, spool, done=str(done))
    assert [result.status for result in results] == ["new", "new"]
    assert list(spool.iterdir()) == []
    assert {path.name: path.read_bytes() for path in done.iterdir()} == contents


def test_loads_the_others_where_a_bundle_cannot_be_moved(
    spool: Path, database: str, tmp_path: Path
) -> None:
    first, second = bundles(spool)
    (tmp_path / "done" / first.name).mkdir(parents=True)
    results = merge_spool(database, str(spool), done=str(tmp_path / "done"), wait=10)
    assert [next(results).status, next(results).status] == ["new", "new"]
    with pytest.raises(DatabaseError, match="1 bundle cannot be moved") as caught:
        next(results)
    assert first.name in str(caught.value)
    assert bundles(spool) == [first]
    assert (tmp_path / "done" / second.name).is_file()


def test_takes_a_bundle_that_is_gone_as_moved_by_who_loaded_it(
    spool: Path, database: str, tmp_path: Path
) -> None:
    """Another process loads and moves both while this one reads the first."""
    done = str(tmp_path / "done")

    def other(text: str) -> None:
        if text.startswith("1 of 2: "):
            merged(database, spool, done=done)

    results = merge_spool(database, str(spool), done=done, wait=10, progress=other)
    assert [result.status for result in results] == ["known", "known"]
    assert len(bundles(tmp_path / "done")) == 2


def test_refuses_a_bundle_that_is_gone_and_was_not_loaded(spool: Path, database: str) -> None:
    def gone(text: str) -> None:
        if text.startswith("2 of 2: "):
            bundles(spool)[1].unlink()

    results = merge_spool(database, str(spool), wait=10, progress=gone)
    assert [result.status for result in results] == ["new", "refused"]


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked")
def test_tidies_up_after_the_killed_where_nothing_is_left_to_load(
    tmp_path: Path, database: str
) -> None:
    (tmp_path / "spool").mkdir()
    left = tmp_path / ".test.duckdb.advisor-scratch-0a1b2c3d"
    left.mkdir()
    assert list(merge_spool(database, str(tmp_path / "spool"), wait=10)) == []
    assert not left.exists()


def test_a_known_run_needs_no_whole_bundle(spool: Path, database: str) -> None:
    list(ingest_paths(database, [str(night) for night in NIGHTS[:2]], labels=RunLabels(), wait=10))
    bundles(spool)[0].write_bytes(b"")
    assert [result.status for result in merged(database, spool)] == ["known", "known"]
