"""The tables device, ceiling and occupancy_limit hold the seed data."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import duckdb
import pytest
from duckdb_sqlalchemy import Dialect
from sqlalchemy.schema import CreateTable

from advisor.database.tables import metadata
from advisor.hardware.matching import identify_device
from advisor.hardware.seeding import seed_database, store_device
from advisor.resources import data_dir

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TABLES = ("device", "ceiling", "occupancy_limit", "meta")


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    schema = metadata()
    with duckdb.connect() as opened:
        for name in TABLES:
            opened.execute(str(CreateTable(schema.tables[name]).compile(dialect=Dialect())))
        yield opened


def one(connection: duckdb.DuckDBPyConnection, query: str) -> object:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row[0] if len(row) == 1 else row


def test_fills_the_tables_once(connection: duckdb.DuckDBPyConnection) -> None:
    assert seed_database(connection)
    counts = [one(connection, f"SELECT count(*) FROM {name}") for name in TABLES]
    assert counts[0] == 118
    assert not seed_database(connection)
    assert [one(connection, f"SELECT count(*) FROM {name}") for name in TABLES] == counts


def test_keeps_kind_source_and_confidence(connection: duckdb.DuckDBPyConnection) -> None:
    seed_database(connection)
    nominal = one(
        connection,
        "SELECT value, unit, basis, source, confidence FROM ceiling"
        " WHERE device_id = 'nvidia-t4' AND resource = 'tensor_fp16' AND kind = 'nominal'",
    )
    sources = "SELECT array_to_string(sources, '; ') FROM device WHERE device_id = 'nvidia-t4'"
    assert nominal == (65e12, "FLOP/s", "published", one(connection, sources), "high")


def test_serves_what_the_vocabulary_asks_of_a_device(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    seed_database(connection)
    device = one(
        connection,
        "SELECT boost_clock, tensor_fp16_rate, tensor_tf32_rate, tensor_int8_rate,"
        " isa FROM device WHERE device_id = 'nvidia-a100-sxm4-80gb'",
    )
    assert device == (1.41e9, 2048, 1024, 4096, "cc-8.0")
    limits = connection.execute(
        "SELECT resource, value FROM occupancy_limit WHERE isa = 'cc-8.0' AND resource IN"
        " ('register_alloc_unit', 'sub_partitions', 'shared_alloc_granularity_bytes',"
        "  'shared_reserved_bytes_per_block', 'max_warps_per_sm', 'max_blocks_per_sm',"
        "  'registers_per_sm', 'compute_capability') ORDER BY resource"
    ).fetchall()
    assert limits == [
        ("compute_capability", 8.0),
        ("max_blocks_per_sm", 32.0),
        ("max_warps_per_sm", 64.0),
        ("register_alloc_unit", 256.0),
        ("registers_per_sm", 65536.0),
        ("shared_alloc_granularity_bytes", 128.0),
        ("shared_reserved_bytes_per_block", 1024.0),
        ("sub_partitions", 4.0),
    ]


def test_has_one_nominal_value_and_fraction_per_resource(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    seed_database(connection)
    repeated = connection.execute(
        "SELECT device_id, resource, kind FROM ceiling WHERE kind <> 'measured'"
        " GROUP BY ALL HAVING count(*) > 1"
    ).fetchall()
    assert repeated == []


def test_brings_changed_seed_data_in_and_keeps_other_devices(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    store_device(connection, identify_device("A Device Of Its Own", {}))
    seed_database(connection)
    changed = tmp_path / "seed"
    shutil.copytree(data_dir("seed"), changed, ignore=shutil.ignore_patterns("runs"))
    family = changed / "devices" / "aws-neuron.yaml"
    family.write_text(family.read_text().replace("name: AWS Trainium1", "name: Renamed"))
    apple = changed / "devices" / "apple.yaml"
    apple.write_text("devices: []\n")
    assert seed_database(connection, folder=changed)
    assert one(connection, "SELECT name FROM device WHERE device_id = 'aws-trainium1'") == "Renamed"
    assert one(connection, "SELECT count(*) FROM device WHERE vendor = 'Apple'") == 0
    assert one(connection, "SELECT count(*) FROM device WHERE origin = 'report'") == 1
    orphans = "SELECT count(*) FROM ceiling ANTI JOIN device USING (device_id)"
    assert one(connection, orphans) == 0


def test_gives_an_instance_its_share_of_changed_seed_data(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    seed_database(connection)
    attributes = {
        "compute_capability_major": 8.0,
        "compute_capability_minor": 0.0,
        "multiprocessor_count": 42.0,
        "global_memory_bus_width": 2560.0,
        "l2_cache_size": 20971520.0,
    }
    match = identify_device("NVIDIA A100-SXM4-40GB MIG 3g.20gb", attributes)
    device_id = store_device(connection, match)
    bandwidth = (
        "SELECT value FROM ceiling WHERE resource = 'dram' AND kind = 'nominal'"
        f" AND device_id = '{device_id}'"
    )
    assert one(connection, bandwidth) == pytest.approx(1.555e12 / 2)
    changed = tmp_path / "seed"
    shutil.copytree(data_dir("seed"), changed, ignore=shutil.ignore_patterns("runs"))
    family = changed / "devices" / "nvidia-datacenter.yaml"
    family.write_text(
        family.read_text().replace("dram: {value: 1.555e+12", "dram: {value: 1.6e+12")
    )
    assert seed_database(connection, folder=changed)
    assert one(connection, bandwidth) == pytest.approx(1.6e12 / 2)
    assert one(connection, "SELECT origin FROM device WHERE name LIKE '%MIG%'") == "part"


def test_leaves_the_tables_alone_when_it_fails(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.execute("DROP TABLE occupancy_limit")
    with pytest.raises(duckdb.Error):
        seed_database(connection)
    assert one(connection, "SELECT count(*) FROM device") == 0


def test_stores_an_unknown_device_as_its_profile_reports_it(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    seed_database(connection)
    attributes = {
        "compute_capability_major": 7.0,
        "compute_capability_minor": 5.0,
        "multiprocessor_count": 14.0,
        "clock_rate": 1665000.0,
    }
    match = identify_device("NVIDIA GeForce GTX 1630", attributes)
    stored = "reported-nvidia-geforce-gtx-1630-cc-7-5-14-units"
    assert store_device(connection, match) == stored
    assert store_device(connection, match) == stored
    row = one(
        connection,
        "SELECT name, isa, unit_count, boost_clock, origin FROM device"
        f" WHERE device_id = '{stored}'",
    )
    assert row == ("NVIDIA GeForce GTX 1630", "cc-7.5", 14.0, 1.665e9, "report")
    ceilings = "SELECT count(*) FROM ceiling WHERE device_id LIKE 'reported-%'"
    assert one(connection, ceilings) == 0


@pytest.mark.parametrize("major", [8, 13])
def test_the_number_of_an_instruction_set_is_known_with_limits_or_without(
    connection: duckdb.DuckDBPyConnection, major: int
) -> None:
    seed_database(connection)
    attributes = {"compute_capability_major": float(major), "compute_capability_minor": 0.0}
    for name in ("NVIDIA Nonesuch", "NVIDIA Other"):
        store_device(connection, identify_device(name, attributes))
    query = (
        "SELECT name, value, occupancy_limit.source FROM device JOIN occupancy_limit USING (isa)"
        " WHERE resource = 'compute_capability' AND origin = 'report' ORDER BY name"
    )
    rows = connection.execute(query).fetchall()
    assert [row[:2] for row in rows] == [("NVIDIA Nonesuch", major), ("NVIDIA Other", major)]
    assert {source == "the profile" for *_, source in rows} == {major == 13}


def test_stores_nothing_for_a_known_device(connection: duckdb.DuckDBPyConnection) -> None:
    seed_database(connection)
    assert store_device(connection, identify_device("Tesla T4", {})) == "nvidia-t4"
    assert one(connection, "SELECT count(*) FROM device") == 118
