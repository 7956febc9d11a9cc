"""Scenarios that are given in words: one operation with sizes, or a compiler's estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from advisor.errors import UsageError
from advisor.modelling.costs import read_costs
from advisor.modelling.given import Given, number
from advisor.modelling.names import ModelRequest, parse_number
from advisor.modelling.read import Known, find_operation
from advisor.modelling.scenario import DeclaredOperation, Item, Scenario, ScenarioState
from advisor.suggest import did_you_mean


def asked_scenario(scenario: Scenario, asked: ModelRequest, known: Known) -> Scenario:
    """Return a scenario with the devices and the roof that options ask for.

    Raises:
        UsageError: there is no such device, or no device at all.
    """
    machines = tuple(known.machines.called(name) for name in asked.devices) or scenario.machines
    if not machines:
        raise UsageError("no device is named", hint="add --device NAME")
    roof = asked.roof or scenario.start.roof
    return replace(scenario, machines=machines, start=replace(scenario.start, roof=roof))


def operation_scenario(
    name: str, words: Sequence[str], asked: ModelRequest, known: Known
) -> Scenario:
    """Return the scenario of one operation; ``words`` are ``size=value``.

    Raises:
        UsageError: there is no such operation, size, ceiling or device, or a value is no number.
    """
    operation = find_operation(name, known.operations)
    sizes = dict(_size(word) for word in words)
    if len(sizes) < len(words):
        raise UsageError("a size is given twice")
    if wrong := operation.check(sizes):
        raise UsageError(wrong[0], hint=wrong[1])
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
        works=works_of(asked, known),
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
    having = [name for name, unit in known.machines.resources.items() if unit == "FLOP/s"]
    if asked.work not in having:
        hint = did_you_mean(asked.work, having, f"one of {', '.join(sorted(having))}")
        raise UsageError(f"no device has a ceiling {asked.work!r}", hint=hint)
    return (asked.work,)


def _size(word: str) -> tuple[str, float]:
    name, equals, value = word.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"{word!r} is no size", hint="write size=value, such as m=64")
    return name.strip(), parse_number(value, name.strip())


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
