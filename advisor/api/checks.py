"""What ``advisor doctor`` looks at: the installation, the knowledge, the database."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from advisor.configuration import DEFAULTS, Configuration
from advisor.database.lake.place import folder_of, is_lake
from advisor.errors import AdvisorError, DatabaseError, Location
from advisor.records import dataclass
from advisor.version import __version__

_LIBRARIES = ("duckdb", "sqlalchemy", "alembic", "sqlglot", "jinja2", "click", "protobuf", "numpy")


@dataclass(frozen=True, kw_only=True)
class InstallationCheck:
    """One thing that was looked at, and what was found."""

    subject: str
    text: str
    good: bool = True


def examine(
    database: str, *, wait: float, configuration: Configuration = DEFAULTS
) -> Iterator[InstallationCheck]:
    """Yield what is found about installation, readers, knowledge, devices and database."""
    system = f"{platform.system()} {platform.machine()}"
    yield InstallationCheck(
        subject="advisor", text=f"{__version__}, Python {sys.version.split()[0]}, {system}"
    )
    yield InstallationCheck(
        subject="libraries", text=", ".join(f"{n} {version(n)}" for n in _LIBRARIES)
    )
    yield _tried("readers", _readers)
    yield InstallationCheck(subject="configuration", text=_configured(configuration))
    yield _tried("rules", lambda: _rules(configuration))
    yield _tried("engine", lambda: _engine(configuration))
    yield _tried("devices", _devices)
    look = _lake if is_lake(database) else _database
    yield _tried("database", lambda: look(database, wait))
    is_there = (folder_of(database) if is_lake(database) else Path(database)).exists()
    if is_there:
        yield _tried("series", lambda: _series(database, wait))
    if configuration.operations and is_there:
        yield _tried("operations", lambda: _operations(configuration, database, wait))


def _tried(subject: str, look: object) -> InstallationCheck:
    assert callable(look)
    try:
        return InstallationCheck(subject=subject, text=str(look()))
    except AdvisorError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return InstallationCheck(subject=subject, text=f"{error}{hint}", good=False)


def _readers() -> str:
    from advisor.readers import readers

    return ", ".join(reader.FORMAT for reader in readers())


def _configured(configuration: Configuration) -> str:
    files = ", ".join(str(path) for path in configuration.files)
    return files or "defaults; there is no advisor.yaml here or above"


def _rules(configuration: Configuration) -> str:
    from advisor.knowledge.load import load_knowledge

    knowledge = load_knowledge(configuration)
    facts = len(knowledge.vocabulary.facts)
    return f"{len(knowledge.rules)} rules over {facts} facts, {knowledge.compiled.digest}"


def _engine(configuration: Configuration) -> str:
    """Return what computes facts and rules."""
    from advisor.database.few import VERSION
    from advisor.knowledge.load import load_knowledge

    if load_knowledge(configuration).compiled.few is not None:
        return f"SQLite {VERSION} where kernels are few, else DuckDB"
    why = f"SQLite {VERSION} refuses a statement" if VERSION else "Python has no SQLite"
    return f"DuckDB; {why}, so runs of few kernels take longer"


def _devices() -> str:
    from advisor.hardware import list_devices

    devices = list_devices()
    low = sum(device.confidence == "low" for device in devices)
    return f"{len(devices)} known, {low} of them with figures that are not verified"


def _database(database: str, wait: float) -> str:
    from advisor.database import schema
    from advisor.database.connect import open_for_reading
    from advisor.database.parts import counts
    from advisor.database.pruning import pruned_runs
    from advisor.database.undamaged import require_undamaged
    from advisor.database.upgrade import current
    from advisor.wording import size

    path = Path(database)
    if not path.exists():
        return f"{database} does not exist yet; advisor ingest makes it"
    found = current(path, wait)
    with open_for_reading(path, wait) as connection:
        schema.require_whole(connection, path)
        runs, launches = counts(connection)
        pruned = len(pruned_runs(connection))
        require_undamaged(connection, path)
    held = f"{runs:,} runs, {launches:,} launches, {size(path.stat().st_size)}"
    if pruned:
        held += f"; {pruned:,} of the runs are pruned"
    return f"{database}: schema {found.revision} (newest {found.head}), {held}"


def _lake(database: str, wait: float) -> str:
    """Return what is in a lake; a part of it that is not read is a failure."""
    from advisor.api.lakes import lake_status
    from advisor.database.connect import open_for_reading
    from advisor.wording import count, size

    found = lake_status(database)
    if found.left_out:
        first = found.left_out[0]
        raise DatabaseError(
            f"{count(len(found.left_out), 'part')} left out: first {first.place}: {first.reason}",
            at=Location(name=database),
            hint=f"advisor lake status --lake {folder_of(database)} names all",
        )
    with open_for_reading(database, wait):
        held = [sum(column) for column in zip(*(row[2:] for row in found.rows), strict=True)]
    runs, launches, _, total = held or (0, 0, 0, 0)
    return f"{database}: {runs:,} runs, {launches:,} launches, {size(total)}"


def _series(database: str, wait: float) -> str:
    """Return whether the newest branch's series fall apart because every run has new labels."""
    from advisor.database.connect import open_for_reading
    from advisor.database.nights import branch_of_history, known_series, runs_of_branch
    from advisor.reports.record.series_history import falling_apart
    from advisor.tracking.settings import load_settings

    with open_for_reading(Path(database), wait) as connection:
        branch = branch_of_history(connection, None)
        runs = [] if branch is None else runs_of_branch(connection, branch)
        found = (
            f"{len(known_series(connection)):,} over {len({run.position for run in runs}):,} nights"
        )
    return "; ".join([found, *falling_apart(runs, load_settings())])


def _operations(configuration: Configuration, database: str, wait: float) -> str:
    """Name the entries that bind no kernel: none matches, or only such as earlier entries bind."""
    from advisor.database.connect import open_for_reading
    from advisor.database.parts import kernels_and_shapes

    entries = configuration.operations
    with open_for_reading(Path(database), wait) as connection:
        kernels = kernels_and_shapes(connection)
    used = {
        next((i for i, each in enumerate(entries) if each.binds((name, short), shape)), None)
        for name, short, shape in kernels
    }
    idle = [f"{each.kernel} ({each.at})" for i, each in enumerate(entries) if i not in used]
    found = f"{len(entries) - len(idle)} of {len(entries)} entries bind a kernel"
    if not idle:
        return found
    return f"{found}; no other kernel has name and shape of {', '.join(idle)}"
