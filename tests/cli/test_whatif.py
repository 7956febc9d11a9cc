"""``advisor whatif`` as it is run, on a simulated night, good input and bad."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

KEYS = {
    "name", "launches", "measured", "low", "likely", "high", "binding_resource", "caveats",
    "reason",
}  # fmt: skip


def scenarios(advisor: Run, *words: str) -> list[dict[str, Any]]:
    found = advisor("whatif", *words, "--format", "json")
    assert (found.status, found.err) == (0, "")
    return list(json.loads(found.out)["scenarios"])


def kernel(scenario: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (each for each in scenario["kernels"] if each["name"].startswith(name))
    return dict(found)


def facts(advisor: Run, name: str, *columns: str) -> list[float]:
    query = f"select {', '.join(columns)} from kernels where short_name like '{name}%'"
    found = advisor("query", query, "--format", "json")
    (row,) = json.loads(found.out)
    return list(row.values())


def test_predicts_a_copy_by_its_bytes(filled: Run) -> None:
    (scenario,) = scenarios(filled, "--device", "H200 SXM")
    assert scenario["device"] == "nvidia-h200-sxm-141gb"
    found = kernel(scenario, "copy_vec4")
    columns = ("dram_bytes", "duration", "t_sol_practical")
    moved, duration, practical = facts(filled, "copy_vec4", *columns)
    assert found.keys() == KEYS
    assert found["low"] == pytest.approx(moved / 4.8e12)
    slower = (duration - 1.5e-6) / practical
    assert found["likely"] == pytest.approx(1.5e-6 + slower * moved / (0.88 * 4.8e12))
    assert found["high"] > found["likely"]


def test_adds_up_what_is_covered(filled: Run) -> None:
    (scenario,) = scenarios(filled, "--device", "H200 SXM")
    known = [each for each in scenario["kernels"] if each["likely"] is not None]
    unknown = [each for each in scenario["kernels"] if each["likely"] is None]
    assert all(each["reason"] for each in unknown)
    total = scenario["total"]
    assert total["likely"] == pytest.approx(sum(each["likely"] for each in known))
    measured = sum(each["measured"] for each in scenario["kernels"])
    assert total["covered"] == pytest.approx(sum(e["measured"] for e in known) / measured)
    assert 0 < total["covered"] < 1


def test_ranks_every_device(filled: Run) -> None:
    found = scenarios(filled, "--all-devices")
    assert [each["rank"] for each in found] == list(range(1, len(found) + 1))
    assert len(found) >= 89
    devices = {each["device"] for each in found}
    assert devices >= {"nvidia-h100-sxm5-80gb", "amd-mi300x", "intel-max-1550", "apple-m1-max"}
    assert devices.isdisjoint({"nvidia-grace-1s", "aws-trainium2", "intel-gaudi-3"})
    whole = [each["total"] for each in found if each["total"]["covered"] > 0.999]
    assert [each["likely"] for each in whole] == sorted(each["likely"] for each in whole)
    covered = [round(each["total"]["covered"], 2) for each in found]
    assert covered == sorted(covered, reverse=True)


@pytest.mark.parametrize("width", ["60", "100"])
def test_ranking_tells_devices_of_one_family_apart(
    filled: Run, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    ranking = filled("whatif", "--all-devices").out.split("compared  device")[1]
    words = " ".join(ranking.split())
    assert "Max-Q" in words
    assert "…" not in ranking.split("\n\n")[0]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_tables_of_kernels_keep_to_the_terminal(
    filled: Run, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = filled("whatif", "--device", "H200 SXM").out.splitlines()
    assert max(map(len, lines)) <= width
    (head,) = [line for line in lines if line.startswith("kernel ")]
    assert ("bound by" in head) is (width == 100)


def test_its_own_device_is_about_as_fast(filled: Run) -> None:
    (scenario,) = scenarios(filled, "--device", "nvidia-a100-sxm4-80gb")
    total = scenario["total"]
    assert total["likely"] == pytest.approx(total["measured"], rel=0.15)  # the clock was held
    assert total["low"] <= total["measured"] <= total["high"]


def test_scales_what_binds(filled: Run) -> None:
    (scenario,) = scenarios(filled, "--scale", "dram_bandwidth=1.25")
    found = kernel(scenario, "copy_vec4")
    (duration,) = facts(filled, "copy_vec4", "duration")
    # All of it is traffic to memory: 1.5 µs of launch stay, the rest takes four fifths.
    assert found["likely"] == pytest.approx(1.5e-6 + (duration - 1.5e-6) / 1.25, rel=1e-6)
    (bound, *_) = facts(filled, "sgemm", "binding_resource")
    assert bound == "fp32"
    product = kernel(scenario, "sgemm")
    assert product["likely"] == pytest.approx(product["measured"])


def test_scales_more_than_one_peak(filled: Run) -> None:
    (scenario,) = scenarios(filled, "--scale", "dram_bandwidth=2", "--scale", "l2_bandwidth=2",
                            "--scale", "l1_bandwidth=2")  # fmt: skip
    (alone,) = scenarios(filled, "--scale", "dram_bandwidth=2")
    assert scenario["total"]["likely"] < alone["total"]["likely"]


def test_applies_advice_alone_and_beside_the_rest(filled: Run) -> None:
    rule = "memory/uncoalesced-loads"
    alone, beside = scenarios(filled, "--apply", rule)
    assert alone["rules"] == beside["rules"] == [rule]
    (gather,) = alone["kernels"]
    assert gather["name"].startswith("gather_rows")
    assert gather["likely"] < gather["measured"]
    saved = gather["measured"] - gather["likely"]
    assert 0 <= beside["adds"] < saved  # other advice on this kernel takes some of it
    assert all(each["low"] <= each["likely"] <= each["high"] for each in beside["kernels"])


def test_leaves_out_what_no_launch_has_as_a_column(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = "thresholds:\n  launch/very-short: {part: 1.0e-6}\n"
    (tmp_path / "advisor.yaml").write_text(low)
    monkeypatch.chdir(tmp_path)
    query = "select count(*) as found from findings where rule_id = 'launch/very-short'"
    filled("refresh")
    assert json.loads(filled("query", query, "--format", "json").out)[0]["found"] > 0
    alone, beside = scenarios(filled, "--apply", "memory/uncoalesced-loads")
    assert alone["kernels"]
    assert beside["adds"] >= 0
    refused = filled("whatif", "--apply", "launch/very-short")
    assert (refused.status, refused.out) == (2, "")
    assert "launch/very-short does not say what following it changes in a kernel" in refused.err


def test_a_declared_operation_explains_its_time(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "advisor.yaml").write_text(
        "operations:\n  - {kernel: copy_vec4*, operation: copy, sizes: {n: 1.0e+7, element: 4}}\n"
    )
    monkeypatch.chdir(tmp_path)
    (scenario,) = scenarios(filled, "--operation")
    (found,) = scenario["kernels"]
    moved, peak = facts(filled, "copy_vec4", "dram_bytes", "peak_dram_bandwidth")
    assert found["operation"] == "copy"
    assert found["least"] == found["low"] == pytest.approx(8.0e7 / peak)
    assert found["avoidable_traffic"] == pytest.approx(moved / 8.0e7)
    assert found["avoidable_work"] == pytest.approx(1)
    assert found["gap"] == pytest.approx(found["measured"] / found["least"])
    product = found["avoidable_traffic"] * found["avoidable_work"] * found["efficiency"]
    assert product == pytest.approx(found["gap"])
    monkeypatch.setenv("COLUMNS", "60")
    lines = filled("whatif", "--operation").out.splitlines()
    assert max(map(len, lines)) <= 60
    assert ["kernel", "gap", "traffic", "work", "efficiency"] in [line.split() for line in lines]


def test_every_format_says_the_same(filled: Run) -> None:
    words = ("whatif", "--device", "mi300x", "--format")
    text = filled("whatif", "--device", "mi300x").out
    rows = list(csv.DictReader(io.StringIO(filled(*words, "csv").out)))
    assert len(rows) == 14
    assert "copy_vec4_kernel" in text
    assert "| copy\\_vec4\\_kernel |" in filled(*words, "markdown").out
    page = filled(*words, "html").out
    assert page.startswith("<!doctype html>")
    assert "http" not in page.replace("http-equiv", "")


def test_narrows_to_a_kernel(filled: Run) -> None:
    (scenario,) = scenarios(filled, "--device", "mi300x", "--kernel", "layer_norm")
    assert [each["name"] for each in scenario["kernels"]] == ["layer_norm_kernel"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "nothing to change"),
        (("--device", "h200-sxm", "--all-devices"), "--device and --all-devices are two questions"),
        (("--device", "nothing like it"), "no device called 'nothing like it' is known"),
        (("--device", "nvidia-grace-1s"), "CPU, as in GH200/GB200) is no GPU"),
        (("--device", "h200-sxm", "--device", "aws-trainium2"), "Trainium2 is no GPU"),
        (("--device", "intel-gaudi-3"), "Intel Gaudi 3 (OAM) is no GPU"),
        (("nope", "--all-devices"), "there is no run 'nope'"),
        (("--all-devices", "--kernel", "nope"), "is called 'nope'"),
        (("--scale", "dram_bandwith=2"), "did you mean 'dram_bandwidth'"),
        (("--scale", "fp32"), "'fp32' is no factor"),
        (("--scale", "fp32=nan"), "fp32 must be a number"),
        (("--scale", "fp32=0"), "the factor of fp32 must be a number, above 0, not '0'"),
        (("--scale", "fp32=-1"), "the factor of fp32 must be a number, above 0, not '-1'"),
        (("--scale", "fp32=2", "--scale", "fp32=3"), "fp32 is scaled twice"),
        (("--apply", "memory/uncoalesced-load"), "did you mean 'memory/uncoalesced-loads'"),
        (("--apply", "launch/tail-wave"), "does not say what following it changes"),
        (("--apply", "roofline/dram-bound"), "roofline/dram-bound was not found in this run"),
        (("--operation",), "has an operation"),
    ],
)
def test_refuses_what_makes_no_sense(filled: Run, words: tuple[str, ...], problem: str) -> None:
    found = filled("whatif", *words)
    assert (found.status, found.out) == (2, "")
    assert problem in found.err
