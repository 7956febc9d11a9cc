"""Reports with damaged structure; ``python -m studies.fuzz`` reads twenty thousand of them."""

from __future__ import annotations

import time

import pytest

from advisor.model import Launch
from advisor.readers import ReadOptions, Source
from advisor.readers.ncu import report as ncu_report
from tests.support.judging import LONGEST, in_report, judge
from tests.support.mutants import REPORT, edges, report_mutant

OFFSETS = (-4, -1, 0, 1, 4, 5)


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_survives_mutants(first: int) -> None:
    for seed in range(first, first + 50):
        data = report_mutant(seed)
        started = time.process_time()
        try:
            judge(ncu_report, data, in_report(data))
        except Exception as error:
            raise AssertionError(f"report_mutant({seed}): {error!r}") from error
        assert time.process_time() - started < LONGEST


@pytest.mark.parametrize("edge", edges(REPORT))
def test_survives_a_cut_at_every_block_edge(edge: int) -> None:
    for offset in OFFSETS:
        data = REPORT[: edge + offset]
        judge(ncu_report, data, in_report(data))


def test_keeps_the_launches_before_a_cut() -> None:
    kept = []
    for edge in edges(REPORT):
        source = Source(name="cut", content=REPORT[:edge])
        records = ncu_report.read(source, ReadOptions())
        kept.append(sum(isinstance(record, Launch) for record in records))
    assert kept == sorted(kept)
    assert (kept[0], kept[-1]) == (0, 3)


def test_mutants_are_told_by_their_seed() -> None:
    assert report_mutant(7) == report_mutant(7)
    assert len({report_mutant(seed) for seed in range(100)}) > 90


def test_the_judge_misses_no_value_that_is_made_up() -> None:
    assert in_report(REPORT)(1.25)
    assert not in_report(REPORT)(1.26)
