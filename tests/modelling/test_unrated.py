"""Work at a rate that nobody tells: a device described by hand that names no vector ceiling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.errors import UsageError
from advisor.reports.modelled.machine import json_text, table_rows
from advisor.reports.modelled.page import html, markdown
from advisor.reports.modelled.text import model_text
from advisor.resources import data_dir
from tests.modelling.conftest import Model

SAID = "the rate of vector_fp32 is unknown here: timed by its bytes alone"
AFTER = "The rate of vector_fp32 is unknown here: no time counts it."
DRAFT = """\
devices: [{{name: draft, ceilings: {{dram: 2.0e+12, l2: 8.0e+12{more}}}}}]
work: {work}
operations: [{{name: any, flops: 6.0e+9, bytes: {moved}}}]
"""


def test_the_example_of_the_documentation_is_shipped() -> None:
    page = (Path(__file__).parents[2] / "docs" / "modelling.md").read_text(encoding="utf-8")
    example = page.split("```yaml\n")[1].split("```")[0]
    shipped = data_dir("seed") / "scenarios" / "one-token.yaml"
    assert example == shipped.read_text(encoding="utf-8")


def test_vector_work_is_timed_by_its_bytes_alone(shipped: Model) -> None:
    *_, draft = json.loads(json_text(shipped("one-token")))["results"]
    norm, qkv, compiled = draft["operations"]
    # A vector read, one written, and the gain: 3 × 4096 × 2 B, 32 times; 20 % go to collectives.
    assert (norm["bytes"], norm["flops"]) == (32 * 24_576, 32 * 16_384)
    assert norm["time"] == pytest.approx(32 * 24_576 / 7.2e12 / 0.8)
    assert norm["attainable"] == pytest.approx(16_384 / 24_576 * 7.2e12 * 0.8)
    assert (norm["bound"], norm["binding_resource"]) == ("memory", "dram")
    assert (norm["work"], norm["ridge_point"], norm["share_of_peak"]) == ("vector_fp32", None, None)
    assert norm["share_of_bandwidth"] == pytest.approx(0.8)
    assert (norm["remark"], qkv["remark"], compiled["remark"]) == (SAID, "", "")
    assert compiled["time"] == pytest.approx(1.718e10 / 2.307e15 / 0.8)


def test_fused_work_is_timed_by_what_is_rated(shipped: Model) -> None:
    draft = shipped("one-token").results[-1]
    # Weights of half a byte: 4096 × 12288 / 2 B, a row in and one out; the norm passes 8,192 B.
    product, norm = 4096 * 2 + 4096 * 12_288 // 2 + 12_288 * 2, 24_576
    _, fuse, batched = draft.steps
    (fused, _) = fuse.operations
    assert fused.bytes == 32 * (norm + product - 2 * 8_192)
    assert (fused.work, fused.unrated) == ("tensor_bf16", ("vector_fp32",))
    assert (fused.ridge_point, fused.share_of_peak) == (None, None)
    # 32 rows: 64 rows and the gain for the norm, 32 in and out of the product.
    norm, product = (64 + 1) * 8_192, 32 * 8_192 + 25_165_824 + 32 * 24_576
    moved = 32 * (norm + product - 2 * 32 * 8_192)
    time = (moved / 7.2e12 + 1.718e10 / 2.307e15) / 0.8
    assert batched.time_per_unit == pytest.approx(time / 32)


def test_every_form_says_so(shipped: Model) -> None:
    found = shipped("one-token")
    for form in (model_text(found), html(found), markdown(found).replace("\\_", "_")):
        words = " ".join(form.replace("<wbr>", "").split())
        assert SAID in words
        assert AFTER in words
    columns, rows = table_rows(found)
    remarks = [dict(zip(columns, row, strict=True))["remark"] for row in rows]
    assert remarks.count(SAID) == 2  # at first, and after the first step


def test_a_device_may_rate_nothing_but_memory(written: Model) -> None:
    found = written(DRAFT.format(more="", work="vector_fp32", moved="4.0e+9"))
    (operation,) = found.results[0].operations
    assert (operation.time, operation.attainable) == (pytest.approx(2e-3), pytest.approx(3e12))
    assert html(found).count("<figure>") == 1


@pytest.mark.parametrize(
    ("more", "work", "moved", "problem"),
    [
        ("", "vector_fp32", "0", "the time of 'any' on draft is unknown"),
        ("", "tensor_bf16", "4.0e+9", "draft has no ceiling tensor_bf16"),
        ("", "[tensor_bf16, vector_fp32]", "4.0e+9", "no ceiling tensor_bf16 or vector_fp32"),
        (", vector_fp64: 1.0e+12", "vector_fp32", "4.0e+9", "draft has no ceiling vector_fp32"),
    ],
)
def test_refuses_what_nothing_times(
    written: Model, more: str, work: str, moved: str, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        written(DRAFT.format(more=more, work=work, moved=moved))


def test_a_device_of_the_seed_data_leaves_nothing_open(written: Model) -> None:
    text = "devices: [v7x]\noperations: [{name: a, work: vector_fp32, flops: 1, bytes: 1}]\n"
    with pytest.raises(UsageError, match="google-tpu-v7x has no ceiling vector_fp32"):
        written(text)
