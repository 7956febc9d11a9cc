"""A small valid rule, for tests to bend, and the types of the fixtures that take it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

from advisor.rules import Evaluation, Rule

RULE = dedent("""\
    id: sample/slow
    title: A sample
    headline: taking a sample
    severity: warning
    subject: kernel
    mechanism: sample
    threshold:
      wasted: {value: 0.2, source: uncalibrated}
    when: load_efficiency < 1 - wasted
    unless:
      - {when: l1_utilization < 0.2, because: "L1 is {{ l1_utilization | percent }} busy"}
    gain: {low: duration * 0.1, likely: duration * 0.5, high: duration * 0.9}
    evidence: "{{ load_efficiency | percent }} used in {{ duration | seconds }}"
    why: It is a sample.
    recommendation: ["Raise {{ load_efficiency | percent }}."]
    verify: [{expression: duration, moves: down}]
    references: [none]
    tests:
      - name: fires
        facts: {load_efficiency: 0.5, l1_utilization: 0.9, duration: 1.0}
        expect: fires
      - {name: silent, facts: {load_efficiency: 0.9}, expect: silent}
      - {name: out, facts: {load_efficiency: 0.5, l1_utilization: 0.1}, expect: ruled out}
      - {name: unknown, facts: {load_efficiency: null}, expect: unknown}
    """)

Write = Callable[..., Path]
Load = Callable[[str], Rule]
Judge = Callable[..., list[Evaluation]]
