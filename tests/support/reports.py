"""A folder of real reports in a database, each launch a variant of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from advisor.counters.mapping import Mapping, load_mapping
from advisor.database.launches import LaunchWriter
from advisor.database.rows import PlacedLaunch
from advisor.errors import InputError
from advisor.hardware.devices import DeviceSpec, load_devices
from advisor.hardware.matching import identify_device
from advisor.hardware.seeding import seed_database, store_device
from advisor.model import Launch, Session
from advisor.readers import ReadOptions, Source, detect
from tests.support.facts import empty_database


@contextmanager
def ingested(
    folder: Path, paths: Sequence[Path] | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a database with the launches below ``folder`` and the table ``kernel_rows``.

    ``paths`` names the files, all where it is not given. Run ids are paths relative to the folder,
    variant ids the positions of launches.
    """
    mapping = load_mapping("ncu")
    with empty_database() as connection:
        seed_database(connection)
        devices, writer = load_devices(), LaunchWriter(connection, mapping.sql)
        for path in sorted(paths or folder.rglob("*")):
            if path.is_file():
                launches = _placed(connection, mapping, devices, path, path.relative_to(folder))
                writer.write(launches, mapping.stage([placed.launch for placed in launches]))
        writer.finish()
        connection.execute("create temp table kernel_rows as select * from kernels")
        yield connection


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
