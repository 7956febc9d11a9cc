"""A folder of real reports in a database, each launch a variant of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from advisor.counters.staging import Mapping
from advisor.database.launches import LaunchWriter
from advisor.database.rows import PlacedLaunch
from advisor.errors import InputError
from advisor.facts import create_views
from advisor.hardware.devices import DeviceSpec, load_devices
from advisor.hardware.matching import identify_device
from advisor.hardware.seeding import seed_database, store_device
from advisor.knowledge.parts import load_mapping
from advisor.model import Launch, Session
from advisor.readers import ReadOptions, Source
from advisor.readers.detect import detect
from tests.support.facts import FROM_LAUNCHES, empty_database, vocabulary_once

_TOGETHER = 200  # launches; to store a file of few takes as long


@contextmanager
def ingested(
    folder: Path, paths: Sequence[Path] | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a database with the launches below ``folder`` and the table ``kernel_rows``.

    ``paths`` names the files, all where it is not given. Run ids are paths relative to the folder,
    variant ids the positions of launches.
    """
    with empty_database() as connection:
        _write(connection, folder, paths)
        yield connection


def keep_launches(database: Path, folder: Path) -> None:
    """Write a file of what ``ingested`` gives, for ``kept_launches``."""
    with empty_database(str(database)) as connection:
        _write(connection, folder, None)
        connection.execute("create table kept_rows as select * from kernel_rows")


@contextmanager
def kept_launches(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open what ``keep_launches`` wrote, to read: it is as ``ingested`` returned it."""
    with duckdb.connect(str(database), read_only=True, config={"threads": 1}) as connection:
        create_views(connection, vocabulary_once(), relations=FROM_LAUNCHES)
        connection.execute("create temp view kernel_rows as select * from kept_rows")
        yield connection


def _write(
    connection: duckdb.DuckDBPyConnection, folder: Path, paths: Sequence[Path] | None
) -> None:
    mapping = load_mapping("ncu")
    seed_database(connection)
    devices, writer = load_devices(), LaunchWriter(connection, mapping.sql)
    waiting: list[PlacedLaunch] = []
    for path in sorted(paths or folder.rglob("*")):
        if path.is_file():
            waiting += _placed(connection, mapping, devices, path, path.relative_to(folder))
        if len(waiting) > _TOGETHER:
            writer.write(waiting, mapping.stage([placed.launch for placed in waiting]))
            waiting.clear()
    writer.write(waiting, mapping.stage([placed.launch for placed in waiting]))
    writer.finish()
    connection.execute("create temp table kernel_rows as select * from kernels")


def _placed(
    connection: duckdb.DuckDBPyConnection,
    mapping: Mapping,
    known: Sequence[DeviceSpec],
    path: Path,
    run: Path,
) -> list[PlacedLaunch]:
    """Return the launches in a file; none of one that is refused."""
    options = ReadOptions(keyed=frozenset(mapping.keyed))
    try:
        source = Source.from_path(path)
        records = list(detect(source).read(source, options))
    except InputError:
        return []
    launches = [record for record in records if isinstance(record, Launch)]
    (session,) = (record for record in records if isinstance(record, Session))
    devices = {
        device.id: store_device(connection, identify_device(device.name, device.attributes, known))
        for device in session.devices
    }
    only = next(iter(devices.values())) if len(devices) == 1 else None
    return [
        PlacedLaunch(
            run_id=str(run),
            launch=launch,
            kernel_id=launch.kernel_name,
            series_id=launch.kernel_name,
            variant_id=str(launch.index),
            device_id=devices.get(launch.device or 0, only),
        )
        for launch in launches
    ]
