"""How much is read in detail: of a run stored with a sample, with all and with none."""

from __future__ import annotations

import io
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from advisor.api.reporting import render_report
from advisor.database.connect import open_for_reading
from advisor.ingest.batches import Ingested
from advisor.ingest.detail import DETAILS, Detail, launches_in_detail, more_detail
from advisor.ingest.profiles import ingest_paths
from advisor.ingest.records import HowToRead, RunLabels
from advisor.ingest.spool import merge_spool, spool_paths
from advisor.model import Launch, ReferenceFinding, Session
from seed.simulation.ncu_encoder import write_report

LAUNCHES, SAMPLE = 20, 16
SAID = ReferenceFinding(rule="Occupancy", text="limited by registers", severity="warning")
LAUNCH = Launch(
    index=0,
    kernel_name="scale(float *)",
    grid=(4, 1, 1),
    block=(32, 1, 1),
    instructions={"inst_executed": {0x7F10: 2.0}},
    reference_findings=(SAID,),
)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of twenty launches of a kernel, of 1 to 20 microseconds."""
    path = tmp_path_factory.mktemp("profile") / "a.ncu-rep"
    launches = [
        replace(LAUNCH, index=n, counters={"gpu__time_duration.sum": 1000.0 * (n + 1)})
        for n in range(LAUNCHES)
    ]
    stream = io.BytesIO()
    write_report(stream, Session(profiler="ncu", profiler_version="2024.1.1.0"), launches)
    path.write_bytes(stream.getvalue())
    return path


def stored(database: Path, profile: Path, detail: Detail) -> Ingested:
    (result,) = ingest_paths(
        str(database), [str(profile)], labels=RunLabels(), how=HowToRead(detail=detail), wait=10
    )
    return result


@pytest.fixture(scope="module")
def databases(profile: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[Detail, Path]:
    """Return a database of the report for each detail, to copy."""
    folder = tmp_path_factory.mktemp("detail")
    made = {detail: folder / f"{detail}.duckdb" for detail in DETAILS}
    assert [stored(made[detail], profile, detail).status for detail in DETAILS] == ["new"] * 3
    return made


def one(database: Path, query: str) -> object:
    with open_for_reading(str(database)) as connection:
        ((value,),) = connection.execute(query).fetchall()
        return value


def test_a_sample_is_sixteen_launches() -> None:
    assert [launches_in_detail(detail) for detail in DETAILS] == [None, SAMPLE, 0]


@pytest.mark.parametrize(("detail", "read"), [("all", LAUNCHES), ("sample", SAMPLE), ("none", 0)])
def test_keeps_detail_of_so_many_launches(
    databases: dict[Detail, Path], detail: Detail, read: int
) -> None:
    database = databases[detail]
    assert one(database, "SELECT count(*) FROM reference_finding") == read
    assert one(database, "SELECT coalesce(sum(values[1]), 0) FROM variant_instruction") == 2 * read
    assert one(database, "SELECT launches_detailed FROM run") == read
    assert one(database, "SELECT launches_detailed FROM variant") == read
    # 1 + 2 + … + 20 microseconds: counters are of all launches.
    assert one(database, "SELECT duration FROM variant") == pytest.approx(210e-6)
    (text,) = render_report(str(database), "latest", wait=10).values()
    page = " ".join(text.split())
    assert (f"{read} of 20 launches" in page) == (detail != "all")


def test_the_id_of_a_run_does_not_follow_from_its_detail(databases: dict[Detail, Path]) -> None:
    ids = {one(database, "SELECT run_id FROM run") for database in databases.values()}
    assert len(ids) == 1


@pytest.mark.parametrize(
    ("first", "then", "noted"),
    [
        ("sample", "all", "16 of 20 launches"),
        ("none", "all", "0 of 20 launches"),
        ("none", "sample", "0 of 20 launches"),
        ("sample", "sample", None),
        ("sample", "none", None),
        ("all", "all", None),
    ],
)
def test_a_known_run_keeps_its_detail_and_says_how_to_get_more(
    tmp_path: Path,
    profile: Path,
    databases: dict[Detail, Path],
    first: Detail,
    then: Detail,
    noted: str | None,
) -> None:
    database = Path(shutil.copy(databases[first], tmp_path / "d.duckdb"))
    before = one(database, "SELECT launches_detailed FROM run")
    again = stored(database, profile, then)
    assert again.status == "known"
    assert one(database, "SELECT launches_detailed FROM run") == before
    if noted is None:
        assert again.notes == ()
    else:
        (note,) = again.notes
        assert note.startswith(noted)
        assert f"`advisor --db {database} runs remove {again.run_id}`" in note
        assert note.endswith(f"--detail {then}")


def test_a_sample_asks_for_no_more_where_no_launch_was_to_be_read() -> None:
    assert not more_detail("sample", 0, 0)


def test_a_bundle_keeps_the_detail_that_was_asked_for(tmp_path: Path, profile: Path) -> None:
    spool, database = str(tmp_path / "spool"), tmp_path / "d.duckdb"
    how = HowToRead(detail="all")
    [*spool_paths(spool, [str(profile)], labels=RunLabels(), how=how)]
    [*merge_spool(str(database), spool, wait=10)]
    assert one(database, "SELECT launches_detailed FROM run") == LAUNCHES
