"""Every figure of the documents that started the project, from seed/scenarios.

The names of the sections are those of the sheet on which the figures are collected; docs/figures.md
has a row for each. Expected values are what the documents print, or a product written out here.
"""

from __future__ import annotations

import pytest

from advisor.modelling.results import StepResult
from tests.modelling.conftest import Model, operation

# -- §2: hardware ---------------------------------------------------------------------------------

RIDGE = """\
devices: [{device}]
roof: {roof}
work: {work}
operations: [{{name: any, flops: 1.0e+9, bytes: 1.0e+9}}]
"""


@pytest.mark.parametrize(
    ("device", "work", "ridge", "practical"),
    [
        ("V100 SXM2", "tensor_fp16", 139, 127),
        ("A100 SXM", "tensor_fp16", 153, 139),
        ("H100 SXM", "tensor_fp16", 296, 269),
        ("H200 SXM", "tensor_fp16", 206, 188),
    ],
)
def test_ridge_points_and_practical_ones(
    written: Model, device: str, work: str, ridge: int, practical: int
) -> None:
    found = {}
    for roof in ("project", "practical"):
        answer = written(RIDGE.format(device=device, roof=roof, work=work))
        found[roof] = answer.results[0].operations[0].ridge_point
    assert round(found["project"]) == ridge
    assert found["practical"] == pytest.approx(practical, abs=0.51)  # 792 / 4.224 is 187.5


@pytest.mark.parametrize(
    ("device", "work", "ridge"),
    [
        ("v7x", "tensor_fp8", 640.8),
        ("v7x", "tensor_bf16", 320.4),
        ("v6e", "tensor_bf16", 573.8),
        ("v5p", "tensor_bf16", 166.3),
    ],
)
def test_ridge_points_of_tensor_processors(
    written: Model, device: str, work: str, ridge: float
) -> None:
    answer = written(RIDGE.format(device=device, roof="project", work=work))
    assert answer.results[0].operations[0].ridge_point == pytest.approx(ridge, abs=0.051)


@pytest.mark.parametrize(
    ("device", "printed", "smallest"), [("v7x", 961, 962), ("v6e", 1721, 1722), ("v5p", 498, 499)]
)
def test_square_products_turn_compute_bound_at_three_ridges(
    shipped: Model, device: str, printed: int, smallest: int
) -> None:
    answer = shipped("square-crossing", device, sweep="n=1:4096")
    (result,) = answer.results
    assert result.sweep is not None
    (crossing,) = result.sweep.crossings
    ridge = result.operations[0].ridge_point
    assert ridge is not None
    assert crossing.value == pytest.approx(3 * ridge, rel=1e-12)  # intensity is n / 3
    assert int(crossing.value) == printed
    assert crossing.first_whole == smallest
    assert crossing.approximation is None  # no weights that stay as they are


def test_square_products_with_8_bit_arithmetic(shipped: Model, written: Model) -> None:
    text = """\
    devices: [v7x]
    roof: project
    sizes: {n: 1}
    work: tensor_fp8
    operations: [{operation: matrix-product, sizes: {m: n, n: n, k: n, element: 2}}]
    """
    sweep = written(text, sweep="n=1:4096").results[0].sweep
    assert sweep is not None
    assert int(sweep.crossings[0].value) == 1922
    assert sweep.crossings[0].first_whole == 1923


def test_two_lines_of_memory_on_one_device(shipped: Model) -> None:
    (result,) = shipped("tiling").results
    streamed, tiled, between = result.operations
    vmem = next(c.value for c in result.machine.ceilings if c.resource == "vmem")
    assert streamed.ridge_point == pytest.approx(320, abs=0.5)
    assert 2.307e15 / vmem == pytest.approx(15, abs=0.5)
    # At 10 FLOP/B: 150 TB/s allow 1,500 TFLOP/s, which is below the peak.
    assert between.binding_resource == "vmem"
    assert between.attainable == pytest.approx(1500e12)
    assert tiled.binding_resource == "dram"


# -- §3: work and traffic -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "flops", "moved", "intensity"),
    [
        ("64", 524_288, 24_576, 21.3),
        ("256", 33_554_432, 393_216, 85.3),
        ("1024", 2_147_483_648, 6_291_456, 341.3),
        ("4096", 137_438_953_472, 100_663_296, 1365.3),
        ("16384", 8_796_093_022_208, 1_610_612_736, 5461.3),
    ],
)
def test_square_products(
    shipped: Model, name: str, flops: float, moved: float, intensity: float
) -> None:
    found = operation(shipped("square-products").results[0], name)
    assert (found.flops, found.bytes) == (flops, moved)
    assert found.arithmetic_intensity == pytest.approx(intensity, abs=0.051)


@pytest.mark.parametrize(("name", "printed"), [("1000", 333), ("100", 33)])
def test_squares_of_1000_and_100(shipped: Model, name: str, printed: int) -> None:
    found = operation(shipped("square-products").results[0], name).arithmetic_intensity
    assert found is not None
    assert int(found) == printed


def test_gate_projection(shipped: Model) -> None:
    v100, a100, h100 = shipped("gate-projection").results
    for result in (a100, h100):
        gate = operation(result, "gate")
        assert (gate.flops, gate.bytes) == (5_771_362_304, 92_110_848)
        assert gate.arithmetic_intensity == pytest.approx(62.7, abs=0.05)
        assert gate.bound == "memory"
    assert operation(v100, "256 tokens").arithmetic_intensity == pytest.approx(235.8, abs=0.05)
    sides = [operation(each, "256 tokens").bound for each in (v100, a100, h100)]
    assert sides == ["compute", "compute", "memory"]
    for result in (v100, a100, h100):
        row = operation(result, "one row")
        assert row.arithmetic_intensity == pytest.approx(1, abs=0.001)
        assert row.bound == "memory"


@pytest.mark.parametrize(
    ("device", "approximation", "exact"), [("A100 SXM", 153, 162), ("H100 SXM", 296, 328)]
)
def test_tokens_that_turn_the_gate_projection_compute_bound(
    shipped: Model, device: str, approximation: int, exact: int
) -> None:
    answer = shipped("gate-projection", device, sweep="tokens=1:1000")
    sweep = answer.results[0].sweep
    assert sweep is not None
    (crossing,) = sweep.crossings
    assert crossing.operation == "gate"
    assert crossing.approximation is not None
    assert round(crossing.approximation) == approximation
    assert crossing.first_whole == exact
    assert exact - 1 < crossing.value <= exact


def test_tokens_by_the_rounded_ridge(written: Model) -> None:
    # The printed 329 follows from the ridge as printed: 296 FLOP/B.
    text = """\
    devices: [{name: rounded, ceilings: {dram: 1.0e+12, tensor_fp16: 296.0e+12}}]
    sizes: {tokens: 64}
    work: tensor_fp16
    operations: [{operation: matrix-product, sizes: {m: tokens, n: 11008, k: 4096, element: 2}}]
    """
    sweep = written(text, sweep="tokens=1:1000").results[0].sweep
    assert sweep is not None
    assert sweep.crossings[0].first_whole == 329
    # 296 × 4096 × 11008 / (4096 × 11008 − 296 × (4096 + 11008)) = 328.580
    assert sweep.crossings[0].value == pytest.approx(328.580, abs=0.001)


SIDES = [
    ("decode attention", 1, 2, "memory", "memory"),
    ("decode attention, batch 32 on a shared prefix", 16, 32, "memory", "memory"),
    ("decode attention, batch 32, each its own", 0.99, 2, "memory", "memory"),
    ("prefill attention, 2048", 500, 1024, "compute", "compute"),
    ("prefill attention, 128", 32, 64, "memory", "memory"),
    ("feed-forward, 256 tokens", 100, 250, "compute", "memory"),
    ("feed-forward, 1 token", 0.99, 2, "memory", "memory"),
    ("layer norm", 1, 2, "memory", "memory"),
    ("softmax", 1, 2, "memory", "memory"),
    ("rope", 2, 4, "memory", "memory"),
    ("silu", 0.5, 0.5, "memory", "memory"),
]


@pytest.mark.parametrize("row", SIDES, ids=[row[0] for row in SIDES])
def test_sides_of_the_ridge(shipped: Model, row: tuple[str, float, float, str, str]) -> None:
    name, low, high, on_a100, on_h100 = row
    a100, h100 = shipped("sides-of-the-ridge").results
    intensity = operation(a100, name).arithmetic_intensity
    assert intensity is not None
    assert low * 0.999 <= intensity <= high
    assert operation(a100, name).bound == on_a100
    assert operation(h100, name).bound == on_h100


def test_intensities_of_attention(shipped: Model) -> None:
    a100 = shipped("sides-of-the-ridge").results[0]
    # N / e at 16 bit: 2048 / 2 and 128 / 2.
    assert operation(a100, "prefill attention, 2048").arithmetic_intensity == 1024
    assert operation(a100, "prefill attention, 128").arithmetic_intensity == 64
    # Queries and results move too: N / (N + 1) at one query of 2048 keys.
    decode = operation(a100, "decode attention").arithmetic_intensity
    assert decode == pytest.approx(2048 / 2049)


PERFORMANCE = [
    # name, intensity, and on v7x, v6e, v5p: TFLOP/s, percent of the peak, side
    ("layer norm", 1.7, (12, 1, "memory"), (3, 0, "memory"), (5, 1, "memory")),
    ("scores", 107.8, (776, 34, "memory"), (172, 19, "memory"), (297, 65, "memory")),
    ("product 600", 200.0, (1440, 62, "memory"), (320, 35, "memory"), (459, 100, "compute")),
    (
        "feed-forward up", 3120.8,
        (2307, 100, "compute"), (918, 100, "compute"), (459, 100, "compute"),
    ),
]  # fmt: skip


@pytest.mark.parametrize("row", PERFORMANCE, ids=[row[0] for row in PERFORMANCE])
def test_four_operations_on_tensor_processors(
    shipped: Model, row: tuple[str, float, tuple[int, int, str]]
) -> None:
    name, intensity, *printed = row
    for result, (performance, share, side) in zip(
        shipped("tensor-processors").results, printed, strict=True
    ):
        found = operation(result, name)
        assert found.arithmetic_intensity == pytest.approx(intensity, abs=0.051)
        assert round(found.attainable / 1e12) == performance
        assert found.share_of_peak is not None
        assert round(100 * found.share_of_peak) == share
        assert found.bound == side


@pytest.mark.parametrize(
    ("name", "performance", "share", "side"),
    [
        ("layer norm", 12, 0, "memory"),
        ("scores", 776, 17, "memory"),
        ("product 600", 1440, 31, "memory"),
        ("feed-forward up", 4614, 100, "compute"),
    ],
)
def test_four_operations_with_8_bit_arithmetic(
    shipped: Model, name: str, performance: int, share: int, side: str
) -> None:
    found = operation(shipped("tensor-processors-fp8").results[0], name)
    assert round(found.attainable / 1e12) == performance
    assert found.share_of_peak is not None
    assert round(100 * found.share_of_peak) == share
    assert found.bound == side


def test_layer_norm_uses_all_of_the_bandwidth(shipped: Model) -> None:
    found = operation(shipped("tensor-processors", "v7x").results[0], "layer norm")
    assert found.share_of_peak == pytest.approx(0.005, abs=0.0005)
    assert found.share_of_bandwidth == 1


def test_fusion_of_four_kernels(shipped: Model) -> None:
    (result,) = shipped("fusion").results
    three, two, one = result.steps
    for state, moved, intensity, performance, faster in (
        (result.total, 4.29e9, 1.25, 9.0e12, 1),
        (two, 2.15e9, 2.5, 18.0e12, 2),
        (one, 1.07e9, 5.0, 36.0e12, 4),
    ):
        assert state.flops == 20 * 268_435_456
        assert state.bytes == pytest.approx(moved, rel=4e-3)  # printed with three digits
        assert state.flops / state.bytes == intensity
        assert state.flops / state.time == pytest.approx(performance)
        assert getattr(state, "cumulative", 1) == pytest.approx(faster)
    assert three.bytes == 3 * 1_073_741_824


@pytest.mark.parametrize(
    ("name", "performance"),
    [
        ("at 2", 13.2),
        ("at 12", 47.5),
        ("at 150", 378),
        ("at 2000", 1799),
        ("element-wise at 5", 33.1),
        ("product at 500", 577),
    ],
)
def test_distance_to_the_roof(shipped: Model, name: str, performance: float) -> None:
    found = operation(shipped("distance-to-the-roof").results[0], name)
    assert found.achieved is not None
    digits = 0 if performance > 100 else 1
    assert round(found.achieved / 1e12, digits) == performance


def test_a_tile_above_the_dram_roof_is_labelled(shipped: Model) -> None:
    streamed, tiled, _ = shipped("tiling").results[0].operations
    assert streamed.attainable == pytest.approx(360e12)
    assert tiled.attainable == pytest.approx(1260e12)
    assert tiled.arithmetic_intensity == streamed.arithmetic_intensity == 50
    assert (streamed.above_dram_roof, tiled.above_dram_roof) == (False, True)


def test_the_curve_of_a100(shipped: Model) -> None:
    points = [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 153, 256, 512]
    asked = "intensity=" + ",".join(f"{point:g}" for point in points)
    sweep = shipped("curve", sweep=asked).results[0].sweep
    assert sweep is not None
    for row, intensity in zip(sweep.rows, points, strict=True):
        (kernel,) = row.operations
        expected = min(2.039e12 * intensity, 312e12)
        assert kernel.attainable == pytest.approx(expected, rel=1e-12)
    assert sweep.crossings[0].value == pytest.approx(312 / 2.039, rel=1e-9)


def test_a_compilers_estimates(shipped: Model) -> None:
    bf16, fp8 = shipped("compiled").results[0].operations
    assert bf16.flops == fp8.flops == 17_179_869_184
    for found, moved, intensity in ((bf16, 41_943_040, 409.6), (fp8, 20_971_520, 819.2)):
        assert found.costs is not None
        assert found.bytes == found.costs.bytes == moved
        assert found.arithmetic_intensity == found.costs.arithmetic_intensity == intensity


@pytest.mark.parametrize(("step", "share"), [(0, 0.2), (1, 0.4), (2, 0.6)])
def test_collectives_lower_both_roofs(shipped: Model, step: int, share: float) -> None:
    memory, compute = shipped("collectives").results[0].steps[step].operations
    assert memory.attainable == pytest.approx((1 - share) * 720e12)
    assert compute.attainable == pytest.approx((1 - share) * 2307e12)
    assert memory.share_of_bandwidth == pytest.approx(1 - share)
    assert compute.share_of_peak == pytest.approx(1 - share)


# -- §6: techniques that move fewer bytes ----------------------------------------------------------


def test_six_bandwidth_techniques(shipped: Model) -> None:
    (result,) = shipped("bandwidth-techniques").results
    steps = {step.name: {each.name: each for each in step.operations} for step in result.steps}
    first = {each.name: each for each in result.operations}
    apart = sum(first[name].bytes for name in ("one", "two", "three"))
    assert apart / steps["fuse all three"]["one + two + three"].bytes == pytest.approx(3)
    weights = first["weights"].bytes
    assert weights / steps["8-bit weights"]["weights"].bytes == pytest.approx(2, rel=2e-3)
    assert weights / steps["4-bit weights"]["weights"].bytes == pytest.approx(4, rel=4e-3)
    tiled = first["untiled"].time / steps["tile"]["untiled"].time
    assert 10 <= tiled <= 50
    attention = first["attention"].bytes
    windowed = steps["a window of 1024 keys"]["attention"].bytes
    assert attention / windowed == pytest.approx(4, rel=1e-3)
    halved = steps["8-bit keys and values"]["attention"].bytes
    assert windowed / halved == pytest.approx(2, rel=2e-3)
    one, sixteen = (
        steps[name]["weights"] for name in ("8-bit keys and values", "sixteen sequences")
    )
    assert sixteen.flops == 16 * one.flops
    per_sequence = one.time / (sixteen.time / 16)
    assert per_sequence == pytest.approx(16, rel=0.02)


def test_convolution_batch_norm_and_relu(shipped: Model) -> None:
    a100, _ = shipped("convolution").results
    apart = {each.name: each for each in a100.operations}
    # 32 × 64 × 56 × 56 elements of 2 B; 2 × 64 × 9 FLOP for each; 64 × 64 × 9 weights.
    elements = 6_422_528
    assert apart["convolution"].flops == elements * 1152
    assert apart["convolution"].bytes == (2 * elements + 36_864) * 2
    assert apart["convolution"].bound == "compute"
    assert apart["batch norm"].bound == apart["relu"].bound == "memory"
    *_, last = a100.steps
    (fused,) = last.operations
    assert fused.flops == elements * 1155
    assert fused.bytes == (2 * elements + 36_864) * 2  # the others move nothing of their own
    assert fused.bound == "compute"
    assert last.cumulative > 1.5


# -- §8: the serving example -----------------------------------------------------------------------


def serving(shipped: Model) -> dict[str, StepResult]:
    return {step.name: step for step in shipped("serving").results[0].steps}


def test_serving_starts_deep_in_memory(shipped: Model) -> None:
    (result,) = shipped("serving").results
    assert {each.bound for each in result.operations} == {"memory"}
    for name, printed in (("norm", 1.25), ("qkv", 1), ("attention", 1), ("silu", 0.5)):
        found = operation(result, name).arithmetic_intensity
        assert found == pytest.approx(printed, abs=0.01)


def test_serving_four_bit_weights_are_up_to_four_times_faster(shipped: Model) -> None:
    (result,) = shipped("serving").results
    products = {each.name: each for each in result.steps[0].operations}
    for name in ("qkv", "output", "up", "gate", "down"):
        before = operation(result, name)
        assert before.bytes / products[name].bytes == pytest.approx(4, rel=0.01)
        assert products[name].arithmetic_intensity == pytest.approx(4, rel=0.01)
    assert 2.5 < result.steps[0].speedup < 4  # keys and values are as they were


def test_serving_keys_and_values_of_8_bit_halve_attention(shipped: Model) -> None:
    steps = serving(shipped)
    before, after = (
        next(each for each in steps[name].operations if each.name == "attention")
        for name in ("fuse SiLU with the multiplication", "8-bit keys and values")
    )
    assert before.bytes / after.bytes == pytest.approx(2, rel=2e-3)


def test_serving_ranks_the_steps(shipped: Model) -> None:
    # Weights of 4 bits take 0.97 ms, keys and values of 16 bits 0.32 ms, of 8 bits 0.16 ms: 1.14
    # times faster. Of 32 sequences each takes 0.97 / 32 + 0.16 = 0.190 ms; of 256, whose products
    # are compute-bound (3.35 ms), 3.35 / 256 + 0.16 = 0.173 ms: 1.10 times faster.
    steps = serving(shipped)
    assert steps["8-bit keys and values"].speedup == pytest.approx(1.14, abs=0.01)
    assert steps["256 sequences"].speedup == pytest.approx(1.10, abs=0.01)
    ranks = {name: step.rank for name, step in steps.items()}
    assert ranks == {
        "32 sequences": 1,
        "4-bit weights": 2,
        "8-bit keys and values": 3,
        "256 sequences": 4,
        "fuse SiLU with the multiplication": 5,
        "fuse the norm into qkv": 6,
    }
    product = 1.0
    for step in steps.values():
        assert step.speedup > 1
        product *= step.speedup
        assert step.cumulative == pytest.approx(product)


@pytest.mark.parametrize(("batch", "low", "high"), [(1, 0.99, 1.01), (32, 30, 32), (256, 220, 256)])
def test_serving_intensity_of_16_bit_products_is_about_the_batch(
    shipped: Model, batch: int, low: float, high: float
) -> None:
    sweep = shipped("serving", sweep=f"batch={batch}").results[0].sweep
    assert sweep is not None
    (row,) = sweep.rows
    products = [each for each in row.operations if each.operation == "matrix-product"]
    for each in products:
        assert each.arithmetic_intensity is not None
        assert low <= each.arithmetic_intensity <= high
        assert each.bound == "memory"  # the ridge is 295


# -- §9: the trend -------------------------------------------------------------------------------


def test_ridge_points_move_right_and_an_operation_changes_its_side(shipped: Model) -> None:
    results = shipped("gate-projection").results
    ridges = [operation(each, "gate").ridge_point for each in results]
    assert [round(ridge) for ridge in ridges if ridge is not None] == [139, 153, 296]
    assert [operation(each, "256 tokens").bound for each in results][1:] == ["compute", "memory"]
