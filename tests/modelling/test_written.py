"""What is written of a model: JSON without NaN, rows, text, a page that asks for nothing."""

from __future__ import annotations

import json
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.errors import UsageError
from advisor.modelling.estimate import model
from advisor.modelling.given import number
from advisor.modelling.read import Known
from advisor.modelling.scenario import DeclaredOperation, Item, Scenario, ScenarioState
from advisor.reports.modelled.machine import json_text, table_rows
from advisor.reports.modelled.page import html, markdown
from advisor.reports.modelled.text import model_text
from tests.modelling.conftest import Model

OPERATION_KEYS = {
    "name", "operation", "work", "repeat", "flops", "bytes", "time", "arithmetic_intensity",
    "no_bytes", "ridge_point", "bound", "binding_resource", "attainable", "share_of_peak",
    "share_of_bandwidth",
}  # fmt: skip
EXTREMES = """\
title: "<b>& |title"
devices: [H100 SXM]
work: tensor_bf16
sizes: {n: 1}
operations:
  - {name: no bytes, flops: 989.4e+12}
  - {name: "<script>alert(1)</script>", work: vector_fp32, bytes: 3.35e+12}
"""


def test_json_has_the_keys_of_the_interface(shipped: Model) -> None:
    answer = json.loads(json_text(shipped("serving", sweep="batch=1,2")))
    assert set(answer) == {"title", "results"}
    (result,) = answer["results"]
    assert {"device", "roof", "collectives", "operations", "total", "steps", "sweep"} <= set(result)
    assert result["device"] == "nvidia-h100-sxm5-80gb"
    assert set(result["operations"][0]) >= OPERATION_KEYS
    assert set(result["total"]) == {"flops", "bytes", "time", "time_per_unit"}
    step = {"name", "flops", "bytes", "time", "time_per_unit", "speedup", "cumulative", "rank"}
    assert step <= set(result["steps"][0])
    assert set(result["sweep"]) == {"size", "rows", "crossings"}
    assert set(result["sweep"]["rows"][0]) == {"value", "time", "time_per_unit", "operations"}


def _never(word: str) -> None:
    raise AssertionError(word)


def test_json_has_no_infinity(written: Model) -> None:
    answer = json.loads(json_text(written(EXTREMES)), parse_constant=_never)
    no_bytes, no_flop = answer["results"][0]["operations"]
    assert (no_bytes["arithmetic_intensity"], no_bytes["no_bytes"]) == (None, True)
    assert (no_bytes["bound"], no_bytes["time"]) == ("compute", 1.0)
    assert (no_flop["arithmetic_intensity"], no_flop["attainable"], no_flop["work"]) == (0, 0, None)
    assert (no_flop["bound"], no_flop["time"]) == ("memory", 1.0)


def test_rows_hold_every_state(shipped: Model) -> None:
    columns, rows = table_rows(shipped("fusion"))
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    assert [row["step"] for row in found] == [
        *[None] * 4, *["three kernels"] * 3, *["two kernels"] * 2, "one kernel",
    ]  # fmt: skip


def test_text_draws_the_roofline(shipped: Model) -> None:
    text = model_text(shipped("gate-projection", "A100 SXM", sweep="tokens=1:400"), width=100)
    assert "ridge 153 FLOP/B" in text
    words = " ".join(text.split())
    assert "162 is the first whole value; by weights alone at about 153" in words
    assert max(map(len, text.splitlines())) <= 100
    ascii_text = model_text(shipped("serving"), ascii_only=True)
    assert ascii_text.isascii()


def test_text_says_what_is_modelled_above_the_roof(shipped: Model) -> None:
    words = " ".join(model_text(shipped("tiling")).split())
    assert "modelled: above the DRAM roof" in words


def test_the_page_asks_for_nothing_and_escapes(written: Model) -> None:
    page = html(written(EXTREMES))
    assert "<script>alert" not in page
    assert "&lt;b&gt;&amp; |title" in page
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)
    assert "prefers-color-scheme:dark" in page


def test_the_page_has_a_panel_per_device_and_a_waterfall(shipped: Model) -> None:
    page = html(shipped("convolution"))
    assert page.count('<section id="m') == 2
    assert page.count('class="hb falls"') == 2
    assert page.count("Roofline of the model on") == 2 * 4  # at four sizes


def test_markdown_escapes_and_tables(written: Model, shipped: Model) -> None:
    assert "<script>" not in markdown(written(EXTREMES))
    text = markdown(shipped("fusion"))
    assert "| 1 | one kernel |" in text or "| 2 | one kernel |" in text


@given(
    flops=st.floats(min_value=0, allow_infinity=False),
    moved=st.floats(min_value=0, allow_infinity=False),
    repeat=st.floats(min_value=1, allow_infinity=False),
    share=st.floats(min_value=0, max_value=1, exclude_max=True),
)
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_numbers_are_worked_out_or_refused(
    known: Known, flops: float, moved: float, repeat: float, share: float
) -> None:
    part = DeclaredOperation(
        name="any",
        operation=None,
        amounts={},
        sizes={},
        fixed={"flops": number(flops), "bytes": number(moved)},
        repeat=number(repeat),
        works=("tensor_bf16",),
    )
    start = ScenarioState(
        sizes={},
        items=(Item(name="any", parts=(part,)),),
        roof="nominal",
        collectives=share,
        per=number(1),
    )
    machine = known.machines.called("h100 sxm")
    try:
        found = model(Scenario(title="", machines=(machine,), start=start))
    except UsageError:
        return
    json_text(found)  # which refuses NaN and infinity
    (operation,) = found.results[0].operations
    assert operation.time > 0
