"""What is made once for all tests of a session, also where they run in several processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from advisor.database.connect import open_for_reading
from advisor.ingest.batches import ProfileWriter
from advisor.ingest.profiles import RunLabels, ingest_paths, read_profiles
from advisor.knowledge.load import load_knowledge
from advisor.resources import data_dir


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a file that the first process to ask makes; the others wait for it."""
    folder = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # the one that the processes of a session share
    path = folder / name
    with _only_one(folder / f"{name}.lock"):
        if not path.exists():
            unfinished = folder / f"unfinished-{name}"
            unfinished.unlink(missing_ok=True)
            make(unfinished)
            unfinished.rename(path)
    return path


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    """Let one process at a time in."""
    if os.name == "nt":
        import msvcrt

        with lock.open("wb") as file:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            yield
        return
    import fcntl

    with lock.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def ingest_all(database: Path, folders: Iterable[Path]) -> None:
    """Ingest every profile below some folders; what is no profile is refused."""
    results = list(
        ingest_paths(str(database), [str(f) for f in folders], labels=RunLabels(), wait=0)
    )
    assert any(result.status == "new" for result in results)


def ingest_nights(database: Path | str, nights: Mapping[int, RunLabels]) -> None:
    """Ingest simulated nights by their numbers, each with labels of its own, at once."""
    folder = data_dir("seed") / "runs" / "nightly"
    ingest_together(
        database,
        {str(folder / f"night-{number:02}.ncu-rep"): labels for number, labels in nights.items()},
    )


def ingest_together(database: Path | str, files: Mapping[str, RunLabels]) -> None:
    """Ingest new profiles, each with labels of its own, at once: which takes as long as one."""
    profiles = (
        profile
        for path, labels in files.items()
        for profile in read_profiles([path], labels=labels)
    )
    stored = ProfileWriter(str(database), load_knowledge(), wait=10).store(profiles)
    assert [result.status for result in stored] == ["new"] * len(files)


def runs_of(database: Path) -> dict[str, str]:
    """Return the ids of the runs by the paths of their files."""
    with open_for_reading(database) as connection:
        found = connection.execute("SELECT name, run_id FROM run").fetchall()
    return {str(name): str(run_id) for name, run_id in found}
