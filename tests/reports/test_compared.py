"""Two runs side by side: what is said of a series, and what would contradict the figures."""

from __future__ import annotations

import pytest

from advisor.reports.record.compared import ComparedSeries
from advisor.reports.record.why import ranked_causes
from advisor.reports.write.comparison import reasons
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.language.rule import Outcome
from advisor.tracking.records import Verdict
from advisor.wording import NO_BREAK
from tests.support.knowledge import rules_once

SERIES = ComparedSeries(
    series="0123456789ab",
    kernel="scan",
    verdict=Verdict.INCONCLUSIVE,
    base=None,
    head=None,
    relative=-0.003,
    p_value=1e-8,
    noise=0.003,
    between_levels=-0.013,
)


def test_the_p_value_is_said_to_be_of_the_nights_where_it_is() -> None:
    (said,) = (reason.replace(NO_BREAK, " ") for reason in reasons(SERIES))
    assert said == "the nights around both runs, which the p-value is about: −1.3 %"


@pytest.mark.parametrize(("after", "told"), [(0.0350, 0), (0.0360, 1)])
def test_a_share_of_the_roof_that_reads_the_same_is_no_cause(after: float, told: int) -> None:
    rule = next(each for each in rules_once() if each.id == "change/efficiency")
    values = {
        "before.roof_fraction": 0.0346,
        "after.roof_fraction": after,
        "before.duration": 1.39e-4,
        "after.duration": 1.37e-4,
    }
    found = Evaluation(rule=rule, run_id="a", variant_id="0", outcome=Outcome.FIRES, values=values)
    assert len(ranked_causes([found], SERIES)) == told
