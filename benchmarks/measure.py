"""What a command costs, and how the benchmarks show it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

T = TypeVar("T")

ADVISOR = (sys.executable, "-m", "advisor")
# Linux counts resident memory in KiB, macOS in bytes.
_NOT_KEPT = "PYTHONDONTWRITEBYTECODE"
_MEMORY_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Wall-clock and processor time [s] and the largest resident memory [B] of one process."""

    wall: float
    processor: float
    memory: float


@dataclass(frozen=True, kw_only=True)
class Line:
    """One measured figure: ``value`` in ``unit``, beside what it is compared with."""

    what: str
    value: float
    unit: str
    target: str = ""
    remark: str = ""


def cost_of(command: Sequence[object], folder: Path) -> Cost:
    """Run the command in ``folder`` and return its cost; compiled modules are kept, as for users.

    Raises:
        CalledProcessError: the command failed; with what it wrote.
    """
    words = [str(word) for word in command]
    log = folder / "output.txt"
    environment = {name: text for name, text in os.environ.items() if name != _NOT_KEPT}
    with log.open("wb") as output:
        started = perf_counter()
        process = subprocess.Popen(words, cwd=folder, stdout=output, stderr=output, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        wall = perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        said = log.read_text(errors="replace")
        raise subprocess.CalledProcessError(process.returncode, words, output=said)
    return Cost(
        wall=wall,
        processor=usage.ru_utime + usage.ru_stime,
        memory=usage.ru_maxrss * _MEMORY_UNIT,
    )


def apart(function: Callable[..., T], *args: object) -> T:
    """Return what a function returns that runs in a process of its own.

    The memory of a command counts from that of the process which starts it, on Linux at least.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *args).result()


def best_of(times: int, command: Sequence[object], folder: Path) -> Cost:
    """Return the cost of the fastest of several runs: the others waited for something else."""
    return min((cost_of(command, folder) for _ in range(times)), key=lambda cost: cost.processor)


def show(title: str, lines: Sequence[Line]) -> None:
    """Print the figures as a Markdown table."""
    print(f"\n## {title}\n\n| what | measured | target | remark |\n| --- | --- | --- | --- |")
    for line in lines:
        print(f"| {line.what} | {line.value:.3g} {line.unit} | {line.target} | {line.remark} |")
