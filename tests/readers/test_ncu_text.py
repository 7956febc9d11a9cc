"""Pages printed to a terminal; the samples are written by hand in the form of 2022.3 and 2025.1."""

from __future__ import annotations

import pytest

from advisor.errors import InputError
from advisor.model import Launch, Session
from advisor.readers import ncu_text
from advisor.readers.base import ReadOptions, Source

NEW = """\
==PROF== Connected to process 12 (/opt/app)
==PROF== Profiling "saxpy" - 0: 0%....50%....100% - 8 passes
my program prints this
[12] app@127.0.0.1
  saxpy(float *, float *) (64, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.9
    Section: GPU Speed Of Light Throughput
    ----------------------- ----------- ------------
    Metric Name             Metric Unit Metric Value
    ----------------------- ----------- ------------
    DRAM Frequency                  Ghz         6.23
    Memory Throughput                 %        63.69
    Duration                         us        63.33
    ----------------------- ----------- ------------

    OPT   Est. Local Speedup: 91.12%
          All pipes are idle. Look at the launch
          statistics.

    Section: Launch Statistics
    -------------------------------- --------------- ---------------
    Grid Size                                                  1,024
    Function Cache Configuration                     CachePreferNone
    Static Shared Memory Per Block       Kbyte/block            1.02
    -------------------------------- --------------- ---------------
  saxpy(float *, float *) (64, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.9
    Section: Occupancy
    --------------------- ----- -----
    Theoretical Occupancy     %   100
    --------------------- ----- -----
"""
OLD = """\
[863091] main@127.0.0.1
  nodes(unsigned int *, double *), 2022-Oct-06 17:54:34, Context 1, Stream 27
    Section: GPU Speed Of Light Throughput
    ------------------ --------------- ----------------
    Memory [%]                       %            41.86
    Duration                   msecond           707.33
    ------------------ --------------- ----------------
    WRN   This kernel is slow.
"""


def read(text: str) -> list[object]:
    source = Source(name="a.txt", content=text.encode())
    return list(ncu_text.read(source, ReadOptions()))


def test_reads_values_of_the_newer_form_in_base_units() -> None:
    launch = read(NEW)[0]
    assert isinstance(launch, Launch)
    assert launch.kernel_name == "saxpy(float *, float *)"
    assert (launch.grid, launch.block, launch.process) == ((64, 1, 1), (256, 1, 1), 12)
    assert launch.counters["dram__cycles_elapsed.avg.per_second"] == pytest.approx(6.23e9)
    assert launch.counters["gpu__time_duration.sum"] == pytest.approx(63_330)
    assert launch.counters["launch__grid_size"] == 1024
    assert launch.counters["launch__shared_mem_per_block_static"] == pytest.approx(1020)
    assert launch.texts["launch__func_cache_config"] == "CachePreferNone"


def test_takes_each_kernel_line_as_a_launch() -> None:
    launches = [record for record in read(NEW) if isinstance(record, Launch)]
    assert [launch.index for launch in launches] == [0, 1]
    assert launches[1].counters["sm__maximum_warps_per_active_cycle_pct"] == 100


def test_joins_the_lines_of_a_message_and_reads_its_estimate() -> None:
    launch = read(NEW)[0]
    assert isinstance(launch, Launch)
    (finding,) = launch.reference_findings
    assert finding.text == "All pipes are idle. Look at the launch statistics."
    assert (finding.severity, finding.scope) == ("optimization", "local")
    assert finding.estimate == pytest.approx(0.9112)


def test_reads_the_older_form() -> None:
    launch = read(OLD)[0]
    assert isinstance(launch, Launch)
    assert launch.kernel_name == "nodes(unsigned int *, double *)"
    assert launch.counters["gpu__time_duration.sum"] == pytest.approx(707.33e6)
    assert launch.stream == 27
    assert launch.grid is None
    assert launch.reference_findings[0].severity == "warning"


def test_reads_a_table_whose_lines_end_as_on_windows() -> None:
    launches = [record for record in read(NEW.replace("\n", "\r\n")) if isinstance(record, Launch)]
    assert len(launches) == 2


def test_ends_with_what_is_known_of_the_session() -> None:
    session = read(NEW)[-1]
    assert isinstance(session, Session)
    assert session.program == "/opt/app"


def test_refuses_a_log_without_results() -> None:
    with pytest.raises(InputError, match="no result of the profiler"):
        read("==PROF== Connected to process 1 (/a)\n==PROF== Disconnected from process 1\n")
