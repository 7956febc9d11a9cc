"""Printed pages with damaged rows, cells, units and encodings."""

from __future__ import annotations

import time

import pytest

from advisor.model import Launch, Record
from advisor.readers import Reader, ReadOptions, Source
from advisor.readers.detect import detect
from advisor.readers.ncu import csv as ncu_csv
from advisor.readers.ncu import text as ncu_text
from tests.support.judging import LONGEST, in_page, judge
from tests.support.page_mutants import PAGES, kept_page, page_mutant

READERS: tuple[Reader, ...] = (ncu_csv, ncu_text)


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_survives_mutants(first: int) -> None:
    for seed in range(first, first + 50):
        data = page_mutant(seed)
        for reader in READERS:
            started = time.process_time()
            try:
                judge(reader, data, in_page(data))
            except Exception as error:
                raise AssertionError(f"{reader.FORMAT}, page_mutant({seed}): {error!r}") from error
            assert time.process_time() - started < LONGEST


def test_survives_mutants_of_pages_as_people_keep_them() -> None:
    page = kept_page()
    assert sum(isinstance(record, Launch) for record in _records(page)) == 3
    for seed in range(60):
        data = page_mutant(seed, (page,))
        judge(ncu_text, data, in_page(data))


@pytest.mark.parametrize("page", PAGES)
def test_the_undamaged_pages_are_read(page: str) -> None:
    assert sum(isinstance(record, Launch) for record in _records(page)) == 3


def _records(page: str) -> list[Record]:
    source = Source(name="page", content=page.encode())
    return list(detect(source).read(source, ReadOptions()))


def test_the_judge_misses_no_value_that_is_made_up() -> None:
    found = in_page(b'"Gbyte","196.46","1,024"')
    assert found(196.46e9)
    assert found(1024)
    assert not found(96.46)
    assert not found(196.4)
