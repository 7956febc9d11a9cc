"""Kernels predicted on the device that they ran on, which must say what was measured."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from advisor.api.modelling import load_machines
from advisor.api.whatif import About, whatif_devices
from advisor.configuration import DEFAULTS
from advisor.database.read import open_for_reading
from advisor.hardware.devices import NOMINAL, Ceiling
from advisor.hardware.machines import Machine
from advisor.modelling.elsewhere import TargetDevice, predict
from advisor.modelling.elsewhere_settings import load_settings
from advisor.modelling.measured import kernels_of
from tests.support import facts
from tests.support.shared import runs_of

PEAKS = {"dram": 1.0e12, "l2": 4.0e12, "l1": 10.0e12, "shared": 10.0e12,
         "vector_fp32": 10.0e12, "vector_fp64": 5.0e12, "tensor_fp16": 100.0e12}  # fmt: skip
# Every resource is busy for 0.01 ms at these peaks.
AMOUNTS = {"dram_bytes": 1.0e7, "l2_bytes": 4.0e7, "l1_bytes": 1.0e8, "shared_bytes": 1.0e8,
           "flops_fp32": 1.0e8, "flops_fp64": 5.0e7, "flops_tensor_fp16": 1.0e9}  # fmt: skip
LAUNCH: facts.Row = {
    "duration": 1.0e-3,
    "peak_dram_bandwidth": PEAKS["dram"],
    "l2_bytes_source": "sectors",
    "peak_l2_bandwidth": PEAKS["l2"],
    "peak_l1_bandwidth": PEAKS["l1"],
    "peak_shared_bandwidth": PEAKS["shared"],
    "flops_fp16": 0.0,
    "peak_fp32": PEAKS["vector_fp32"],
    "peak_fp64": PEAKS["vector_fp64"],
    "tensor_instructions": 1.0,
    "peak_tensor_fp16": PEAKS["tensor_fp16"],
}


@pytest.fixture(scope="module")
def here() -> TargetDevice:
    ceilings = tuple(
        Ceiling(
            resource=name,
            kind=NOMINAL,
            value=value,
            unit="FLOP/s" if name.startswith(("vector", "tensor")) else "B/s",
            basis="given",
            source="test",
            confidence="high",
        )
        for name, value in PEAKS.items()
    )
    machine = Machine(
        device_id="device",
        name="Here",
        memory_bytes=None,
        ceilings=ceilings,
        vendor="A",
        unit_kind="SM",
        unit_count=64,
    )
    return TargetDevice(machine, load_settings())


@pytest.mark.parametrize(
    ("busiest", "resource"),
    [
        ("dram_bytes", "dram"),
        ("l2_bytes", "l2"),
        ("l1_bytes", "l1"),
        ("shared_bytes", "shared"),
        ("flops_fp32", "vector_fp32"),
        ("flops_fp64", "vector_fp64"),
        ("flops_tensor_fp16", "tensor_fp16"),
    ],
)
@pytest.mark.parametrize(
    "others",
    [
        {},
        {"compute_utilization": 0.9},  # what is busiest has no peak
        {"grid_size": 60, "sm_count": 64},
    ],
)
def test_takes_what_it_took(
    busiest: str, resource: str, others: dict[str, float], here: TargetDevice
) -> None:
    launch = {**LAUNCH, **others, **AMOUNTS, busiest: 50 * AMOUNTS[busiest]}
    (kernel,) = kernels_of(facts.kernels_of([launch]), "A", here.settings)
    found = predict(kernel.measured, here)
    assert (found.likely, found.binding_resource) == (pytest.approx(1.0e-3), resource)
    assert (found.low or 0.0) <= 1.0e-3 <= (found.high or 0.0)


@pytest.mark.real
@pytest.mark.slow
def test_real_runs_took_what_their_own_devices_may_take(real_database: Path) -> None:
    known = {each.device_id for each in load_machines(DEFAULTS).every()}
    tried: Counter[str] = Counter()
    for run in sorted(runs_of(real_database).values()):
        with open_for_reading(str(real_database)) as connection:
            query = "SELECT DISTINCT device_id FROM launch WHERE run_id = ?"
            devices = [device for (device,) in connection.execute(query, [run]).fetchall()]
        if len(devices) != 1 or devices[0] not in known:
            continue
        about = About(database=str(real_database), run=run, kernel=None, wait=10)
        (scenario,) = whatif_devices(about, devices).scenarios
        for each in (kernel.predicted for kernel in scenario.kernels):
            if each.measured is None or each.low is None or each.high is None:
                continue
            tried[devices[0]] += 1
            assert each.low <= each.measured <= each.high, (run, each.name)
    assert tried.total() > 40
    assert len(tried) > 5
