"""``python -m studies.model [FOLDER]``: models against reality, as tables of Markdown.

Reads the per-operator tables that TraceLens made of public PyTorch traces (FOLDER, by default
``../shared/data/torch-trace/AMD-AGI__TraceLens``). First, operators of known sizes: least time over
measured time, by kind. Second, operators of one model on H100 and on MI300X: each predicted from
the other by ``advisor whatif``'s arithmetic. Statistics only; docs/model.md discusses them.
"""

from __future__ import annotations

import ast
import csv
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from advisor.api.modelling import load_machines
from advisor.facts.operations import Operation, least, load_operations
from advisor.modelling.elsewhere import MeasuredWork, Predicted, TargetDevice, longest, predict
from advisor.modelling.elsewhere_settings import ElsewhereSettings, load_settings
from advisor.modelling.roofs import DRAM

ROOT = Path(__file__).parent.parent
FOLDER = ROOT.parent / "shared" / "data" / "torch-trace" / "AMD-AGI__TraceLens"
TABLE = "unified_perf_summary.csv"
DEVICES = {"h100": "nvidia-h100-sxm5-80gb", "mi300": "amd-mi300x",
           "torch_compile_triton": "amd-mi300x"}  # fmt: skip
NEAR = 1.5
_SIZES = {"c10::BFloat16": 2, "float": 4, "long int": 8, "bool": 1, "double": 8, "int": 4}
_PRODUCTS = ("aten::mm", "aten::addmm")
_ATTENTION = "aten::_scaled_dot_product_flash_attention"
_GENERATED = "aten::arange"
_WIDE_RESULT = "float"


@dataclass(frozen=True, kw_only=True)
class Operator:
    """An operator as one trace has it: least FLOP and B of a call, time of a call [s]."""

    model: str
    device: str
    key: tuple[str, ...]
    kind: str
    flops: float
    bytes: float
    pipe: str
    time: float
    launches: int

    @property
    def name(self) -> str:
        """Return what to print: the operator and its sizes."""
        return f"{self.model}: {self.key[0].removeprefix('aten::')} {self.key[1]}"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One operator measured on two devices, and what was predicted of the second."""

    here: Operator
    there: Operator
    predicted: Predicted

    @property
    def ratio(self) -> float:
        """Return measured over likely."""
        return self.there.time / (self.predicted.likely or math.nan)

    @property
    def is_near(self) -> bool:
        """Return whether the likely time is within a factor of the measured one."""
        return 1 / NEAR <= self.ratio <= NEAR

    @property
    def is_inside(self) -> bool:
        """Return whether the measured time lies in the range."""
        low, high = self.predicted.low or 0.0, self.predicted.high or 0.0
        return low <= self.there.time <= high


def read_operators(folder: Path) -> list[Operator]:
    """Return every operator below a folder whose sizes are known."""
    operations = load_operations()
    found: list[Operator] = []
    for path in sorted(folder.glob(f"*/*/{TABLE}")):
        if path.relative_to(folder).parts[0] not in DEVICES:
            continue
        model = path.parent.name.split("_")[0].split("-")[0]
        device = DEVICES[path.relative_to(folder).parts[0]]
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found += _operator(row, model, device, operations)
    return found


def _operator(
    row: Mapping[str, str], model: str, device: str, operations: Mapping[str, Operation]
) -> Iterator[Operator]:
    needs = _needs(row, operations)
    if needs is None:
        return
    kind, flops, moved, pipe = needs
    columns = ("name", "Input Dims", "Input type", "Input Strides", "Concrete Inputs")
    yield Operator(
        model=model,
        device=device,
        key=tuple(row[column] for column in columns),
        kind=kind,
        flops=flops,
        bytes=moved,
        pipe=pipe,
        time=float(row["Kernel Time (µs)_mean"]) * 1e-6,
        launches=max(1, row["kernel_details_summary"].count("'name':")),
    )


def _needs(
    row: Mapping[str, str], operations: Mapping[str, Operation]
) -> tuple[str, float, float, str] | None:
    """Return kind, least FLOP and B, and what does the work, of one call."""
    name, shapes = row["name"], ast.literal_eval(row["Input Dims"])
    types = ast.literal_eval(row["Input type"])
    element = _SIZES.get(types[0], 2)
    pipe = "flops_tensor_fp16" if element == 2 else "flops_fp32"
    case: tuple[str, dict[str, float]] | None = None
    if name in _PRODUCTS:
        (m, k), (_, n) = [shape for shape in shapes if len(shape) == 2][:2]
        case = ("matrix-product", {"m": m, "n": n, "k": k})
    elif name == "aten::bmm":
        (batch, m, k), (_, _, n) = shapes[:2]
        case = ("batched-matrix-product", {"batch": batch, "m": m, "n": n, "k": k})
    elif name == _ATTENTION:
        case = ("attention", _attention(row, shapes))
    elif name == "aten::convolution":
        case = ("convolution", _convolution(row, shapes))
    elif name == "aten::layer_norm":
        rows, hidden = math.prod(shapes[0][:-1]), shapes[0][-1]
        case, pipe = ("layer-norm", {"rows": rows, "hidden": hidden}), "flops_fp32"
    elif name == "aten::_softmax":
        case = ("softmax", {"rows": math.prod(shapes[0][:-1]), "columns": shapes[0][-1]})
        pipe = "flops_fp32"
    if case is not None:
        kind, sizes = case
        ((flops, moved),) = least([(operations[kind], {**sizes, "element": element})])
        return None if flops is None or moved is None else (kind, flops, moved, pipe)
    if not name.startswith("aten::"):
        return None
    return _moving(row, shapes, types)


def _attention(row: Mapping[str, str], shapes: Sequence[Sequence[int]]) -> dict[str, float]:
    (batch, heads, queries, dimension), (_, kv_heads, keys, _) = shapes[:2]
    is_causal = ast.literal_eval(row["Concrete Inputs"])[4] == "True"
    return {
        "batch": batch, "heads": heads, "queries": queries, "keys": keys, "dimension": dimension,
        "kv_heads": kv_heads, "kept": 0.5 if is_causal else 1,
    }  # fmt: skip


def _convolution(row: Mapping[str, str], shapes: Sequence[Sequence[int]]) -> dict[str, float]:
    (batch, channels, height, width), (filters, _, rows, columns) = shapes[:2]
    down, across = ast.literal_eval(ast.literal_eval(row["Concrete Inputs"])[3])
    return {
        "batch": batch, "channels": channels, "filters": filters, "filter_height": rows,
        "filter_width": columns, "in_height": height, "in_width": width,
        "out_height": (height - rows) // down + 1, "out_width": (width - columns) // across + 1,
    }  # fmt: skip


def _moving(
    row: Mapping[str, str], shapes: Sequence[Any], types: Sequence[str]
) -> tuple[str, float, float, str]:
    """Return what an operator needs that reads its inputs once, and writes its result once."""
    name = row["name"]
    inputs = list(_inputs(shapes, types))
    largest = max((count for count, _ in inputs), default=1)
    read = sum(count * size for count, size in inputs)
    written, kind = largest * max((size for _, size in inputs), default=2), "element-wise"
    if name == "aten::cat":
        written, kind = read, "copy"
    elif name == "aten::copy_":
        (to, to_size), (of, of_size) = inputs[:2]
        read, written, kind = of * of_size, to * to_size, "copy"
    elif name == "aten::index_select":
        rows, width = inputs[-1][0], math.prod(shapes[0][1:])
        read, written, kind = rows * (width * inputs[0][1] + 8), rows * width * 2, "gather"
    elif name in ("aten::mean", "aten::all"):
        written, kind = largest // _width(shapes) * inputs[0][1], "reduction"
    elif name == "aten::eq":
        written = largest
    elif name == _GENERATED:
        count = float(ast.literal_eval(row["Concrete Inputs"])[1])
        read, written, kind = 0, int(count) * 8, "fill"
    return kind, float(largest), float(read + written), "flops_fp32"


def _inputs(shapes: Sequence[Any], types: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield elements and bytes of an element of each input that is an array."""
    for shape, kind in zip(shapes, types, strict=False):
        if kind == "TensorList":
            yield from ((math.prod(each), 2) for each in shape)
        elif kind in _SIZES and kind != "double":
            yield math.prod(shape), _SIZES[kind]


def _width(shapes: Sequence[Any]) -> int:
    return int(shapes[0][-1])


def shares(operators: Iterable[Operator], settings: ElsewhereSettings) -> dict[str, list[float]]:
    """Return least over measured time of each operator, by kind."""
    machines = load_machines()
    targets = {each: TargetDevice(machines.called(each), settings) for each in DEVICES.values()}
    found: dict[str, list[float]] = defaultdict(list)
    for each in operators:
        target = targets[each.device]
        least_time = longest(target.times(_measured(each, target), target.rated))
        found[each.kind].append(least_time / each.time)
    return found


def _measured(operator: Operator, here: TargetDevice) -> MeasuredWork:
    bare = MeasuredWork(
        name=operator.name,
        launches=operator.launches,
        measured=operator.time,
        work={operator.pipe: operator.flops},
        traffic={DRAM: operator.bytes},
        held={},
        device_id=here.machine.device_id,
        vendor=here.machine.vendor,
        clock=1.0,
        cache_size=here.machine.l2_bytes,
    )
    held = {name: time for name, (time, _) in here.practical_times(bare).items()}
    return replace(bare, held=held)


def pairs(
    operators: Sequence[Operator], here: str, there: str, settings: ElsewhereSettings
) -> list[Pair]:
    """Return the operators that both devices ran, predicted on the second from the first."""
    machines = load_machines()
    source, target = (TargetDevice(machines.called(each), settings) for each in (here, there))
    second = {(each.model, each.key): each for each in operators if each.device == there}
    return [
        Pair(here=each, there=other, predicted=predict(_measured(each, source), target))
        for each in operators
        if each.device == here and (other := second.get((each.model, each.key))) is not None
    ]


def near(found: Sequence[Pair]) -> float:
    """Return the share of pairs whose likely time is within a factor of the measured one."""
    return sum(each.is_near for each in found) / len(found)


def inside(found: Sequence[Pair]) -> float:
    """Return the share of pairs whose measured time lies in the range."""
    return sum(each.is_inside for each in found) / len(found)


def widths(found: Sequence[Pair]) -> list[float]:
    """Return high over low of each pair."""
    return [(each.predicted.high or 0.0) / (each.predicted.low or math.nan) for each in found]


def main(words: Sequence[str]) -> int:
    """Print the tables."""
    folder = Path(words[0]) if words else FOLDER
    operators = read_operators(folder)
    if not operators:
        print(f"{folder} has no {TABLE} of a known device", file=sys.stderr)
        return 2
    settings = load_settings()
    print("| kind | operators | smallest | quartile | median | quartile | largest |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for kind, values in sorted(shares(operators, settings).items()):
        spread = (min(values), *_quartiles(values), max(values))
        print(f"| {kind} | {len(values)} | {' | '.join(f'{each:.3f}' for each in spread)} |")
    h100, mi300x = DEVICES["h100"], DEVICES["mi300"]
    print("\n| from | to | operators | within 1.5× | inside | median high ÷ low |")
    print("|---|---|--:|--:|--:|--:|")
    both = [
        (here, there, pairs(operators, here, there, settings))
        for here, there in ((h100, mi300x), (mi300x, h100))
    ]
    for here, there, found in both:
        width = statistics.median(widths(found))
        cells = f"{near(found):.0%} | {inside(found):.0%} | {width:.3g}"
        print(f"| {here} | {there} | {len(found)} | {cells} |")
    _print_calibration([each for _, _, found in both for each in found])
    for _, there, found in both:
        print(f"\nMisses on {there}, measured ÷ likely:")
        for each in sorted(found, key=lambda pair: pair.ratio):
            if not (each.is_near and each.is_inside):
                place = "inside" if each.is_inside else "OUTSIDE"
                print(f"* {each.ratio:.2f} {place} {each.here.name[:90]}"
                      f" {each.here.time * 1e6:.1f} → {each.there.time * 1e6:.1f} µs")  # fmt: skip
    return 0


def _print_calibration(found: Sequence[Pair]) -> None:
    """Print the spread from one model's pairs, and how the other's pairs do with it."""
    models = sorted({each.here.model for each in found})
    for model in models:
        own = sorted(each.ratio for each in found if each.here.model == model)
        others = [each for each in found if each.here.model != model]
        spread = own[math.ceil(0.95 * len(own)) - 1]
        held = [_reaches(each, spread) for each in others]
        print(f"\n95th percentile of {len(own)} ratios of {model}: {spread:.2f}.", end=" ")
        print(f"With it {sum(held) / len(held):.0%} of the other {len(held)} are inside.")


def _reaches(pair: Pair, spread: float) -> bool:
    """Return whether a measured time lies between the least and so many times the likely one."""
    low, likely = pair.predicted.low or 0.0, pair.predicted.likely or 0.0
    return low <= pair.there.time <= spread * likely


def _quartiles(values: Sequence[float]) -> tuple[float, ...]:
    if len(values) < 2:
        return (values[0],) * 3
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
