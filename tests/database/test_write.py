from __future__ import annotations

import dataclasses
import itertools
import re
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path

import duckdb
import numpy as np
import pytest

from advisor.database import ids, launches, write
from advisor.database.arrays import ArrayTable, lists, objects, text_lists
from advisor.database.connect import ROW_GROUP, open_for_reading, open_for_writing
from advisor.database.launches import LaunchWriter
from advisor.database.marks import accept_levels
from advisor.database.parts import known_counts
from advisor.database.planning import memory_limit
from advisor.database.read import find_run, get_meta, list_runs, run_details
from advisor.database.rows import FindingRow, KernelRow, PlacedLaunch, RunRow, SeriesRow
from advisor.errors import UsageError
from advisor.model import Keyed, Launch, Place, ReferenceFinding
from tests.support.launches import insert_launches

RICH = Launch(
    index=0,
    kernel_name="k",
    grid=(8, 2, 1),
    block=(256, 1, 1),
    device=0,
    context=1,
    stream=7,
    process=99,
    started_at=1_712_195_495_505_583_251,
    nvtx=("outer", "inner, with a comma"),
    clock_locked=False,
    counters={"sm__x.sum": 3.0, "dram__y": 0.25},
    texts={"device__name": "A"},
    keyed={"ops": Keyed(keys=("FFMA", "EXIT"), values=(9.0, 1.0))},
    instructions={"stall": {0x10: 3.0, 0x7F0000000020: 4.0}},
    places={0x10: Place(opcode="LDG", line="a.cu:7")},
    reference_findings=(
        ReferenceFinding(rule="Rule", text="It's slow", estimate=0.25, focus=(("sm__x.sum", 3.0),)),
        ReferenceFinding(rule="Silent"),
    ),
    invalid_counters=2,
)
POOR = Launch(index=1, kernel_name="k")


def placed(launch: Launch, run_id: str = "run") -> PlacedLaunch:
    return PlacedLaunch(
        run_id=run_id,
        launch=launch,
        kernel_id="kernel",
        series_id="series",
        variant_id="variant",
        started_at=None if launch.started_at is None else 1.5,
    )


def test_stores_a_launch_as_it_was_read(database: Path) -> None:
    with open_for_writing(database) as connection:
        insert_launches(connection, [placed(RICH), placed(POOR)])
        columns = (
            "grid_size, grid_x, grid_y, block_size, device_ordinal, context, stream, process,"
            " started_at, nvtx, clock_locked, map(keys, counter_values), texts, invalid_counters"
        )
        rows = connection.execute(
            f"SELECT {columns} FROM launch"
            " LEFT JOIN key_set ON key_set.key_set = counter_keys"
            " LEFT JOIN text_set USING (text_set) ORDER BY launch_index"
        ).fetchall()
    rich, poor = rows
    assert rich[:9] == (16.0, 8.0, 2.0, 256.0, 0, 1, 7, 99, 1.5)
    assert rich[9:11] == (["outer", "inner, with a comma"], False)
    assert rich[11] == {"sm__x.sum": 3.0, "dram__y": 0.25}
    assert rich[12:] == ({"device__name": "A"}, 2)
    assert poor == (*(None,) * 13, 0)


def test_stores_lists_in_their_order_and_addresses_as_numbers(database: Path) -> None:
    with open_for_writing(database) as connection:
        insert_launches(connection, [placed(POOR), placed(RICH)])
        keyed = connection.execute(
            'SELECT run_id, launch_index, counter, keys, "values"'
            " FROM launch_keyed JOIN keyed_set USING (keyed_set) JOIN key_set USING (key_set)"
        ).fetchall()
        instructions = connection.execute("SELECT * FROM variant_instruction").fetchall()
    assert keyed == [("run", 0, "ops", ["FFMA", "EXIT"], [9.0, 1.0])]
    assert instructions == [("run", 0, "variant", "stall", [0x10, 0x7F0000000020], [3.0, 4.0])]


def test_adds_up_the_values_of_instructions_over_the_launches_of_a_variant(database: Path) -> None:
    more = dataclasses.replace(RICH, index=2, instructions={"stall": {0x10: 1.0, 0x30: 5.0}})
    other = dataclasses.replace(placed(RICH), variant_id="other")
    with open_for_writing(database) as connection:
        insert_launches(connection, [placed(RICH), other, placed(more)])
        rows = connection.execute(
            'SELECT variant_id, addresses, "values" FROM variant_instruction ORDER BY variant_id'
        ).fetchall()
    assert rows == [
        ("other", [0x10, 0x7F0000000020], [3.0, 4.0]),
        ("variant", [0x10, 0x30, 0x7F0000000020], [4.0, 5.0, 4.0]),
    ]


def test_stores_what_instructions_are_once_for_a_variant(database: Path) -> None:
    known = {
        0x10: Place(opcode="LDG", line="a.cu:7", code="abcd"),
        0x20: Place(opcode=None, line=None, code="abcd"),
    }
    launches = [dataclasses.replace(RICH, index=index, places=known) for index in range(2)]
    with open_for_writing(database) as connection:
        insert_launches(connection, [placed(launch) for launch in (*launches, POOR)])
        rows = connection.execute("SELECT * FROM variant_place").fetchall()
    assert rows == [("run", 0, "variant", [0x10, 0x20], ["LDG", None], ["a.cu:7", None], "abcd")]


def test_stores_what_launches_have_in_common_once(database: Path) -> None:
    twins = [placed(dataclasses.replace(RICH, index=index)) for index in range(3)]
    with open_for_writing(database) as connection:
        insert_launches(connection, twins[:2])
        insert_launches(connection, twins[2:])
        counts = [
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            for table in ("launch", "launch_keyed", "key_set", "text_set", "keyed_set")
        ]
    assert counts == [(3,), (3,), (2,), (1,), (1,)]


def test_stores_batch_after_batch(database: Path) -> None:
    launches = [Launch(index=n, kernel_name="k", counters={"a": 1.0}) for n in range(3000)]
    with open_for_writing(database) as connection:
        writer = LaunchWriter(connection)
        for start, end in itertools.pairwise((0, 1, 5, 5, 7, 1000, 1300, 3000)):
            writer.write([placed(launch) for launch in launches[start:end]])
        writer.finish()
        query = "SELECT count(*), sum(launch_index), sum(counter_values[1]) FROM launch"
        assert connection.execute(query).fetchone() == (3000, 2999 * 1500, 3000.0)


def test_stores_the_findings_of_the_vendor(database: Path) -> None:
    with open_for_writing(database) as connection:
        insert_launches(connection, [placed(RICH)])
        query = "SELECT launch_index, rule, text, estimate, focus FROM reference_finding"
        rows = connection.execute(query).fetchall()
    assert rows == [
        (0, "Rule", "It's slow", 0.25, {"sm__x.sum": 3.0}),
        (0, "Silent", "", None, None),
    ]


def test_stores_quantities_beside_their_launch_and_null_for_what_is_no_number(
    database: Path,
) -> None:
    columns = {
        "duration": np.array([np.nan, 1e-3]),
        "dram_bytes": np.array([64.0, np.inf]),
        "limiting_unit_reported": objects(["DRAM", None]),
    }
    with open_for_writing(database) as connection:
        insert_launches(
            connection,
            [placed(RICH), placed(POOR)],
            values=columns,
            quantities=lambda values, _: f"SELECT *, ['odd'] AS flags FROM {values}",
        )
        query = "SELECT duration, dram_bytes, limiting_unit_reported, flags FROM launch ORDER BY 1"
        rows = connection.execute(f"{query} NULLS LAST").fetchall()
    assert rows == [(1e-3, None, None, ["odd"]), (None, 64.0, "DRAM", ["odd"])]


def test_stores_quantities_that_only_some_batches_have(database: Path) -> None:
    batches = [
        {"duration": np.array([1.0])},
        {"duration": np.array([2.0]), "dram_bytes": np.array([64.0])},
        {"dram_bytes": np.array([32.0]), "limiting_unit_reported": objects(["DRAM"])},
        {"duration": np.array([3.0])},
    ]
    planned = []

    def quantities(values: str, names: Collection[str]) -> str:
        planned.append(set(names))
        return f"SELECT * FROM {values}"

    with open_for_writing(database) as connection:
        writer = LaunchWriter(connection, quantities)
        for index, values in enumerate(batches):
            writer.write([placed(Launch(index=index, kernel_name="k"))], values)
        writer.finish()
        query = "SELECT duration, dram_bytes, limiting_unit_reported FROM launch"
        rows = connection.execute(f"{query} ORDER BY launch_index").fetchall()
    assert rows == [(1, None, None), (2, 64, None), (None, 32, "DRAM"), (3, None, None)]
    first, second = {"duration"}, {"duration", "dram_bytes"}
    third = second | {"limiting_unit_reported"}
    assert planned == [first, second, third]  # and not again for what is known
    assert writer.valued == third


def test_reads_arrays_of_every_kind() -> None:
    with duckdb.connect() as connection:
        columns = {
            'a "b"': np.array([1.0, np.nan]),
            "infinite": np.array([-np.inf, 6.0]),
            "text": objects([None, "y"]),
            "count": np.array([1, 2]),
        }
        ArrayTable(connection, "t").fill(columns)
        rows = connection.execute("SELECT * FROM t").fetchall()
        assert rows == [(1.0, None, None, 1), (None, 6.0, "y", 2)]


def test_reads_lists_of_every_kind() -> None:
    with duckdb.connect() as connection:
        columns = {
            "numbers": lists([np.array([1.0, np.nan]), np.array([]), None, np.array([3.0])]),
            "counts": lists([np.array([2**62 + 1]), None, np.array([4, 5]), np.array([], int)]),
            "texts": text_lists([("a", None), None, (), ("ü",)]),
        }
        ArrayTable(connection, "t").fill(columns)
        rows = connection.execute("SELECT * FROM t").fetchall()
    assert rows == [
        ([1.0, None], [2**62 + 1], ["a", None]),
        ([], None, None),
        (None, [4, 5], []),
        ([3.0], [], ["ü"]),
    ]


def test_a_prepared_statement_reads_what_was_filled_last() -> None:
    with duckdb.connect() as connection:
        table = ArrayTable(connection, "t")
        table.fill({"x": np.array([1.0, 2.0]), "l": lists([np.array([1.0]), np.array([])])})
        connection.execute("PREPARE read AS SELECT sum(x), sum(len(l)), count(*) FROM t")
        table.fill({"x": np.arange(5000.0), "l": lists([np.arange(3.0)] * 5000)})
        many = connection.execute("EXECUTE read").fetchall()
        table.fill({"x": np.zeros(0), "l": lists([])})
        none = connection.execute("EXECUTE read").fetchall()
    assert many == [(4999 * 2500.0, 15000, 5000)]
    assert none == [(None, None, 0)]


def test_knows_a_run_that_it_has(database: Path, run: RunRow) -> None:
    with open_for_writing(database) as connection:
        assert not write.has_run(connection, run.run_id)
        write.insert_rows(connection, "run", [run])
        assert write.has_run(connection, run.run_id)
        with pytest.raises(duckdb.ConstraintException):
            write.insert_rows(connection, "run", [run])


def test_stores_a_kernel_and_a_series_once(database: Path) -> None:
    kernel = KernelRow(kernel_id="k", name="void f()", short_name="f", normalised_name="f")
    again = dataclasses.replace(kernel, name="f()")
    series = SeriesRow(series_id="s", kernel_id="k", problem_key="1")
    with open_for_writing(database) as connection:
        for _ in range(2):
            write.upsert_kernels(connection, [kernel, kernel])
            write.upsert_series(connection, [series])
        write.upsert_kernels(connection, [again])
        assert connection.execute("SELECT name FROM kernel").fetchall() == [("void f()",)]
        assert connection.execute("SELECT series_id FROM series").fetchall() == [("s",)]


def finding(run_id: str, rule_id: str) -> FindingRow:
    return FindingRow(
        run_id=run_id,
        rule_id=rule_id,
        rule_hash="h",
        subject="kernel",
        outcome="fires",
        severity="note",
        unchecked=("a guard",),
        gain_likely=1e-3,
    )


def test_findings_take_the_place_of_the_old_ones(database: Path) -> None:
    with open_for_writing(database) as connection:
        write.insert_findings(connection, "one", [finding("one", "a/a"), finding("one", "a/b")])
        write.insert_findings(connection, "two", [finding("two", "a/a")])
        write.insert_findings(connection, "one", [finding("one", "a/c")])
        query = "SELECT run_id, rule_id, gain_likely, gain_low, unchecked FROM finding ORDER BY 1"
        assert connection.execute(query).fetchall() == [
            ("one", "a/c", 1e-3, None, ["a guard"]),
            ("two", "a/a", 1e-3, None, ["a guard"]),
        ]


def test_removes_a_run_with_all_that_hangs_on_it(database: Path, run: RunRow) -> None:
    other = dataclasses.replace(run, run_id="other")
    with open_for_writing(database) as connection:
        for stored in (run, other):
            write.insert_rows(connection, "run", [stored])
            insert_launches(connection, [placed(RICH, stored.run_id)])
            write.insert_findings(connection, stored.run_id, [finding(stored.run_id, "a/a")])
            variant = (
                "run_id",
                "variant_id",
                "kernel_id",
                "series_id",
                "totals_hash",
                "facts_hash",
            )
            values = ", ".join("?" * len(variant))
            connection.execute(
                f"INSERT INTO variant ({', '.join(variant)}) VALUES ({values})",
                [stored.run_id, "v", "k", "s", "t", "f"],
            )
            accept_levels(connection, ["s"], stored.run_id, "wanted")
        assert write.remove_run(connection, run.run_id)
        assert not write.remove_run(connection, run.run_id)
        tables = connection.execute(
            "SELECT table_name FROM duckdb_columns() WHERE column_name = 'run_id'"
            " AND database_name = current_database()"
        ).fetchall()
        assert len(tables) == 9
        for (table,) in tables:
            rows = connection.execute(f"SELECT DISTINCT run_id FROM {table}").fetchall()
            assert rows == [("other",)], table
        write.insert_rows(connection, "run", [run])


def test_a_block_that_fails_stores_nothing(database: Path, run: RunRow) -> None:
    def interrupted(connection: duckdb.DuckDBPyConnection) -> None:
        with write.transaction(connection):
            write.insert_rows(connection, "run", [run])
            raise KeyboardInterrupt

    with open_for_writing(database) as connection:
        with pytest.raises(KeyboardInterrupt):
            interrupted(connection)
        assert list_runs(connection) == []


def test_releases_what_is_on_the_disk_and_leaves_the_limit_and_the_transaction(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launches, "_FREED_AFTER", 2)
    with open_for_writing(database) as connection:
        connection.execute("SET memory_limit = '512MiB'")
        with write.transaction(connection):
            writer = LaunchWriter(connection)
            for index in range(5):
                writer.write([placed(dataclasses.replace(RICH, index=index))])
            writer.finish()
        assert memory_limit(connection) == "512.0 MiB"
        assert connection.execute("SELECT count(*) FROM launch").fetchone() == (5,)


def test_rows_of_many_runs_share_a_row_group(database: Path) -> None:
    """A reader needs the description of each of its columns, of every row group of a table."""
    with open_for_writing(database) as connection:
        for first in range(0, 8000, 1000):
            rows = (
                f"SELECT 'r{first}', 0, 'v', 'c', [range], [0] FROM range({first}, {first + 1000})"
            )
            connection.execute(f"INSERT INTO variant_instruction {rows}")
        query = (
            "SELECT count(DISTINCT row_group_id) FROM pragma_storage_info('variant_instruction')"
        )
        assert connection.execute(query).fetchall() == [(1,)]


def test_a_run_is_read_without_the_row_groups_of_others(database: Path, run: RunRow) -> None:
    """Their ids are hashes, so each row group may hold any; their numbers tell."""
    ids_of = [f"{number * 7 % 24:02}" for number in range(24)]  # eight runs to a row group
    with open_for_writing(database) as connection:
        for number, run_id in enumerate(ids_of):
            write.insert_rows(
                connection,
                "run",
                [dataclasses.replace(run, run_id=run_id)],
                also={"run_number": number},
            )
        connection.execute(
            "INSERT INTO launch BY NAME SELECT run_id, run_number, launch_index, 'v' AS variant_id,"
            " 'k' AS kernel_id, 's' AS series_id, 1e-6 AS duration"
            f" FROM run, range({ROW_GROUP // 8}) AS t(launch_index) ORDER BY run_number"
        )
    with open_for_reading(database) as connection:
        connection.execute("PRAGMA enable_profiling = 'no_output'")
        assert known_counts(connection, "09", ["duration"]) == {"duration": ROW_GROUP // 8}
        told = connection.get_profiling_information("json")
    scanned = [int(rows) for rows in re.findall(r'"operator_rows_scanned":\s*(\d+)', told)]
    assert max(scanned) == ROW_GROUP


def test_merges_row_groups_once_there_are_many(database: Path, run: RunRow) -> None:
    def row_groups() -> int:
        query = "SELECT count(DISTINCT row_group_id) FROM pragma_storage_info('launch')"
        return int(connection.execute(query).fetchall()[0][0])

    with open_for_writing(database) as connection:
        for index in range(3):
            with write.second_transaction(connection), write.transaction(connection):
                insert_launches(connection, [placed(dataclasses.replace(POOR, index=index))])
        assert row_groups() == 3
        runs = [dataclasses.replace(run, run_id=f"{n:012}") for n in range(32)]
        with write.second_transaction(connection):
            write.insert_rows(connection, "run", runs[:-1])
        write.merge_row_groups(connection)
        assert row_groups() == 3
        with write.second_transaction(connection):
            write.insert_rows(connection, "run", runs[-1:])
        write.merge_row_groups(connection)
        assert row_groups() == 1


def test_tells_where_row_groups_cannot_be_merged(
    database: Path, run: RunRow, caplog: pytest.LogCaptureFixture
) -> None:
    runs = [dataclasses.replace(run, run_id=f"{n:012}") for n in range(32)]
    with open_for_writing(database) as connection:
        write.insert_rows(connection, "run", runs)
    with open_for_reading(database) as connection:
        write.merge_row_groups(connection)
    assert "the runs are stored" in caplog.text


KILLED = """
import sys
from datetime import datetime
from advisor.database import write
from advisor.database.connect import open_for_writing
from advisor.database.rows import PlacedLaunch, RunRow
from advisor.database.launches import LaunchWriter
from advisor.model import Launch

def launches(run_id, start):
    return [
        PlacedLaunch(launch=Launch(index=start + n, kernel_name="k", counters={"c": 1.0}),
                     run_id=run_id, kernel_id="k", series_id="s", variant_id="v")
        for n in range(100)
    ]

with open_for_writing(sys.argv[1]) as connection:
    for number in range(10_000):
        run_id = f"{number:012d}"
        with write.transaction(connection):
            write.insert_rows(connection, "run", [RunRow(
                run_id=run_id, content_hash="h", format="f", launches=300,
                ingested_at=datetime(2026, 1, 1), advisor_version="0")])
            writer = LaunchWriter(connection)
            for start in (0, 100, 200):
                writer.write(launches(run_id, start))
                print(number, start, flush=True)
"""


@pytest.mark.parametrize("lines", [2, 5, 11])
def test_a_killed_writer_leaves_whole_runs_only(database: Path, lines: int) -> None:
    command = [sys.executable, "-c", KILLED, str(database)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(lines):
            process.stdout.readline()
        time.sleep(0.002 * lines)
        process.send_signal(signal.SIGKILL)
    query = "SELECT run_id, count(*) FROM launch GROUP BY run_id ORDER BY run_id"
    with open_for_reading(database) as connection:
        stored = connection.execute(query).fetchall()
        assert sorted(run.run_id for run in list_runs(connection)) == [run for run, _ in stored]
    assert {count for _, count in stored} <= {300}
    assert len(stored) >= (lines - 1) // 3
    with open_for_writing(database) as connection:
        assert write.remove_run(connection, "000000000000") == bool(stored)


def test_finds_a_run_by_what_the_user_calls_it(database: Path, run: RunRow) -> None:
    later = dataclasses.replace(
        run,
        run_id="0199aaaaaaaa",
        label="nightly",
        ingested_at=run.ingested_at.replace(hour=13),
        tags=("a", "b"),
    )
    with open_for_writing(database) as connection:
        with pytest.raises(UsageError, match="holds no run"):
            find_run(connection)
        for stored in (run, later):
            write.insert_rows(connection, "run", [stored])
        assert find_run(connection).run_id == later.run_id
        assert find_run(connection, "nightly").run_id == later.run_id
        assert find_run(connection, "0123").run_id == run.run_id
        assert [found.run_id for found in list_runs(connection)] == [later.run_id, run.run_id]
        assert len(list_runs(connection, limit=1)) == 1
        with pytest.raises(UsageError, match="'01' means several runs"):
            find_run(connection, "01")
        with pytest.raises(UsageError, match="no run 'nihtly'") as caught:
            find_run(connection, "nihtly")
        assert caught.value.hint is not None
        assert caught.value.hint.startswith("did you mean 'nightly'?")
        assert run_details(connection, later.run_id)["tags"] == ["a", "b"]
        with pytest.raises(UsageError, match="no run 'x'"):
            run_details(connection, "x")


def test_keeps_facts_about_the_file(database: Path) -> None:
    with open_for_writing(database) as connection:
        write.set_meta(connection, "seed", "1")
        write.set_meta(connection, "seed", "2")
        assert get_meta(connection, "seed") == "2"
        assert get_meta(connection, "none") is None


def test_ids_tell_keys_apart_and_stay_the_same() -> None:
    assert ids.kernel_id("f") == ids.kernel_id("f")
    assert ids.key_id("a", "bc") != ids.key_id("ab", "c")
    assert ids.series_id("k", "1", "A", None) != ids.series_id("k", "1", None, "A")
    assert len(ids.variant_id("r", "k", "", "A", "g")) == 12
    assert ids.variant_id("r", "k", "a", "A", "g") != ids.variant_id("r", "k", "b", "A", "g")
    assert ids.run_id("0123456789abcdef") == "0123456789ab"
    assert ids.run_id("0123456789abcdef", 1) == "0123456789ab-1"
