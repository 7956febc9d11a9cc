"""Steps: each changes what the ones before it left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.errors import UsageError
from advisor.modelling.given import check_circles
from advisor.modelling.needs import needs
from advisor.modelling.scenario import DeclaredOperation, Item, ScenarioState, ScenarioStep
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.modelling.scenario import Scenario


def states(scenario: Scenario) -> tuple[ScenarioState, ...]:
    """Return the state at first and after each step.

    Raises:
        UsageError: a step means nothing that is there, or changes nothing; with its place.
    """
    found = [scenario.start]
    for step in scenario.steps:
        before = found[-1]
        after = apply(before, step)
        if _same(before, after):
            raise UsageError(f"the step {step.name!r} changes nothing", at=step.at)
        found.append(after)
    return tuple(found)


def apply(state: ScenarioState, step: ScenarioStep) -> ScenarioState:
    """Return a state with a step taken.

    Raises:
        UsageError: it means operations or sizes that are not there; with its place.
    """
    state = replace(
        state,
        roof=step.roof or state.roof,
        collectives=state.collectives if step.collectives is None else step.collectives,
    )
    if step.where is None and step.sizes:
        state = _with_sizes(state, step)
    if step.where is not None or step.works or _own(step):
        state = replace(state, items=_with_parts(state, step))
    if step.fuse:
        state = replace(state, items=_fused(state.items, step))
    return state


def _own(step: ScenarioStep) -> bool:
    """Return whether a step changes what only operations have."""
    return any(each is not None for each in (step.reuse, step.served_by, step.reaches))


def _with_sizes(state: ScenarioState, step: ScenarioStep) -> ScenarioState:
    for name in step.sizes:
        if name not in state.sizes:
            problem = f"the scenario has no size {name!r}"
            raise UsageError(problem, at=step.sizes[name].at, hint=_near(name, state.sizes))
    sizes = {**state.sizes, **step.sizes}
    check_circles(sizes)
    return replace(state, sizes=sizes)


def _with_parts(state: ScenarioState, step: ScenarioStep) -> tuple[Item, ...]:
    where = step.where
    meant = [
        part
        for item in state.items
        for part in item.parts
        if where is None or where.means(part, item.name)
    ]
    if not meant:
        known = dict.fromkeys(part.name for item in state.items for part in item.parts)
        problem = f"the step {step.name!r} means no operation that is there"
        at = step.at if where is None else where.at
        raise UsageError(problem, at=at, hint=f"there are {', '.join(known)}")
    if where is not None:
        _check_sizes(step, meant)
    chosen = {id(part) for part in meant}
    return _each(state.items, lambda part: _changed(part, step) if id(part) in chosen else part)


def _each(
    items: Iterable[Item], change: Callable[[DeclaredOperation], DeclaredOperation]
) -> tuple[Item, ...]:
    return tuple(replace(item, parts=tuple(map(change, item.parts))) for item in items)


def _check_sizes(step: ScenarioStep, meant: list[DeclaredOperation]) -> None:
    for name, given in step.sizes.items():
        known = dict.fromkeys(size for part in meant for size in _sizes_of(part))
        if name not in known:
            problem = f"no operation that is meant has a size {name!r}"
            raise UsageError(problem, at=given.at, hint=_near(name, known))


def _sizes_of(part: DeclaredOperation) -> Iterable[str]:
    return () if part.operation is None else part.operation.sizes


def _changed(part: DeclaredOperation, step: ScenarioStep) -> DeclaredOperation:
    sizes = {}
    if step.where is not None:
        own = set(_sizes_of(part))
        sizes = {name: given for name, given in step.sizes.items() if name in own}
    return replace(
        part,
        sizes={**part.sizes, **sizes},
        works=step.works or part.works,
        reuse=part.reuse if step.reuse is None else step.reuse,
        served_by=step.served_by or part.served_by,
        reaches=part.reaches if step.reaches is None else step.reaches,
    )


def _fused(items: tuple[Item, ...], step: ScenarioStep) -> tuple[Item, ...]:
    by_name = {item.name: item for item in items}
    chosen = []
    for name in step.fuse:
        if name not in by_name:
            problem = f"no operation is called {name!r}"
            raise UsageError(problem, at=step.at, hint=_near(name, by_name))
        chosen.append(by_name[name])
    fused = Item(
        name=" + ".join(item.name for item in chosen),
        parts=tuple(part for item in chosen for part in item.parts),
    )
    rest = [item for item in items if item not in chosen[1:]]
    return tuple(fused if item is chosen[0] else item for item in rest)


def _same(before: ScenarioState, after: ScenarioState) -> bool:
    """Return whether nothing that counts has changed."""
    plain = (before.roof, before.collectives) == (after.roof, after.collectives)
    return plain and _declared(before) == _declared(after)


def _declared(state: ScenarioState) -> object:
    found, per = needs(state)
    works = [[part.works for part in item.parts] for item in state.items]
    return per, works, [replace(need, at=None) for need in found]


def _near(name: str, known: Iterable[str]) -> str:
    known = list(known)
    return did_you_mean(name, known, f"there are {', '.join(known) or 'none'}")
