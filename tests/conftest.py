"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import duckdb
import pytest
import yaml
from hypothesis import settings as hypothesis_settings

from advisor.database import draft, schema
from advisor.documents import build
from advisor.expression import parse, plain
from advisor.facts import Vocabulary
from advisor.hardware import devices
from advisor.hidden import DATA_FRAMES, hide
from advisor.ingest import store
from advisor.ingest.profiles import RunLabels
from advisor.rules import EvaluationSettings, Rule
from advisor.rules.language import parse as parse_rules
from advisor.rules.language import templates
from tests.support.created_once import created_once
from tests.support.facts import vocabulary_once
from tests.support.judged_once import judged_once
from tests.support.knowledge import files_once, rules_once, settings_once, templates_once
from tests.support.looked_once import looked_once
from tests.support.reports import keep_launches, kept_launches
from tests.support.shared import ingest_all, ingest_nights, made_once

ROOT = Path(__file__).parent.parent
REAL = ROOT.parent / "shared" / "data"
PEOPLE = ("ncu-rep", "ncu-csv", "ncu-text")
"""Folders of what people published; ``ncu-export`` is the same reports, printed."""

HANGS = 120
"""Seconds after which nothing will come any more from a test of a second."""

FEW_ENOUGH = 50_000
"""New objects among which garbage is looked for: tests make a lot, and most of it stays."""

hide(DATA_FRAMES)
yaml.safe_load = partial(yaml.load, Loader=yaml.CSafeLoader)  # in C, as the program reads it
os.environ.pop("COLUMNS", None)  # a table of a test is as wide as it likes;
os.unsetenv("COLUMNS")  # readline, which pytest imports, tells processes 80 columns

# How long an example takes says how busy the machine is, not whether the program is right.
hypothesis_settings.register_profile("untimed", deadline=None)
hypothesis_settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files of slow tests: nobody waits for them alone at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Never look for garbage among modules and tests, which stay to the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(FEW_ENOUGH)


@pytest.fixture(scope="session", autouse=True)
def made_out_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Parse each text, judge each run, make a new database and look at a file once in a process.

    What it becomes rests on it alone, for a template on the names that it may use too.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "build", cache(build.build))
        patch.setattr(parse, "parse", cache(parse.parse))
        patch.setattr(plain, "parse_plain", cache(plain.parse_plain))
        read_template = templates_once(templates.read_template)
        for module in (templates, parse_rules):
            patch.setattr(module, "read_template", read_template)
        folder = tmp_path_factory.mktemp("created")
        patch.setattr(devices, "read_seed_file", files_once(devices.read_seed_file))
        patch.setattr(draft, "create", created_once(draft.create, folder))
        patch.setattr(schema, "require_tables_only", looked_once(schema.require_tables_only))
        patch.setattr(store, "evaluate_runs", judged_once(store.evaluate_runs))
        yield


@pytest.fixture(scope="session")
def one_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database of the first simulated night, tagged "weekly"; to copy or to read."""
    nights = {1: RunLabels(tags=("weekly",))}
    return made_once(tmp_path_factory, "night.duckdb", lambda path: ingest_nights(path, nights))


@pytest.fixture
def ends() -> Iterator[None]:
    """Fail a test that would never end where what it tests is broken, on however busy a machine."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def fail(*_: object) -> None:
        pytest.fail(f"did not end within {HANGS} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, HANGS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store runs without findings, in half the time: for tests of what rests on no rule."""
    monkeypatch.setattr("advisor.ingest.store.evaluate_runs", lambda *_, **__: {})


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of other people's profiles; skip where it is absent."""
    if not REAL.is_dir():
        pytest.skip("the folder of real profiles, ../shared/data, is absent")
    return REAL


@pytest.fixture(scope="session")
def real_database(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database of all that people published, ingested once in a session; only to read.

    A run is named by the path of its file.
    """
    folders = [real_data / name for name in PEOPLE]
    return made_once(tmp_path_factory, "real.duckdb", lambda path: ingest_all(path, folders))


@pytest.fixture(scope="session")
def launches_file(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of every launch of the real reports, made once in a session."""
    folder = real_data / "ncu-rep"
    return made_once(tmp_path_factory, "launches.duckdb", lambda path: keep_launches(path, folder))


@pytest.fixture(scope="session")
def real_launches(launches_file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return every launch of the real reports as a variant of its own; only to read.

    Its facts are in ``kernel_rows``; runs are named by their paths below ``ncu-rep``.
    """
    with kept_launches(launches_file) as connection:
        yield connection


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    """Return the shipped vocabulary."""
    return vocabulary_once()


@pytest.fixture(scope="session")
def settings() -> EvaluationSettings:
    """Return what holds for all rules."""
    return settings_once()


@pytest.fixture(scope="session")
def shipped_rules() -> tuple[Rule, ...]:
    """Return every shipped rule."""
    return rules_once()
