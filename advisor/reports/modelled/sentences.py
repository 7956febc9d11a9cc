"""What a model's answer says in words; every format uses the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from advisor import wording

if TYPE_CHECKING:
    from advisor.modelling.results import Crossing, DeviceResult, Modelled, OperationResult


def device_sentence(result: DeviceResult) -> str:
    """Return how long a pass takes at least, and what binds most of it."""
    total = result.total
    parts = [f"At least {wording.seconds(total.time)} a pass"]
    if total.time_per_unit != total.time:
        parts.append(f"{wording.seconds(total.time_per_unit)} a result")
    memory = sum(each.time for each in result.operations if each.bound == "memory")
    parts.append(f"{wording.share(memory / total.time)} of it bound by memory")
    if result.collectives:
        parts.append(f"{wording.share(result.collectives)} of the time in collectives")
    sentence = f"{', '.join(parts)}."
    if result.model is not None:
        sentence += f" {_language_model(result)}"
    return sentence


def _language_model(result: DeviceResult) -> str:
    found = result.model
    if found is None:
        return ""
    needed = wording.si(found.memory_needed, "B")
    if found.fits is None:
        fits = f"It needs {needed}; the device's memory is not known."
    elif found.fits:
        fits = f"It needs {needed}, which fits."
    else:
        fits = f"It needs {needed}: {found.devices_needed} devices, without room for anything else."
    return f"At most {wording.significant(found.tokens_per_second)} tokens/s. {fits}"


def model_facts(found: Modelled) -> Iterator[str]:
    """Yield what a language model has, whatever it runs on."""
    model = found.model
    if model is None:
        return
    yield (
        f"{wording.si(model.parameters, '1').strip()} parameters,"
        f" {wording.si(model.active_parameters, '1').strip()} of them active;"
        f" weights {wording.si(model.weight_bytes, 'B')}"
    )
    yield (
        f"cache {wording.si(model.kv_bytes_per_token, 'B')} a token,"
        f" {wording.si(model.kv_cache_bytes, 'B')} in all;"
        f" {wording.si(model.flops_per_token, 'FLOP')} a token"
    )


def step_sentence(result: DeviceResult) -> str:
    """Return which step gains most, and what all of them gain."""
    first = min(result.steps, key=lambda step: step.rank)
    last = result.steps[-1]
    sentence = (
        f"{first.name} gains most, {wording.ratio(first.speedup)};"
        f" all together {wording.ratio(last.cumulative)}."
    )
    kernels = (each for step in result.steps for each in step.operations)
    if unrated := dict.fromkeys(work for each in kernels for work in each.unrated):
        sentence += f" The rate of {' and '.join(unrated)} is unknown here: no time counts it."
    return sentence


def crossing(found: Crossing, size: str) -> str:
    """Return where a kernel changes its bound."""
    rough = ""
    if found.approximation is not None:
        rough = f"; by weights alone at about {wording.significant(found.approximation)}"
    return (
        f"{found.operation} changes its bound at {size} = {found.value:.7g}:"
        f" {found.first_whole:.10g} is the first whole value{rough}."
    )


def remark(each: OperationResult) -> str:
    """Return remarks on a kernel's numbers."""
    parts = []
    if each.unrated:
        parts.append(_unrated(each))
    if each.modelled:
        parts.append("modelled by its compiler")
    if each.above_dram_roof:
        parts.append("modelled: above the DRAM roof, a nearer memory serves it")
    if each.achieved is not None:
        parts.append(f"taken to reach {wording.si(each.achieved, 'FLOP/s')}")
    if each.costs is not None:
        intensity = wording.si(each.costs.arithmetic_intensity, "FLOP/B")
        parts.append(f"its compiler models {intensity}")
    return "; ".join(parts)


def _unrated(each: OperationResult) -> str:
    """Return which rate is unknown, and what the time is then."""
    timed = "that part of its work is not timed" if each.works else "timed by its bytes alone"
    return f"the rate of {' and '.join(each.unrated)} is unknown here: {timed}"
