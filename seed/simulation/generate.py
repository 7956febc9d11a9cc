"""Write the example runs: thirty nights of profiles from the simulated machine.

Run from the root of the project as ``python -m seed.simulation.generate``. The same sources give
the same bytes: chance comes from hashes of what it is for.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from statistics import NormalDist
from typing import Any

import yaml

from advisor.model import Launch, ReportedDevice, Session
from seed.simulation.machine import HERE, Kernel, Machine, load_kernels, load_machine
from seed.simulation.ncu_encoder import write_report
from seed.simulation.profile import profile
from seed.simulation.vendor_counters import device_attributes

RUNS = HERE.parent / "runs" / "nightly"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The nights as ``nights.yaml`` tells them."""

    first: datetime
    count: int
    branch: str
    label: str
    seed: str
    noise: dict[str, float]
    driver: list[dict[str, Any]]
    commits: list[dict[str, Any]]

    def at(self, night: int) -> datetime:
        """Return when ``night`` (from 1) was profiled."""
        return self.first + timedelta(days=night - 1)

    def driver_on(self, night: int) -> dict[str, Any]:
        """Return the driver that was installed on ``night``."""
        return next(one for one in reversed(self.driver) if one["night"] <= night)

    def commits_until(self, night: int) -> list[dict[str, Any]]:
        """Return the commits that ``night`` was built from, oldest first."""
        return [commit for commit in self.commits if commit["night"] <= night]

    def chance(self, night: int, *what: str) -> float:
        """Return a standard normal number, always the same one for the same things."""
        text = "/".join((self.seed, str(night), *what))
        drawn = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
        return NormalDist().inv_cdf((drawn + 0.5) / 2**64)


def load_plan(path: Path = HERE / "nights.yaml") -> Plan:
    """Read the nights."""
    return Plan(**yaml.safe_load(path.read_text(encoding="utf-8")))


def commit_id(commit: dict[str, Any]) -> str:
    """Return the made-up id of a commit, forty hexadecimal digits."""
    text = f"{commit['night']} {commit['subject']}"
    return blake2b(text.encode(), digest_size=20).hexdigest()


def build_night(plan: Plan, night: int) -> tuple[Session, list[Launch]]:
    """Return what the profiler would have stored on ``night``, counted from 1."""
    machine = _machine(plan, night)
    started = plan.at(night).timestamp()
    launches = [
        profile(index, *_tonight(plan, night, kernel, machine), started_at=int(started) * 10**9)
        for index, kernel in enumerate(_kernels(plan, night))
    ]
    return _session(plan, night, machine, started), launches


def write_nights(target: Path, plan: Plan) -> None:
    """Write one report for each night and ``runs.yaml``, which says when and what they are."""
    target.mkdir(parents=True, exist_ok=True)
    runs = []
    for night in range(1, plan.count + 1):
        session, launches = build_night(plan, night)
        write_report(target / _file(night), session, launches)
        runs.append(_run(plan, night))
    head = (
        "# Simulated runs, written by seed/simulation/generate.py; see seed/simulation/README.md.\n"
    )
    text = yaml.safe_dump({"runs": runs}, sort_keys=False, allow_unicode=True, width=100)
    (target / "runs.yaml").write_text(head + text, encoding="utf-8")


def _run(plan: Plan, night: int) -> dict[str, str]:
    commit = plan.commits_until(night)[-1]
    said = [
        change["note"]
        for change in (plan.driver_on(night), commit)
        if change["night"] == night and "note" in change
    ]
    return {
        "file": _file(night),
        "at": plan.at(night).isoformat(),
        "commit": commit_id(commit),
        "branch": plan.branch,
        "label": plan.label,
        "subject": commit["subject"],
        "note": "simulated; " + "; ".join((f"commit: {commit['subject']}", *said)),
    }


def _file(night: int) -> str:
    return f"night-{night:02}.ncu-rep"


def _kernels(plan: Plan, night: int) -> list[Kernel]:
    kernels = {kernel.name: kernel for kernel in load_kernels()}
    for commit in plan.commits_until(night):
        for name, changes in commit.get("changes", {}).items():
            kernels[name] = kernels[name].changed(changes)
    return list(kernels.values())


def _machine(plan: Plan, night: int) -> Machine:
    """Return the machine as it was on ``night``: clock of the driver, and a little chance."""
    machine = load_machine()
    efficiency = {
        unit: share * (1 + plan.noise["machine"] * plan.chance(night, unit))
        for unit, share in machine.efficiency.items()
    }
    clock = plan.driver_on(night)["sm_clock"] * (1 + plan.noise["clock"] * plan.chance(night, "sm"))
    return replace(machine, efficiency=efficiency, sm_clock=clock)


def _tonight(plan: Plan, night: int, kernel: Kernel, machine: Machine) -> tuple[Kernel, Machine]:
    """Return ``kernel`` and what it finds of ``machine``, each with the chance of this launch."""

    def around(value: float, *what: str) -> float:
        return value * (1 + plan.noise["kernel"] * plan.chance(night, kernel.name, *what))

    waited = tuple(
        replace(instruction, wait=around(instruction.wait, instruction.opcode))
        for instruction in kernel.instructions
    )
    found = replace(
        machine,
        efficiency={unit: around(share, unit) for unit, share in machine.efficiency.items()},
        load_latency={
            level: around(cycles, level) for level, cycles in machine.load_latency.items()
        },
        launch_overhead=around(machine.launch_overhead, "overhead"),
    )
    return replace(kernel, instructions=waited), found


def _session(plan: Plan, night: int, machine: Machine, started: float) -> Session:
    driver = plan.driver_on(night)
    command = f"ncu --set full --clock-control base -o {Path(_file(night)).stem} ./train_step"
    return Session(
        profiler="ncu",
        profiler_version="2024.3.2.0 (build 34861637)",
        command_line=command,
        program="train_step",
        host="simulated",
        operating_system="Linux",
        driver_version=driver["version"],
        runtime="CUDA",
        runtime_version=driver["cuda"],
        started_at=started,
        clock_epoch="utc",
        devices=(ReportedDevice(id=0, name=machine.name, attributes=device_attributes(machine)),),
        simulated=True,
    )


def main() -> None:
    """Write the nights to the folder given, or to where the project keeps them."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    write_nights(target, load_plan())


if __name__ == "__main__":
    main()
