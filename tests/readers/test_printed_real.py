"""Printed pages of real reports against the reports themselves, and what becomes of each file."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.knowledge.parts import load_mapping
from advisor.model import Launch, ReferenceFinding, Session
from advisor.readers import ReadOptions, Source
from advisor.readers.detect import detect
from advisor.readers.ncu.values import load_labels
from advisor.units import Dimension

pytestmark = pytest.mark.real

TOLD = ("grid", "block", "device", "device_name", "context", "stream", "process", "clock_locked")

# Decimal prefixes and times of the pages, in bytes and nanoseconds.
SIZES = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}
TIMES = {"nsecond": 1.0, "usecond": 1e3, "msecond": 1e6, "second": 1e9, "ns": 1.0}

# Counters of 2019 under the names that the same labels have today.
NAMES_OF_2019 = {
    "dram__cycles_elapsed.avg.per_second": "dram__frequency",
    "gpc__cycles_elapsed.avg.per_second": "gpc__frequency",
    "gpc__cycles_elapsed.max": "gpc__elapsed_cycles_max",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": (
        "gpu__compute_memory_sol_pct"
    ),
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "fbpa__sol_pct",
    "gpu__time_duration.sum": "gpu__time_duration",
    "l1tex__throughput.avg.pct_of_peak_sustained_active": "tex__sol_pct",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "ltc__sol_pct",
    "sm__cycles_active.avg": "sm__elapsed_cycles_avg",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "sm__sol_pct",
    "sm__warps_active.avg.pct_of_peak_sustained_active": (
        "sm__active_warps_avg_per_active_cycle_pct"
    ),
    "sm__warps_active.avg.per_cycle_active": "sm__active_warps_avg_per_active_cycle",
}


@dataclass
class Pair:
    """A report and one export of it."""

    export: Path
    report: Path

    def launches(self) -> list[tuple[Launch, Launch]]:
        return list(zip(launches_of(self.report), launches_of(self.export), strict=True))


def pairs(real_data: Path, kind: str) -> list[Pair]:
    exports = real_data / "ncu-export"
    return [
        Pair(
            export=path,
            report=real_data
            / "ncu-rep"
            / path.relative_to(exports).with_name(path.name.removesuffix(f".{kind}")),
        )
        for path in sorted(exports.rglob(f"*.{kind}"))
    ]


@cache
def what_counters_measure() -> Mapping[str, frozenset[Dimension]]:
    return load_mapping("ncu").measures


def launches_of(path: Path) -> list[Launch]:
    source = Source.from_path(path)
    records = list(detect(source).read(source, ReadOptions(measures=what_counters_measure())))
    assert not [record for record in records if "something else" in str(record)]
    (session,) = (record for record in records if isinstance(record, Session))
    assert session.profiler == "ncu"
    return [record for record in records if isinstance(record, Launch)]


def table(path: Path) -> Iterator[list[str]]:
    """Yield the rows of an exported table by the standard library alone."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from (row for row in csv.reader(file) if not row[0].startswith("==WARNING=="))


def scale(unit: str) -> float:
    """Return what one of ``unit`` is in base units: byte, ns, Hz, percent, counts."""
    above, _, below = unit.partition("/")
    factor = SIZES.get(above) or TIMES.get(above) or 1.0
    return factor / (TIMES[below] / 1e9) if below in TIMES else factor


def fits(value: float | None, cell: str, unit: str) -> bool:
    """Return whether a report's ``value`` is printed as ``cell``, to half of the last digit."""
    printed = Decimal(cell.replace(",", ""))
    half = float(Decimal(5).scaleb(int(printed.as_tuple().exponent) - 1)) * scale(unit)
    expected = float(printed) * scale(unit)
    return value is not None and abs(value - expected) <= half * (1 + 1e-9) + abs(expected) * 1e-14


def as_read(value: float | None, cell: str, unit: str) -> bool:
    """Return whether ``value`` is exactly what ``cell`` says."""
    expected = float(cell.replace(",", "")) * scale(unit)
    return value is not None and abs(value - expected) <= 1e-14 * abs(expected)


def unlike(report: Launch, printed: Launch) -> list[str]:
    """Return what both tell about a launch and tell differently."""
    told = {name: (getattr(report, name), getattr(printed, name)) for name in TOLD}
    wrong = [f"{n}: {a!r}, {b!r}" for n, (a, b) in told.items() if None not in (a, b) and a != b]
    if report.kernel_name != printed.kernel_name:
        wrong.append(f"name: {report.kernel_name!r}, {printed.kernel_name!r}")
    return wrong


def is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").lstrip("-").isdigit()


@pytest.mark.parametrize(
    ("kind", "exports", "expected", "failed"),
    [("raw-base.csv", 45, 176_340, 0), ("raw.csv", 15, 92_065, 466)],
)
def test_reads_the_raw_page_as_the_report(
    real_data: Path, kind: str, exports: int, expected: int, failed: int
) -> None:
    """The scaled page prints 0 for a counter that failed or is below zero: nothing can tell."""
    compared = zeros = 0
    wrong: list[str] = []
    found = pairs(real_data, kind)
    for pair in found:
        names, units, *rows = table(pair.export)
        for row, (report, printed) in zip(rows, pair.launches(), strict=True):
            wrong += [f"{pair.export.name}: {x}" for x in unlike(report, printed)]
            for name, unit, cell in zip(names, units, row, strict=True):
                value, known = printed.counters.get(name), report.counters.get(name)
                if value == 0 and (known is None or known < 0):
                    zeros += 1
                elif name in printed.counters or name in report.counters:
                    compared += 1
                    if not (fits(known, cell, unit) and as_read(value, cell, unit)):
                        wrong.append(f"{pair.export.name}: {name}: {value!r}, {cell} {unit}")
            beyond = {**printed.counters, **printed.texts}.keys() - set(names)
            wrong += [f"{pair.export.name}: {name} is in no column" for name in beyond]
            texts = {name: text for name, text in report.texts.items() if name in names and text}
            wrong += [] if texts == printed.texts else [f"{texts} {printed.texts}"]
    print(
        f"\n{kind}: {len(found)} exports, {compared:,} counters equal, {zeros} zeros that are none"
    )
    assert not wrong, wrong[:20]
    assert (len(found), compared, zeros) == (exports, expected, failed)


def rows_by_launch(path: Path) -> list[list[dict[str, str]]]:
    """Return the rows of a details page, those of one launch together."""
    header, *rows = table(path)
    launches: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows:
        named = dict(zip(header, row, strict=False))
        launches.setdefault((named["ID"], named["Process ID"]), []).append(named)
    return list(launches.values())


def counters_of(launch: Launch) -> Mapping[str, float]:
    """Return a report's counters, those of 2019 under the names of today too."""
    old = {new: launch.counters.get(old) for new, old in NAMES_OF_2019.items()}
    told = {name: value for name, value in old.items() if value is not None}
    return {**told, **launch.counters}


def test_reads_the_details_page_as_the_report(real_data: Path) -> None:
    labels = load_labels()
    found = pairs(real_data, "details.csv")
    compared = empty = 0
    unlabelled: set[str] = set()
    wrong: list[str] = []
    for pair in found:
        launches = rows_by_launch(pair.export)
        empty += not launches
        for rows, (report, printed) in zip(
            launches, pair.launches() if launches else [], strict=True
        ):
            wrong += [f"{pair.export.name}: {x}" for x in unlike(report, printed)]
            known = counters_of(report)
            for row in rows:
                section, label, unit, cell = (
                    row[name]
                    for name in ("Section Name", "Metric Name", "Metric Unit", "Metric Value")
                )
                counter = labels.counter(section, label, unit)
                if label and counter is None:
                    unlabelled.add(f"{section}: {label}")
                elif label and counter is not None and is_number(cell):
                    compared += 1
                    value = printed.counters.get(counter)
                    exact = counter in labels.sizes and value == known.get(counter)
                    right = exact or as_read(value, cell, unit)
                    if not (fits(known.get(counter), cell, unit) and right):
                        wrong.append(
                            f"{pair.export.name}: {section}, {label} ({counter}): "
                            f"{known.get(counter)!r}, {value!r}, {cell} {unit}"
                        )
    print(f"\ndetails.csv: {len(found)} exports, {empty} without rows, {compared:,} values equal")
    print(f"labels of sections that people wrote themselves: {sorted(unlabelled)}")
    assert not wrong, wrong[:20]
    assert (len(found), empty, compared) == (45, 5, 13_919)


def squeezed(finding: ReferenceFinding) -> tuple[str, str]:
    """Return severity and text without blanks: the text page breaks words at its right edge."""
    return finding.severity, "".join(finding.text.split())


def test_reads_the_text_page_as_the_details_page(real_data: Path) -> None:
    found = pairs(real_data, "details.txt")
    values = findings = 0
    for pair in found:
        other = pair.export.with_suffix(".csv")
        for text, details in zip(launches_of(pair.export), launches_of(other), strict=True):
            assert dict(text.counters) == dict(details.counters), pair.export
            assert dict(text.texts) == dict(details.texts), pair.export
            assert not unlike(details, text), pair.export
            said = sorted(squeezed(finding) for finding in text.reference_findings)
            assert said == sorted(squeezed(finding) for finding in details.reference_findings)
            values += len(text.counters)
            findings += len(said)
    print(f"\ndetails.txt: {len(found)} exports, {values:,} values and {findings} messages equal")
    assert (len(found), values, findings) == (14, 4_680, 793)


def messages(launch: Launch, *, named: bool) -> list[tuple[str, ...]]:
    """Return what the vendor's rules say about a launch, with the rules' names where wanted."""
    return sorted(
        (
            *((finding.rule, finding.section) if named else ()),
            finding.severity,
            " ".join(finding.text.split()),
        )
        for finding in launch.reference_findings
        if finding.text
    )


def test_reads_the_messages_of_the_vendors_rules_as_the_report(real_data: Path) -> None:
    compared = 0
    for pair in pairs(real_data, "details.csv"):
        if rows_by_launch(pair.export):
            for report, printed in pair.launches():
                assert messages(printed, named=True) == messages(report, named=True), pair.export
                compared += len(messages(printed, named=True))
    print(f"\n{compared:,} messages of the vendor's rules equal")
    assert compared == 1_540


NO_FORMAT = "not a profile of a known format"
NO_RESULT = "no result of the profiler in this file"

# Launches read, or why none: tables that their authors made of the profiler's, notes on the
# machine, and logs of runs whose results went into a report.
BECOMES: dict[str, dict[str, int | str]] = {
    "ncu-csv/Lashi0812__CudaProgramming/results": {
        "final_readWriteOffset_cg.csv": NO_FORMAT,
        "final_reduceInteger.csv": NO_FORMAT,
        "ncu_readWriteOffset_cg.csv": 6,
        "ncu_reduceInteger.csv": 9,
        "sumMatrixDiffConfig.csv": NO_FORMAT,
        "sumMatrix_Occp.csv": NO_FORMAT,
    },
    "ncu-csv/Olajide-Badejo__GPU-Roofline-Profiler": {
        "environment.txt": NO_FORMAT,
        "manifest.json": NO_FORMAT,
        "nvml.csv": NO_FORMAT,
        "peaks.csv": NO_FORMAT,
        "timing.csv": NO_FORMAT,
    },
    "ncu-csv/Olajide-Badejo__GPU-Roofline-Profiler/ncu": {
        "gemm_naive.csv": 1,
        "gemm_tiled.csv": 1,
        "gemm_vectorized.csv": 1,
        "metrics_used.txt": NO_FORMAT,
        "ncu_version.txt": NO_FORMAT,
        "saxpy.csv": 1,
    },
    "ncu-csv/brycelelbach__nsightful": {
        "copy_blocked.csv": 1,
    },
    "ncu-text/AlpriElse__cs599k/silu/triton": {
        "silu-pytorch-ncu-report.txt": 10,
    },
    "ncu-text/BobbyAl__cuda-kmer-counting/ncu": {
        "ecoli_gpu_kmer_k12.txt": 5,
        "ecoli_gpu_kmer_k4.txt": 5,
        "ecoli_gpu_kmer_k8.txt": 5,
        "ecoli_gpu_kmer_optimized_k12.txt": 1,
        "ecoli_gpu_kmer_optimized_k4.txt": 1,
        "ecoli_gpu_kmer_optimized_k8.txt": 1,
        "yeast_gpu_kmer_k4.txt": 13,
        "yeast_gpu_kmer_optimized_k4.txt": 1,
    },
    "ncu-text/BobbyAl__cuda-kmer-counting": {
        "ncu_metrics.csv": NO_FORMAT,
    },
    "ncu-text/JakeFlasher__benchmark_flash_attention/logs": {
        "varlen.log": NO_RESULT,
    },
    "ncu-text/MattJBorowski1991__TensorCorePTX/run1/multiple_sizes": {
        "fp16_ptx_3stage_1024.txt": 1,
        "fp16_ptx_fp16acc_1024.txt": 1,
        "fp16_ptx_manual_pack_1024.txt": 1,
        "fp16_ptx_mma_1024.txt": 1,
    },
    "ncu-text/MattJBorowski1991__TensorCorePTX/run1/ncu_8192": {
        "fp16_ptx_3stage_ncu.txt": 2,
    },
    "ncu-text/MattJBorowski1991__TensorCorePTX/run2": {
        "int8_dp4a_ncu_1024.txt": 1,
        "int8_ptx_manual_pack_ncu_4096.txt": 1,
        "int8_ptx_mma_k16_ncu_512.txt": 1,
    },
    "ncu-text/MattJBorowski1991__TensorCorePTX/run3": {
        "int4_ptx_3stage_ncu_1024.txt": 1,
        "int4_ptx_manual_pack_ncu_2048.txt": 1,
        "int4_ptx_mma_k64_ncu_512.txt": 1,
        "int4_wmma_ncu_8192.txt": 1,
    },
    "ncu-text/MattJBorowski1991__TensorCorePTX/run4": {
        "int4_ptx_mma_k64_x4_x1nontrans_ca_ncu_2048.txt": 3,
        "int4_ptx_mma_k64_x4_x2nontrans_ca_ncu_4096.txt": 3,
        "int4_ptx_mma_k64_x4_x2trans_ca_ncu_8192.txt": 3,
    },
    "ncu-text/bwd29__self-join-MiSTIC/results/old": {
        "profMISTIC2.out": NO_RESULT,
        "results3prof.out": NO_RESULT,
    },
    "ncu-text/cissieAB__ifarm-gpus/matMul-prof": {
        "A100_PCIe_80GB.txt": NO_FORMAT,
    },
    "ncu-text/ishana23g__heat_eq/profiler": {
        "ncu_summary_1D.txt": 289,
        "ncu_summary_2D.txt": 289,
    },
    "ncu-text/waynehacking8__blackwell-tensorcore-kernels": {
        "ncu_cublas_8192.txt": 1,
        "ncu_cublastc_8192.txt": 1,
        "ncu_ltfp8_tune.txt": 1,
        "ncu_sm120_cublastc_8192.txt": 1,
        "ncu_sm120_mma_warptile_8192.txt": 1,
        "ncu_wmma_8192.txt": 1,
    },
}


def test_reads_every_printed_file_or_says_why_not(real_data: Path) -> None:
    becomes: dict[str, dict[str, int | str]] = {}
    paths = [*(real_data / "ncu-csv").rglob("*"), *(real_data / "ncu-text").rglob("*")]
    for path in (path for path in paths if path.is_file()):
        try:
            outcome: int | str = len(launches_of(path))
        except InputError as error:
            outcome = error.problem.split(":")[0].split(";")[0]
        folder = path.parent.relative_to(real_data).as_posix()
        becomes.setdefault(folder, {})[path.name] = outcome
        print(f"{folder}/{path.name}: {outcome}")
    assert becomes == BECOMES
