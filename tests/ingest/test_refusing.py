"""What is wrong with one profile refuses that one and harms no other."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.database.connect import open_for_reading
from advisor.database.draft import open_draft
from advisor.ingest.batches import Ingested, ProfileWriter
from advisor.ingest.profiles import ingest_paths
from advisor.ingest.records import Profile, RunLabels
from advisor.ingest.spool import merge_spool, spool_paths
from advisor.knowledge.load import load_knowledge
from advisor.model import Keyed, Launch, Record, Session
from advisor.readers import ReadOptions, Source
from advisor.readers.ncu import report as ncu_report
from seed.simulation.ncu_encoder import write_report

pytestmark = pytest.mark.usefixtures("unjudged")

OPCODES = "sass__inst_executed_per_opcode"
NO_KEY = Keyed(keys=(), values=())
ZEROS = Keyed(keys=("FFMA", "LDG"), values=(0.0, 0.0))
ONE = Keyed(keys=("FFMA",), values=(3.0,))
TWICE = ReadOptions(keyed=frozenset({OPCODES}))


def report(keyed: Keyed | None = None, duration: float = 1000.0) -> bytes:
    stream = io.BytesIO()
    launch = Launch(
        index=0,
        kernel_name="scale(float *)",
        grid=(4, 1, 1),
        block=(32, 1, 1),
        counters={"gpu__time_duration.sum": duration},
        keyed={} if keyed is None else {OPCODES: keyed},
    )
    write_report(stream, Session(profiler="ncu", profiler_version="2024.1.1.0"), [launch])
    return stream.getvalue()


class Odd:
    """A reader whose launches hold what no reader of the project gives."""

    FORMAT = "odd"
    COUNTERS = "ncu"

    def __init__(self, launch: Callable[[], Launch]) -> None:
        self._launch = launch

    def accepts(self, head: bytes) -> bool:
        return bool(head)

    def read(self, source: Source, options: ReadOptions) -> Iterator[Record]:
        del source, options
        yield Session(profiler="ncu")
        yield self._launch()


def far_behind() -> Launch:
    return Launch(index=2**70, kernel_name="k", counters={"gpu__time_duration.sum": 1.0})


def odd_stream() -> Launch:
    counters = {"gpu__time_duration.sum": 1.0}
    return Launch(index=0, kernel_name="k", stream=2**80, counters=counters)


def profile(content: bytes, number: int, name: str = "good") -> Profile:
    source = Source(name=f"{name}{number}", content=content)
    return Profile(source=source, reader=ncu_report, digest=f"{number:064x}"[::-1])


def stored(database: Path) -> list[str]:
    with open_for_reading(str(database)) as connection:
        rows = connection.execute("SELECT name FROM run ORDER BY name").fetchall()
        return [name for (name,) in rows]


@pytest.mark.parametrize("keyed", [NO_KEY, ZEROS])
def test_takes_a_counter_by_key_that_says_nothing_as_absent(keyed: Keyed) -> None:
    records = [*ncu_report.read(Source(name="a", content=report(keyed)), TWICE)]
    assert [each.keyed for each in records if isinstance(each, Launch)] == [{}]


def test_stores_counters_by_key_that_say_nothing_and_merges_them(tmp_path: Path) -> None:
    names = []
    for number, keyed in enumerate((NO_KEY, ZEROS, ONE)):
        path = tmp_path / f"{number}.ncu-rep"
        path.write_bytes(report(keyed))
        names.append(str(path))
    database, spool = str(tmp_path / "a.duckdb"), str(tmp_path / "spool")
    spooled = [*spool_paths(spool, names, labels=RunLabels())]
    assert [each.status for each in spooled] == ["new"] * 3
    assert [each.status for each in merge_spool(database, spool, wait=9)] == ["new"] * 3
    found = [*ingest_paths(database, names, labels=RunLabels(), wait=9)]
    assert [each.status for each in found] == ["known"] * 3


def test_damaged_profiles_cost_no_draft_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts: list[object] = []

    def opened(*words: Any, **options: Any) -> Any:
        drafts.append(words)
        return open_draft(*words, **options)

    monkeypatch.setattr("advisor.ingest.batches.open_draft", opened)
    whole = report()
    damaged = [profile(whole[: -n - 1], n, "damaged") for n in range(40)]
    group = [*damaged[:20], profile(whole, 50), *damaged[20:], profile(whole[:-1], 0, "again")]
    writer = ProfileWriter(str(tmp_path / "a.duckdb"), load_knowledge(), wait=9)
    results = [*writer.store(group)]
    expected = [*["refused"] * 20, "new", *["refused"] * 21]
    assert [each.status for each in results] == expected
    assert [each.name for each in results] == [each.source.name for each in group]
    for each in results:
        assert each.error is None or str(each.error).startswith(f"{each.name}: ")
    assert stored(tmp_path / "a.duckdb") == ["good50"]
    assert len(drafts) == 1


@pytest.mark.parametrize("launch", [far_behind, odd_stream])
def test_refuses_the_one_profile_whose_values_cannot_be_stored(
    tmp_path: Path, launch: Callable[[], Launch]
) -> None:
    source = Source(name="odd", content=b"odd")
    odd = Profile(source=source, reader=Odd(launch), digest="f" * 64)
    neighbours = [profile(report(duration=1000.0 + n), n) for n in range(1, 4)]
    writer = ProfileWriter(str(tmp_path / "a.duckdb"), load_knowledge(), wait=9)
    results: list[Ingested] = [*writer.store([neighbours[0], odd, *neighbours[1:]])]
    assert [each.status for each in results] == ["new", "refused", "new", "new"]
    error = results[1].error
    assert error is not None
    assert str(error).startswith("odd: what it holds cannot be stored: ")
    assert stored(tmp_path / "a.duckdb") == ["good1", "good2", "good3"]


def test_tells_profiles_apart_by_their_whole_hash(tmp_path: Path) -> None:
    digests = [f"{'ab' * 6}{end * 52}" for end in "01"]
    same_id = [
        Profile(
            source=Source(name=f"p{number}", content=report(duration=1000.0 + number)),
            reader=ncu_report,
            digest=digest,
        )
        for number, digest in enumerate(digests)
    ]
    assert same_id[0].run_id == same_id[1].run_id
    database = tmp_path / "a.duckdb"
    writer = ProfileWriter(str(database), load_knowledge(), wait=9)
    together = [*writer.store(same_id)]
    assert [each.status for each in together] == ["new", "refused"]
    later = [*writer.store(same_id)]
    assert [each.status for each in later] == ["known", "refused"]
    assert "another profile has the id abababababab" in str(later[1].error)
    assert stored(database) == ["p0"]
