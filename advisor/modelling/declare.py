"""Scenarios that are given in words: one operation with sizes, or a compiler's estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from advisor.errors import UsageError
from advisor.modelling.costs import read_costs
from advisor.modelling.given import Given, number
from advisor.modelling.names import ModelRequest, check_ceiling, no_device
from advisor.modelling.read import Known, find_operation
from advisor.modelling.scenario import DeclaredOperation, Item, Scenario, ScenarioState


def asked_scenario(scenario: Scenario, asked: ModelRequest, known: Known) -> Scenario:
    """Return a scenario with the devices and the roof that options ask for.

    Raises:
        UsageError: there is no such device, or no device at all.
    """
    machines = tuple(known.machines.called(name) for name in asked.devices) or scenario.machines
    if not machines:
        raise no_device()
    roof = asked.roof or scenario.start.roof
    return replace(scenario, machines=machines, start=replace(scenario.start, roof=roof))


def operation_scenario(
    name: str, sizes: Mapping[str, float], asked: ModelRequest, known: Known
) -> Scenario:
    """Return the scenario of one operation with its sizes.

    Raises:
        UsageError: there is no such operation, size, ceiling or device.
    """
    operation = find_operation(name, known.operations)
    if wrong := operation.check(sizes):
        raise UsageError(wrong[0], hint=wrong[1])
    for size, value in sizes.items():
        if slip := operation.wrong_value(size, value):
            raise UsageError(slip[0], hint=slip[1])
    repeat = 1.0 if asked.repeat is None else asked.repeat
    if not repeat >= 1:
        raise UsageError(f"an operation repeats at least once, not {repeat:g} times")
    part = DeclaredOperation(
        name=operation.id,
        operation=operation,
        amounts=operation.calculations(),
        sizes={size: _same(size) for size in sizes},
        fixed={},
        repeat=number(repeat),
        works=() if asked.work is None else works_of(asked, known),
        usual=known.defaults.usual(operation.pipe),
    )
    state = _state({size: number(value) for size, value in sizes.items()}, [part])
    return asked_scenario(Scenario(title=operation.title, machines=(), start=state), asked, known)


def costs_scenario(path: Path, asked: ModelRequest, known: Known) -> Scenario:
    """Return the scenario of a compiler's estimates.

    Raises:
        UsageError: the file is wrong, or there is no such ceiling or device.
    """
    works = works_of(asked, known)
    parts = [
        DeclaredOperation(
            name=name,
            operation=None,
            amounts={},
            sizes={},
            fixed={"flops": number(costs.flops), "bytes": number(costs.bytes)},
            repeat=number(1 if asked.repeat is None else asked.repeat),
            works=works,
            modelled=True,
        )
        for name, costs in read_costs(path, known.defaults).items()
    ]
    title = f"{path.name}, modelled by its compiler"
    return asked_scenario(Scenario(title=title, machines=(), start=_state({}, parts)), asked, known)


def works_of(asked: ModelRequest, known: Known) -> tuple[str, ...]:
    """Return the ceilings that work may use.

    Raises:
        UsageError: no device has the one that was asked for; names the nearest.
    """
    if asked.work is None:
        return known.defaults.work
    check_ceiling(asked.work, known.machines.resources, "FLOP/s")
    return (asked.work,)


def _same(size: str) -> Given:
    return Given(text=size, names=frozenset({size}), calculate=lambda find: find(size))


def _state(sizes: Mapping[str, Given], parts: Sequence[DeclaredOperation]) -> ScenarioState:
    return ScenarioState(
        sizes=sizes,
        items=tuple(Item(name=part.name, parts=(part,)) for part in parts),
        roof="nominal",
        collectives=0.0,
        per=number(1),
    )
