"""A scenario on each of its devices: least times by the roofline, before and after each step.

Source: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009. A share of collectives in the
time of a step lowers every roof by that share.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from advisor.modelling.needs import needs
from advisor.modelling.operations import operations_on, total
from advisor.modelling.results import DeviceResult, Modelled, OperationResult, StepResult, Total
from advisor.modelling.roofs import DeviceRoofs
from advisor.modelling.steps import states
from advisor.modelling.sweep import swept

if TYPE_CHECKING:
    from advisor.hardware.machines import Machine
    from advisor.modelling.needs import Need
    from advisor.modelling.ranges import Range
    from advisor.modelling.scenario import Scenario, ScenarioState

Needed = tuple[tuple["Need", ...], float]


def model(scenario: Scenario, sweep: Range | None = None) -> Modelled:
    """Return what a scenario comes to on each device.

    Raises:
        UsageError: a size, a step or a ceiling makes no sense; with its place where it has one.
    """
    passed = states(scenario)
    found = [(state, needs(state)) for state in passed]
    results = tuple(_on_device(machine, scenario, found, sweep) for machine in scenario.machines)
    return Modelled(title=scenario.title, results=results)


def _on_device(
    machine: Machine,
    scenario: Scenario,
    found: Sequence[tuple[ScenarioState, Needed]],
    sweep: Range | None,
) -> DeviceResult:
    rows = []
    for state, (needed, per) in found:
        operations = operations_on(DeviceRoofs(machine, state.roof), needed, state.collectives)
        rows.append((operations, total(operations, per)))
    start = scenario.start
    roofs = DeviceRoofs(machine, start.roof)
    return DeviceResult(
        machine=machine,
        roof=start.roof,
        bandwidth=roofs.bandwidth,
        rated=roofs.rated,
        collectives=start.collectives,
        operations=rows[0][0],
        total=rows[0][1],
        steps=_steps([step.name for step in scenario.steps], rows),
        sweep=None if sweep is None else swept(start, roofs, sweep),
    )


def _steps(
    names: Sequence[str], rows: Sequence[tuple[tuple[OperationResult, ...], Total]]
) -> tuple[StepResult, ...]:
    times = [each.time_per_unit for _, each in rows]
    gains = [before / after for before, after in pairwise(times)]
    order = sorted(range(len(gains)), key=lambda index: -gains[index])
    return tuple(
        StepResult(
            name=name,
            flops=after.flops,
            bytes=after.bytes,
            time=after.time,
            time_per_unit=after.time_per_unit,
            speedup=gain,
            cumulative=times[0] / after.time_per_unit,
            rank=order.index(index) + 1,
            operations=operations,
        )
        for index, (name, gain, (operations, after)) in enumerate(
            zip(names, gains, rows[1:], strict=True)
        )
    )
