"""A language model from its published configuration: parameters, cache, and one pass as a scenario.

Sources: ``rules/workloads``; Hugging Face ``config.json``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from advisor.errors import Location, UsageError
from advisor.modelling.declare import asked_scenario, works_of
from advisor.modelling.estimate import model
from advisor.modelling.given import Given, Sizes, check_circles, number
from advisor.modelling.json_files import read_json
from advisor.modelling.needs import needs
from advisor.modelling.read import read_operation
from advisor.modelling.results import LanguageModel, ModelNumbers
from advisor.modelling.scenario import Item, Scenario, ScenarioState
from advisor.modelling.workloads import condition, without
from advisor.records import dataclass
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from advisor.modelling.names import ModelRequest
    from advisor.modelling.ranges import Range
    from advisor.modelling.read import Known
    from advisor.modelling.results import DeviceResult, Modelled
    from advisor.modelling.scenario import DeclaredOperation
    from advisor.modelling.workloads import Key, Workload

Phase = Literal["decode", "prefill"]
MOST_BYTES = 2_000_000
_TYPE = "model_type"
_LARGEST = 1e18  # of any size of a model
_SHOWN = 40  # characters of a wrong value


@dataclass(frozen=True, kw_only=True)
class Pass:
    """One pass: its phase, how many sequences and positions, and formats of weights and cache."""

    phase: Phase
    batch: float
    context: float
    weights: str
    kv: str


def model_transformer(
    path: Path,
    asked_pass: Pass,
    asked: ModelRequest,
    known: Known,
    workloads: Mapping[str, Workload],
    sweep: Range | None = None,
) -> Modelled:
    """Return what a pass of a language model comes to.

    Raises:
        UsageError: the configuration is wrong or describes what no workload does, or an option is.
    """
    config = read_config(path)
    at = Location(name=str(path))
    workload = _workload(config, known, workloads, at)
    sizes = _sizes(config, workload, asked_pass, known, at)
    values = Sizes(sizes)
    for refused, because in workload.refused:
        if refused.amount(values):
            raise UsageError(f"{because}: no workload describes that", at=at)
    state = _state(workload, sizes, values, asked, known)
    title = f"{_name(config, path)}, {asked_pass.phase}"
    scenario = asked_scenario(Scenario(title=title, machines=(), start=state), asked, known)
    found = model(scenario, sweep)
    language = _language(workload, values, state, title, asked_pass)
    results = tuple(replace(each, model=_numbers(each, language)) for each in found.results)
    return replace(found, results=results, model=language)


def read_config(path: Path) -> dict[str, object]:
    """Return the configuration of a language model.

    Raises:
        UsageError: the file cannot be read, is too large, or is no JSON mapping.
    """
    content = read_json(path, MOST_BYTES)
    if not isinstance(content, dict):
        raise UsageError("a configuration is a mapping", at=Location(name=str(path)))
    return content


def _workload(
    config: Mapping[str, object], known: Known, workloads: Mapping[str, Workload], at: Location
) -> Workload:
    found = config.get(_TYPE)
    kind = found if isinstance(found, str) else None
    workload = None if kind is None else workloads.get(kind)
    if reason := _refusal(config, kind, workload, known):
        problem = f"{kind or 'such'} models have {reason}, which no workload describes"
        raise UsageError(problem, at=at)
    if kind is None:
        raise UsageError(f"the configuration has no {_TYPE!r}", at=at)
    if workload is None:
        meant = did_you_mean(kind, workloads, "")
        there = f"there are {', '.join(sorted(workloads))}; a file in workloads/ adds one"
        hint = f"{meant} {there}".strip()
        raise UsageError(f"no workload describes models of type {kind!r}", at=at, hint=hint)
    return workload


def _refusal(
    config: Mapping[str, object], kind: str | None, workload: Workload | None, known: Known
) -> str | None:
    """Return what a model has that no workload describes: by its type, or by a key unread."""
    if workload is None and kind is not None and kind in known.defaults.refused_types:
        return known.defaults.refused_types[kind]
    read = () if workload is None else [k for each in workload.config.values() for k in each.keys]
    refused = known.defaults.refused_keys.items()
    unread = (reason for key, reason in refused if key not in read and _is_set(config.get(key)))
    return next(unread, None)


def _is_set(value: object) -> bool:
    return value not in (None, False, 0)


def _sizes(
    config: Mapping[str, object], workload: Workload, asked: Pass, known: Known, at: Location
) -> dict[str, Given]:
    kind = str(config[_TYPE])
    sizes = {
        "batch": number(asked.batch),
        "context": number(asked.context),
        "prefill": number(asked.phase == "prefill"),
        "weight": number(_format(asked.weights, known)),
        "kv": number(_format(asked.kv, known)),
        "element": number(known.defaults.activations),
    }
    for name, key in workload.config.items():
        present = next((k for k in key.keys if config.get(k) is not None), None)
        given = (
            key.otherwise(kind)
            if present is None
            else _checked(present, config[present], key, kind, at)
        )
        if given is None:
            raise UsageError(f"the configuration has no {' or '.join(map(repr, key.keys))}", at=at)
        sizes[name] = given
    sizes |= workload.sizes
    check_circles(sizes)
    return sizes


def _format(name: str, known: Known) -> float:
    formats = known.defaults.formats
    if name not in formats:
        hint = did_you_mean(name, formats, f"one of {', '.join(formats)}")
        raise UsageError(f"there is no format {name!r}", hint=hint)
    return formats[name]


def _checked(name: str, value: object, key: Key, kind: str, at: Location) -> Given:
    """Return the number that a configuration gives; what has no default is 1 or more."""
    if key.counted and isinstance(value, list):
        return number(len(value), at)
    least = 1 if key.otherwise(kind) is None else 0
    if not isinstance(value, bool | int | float) or not least <= value <= _LARGEST:
        problem = f"{name!r} must be a number, {least} or more, not {str(value)[:_SHOWN]!r}"
        raise UsageError(problem, at=at)
    return number(float(value), at)


def _state(
    workload: Workload, sizes: Mapping[str, Given], values: Sizes, asked: ModelRequest, known: Known
) -> ScenarioState:
    works = works_of(asked, known)
    vector = tuple(dict.fromkeys((*workload.vector_works, *works)))
    parts: list[DeclaredOperation] = []
    for entry in workload.operations:
        node = entry.as_mapping()
        if "when" in node and not condition(node["when"], sizes).amount(values):
            continue
        own = vector if "vector" in node and node.boolean("vector") else works
        parts.append(read_operation(without(node, "when", "vector"), known, sizes, own, Path()))
    return ScenarioState(
        sizes=sizes,
        items=tuple(Item(name=part.name, parts=(part,)) for part in parts),
        roof="nominal",
        collectives=0.0,
        per=workload.per,
    )


def _name(config: Mapping[str, object], path: Path) -> str:
    found = config.get("_name_or_path")
    return found if isinstance(found, str) and found else f"{config[_TYPE]} of {path.name}"


def _language(
    workload: Workload, values: Sizes, state: ScenarioState, title: str, asked: Pass
) -> LanguageModel:
    counted = workload.parameters.values()
    parameters = sum(each.count.amount(values) for each in counted)
    per_token = workload.bytes_per_token.amount(values)
    needed, tokens = needs(state)
    return LanguageModel(
        name=title,
        phase=asked.phase,
        batch=asked.batch,
        context=asked.context,
        parameters=parameters,
        active_parameters=sum(each.active.amount(values) for each in counted),
        weight_bytes=parameters * values("weight"),
        kv_bytes_per_token=per_token,
        kv_cache_bytes=per_token * asked.batch * workload.positions.amount(values),
        flops_per_token=sum(each.flops * each.repeat for each in needed) / tokens,
        tokens=tokens,
    )


def _numbers(result: DeviceResult, language: LanguageModel) -> ModelNumbers:
    needed = language.weight_bytes + language.kv_cache_bytes
    memory = result.machine.memory_bytes
    return ModelNumbers(
        tokens_per_second=language.tokens / result.total.time,
        memory_needed=needed,
        fits=None if memory is None else needed <= memory,
        devices_needed=None if memory is None else math.ceil(needed / memory),
    )
