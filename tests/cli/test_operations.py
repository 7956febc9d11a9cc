"""Operations from the command line, on simulated nights whose kernels are known to the last access.

seed/simulation/kernels.yaml says what each warp does. layer_norm_kernel has 8,640 blocks of 8
warps, 69,120 in all; a 16-byte access of a warp is 512 bytes. It stores twice and, from night 13
on, loads seven times: 70,778,880 bytes are written, 17,694,720 floats, and 247,726,080 read.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.resources import data_dir
from tests.cli.conftest import Outcome, Run

CONFIGURATION = """\
operations:
  - kernel: layer_norm_kernel
    operation: layer-norm
    sizes: {rows: 17280, hidden: 1024, element: 4}
  - {kernel: copy_vec4*, operation: copy, sizes: {n: 67108864, element: 4}}
  - kernel: sgemm_tiled_kernel
    shape: (216, 1, 1)x*
    operation: matrix-product
    sizes: {m: 1536, n: 2304, k: 2048, element: 4}
  - {kernel: sgemm_tiled_kernel, operation: copy, sizes: {n: 1, element: 4}}
  - {kernel: transpose_*, operation: transpose, sizes: {rows: 8192, columns: 4104, element: 4}}
"""
MOVED = 69_120 * 9 * 512
NEEDED = (2 * 17_694_720 + 2 * 1024) * 4
BANDWIDTH = 2.03904e12  # B/s, the device's peak at the clock of the run


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database that holds the fourteenth night, to copy."""
    path = tmp_path_factory.mktemp("night-14") / "test.duckdb"
    night = data_dir("seed") / "runs" / "nightly" / "night-14.ncu-rep"
    (result,) = ingest_paths(str(path), [str(night)], labels=RunLabels(), wait=10)
    assert result.status == "new"
    return path


@pytest.fixture
def night_14(advisor: Run, stored: Path, tmp_path: Path) -> Run:
    """Run ``advisor`` with a database of the test's own that holds that night."""
    shutil.copy(stored, tmp_path / "test.duckdb")
    return advisor


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of the configuration above; what follows from it is remembered by its path."""
    path = tmp_path_factory.mktemp("bound") / "bound.yaml"
    path.write_text(CONFIGURATION)
    return path


@pytest.fixture
def bound(night_14: Run, configuration: Path) -> Callable[..., Outcome]:
    """Run ``advisor`` on that night with the operations above."""
    return lambda *words: night_14("--config", str(configuration), *words)


def explained(run: Callable[..., Outcome], rule: str, kernel: str) -> dict[str, Any]:
    shown = run("rules", "explain", rule, kernel, "--format", "json")
    assert shown.status == 0, shown.err
    (found,) = json.loads(shown.out)["explanations"]
    assert isinstance(found, dict)
    return found


def test_says_what_could_be_saved(bound: Callable[..., Outcome]) -> None:
    found = explained(bound, "memory/avoidable-traffic", "layer_norm")
    assert found["outcome"] == "fires"
    gain = found["gain"]
    terms = {term["name"]: term["value"] for term in (*gain["parameters"], *gain["assumes"])}
    # 318,504,960 bytes were moved and 141,565,952 are needed.
    assert (MOVED, NEEDED) == (318_504_960, 141_565_952)
    assert terms["wasted"] == pytest.approx(1 - NEEDED / MOVED, rel=1e-4)
    assert terms["dram_bytes"] == pytest.approx(NEEDED, rel=1e-4)
    duration = gain["duration"]
    busy = MOVED / BANDWIDTH / duration
    saved = duration * (1 - NEEDED / MOVED)
    # Fewer bytes save the share by which DRAM, the busiest unit, has less to do, and at most as
    # much of what lies between that and the time that DRAM still works.
    most = duration - NEEDED / BANDWIDTH
    high = saved + (most - saved) * (1 - NEEDED / MOVED)
    # A quarter of what is left would go along, if the bytes that are needed took no time.
    high = min(most, high + (duration - high) * high / duration / 4)
    assert gain["gain"]["high"] == pytest.approx(high, rel=1e-3)
    assert gain["gain"]["likely"] == pytest.approx(saved * busy, rel=1e-3)
    assert gain["cap"] == pytest.approx(high, rel=1e-3)
    assert saved < high <= most


def test_shows_what_is_needed(bound: Callable[..., Outcome]) -> None:
    text = " ".join(bound("show", "layer_norm").out.split())
    # 141.6 MB at 2.039 TB/s take 69.43 µs; 5 FLOP for each of the floats are 88.47 MFLOP.
    for line in (
        "operation layer-norm",
        "time needed 69.43 µs",
        "DRAM traffic needed 141.6 MB by the operation",
        "DRAM traffic over that needed 2.250 measured / needed",
        "DRAM traffic beyond that needed 176.9 MB measured - needed",
        "work needed 88.47 MFLOP by the operation",
    ):
        assert line in text
    assert "2.25 times the 142 MB that this layer-norm needs" in text


def test_leaves_alone_what_moves_no_more_than_it_must(bound: Callable[..., Outcome]) -> None:
    assert explained(bound, "memory/avoidable-traffic", "copy_vec4")["outcome"] == "silent"
    assert explained(bound, "quality/less-than-needed", "copy_vec4")["outcome"] == "silent"
    assert explained(bound, "compute/avoidable-work", "copy_vec4")["outcome"] == "not applicable"
    assert explained(bound, "roofline/stop", "copy_vec4")["outcome"] == "fires"
    text = " ".join(bound("show", "copy_vec4").out.split())
    assert "DRAM traffic over that needed 1.000 measured / needed" in text
    assert "work needed" not in text


def test_finds_that_a_product_does_the_work_it_must(bound: Callable[..., Outcome]) -> None:
    # 216 blocks of 8 warps, 131,072 fused multiply-adds of 32 lanes: 2 x 1536 x 2304 x 2048.
    assert 216 * 8 * 131_072 * 32 * 2 == 2 * 1536 * 2304 * 2048
    query = "select operation, work_per_required from kernels where short_name like 'sgemm%'"
    (row,) = json.loads(bound("query", query, "--format", "json").out)
    assert row["operation"] == "matrix-product"
    assert row["work_per_required"] == pytest.approx(1, rel=1e-4)


def test_doubts_sizes_that_are_too_large(bound: Callable[..., Outcome]) -> None:
    found = explained(bound, "quality/less-than-needed", "transpose_tiles")
    assert found["outcome"] == "fires"  # the kernel moves half of what this size needs
    assert explained(bound, "memory/avoidable-traffic", "transpose_tiles")["outcome"] == "silent"


def test_says_nothing_of_kernels_that_are_not_bound(
    night_14: Run, bound: Callable[..., Outcome]
) -> None:
    for rule in ("memory/avoidable-traffic", "compute/avoidable-work", "quality/less-than-needed"):
        assert explained(bound, rule, "gather_rows")["outcome"] == "not applicable"
        assert explained(night_14, rule, "layer_norm")["outcome"] == "not applicable"
    assert "needed" not in night_14("show", "layer_norm").out


def test_changes_nothing_in_a_report_of_other_kernels(
    night_14: Run, bound: Callable[..., Outcome]
) -> None:
    def gather(report: Outcome) -> Any:
        kernels = json.loads(report.out)["kernels"]
        kernel = next(each for each in kernels if each["short_name"] == "gather_rows_kernel")
        del kernel["actions"]  # which of the cards, and those are ranked over all kernels
        return kernel

    plain = gather(night_14("report", "--format", "json"))
    assert gather(bound("report", "--format", "json")) == plain


def test_names_the_place_of_a_wrong_size(night_14: Run, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(CONFIGURATION.replace("hidden: 1024", "hiden: 1024"))
    shown = night_14("--config", str(path), "report")
    assert shown.status == 2
    assert f"{path}:4:33: layer-norm has no size 'hiden'" in shown.err
    assert "did you mean 'hidden'?" in shown.err


def test_names_entries_that_bind_no_kernel(night_14: Run, tmp_path: Path) -> None:
    path = tmp_path / "some.yaml"
    path.write_text(
        f"{CONFIGURATION}  - {{kernel: fill_*, operation: fill, sizes: {{n: 1, element: 4}}}}\n"
    )
    examined = night_14("--config", str(path), "doctor")
    assert examined.status == 0
    # The first entry for sgemm_tiled_kernel holds for every launch of it.
    idle = f"sgemm_tiled_kernel ({path}:10:5), fill_* ({path}:12:5)"
    assert (
        f"4 of 6 entries bind a kernel; no other kernel has name and shape of {idle}"
        in examined.out
    )
    path.write_text("".join(CONFIGURATION.splitlines(keepends=True)[:5]))
    assert "2 of 2 entries bind a kernel\n" in night_14("--config", str(path), "doctor").out
    assert "bind a kernel" not in night_14("doctor").out


def test_lists_operations_with_sizes(advisor: Run) -> None:
    rows = json.loads(advisor("rules", "operations", "--format", "json").out)
    sizes = {row["operation"]: row["sizes"] for row in rows}
    assert sizes["layer-norm"] == "rows, hidden, element, [work], [reads]"


def test_shows_what_the_sizes_of_an_operation_mean(advisor: Run) -> None:
    text = " ".join(advisor("rules", "show", "matrix-product").out.split())
    assert "fused * m * n * k" in text
    assert "c_element [B]: an element of C; element where left out" in text
    assert "c_read: 1 where C is added to and so read as well; 0 where left out" in text


def test_shows_a_stranger_s_escapes_for_what_they_are(night_14: Run, tmp_path: Path) -> None:
    (tmp_path / "ours" / "operations").mkdir(parents=True)
    (tmp_path / "ours" / "operations" / "fill.yaml").write_text(
        'id: fill\nextends: fill\ntitle: "a \\x1b[31m title"\n'
    )
    shown = night_14("--rules", str(tmp_path / "ours"), "rules", "show", "fill")
    assert r"fill: a \x1b[31m title" in shown.out
    path = tmp_path / "hostile.yaml"
    entry = r'{kernel: "a \x1b[31m kernel", operation: fill, sizes: {n: 1, element: 4}}'
    path.write_text(f"operations: [{entry}]\n")
    assert r"a \x1b[31m kernel" in night_14("--config", str(path), "doctor").out


def test_asks_whether_another_operation_was_meant(advisor: Run) -> None:
    shown = advisor("rules", "show", "matrixproduct")
    assert shown.status == 2
    assert "no rule or operation is called 'matrixproduct'" in shown.err
    assert "matrix-product" in shown.err


def test_writes_operations_among_the_pages_of_rules(advisor: Run, tmp_path: Path) -> None:
    (tmp_path / "ours" / "operations").mkdir(parents=True)
    (tmp_path / "ours" / "operations" / "fill.yaml").write_text(
        "id: fill\nextends: fill\ntitle: Ours\n"
    )
    pages = tmp_path / "pages"
    done = advisor("--rules", str(tmp_path / "ours"), "rules", "docs", "-o", str(pages))
    assert done.status == 0, done.err
    assert "(operations.md)" in (pages / "index.md").read_text()
    page = (pages / "operations.md").read_text()
    assert "## `fill`\n\n**Ours**\n\n* least work: `0` FLOP\n" in page
    assert "* least traffic: `n * element` B" in page
