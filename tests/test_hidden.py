"""A module that is hidden is not imported, though it is installed, until somebody may need it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import duckdb
import pytest

from advisor.database.arrays import ArrayTable, numbers
from advisor.hidden import DATA_FRAMES, hide, unhide
from advisor.readers import _installed


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install what stands for pandas and pyarrow."""
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("pandas", "pyarrow"):
        (tmp_path / f"{name}.py").write_text("NaT = NA = DataFrame = None\n")
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_values_and_tables_of_a_statement_import_no_data_frames(installed: None) -> None:
    hide(DATA_FRAMES)
    with duckdb.connect() as connection:
        ArrayTable(connection, "given").fill({"numbers": numbers([1.5])})
        assert connection.execute("SELECT numbers, ? FROM given", [1]).fetchall() == [(1.5, 1)]
    for name in ("pandas", "pyarrow"):
        assert sys.modules[name] is None
        with pytest.raises(ImportError):
            importlib.import_module(name)


def test_readers_of_other_packages_find_it(installed: None) -> None:
    hide(DATA_FRAMES)
    names = dict.fromkeys(("FORMAT", "COUNTERS", "accepts", "read"), "")

    def load() -> object:
        return SimpleNamespace(**names, frames=importlib.import_module("pandas"))

    entry = SimpleNamespace(name="ticks", dist=None, value="ticks", load=load)
    assert _installed(cast("EntryPoint", entry))


def test_what_was_imported_before_stays(installed: None) -> None:
    before = importlib.import_module("pandas")
    hide(DATA_FRAMES)
    unhide(DATA_FRAMES)
    assert importlib.import_module("pandas") is before


def test_the_package_of_duckdb_reads_no_metadata_and_keeps_its_types() -> None:
    code = """
import sys
from advisor.hidden import quicken_duckdb
quicken_duckdb()
import duckdb
assert "importlib.metadata" not in sys.modules
texts, numbers = duckdb.connect().execute("SELECT 'a', 1").description
assert texts[1] == duckdb.STRING and texts[1] != duckdb.NUMBER and numbers[1] == duckdb.NUMBER
from importlib.metadata import version
assert duckdb.__version__ == version("duckdb") and duckdb.version().startswith(version("duckdb"))
"""
    subprocess.run([sys.executable, "-c", code], check=True)


LATER_DUCKDB = """
import sys
from advisor.hidden import quicken_duckdb
quicken_duckdb()
from duckdb._version import _dist_version
from duckdb._dbapi_type_object import sqltypes
import duckdb
assert _dist_version("duckdb").split(".")[:2] == duckdb.__version__.split(".")[:2]
assert sqltypes is duckdb.sqltypes and duckdb.NUMBER == duckdb.sqltypes.INTEGER
assert "importlib.metadata" in sys.modules
"""


def test_a_later_duckdb_may_ask_these_modules_for_more() -> None:
    subprocess.run([sys.executable, "-c", LATER_DUCKDB], check=True)
