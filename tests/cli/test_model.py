"""``advisor model`` and ``advisor hardware compare | add`` as they are run, good input and bad."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from advisor.resources import data_dir
from tests.cli.conftest import Run

SCENARIO = """\
title: two operations
devices: [H100 SXM]
sizes: {batch: 1, hidden: 4096}
per: batch
work: tensor_bf16
operations:
  - {name: norm, operation: rms-norm, repeat: 2, sizes: {rows: batch, hidden: hidden, element: 2}}
  - name: up
    operation: matrix-product
    repeat: 2
    sizes: {m: batch, n: hidden, k: hidden, element: 2}
steps:
  - {name: small, where: {operation: matrix-product}, sizes: {b_element: 1}}
"""
CUBE = ("matrix-product", "m=4096", "n=4096", "k=4096")
OPERATION = ("matrix-product", "m=64", "n=11008", "k=4096", "element=2")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO)
    return path


def test_models_an_operation(advisor: Run) -> None:
    found = advisor("model", *OPERATION, "--device", "H100 SXM", "--roof", "project",
                    "--work", "tensor_fp16", "--repeat", "32", "--format", "json")  # fmt: skip
    assert (found.status, found.err) == (0, "")
    (result,) = json.loads(found.out)["results"]
    (operation,) = result["operations"]
    assert operation["flops"] == 32 * 5_771_362_304
    assert operation["time"] == pytest.approx(32 * 92_110_848 / 3.35e12)


def test_takes_the_first_work_that_the_device_rates(advisor: Run) -> None:
    found = advisor("model", *OPERATION, "--device", "v100 sxm2", "--format", "json")
    (result,) = json.loads(found.out)["results"]
    assert result["operations"][0]["work"] == "tensor_fp16"  # it has no bf16


@pytest.mark.parametrize(
    ("words", "work", "time"),
    [
        # 20 FLOP for each of 10¹² pairs, at 19.5 TFLOP/s of the A100's fp32.
        (("n-body", "bodies=1000000"), "vector_fp32", 20e12 / 19.5e12),
        (("n-body", "bodies=1000000", "in_bytes=32"), "vector_fp64", 20e12 / 9.7e12),
        # 2 · 4096³ FLOP, at 19.5 TFLOP/s of fp64 in the matrix units, of fp32 outside of them.
        ((*CUBE, "element=8"), "tensor_fp64", 2 * 4096**3 / 19.5e12),
        ((*CUBE, "element=4"), "vector_fp32", 2 * 4096**3 / 19.5e12),
        ((*CUBE, "element=2"), "tensor_bf16", 2 * 4096**3 / 312e12),
        ((*CUBE, "element=1"), "tensor_int8", 2 * 4096**3 / 624e12),
        ((*CUBE, "element=8", "--work", "tensor_bf16"), "tensor_bf16", 2 * 4096**3 / 312e12),
    ],
)
def test_takes_the_pipe_that_is_usual_for_an_operation_and_its_elements(
    advisor: Run, words: tuple[str, ...], work: str, time: float
) -> None:
    found = advisor("model", *words, "--device", "A100 SXM", "--format", "json")
    ((operation,),) = (each["operations"] for each in json.loads(found.out)["results"])
    assert operation["work"] == work
    assert operation["time"] == pytest.approx(time, rel=2e-3)


def test_the_usual_pipe_follows_what_a_step_makes_of_the_elements(
    advisor: Run, scenario: Path
) -> None:
    small = SCENARIO.replace("sizes: {b_element: 1}", "sizes: {element: 8}")
    scenario.write_text(small.replace("work: tensor_bf16\n", ""))
    found = json.loads(advisor("model", str(scenario), "--format", "json").out)
    (result,) = found["results"]
    assert [each["work"] for each in result["operations"]] == ["vector_fp32", "tensor_bf16"]
    (step,) = result["steps"]
    assert [each["work"] for each in step["operations"]] == ["vector_fp32", "tensor_fp64"]


def test_takes_minus_nothing_for_nothing(advisor: Run) -> None:
    words = ("matrix-product", "m=-0", *OPERATION[2:], "--device", "v7x", "--format", "json")
    found = advisor("model", *words)
    assert found.status == 0
    assert "-0" not in found.out.replace("e-0", "")


def test_devices_of_the_command_are_in_place_of_the_files(advisor: Run, scenario: Path) -> None:
    words = ("model", str(scenario), "--device", "v7x", "--device", "A100 SXM", "--format", "json")
    found = json.loads(advisor(*words).out)
    assert [each["device"] for each in found["results"]] == [
        "google-tpu-v7x",
        "nvidia-a100-sxm4-80gb",
    ]


def test_writes_every_format_to_a_file(advisor: Run, scenario: Path, tmp_path: Path) -> None:
    for style in ("text", "json", "csv", "html", "markdown"):
        path = tmp_path / f"answer.{style}"
        found = advisor("model", str(scenario), "--format", style, "-o", str(path))
        assert (found.status, found.out) == (0, "")
        assert "up" in path.read_text()


def test_csv_has_a_row_per_operation_and_point(advisor: Run, scenario: Path) -> None:
    found = advisor("model", str(scenario), "--sweep", "batch=1:3", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(found.out)))
    assert [row["value"] for row in rows] == [""] * 4 + ["1.0"] * 2 + ["2.0"] * 2 + ["3.0"] * 2


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ({"flops": 1e9, "bytes accessed": 1e9, "transcendentals": 3}, ["costs"]),
        ([{"flops": 1e9, "bytes accessed": 1e9}], ["costs"]),
        (
            [{"flops": 1, "bytes accessed": 1}, {"flops": 2, "bytes accessed": 1}],
            ["costs 1", "costs 2"],
        ),
        (
            {"a": {"flops": 1, "bytes accessed": 1}, "b": {"flops": 2, "bytes accessed": 1}},
            ["a", "b"],
        ),
    ],
)
def test_takes_a_compilers_costs(
    advisor: Run, tmp_path: Path, content: object, names: list[str]
) -> None:
    path = tmp_path / "costs.json"
    path.write_text(json.dumps(content))
    words = ("--device", "v7x", "--work", "tensor_bf16", "--format", "json")
    found = json.loads(advisor("model", "--costs", str(path), *words).out)
    operations = found["results"][0]["operations"]
    assert [each["name"] for each in operations] == names
    assert all(each["modelled"] for each in operations)


# -- bad input: a sentence, exit 2, nothing on stdout ----------------------------------------------

ATTENTION = ("attention", "batch=1", "heads=8", "queries=64", "keys=64", "dimension=64")

WORDS = [
    (
        ("model", "matrix-product", "m=1.5", *OPERATION[2:], "--device", "v7x"),
        "m must be a whole number, not 1.5",
    ),
    (
        ("model", *ATTENTION, "element=2", "kept=5", "--device", "v7x"),
        "kept must be a share, from 0 to 1, not 5",
    ),
    (("model",), "nothing to model"),
    (("model", "matrix-prodcut", "m=1"), "did you mean 'matrix-product'"),
    (("model", *OPERATION), "no device is named"),
    (("model", *OPERATION, "p=3", "--device", "v7x"), "matrix-product has no size 'p'"),
    (("model", *OPERATION[:-1], "--device", "v7x"), "needs the size 'element'"),
    (("model", *OPERATION[:-1], "element=nan", "--device", "v7x"), "element must be a number"),
    (("model", *OPERATION[:-1], "element=-2", "--device", "v7x"), "element must be a number"),
    (("model", *OPERATION[:-1], "element=two", "--device", "v7x"), "element must be a number"),
    (("model", *OPERATION, "m=65", "--device", "v7x"), "a size is given twice"),
    (("model", *OPERATION, "--device", "H100 SXN"), "no device called 'H100 SXN'"),
    (("model", *OPERATION, "--device", "h100"), "'h100' may be several devices"),
    (
        ("model", *OPERATION, "--device", "v7x", "--work", "tensor_bf61"),
        "did you mean 'tensor_bf16'",
    ),
    (
        ("model", *OPERATION, "--device", "v7x", "--work", "tensor_fp64"),
        "google-tpu-v7x has no ceiling",
    ),
    (("model", *OPERATION, "--device", "MI300X", "--roof", "project"), "has no ceiling"),
    (("model", *OPERATION, "--device", "v7x", "--repeat", "0"), "Invalid value"),
    (("model", *OPERATION, "--device", "v7x", "--sweep", "m="), "the sweep 'm=' is empty"),
    (("model", *OPERATION, "--device", "v7x", "--sweep", "m=5:1"), "is empty"),
    (("model", *OPERATION, "--device", "v7x", "--sweep", "m"), "is no sweep"),
    (("model", *OPERATION, "--device", "v7x", "--sweep", "m=1:9:0"), "must be above 0"),
    (("model", *OPERATION, "--device", "v7x", "--sweep", "m=1:nan"), "must be a number"),
    (("model", *OPERATION, "--device", "v7x", "--sweep", "mm=1,2"), "did you mean 'm'"),
    (("model", *OPERATION, "--device", "v7x", "--sweep", "m=0:1e9"), "has too many points"),
    (("model", *OPERATION, "--device", "v7x", "--sweep", "m=0:1e308:1e-308"), "too many points"),
    (("model", *OPERATION, "--device", "v7x", "--sweep", "m=1e308:0:1e-308"), "is empty"),
    (("model", *OPERATION, "--device", "v7x", "--phase", "decode"), "--phase is for --transformer"),
    (("model", "m0.yaml"), "cannot be read"),
    (("hardware", "compare", "v7x"), "two devices"),
    (("hardware", "compare", "v7x", "v7y"), "no device called 'v7y'"),
    (("hardware", "compare", "MI300X", "v7x", "--roof", "project"), "has no ceilings of kind"),
]


@pytest.mark.parametrize(("words", "problem"), WORDS, ids=[row[1] for row in WORDS])
def test_refuses_bad_words(advisor: Run, words: tuple[str, ...], problem: str) -> None:
    found = advisor(*words)
    assert (found.status, found.out) == (2, "")
    assert problem in found.err


SLIPS = [
    (("matrix-produkt", *OPERATION[1:], "--device", "v7x"), "did you mean 'matrix-product'"),
    ((*OPERATION, "mm=2", "--device", "v7x"), "matrix-product has no size 'mm'"),
    ((*OPERATION[:-1], "--device", "v7x"), "needs the size 'element'"),
    ((*OPERATION[:-1], "element=two", "--device", "v7x"), "element must be a number"),
    ((*OPERATION, "--device", "H100 SXN"), "no device called 'H100 SXN'"),
    ((*OPERATION, "--device", "v7x", "--work", "tensor_bf61"), "did you mean 'tensor_bf16'"),
    ((*OPERATION, "--device", "v7x", "--sweep", "mm=1,2"), "did you mean 'm'"),
    (OPERATION, "no device is named"),
]


def test_tells_slips_from_names_alone(advisor: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert advisor("model", *OPERATION, "--device", "v7x").status == 0  # which keeps the names
    monkeypatch.setattr("advisor.api.modelling.known_to", None)
    for words, problem in SLIPS:
        found = advisor("model", *words)
        assert (found.status, found.out) == (2, "")
        assert problem in found.err


def test_takes_operations_and_devices_of_packs_and_folders(
    advisor: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations = tmp_path / "pack" / "operations"
    operations.mkdir(parents=True)
    shipped = (data_dir("rules") / "operations" / "copy.yaml").read_text()
    (operations / "move.yaml").write_text(shipped.replace("id: copy", "id: move"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "draft.yaml").write_text(OWN)
    (tmp_path / "own.yaml").write_text("devices: mine\n")
    monkeypatch.setattr("advisor.resources.installed_packs", lambda: (tmp_path / "pack",))
    words = ("model", "move", "n=5", "element=4", "--device", "DRAFT", "--format", "json")
    answer = json.loads(advisor("--config", str(tmp_path / "own.yaml"), *words).out)
    # 5 elements read and written, of 4 B each, at 7.2 TB/s.
    assert answer["results"][0]["total"]["time"] == pytest.approx(40 / 7.2e12)
    assert "no device called 'DRAFT'" in advisor(*words).err


LINES = [
    (
        "operation: rms-norm",
        "operation: rms-nrom",
        "scenario.yaml:7:29: there is no operation 'rms-nrom'",
    ),
    ("rows: batch", "row: batch", "scenario.yaml:7:58: rms-norm has no size 'row'"),
    ("rows: batch, ", "", "rms-norm needs the size 'rows'"),
    ("rows: batch", "rows: bach", "did you mean 'batch'"),
    ("[H100 SXM]", "[H100 SXN]", "scenario.yaml:2:11: no device called 'H100 SXN'"),
    ("[H100 SXM]", "[{name: x, ceilings: {dramm: 1.0e+12}}]", "did you mean 'dram'"),
    ("[H100 SXM]", "[{name: x, ceilings: {dram: -1.0}}]", "expected a number above 0"),
    ("[H100 SXM]", "[{name: x, ceilings: {dram: 1.0e+12}}]", "x has no ceiling tensor_bf16"),
    (
        "work: tensor_bf16",
        "work: tensor_bf61",
        "scenario.yaml:5:7: no device has a ceiling 'tensor_bf61'",
    ),
    ("work: tensor_bf16", "work: tensor_bf16\nroof: nominl", "did you mean 'nominal'"),
    ("sizes: {b_element: 1}", "siezs: {b_element: 1}", "unknown key 'siezs'"),
    ("sizes: {b_element: 1}", "sizes: {b_elemnt: 1}", "did you mean 'b_element'"),
    (
        "sizes: {b_element: 1}",
        "sizes: {b_element: 2}",
        "scenario.yaml:13:5: the step 'small' changes nothing",
    ),
    (
        "{operation: matrix-product}, sizes",
        "{name: nobody}, sizes",
        "means no operation that is there",
    ),
    (", where: {operation: matrix-product}, sizes: {b_element: 1}", "", "the step changes nothing"),
    ("sizes: {b_element: 1}", "sizes: {b_element: -1}", "expected a size, 0 or more"),
    ("batch: 1,", "batch: 7e9,", "YAML reads this as text"),
    ("batch: 1,", "batch: -1,", "expected a size, 0 or more"),
    ("batch, n: hidden", "batch, n: 0.5", "scenario.yaml:11:26: n must be a whole number, not 0.5"),
    (
        "batch: 1,",
        "batch: .nan,",
        "scenario.yaml:3:16: expected a number, found the text '.nan'",
    ),
    ("batch: 1,", "batch: -.inf,", "expected a number, found the text '-.inf'"),
    ("batch: 1,", "batch: hidden, ", None),
    ("batch: 1, hidden: 4096", "batch: hidden, hidden: 2 * batch", "the sizes go in a circle"),
    ("batch: 1,", "batch: 1 - 2,", "comes to -1"),
    ("batch: 1,", "batch: 1 / 0,", "comes to no number"),
    ("repeat: 2, sizes: {rows", "repeat: 0.5, sizes: {rows", "repeats 0.5 times"),
    ("title:", "collectives: 1\ntitle:", "expected a share of time"),
    ("title:", "collectives: -0.1\ntitle:", "expected a share of time"),
    ("name: norm,", "name: norm, reuse: 0.5,", "expected a reuse, 1 or more"),
    ("name: norm,", "name: norm, reaches: 1.5,", "expected a share of the roof"),
    ("name: norm,", "name: norm, served_by: vmme,", "did you mean 'vmem'"),
    ("name: norm,", "name: norm, served_by: vmem,", "has no ceiling vmem"),
    ("name: norm,", "name: up,", "two operations are called 'up'"),
    (
        "  - {name: small,",
        "  - {name: f, fuse: [up, nrom]}\n  - {name: small,",
        "did you mean 'norm'",
    ),
    ("    repeat: 2", "    repeat: 3", None),
    ("operations:\n", "operations:\n  - {name: empty}\n", "has no FLOP and no bytes"),
    (
        "operations:\n",
        "operations:\n  - {name: empty, flops: 0, bytes: 0}\n",
        "has no FLOP and moves no bytes",
    ),
    (
        "operations:\n",
        "operations:\n  - {name: c, costs: {flops: -1, bytes accessed: 2}}\n",
        "'flops' is negative",
    ),
    ("operations:\n", "operations:\n  - {name: c, costs: {flops: 1}}\n", "has no 'bytes accessed'"),
]


@pytest.mark.parametrize(("old", "new", "problem"), LINES, ids=[f"{r[0]}-{r[1]}" for r in LINES])
def test_refuses_bad_scenarios(
    advisor: Run, scenario: Path, old: str, new: str, problem: str | None
) -> None:
    assert old in SCENARIO
    scenario.write_text(SCENARIO.replace(old, new, 1))
    found = advisor("model", str(scenario))
    if problem is None:
        assert found.status == 0
        return
    assert (found.status, found.out) == (2, "")
    assert problem in found.err


def test_refuses_to_fuse_what_does_not_touch(advisor: Run, scenario: Path) -> None:
    # The product writes 4 × 4096 × 2 B; the norm reads 2 × 4096 × 2 B, vector and gain.
    text = SCENARIO.replace("m: batch, n: hidden", "m: batch, n: 4 * hidden")
    scenario.write_text(text + "  - {name: f, fuse: [up, norm]}\n")
    found = advisor("model", str(scenario))
    assert (found.status, found.out) == (2, "")
    assert "do not touch: one writes 32,768 B, one reads 16,384 B" in found.err


def test_refuses_to_fuse_what_repeats_otherwise(advisor: Run, scenario: Path) -> None:
    text = SCENARIO.replace("    repeat: 2", "    repeat: 3")
    scenario.write_text(text + "  - {name: f, fuse: [norm, up]}\n")
    found = advisor("model", str(scenario))
    assert (found.status, found.out) == (2, "")
    assert "do not touch: one repeats 2 times, one 3" in found.err


# -- devices ---------------------------------------------------------------------------------------


def test_compares_devices(advisor: Run) -> None:
    words = (
        "hardware",
        "compare",
        "V100 SXM2",
        "H100 SXM",
        "--roof",
        "project",
        "--format",
        "json",
    )
    found = json.loads(advisor(*words).out)
    v100, h100 = found["devices"]
    assert v100["ridge_points"]["tensor_fp16"] == pytest.approx(125 / 0.9)
    assert set(v100) == {"device", "ceilings", "ridge_points", "memory", "occupancy"}
    assert h100["occupancy"][
        "warps_per_unit" if "warps_per_unit" in h100["occupancy"] else next(iter(h100["occupancy"]))
    ]
    (change,) = found["changes_side"]
    assert (change["work"], change["from"], change["to"]) == (
        "tensor_fp16", pytest.approx(125 / 0.9), pytest.approx(990 / 3.35),
    )  # fmt: skip
    assert change["compute_bound_on"] == ["nvidia-v100-sxm2-16gb"]
    assert change["memory_bound_on"] == ["nvidia-h100-sxm5-80gb"]


@pytest.mark.parametrize(("device", "times"), [("A100 SXM", 5), ("H100 SXM", 12), ("H200 SXM", 12)])
def test_memory_of_accelerators_is_5_to_15_times_ddr(
    advisor: Run, device: str, times: float
) -> None:
    for host in ("Xeon 8280 2S", "EPYC 7742 2S"):
        words = ("hardware", "compare", device, host, "--roof", "project", "--format", "json")
        first, second = json.loads(advisor(*words).out)["devices"]
        assert 4.9 <= first["ceilings"]["dram"] / second["ceilings"]["dram"] <= 17.1


def test_draws_ridge_points_as_bars(advisor: Run) -> None:
    text = advisor("hardware", "compare", "V100 SXM2", "H100 SXM", "--roof", "project").out
    assert "Ridge points" in text
    assert "██████████" in text
    page = advisor("hardware", "compare", "V100 SXM2", "H100 SXM", "--format", "html").out
    assert page.startswith("<!doctype html>")


OWN = "devices: [{name: draft, memory: 96.0e+9, ceilings: {dram: 7.2e+12, tensor_bf16: 2.0e+15}}]\n"


def test_keeps_devices_of_ones_own(advisor: Run, tmp_path: Path) -> None:
    configuration, file = tmp_path / "own.yaml", tmp_path / "draft.yaml"
    configuration.write_text("devices: mine\n")
    file.write_text(OWN)
    listed = advisor("--config", str(configuration), "hardware", "list")
    assert listed.status == 2
    assert f"own.yaml:1:10: there is no directory {str(tmp_path / 'mine')!r}" in listed.err
    found = advisor("--config", str(configuration), "hardware", "add", str(file))
    assert found.status == 0
    assert (tmp_path / "mine" / "draft.yaml").read_text() == OWN
    again = advisor("--config", str(configuration), "hardware", "add", str(file))
    assert again.status == 0
    words = ("model", *OPERATION, "--device", "Draft", "--format", "json")
    answer = json.loads(advisor("--config", str(configuration), *words).out)
    assert answer["results"][0]["operations"][0]["ridge_point"] == pytest.approx(2.0e15 / 7.2e12)


@pytest.mark.parametrize(
    ("configuration", "text", "problem"),
    [
        ("{wait: 1}", OWN, "does not say where devices are kept"),
        ("{devices: mine}", OWN.replace("draft", "v7x"), "is known already"),
        ("{devices: mine}", OWN.replace("dram", "drum"), "did you mean 'dram'"),
        ("{devices: mine}", OWN.replace("memory", "memry"), "unknown key 'memry'"),
        ("{devices: mine}", "devices: []\n", "expected one device at least"),
    ],
)
def test_refuses_bad_devices(
    advisor: Run, tmp_path: Path, configuration: str, text: str, problem: str
) -> None:
    path, file = tmp_path / "own.yaml", tmp_path / "draft.yaml"
    path.write_text(configuration)
    file.write_text(text)
    found = advisor("--config", str(path), "hardware", "add", str(file))
    assert (found.status, found.out) == (2, "")
    assert problem in found.err
    assert not (tmp_path / "mine").exists()


def test_models_a_published_configuration(advisor: Run, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({
        "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "vocab_size": 32000,
        "num_hidden_layers": 32, "num_attention_heads": 32,
    }))  # fmt: skip
    words = ("model", "--transformer", str(path), "--phase", "decode", "--batch", "2", "--context",
             "100", "--kv", "int8", "--device", "H100 SXM", "--format", "json")  # fmt: skip
    found = json.loads(advisor(*words).out)
    assert {
        "parameters", "active_parameters", "weight_bytes", "kv_bytes_per_token", "kv_cache_bytes",
        "flops_per_token",
    } <= set(found["model"])  # fmt: skip
    assert found["model"]["parameters"] == 6_738_415_616
    (result,) = found["results"]
    assert {"tokens_per_second", "memory_needed", "fits", "devices_needed"} <= set(result)
    assert result["fits"] is True
    for option, hint in (("phase", "decode or prefill"), ("context", "such as 4096")):
        place = words.index(f"--{option}")
        lacking = advisor(*words[:place], *words[place + 2 :])
        assert (lacking.status, lacking.out) == (2, "")
        assert f"a language model needs --{option}\n  hint: " in lacking.err
        assert hint in lacking.err
    empty = advisor(*words, "--weights", "")
    assert (empty.status, empty.out) == (2, "")
    assert "there is no format ''" in empty.err


def test_ships_scenarios_that_run(advisor: Run) -> None:
    paths = sorted((data_dir("seed") / "scenarios").glob("*.yaml"))
    assert len(paths) >= 15
    for path in paths:
        assert advisor("model", str(path)).status == 0


def test_own_devices_are_listed_and_shown(
    advisor: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "advisor.yaml").write_text("devices: ours\n")
    (tmp_path / "new.yaml").write_text(
        "devices: [{name: draft, vendor: Ours, ceilings: {dram: 2.0e+12, tensor_bf16: 4.0e+14}}]\n"
    )
    assert advisor("hardware", "add", "new.yaml").status == 0
    (row,) = json.loads(advisor("hardware", "list", "--vendor", "ours", "--format", "json").out)
    assert (row["device"], row["units"], row["confidence"]) == ("draft", None, "your own")
    shown = advisor("hardware", "show", "DRAFT", "--format", "csv").out.replace("\xa0", " ")
    assert '"ridge point, tensor_bf16",nominal,200 FLOP/B' in shown
