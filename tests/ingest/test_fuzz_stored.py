"""Damaged profiles that are read go through the database, and harm no other one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.knowledge.load import load_knowledge
from advisor.readers.ncu import csv as ncu_csv
from advisor.readers.ncu import report as ncu_report
from tests.support.mutants import report_mutant
from tests.support.page_mutants import page_mutant
from tests.support.storing import Mutant, store


@pytest.mark.slow
@settings(max_examples=2)
@given(st.lists(st.integers(0, 2**32), min_size=12, max_size=12, unique=True))
def test_stores_or_refuses_each_mutant(seeds: list[int]) -> None:
    mutants: list[Mutant] = [(f"report {s}", ncu_report, report_mutant(s)) for s in seeds]
    mutants += [(f"page {s}", ncu_csv, page_mutant(s)) for s in seeds]
    with tempfile.TemporaryDirectory() as folder:
        outcomes = store(Path(folder), mutants, load_knowledge())
    assert outcomes.keys() <= {"new", "known", "refused"}
    assert outcomes["refused"] < len(mutants)
