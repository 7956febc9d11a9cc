"""A third subject, as a contributor would add one: the kernels of a run that share a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from advisor.errors import Location
from advisor.expression import Kind, Symbol, compile_expression
from advisor.facts import Vocabulary
from advisor.rules import EvaluationSettings
from advisor.rules.language.subjects import Relation, SubjectKind
from advisor.units import DIMENSIONLESS, parse_unit

_SECONDS = parse_unit("s")
_FACTS = {
    "device_time": Symbol(Kind.NUMBER, _SECONDS),
    "device_kernels": Symbol(Kind.NUMBER, DIMENSIONLESS),
}


def _vocabulary(_: Vocabulary, __: EvaluationSettings) -> Mapping[str, Symbol]:
    return _FACTS


def _counted(settings: EvaluationSettings) -> EvaluationSettings:
    nothing = compile_expression("0 * device_time", _FACTS, at=Location(name="toy"), unit=_SECONDS)
    return replace(
        settings, time="device_time", floor=nothing, floor_achievable=nothing, factors=()
    )


def _select(_: EvaluationSettings, kernels: str, __: object, ___: object) -> str:
    facts = "sum(duration) AS device_time, count(*)::DOUBLE AS device_kernels"
    return f"SELECT run_id, device_id, {facts} FROM {kernels} GROUP BY run_id, device_id"


def _reads(_: EvaluationSettings) -> frozenset[str]:
    return frozenset({"device_id", "duration"})


DEVICE = SubjectKind(
    name="device",
    about="the kernels of a run that share a device",
    key="device_id",
    vocabulary=_vocabulary,
    counted=_counted,
    relation=Relation(select=_select, reads=_reads),
)

RULE = """\
id: sample/devices
title: Spread the kernels
headline: looking at the device
severity: warning
subject: device
mechanism: devices
threshold:
  many: {value: 2, source: by hand}
when: device_kernels >= many
gain: {low: 0 * device_time, likely: 0.5 * device_time, high: device_time}
evidence: "{{ device_kernels | count('kernel') }} in {{ device_time | seconds }}"
why: It is a sample.
recommendation: ["Move some of the {{ device_kernels | count('kernel') }}."]
verify: [{expression: device_kernels, moves: down, target: many}]
references: [none]
tests:
  - {name: fires, facts: {device_kernels: 3, device_time: 1.0}, expect: fires, gain: {likely: 0.5}}
  - {name: silent, facts: {device_kernels: 1}, expect: silent}
  - {name: unknown, facts: {device_time: 1.0}, expect: unknown}
"""
