"""``advisor why``: numbers opened down to counters, and what rules answer about an idea."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.cli.conftest import Run

KERNEL = "layer_norm"


def numbers(filled: Run, *words: str) -> dict[str, Any]:
    """Return the opened numbers of one kernel by name."""
    outcome = filled("why", KERNEL, *words, "--format", "json")
    assert outcome.status == 0, outcome.err
    (kernel,) = json.loads(outcome.out)["kernels"]
    return {each["name"]: each for each in kernel["numbers"]}


def ideas(filled: Run, kernel: str, word: str) -> dict[str, Any]:
    """Return what rules answer about a kernel, by rule."""
    outcome = filled("why", kernel, word, "--format", "json")
    assert outcome.status == 0, outcome.err
    (found,) = json.loads(outcome.out)["kernels"]
    return {each["rule"]: each for each in found["ideas"]}


def test_it_opens_a_number_down_to_the_counters(filled: Run) -> None:
    found = numbers(filled, "arithmetic_intensity")
    intensity, traffic, time = (
        found[name] for name in ("arithmetic_intensity", "dram_bytes", "duration")
    )
    assert intensity["formula"] == "roofline_work / dram_bytes"
    assert intensity["spoken"] == "work on the roofline / DRAM traffic"
    assert intensity["rests_on"] == ["roofline_work", "dram_bytes"]
    assert intensity["value"] == pytest.approx(found["flops"]["value"] / traffic["value"])
    assert (intensity["unit"], intensity["source"]) == ("FLOP/B", "Williams et al.")
    rate = found["dram__bytes.sum.per_second"]
    assert (rate["kind"], rate["unit"]) == ("counter", "B/s")
    assert traffic["way"] == "rate"
    assert traffic["value"] == pytest.approx(rate["value"] * time["value"])


def test_it_shows_only_what_gave_the_value(filled: Run) -> None:
    """Of a case the branch that was taken, of alternatives the one that is known."""
    wasted = numbers(filled, "wasted_time")["wasted_time"]
    assert wasted["formula"] == "case when known(t_sol) then duration - t_least end"
    assert wasted["spoken"] == "time - time at the roof"
    assert wasted["rests_on"] == ["duration", "t_least"]


def test_a_number_may_be_called_as_reports_call_it(filled: Run) -> None:
    assert numbers(filled, "DRAM traffic").keys() == numbers(filled, "dram_bytes").keys()


def test_without_a_word_it_opens_what_every_report_shows(filled: Run) -> None:
    outcome = filled("why", KERNEL)
    assert outcome.status == 0
    assert "wasted time: " in outcome.out
    assert "= time - time at the roof" in outcome.out
    assert "= gpu__time_duration.sum  (report)" in outcome.out


def test_an_idea_is_answered_with_the_numbers_that_decide(filled: Run) -> None:
    answers = ideas(filled, KERNEL, "tensor cores")
    products = answers["compute/products-off-matrix-pipe"]
    assert products["answer"] == "not the cause"
    assert products["gain"] is None
    assert products["sentence"].startswith("FP32 pipe utilisation is ")
    assert products["sentence"].endswith(", below 50\N{NO-BREAK SPACE}%.")


def test_an_idea_that_is_right_is_found_with_what_it_saves(filled: Run) -> None:
    answers = ideas(filled, "sgemm_tiled", "Tensor-Core")
    found = answers["compute/products-off-matrix-pipe"]
    assert found["answer"] == "found"
    assert 0 <= found["gain"]["low"] <= found["gain"]["likely"] <= found["gain"]["high"]
    assert next(iter(answers.values()))["answer"] == "found"


def test_an_idea_that_needs_counters_names_them_and_the_command(filled: Run) -> None:
    outcome = filled("why", KERNEL, "host memory")
    found = json.loads(filled("why", KERNEL, "host memory", "--format", "json").out)["kernels"][0]
    needed = [each for each in found["ideas"] if each["answer"] == "needs counters"]
    assert needed
    assert all(each["missing"] for each in needed)
    assert re.match(r"advisor --db \S+test\.duckdb collect ", found["collect"])
    assert found["collect"] in outcome.out
    assert "Needs counters:" in outcome.out


def test_a_rule_may_be_named(filled: Run) -> None:
    assert ideas(filled, KERNEL, "memory/uncoalesced-loads").keys() == {"memory/uncoalesced-loads"}


def test_what_nothing_is_called_is_refused_with_a_suggestion(filled: Run) -> None:
    outcome = filled("why", KERNEL, "dram_byts")
    assert (outcome.status, outcome.out) == (2, "")
    assert "did you mean 'dram_bytes'?" in outcome.err


def test_a_kernel_that_is_not_there_is_refused(filled: Run) -> None:
    outcome = filled("why", "no_such_kernel", "dram_bytes")
    assert (outcome.status, outcome.out) == (2, "")
    assert "no kernel of run" in outcome.err


def test_what_another_finding_excludes_is_not_found(filled: Run) -> None:
    """What stands beside "leave it" in a report cannot be found here."""
    query = (
        "SELECT variant_id, rule_id FROM findings JOIN kernels USING (run_id, variant_id)"
        " WHERE outcome = 'ruled_out' AND because = 'the kernel is at the roof that it can reach'"
    )
    rows = json.loads(filled("query", query, "--format", "json").out)
    assert rows
    for row in rows:
        (idea,) = ideas(filled, row["variant_id"], row["rule_id"]).values()
        assert idea["answer"] == "not the cause", row
        assert "another finding excludes it" in idea["sentence"], row
