"""What may become of damaged profiles in a database; no other profile changes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from advisor.database.connect import open_for_reading
from advisor.ingest.batches import ProfileWriter
from advisor.ingest.records import Profile
from advisor.knowledge.knowledge import Knowledge
from advisor.readers import Reader, Source
from advisor.readers.ncu import report as ncu_report
from tests.support.mutants import REPORT

_TABLES = ("run", "launch", "launch_keyed", "variant", "variant_instruction", "reference_finding")

Mutant = tuple[str, Reader, bytes]
"""A name, who reads it, and its bytes."""


def store(folder: Path, mutants: Sequence[Mutant], knowledge: Knowledge) -> Counter[str]:
    """Store mutants beside a whole report; return how many were stored, known and refused.

    Raises:
        AssertionError: the report beside them is not what it was.
    """
    database = folder / "fuzzed.duckdb"
    database.unlink(missing_ok=True)
    writer = ProfileWriter(str(database), knowledge, wait=10)
    beside = _profile(("whole report", ncu_report, REPORT))
    assert [each.status for each in writer.store([beside])] == ["new"]
    before = _rows(database, beside.run_id)
    distinct = {
        hashlib.sha256(data).digest(): (name, reader, data) for name, reader, data in mutants
    }
    results = [*writer.store([_profile(mutant) for mutant in distinct.values()])]
    for each in results:
        if each.status == "refused":
            assert each.error is not None
            assert each.error.at is not None
            assert each.error.hint, str(each.error)
    assert _rows(database, beside.run_id) == before, "the report beside the mutants has changed"
    return Counter(each.status for each in results)


def _profile(mutant: Mutant) -> Profile:
    name, reader, data = mutant
    digest = hashlib.sha256(data).hexdigest()
    return Profile(source=Source(name=name, content=data), reader=reader, digest=digest)


def _rows(database: Path, run_id: str) -> list[list[str]]:
    """Return all that is stored of a run, as text."""
    with open_for_reading(str(database)) as connection:
        return [
            sorted(
                map(repr, connection.execute(f"FROM {table} WHERE run_id = ?", [run_id]).fetchall())
            )
            for table in _TABLES
        ]
