"""The JSON Schemas against the loaders: what one takes or refuses, so does the other."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from advisor.counters.mapping import load_mapping
from advisor.documents import load
from advisor.errors import RuleError
from advisor.facts import Vocabulary, load_vocabulary
from advisor.facts.operations import operation_paths, read_operation
from advisor.resources import data_dir
from advisor.rules.language.estimators import load_estimators
from advisor.rules.language.load import rule_paths
from advisor.rules.language.parse import Scope, parse_rule
from advisor.rules.language.subjects import SUBJECTS
from docs.schemas import schemas

RULES = data_dir("rules")
FOLDER = RULES / "schemas"
NAMES = (
    "rule.schema.json", "facts.schema.json", "operation.schema.json", "counters.schema.json",
)  # fmt: skip
# What loaders say about the form of a file; that a value suits a name is beyond a schema.
FORM = re.compile(r"unknown key|the key|expected (?!a \w+ for )")
Document = dict[str, Any]

RULE = """\
id: sample/slow
title: A sample
headline: taking a sample
severity: warning
subject: kernel
mechanism: sample
enabled: true
threshold:
  wasted: {value: 0.2, source: uncalibrated}
  sector: {value: 32, unit: B, source: a document}
applies_to: compute_capability > 7
when: load_efficiency < 1 - wasted
unless:
  - when: l1_utilization < 0.2
    because: "L1 is {{ l1_utilization | percent }} busy"
    required: true
gain: {low: duration * 0.1, likely: duration * 0.5, high: duration * 0.9}
assumes: {l1_bytes: l1_bytes - sector}
evidence: "{{ load_efficiency | percent }} used in {{ duration | seconds }}"
why: It is a sample.
recommendation: ["Raise {{ load_efficiency | percent }}."]
caveats: [none]
verify:
  - {expression: duration, moves: down, target: 0.5 * duration}
  - {expression: 2 * dram_bytes, called: traffic, moves: not up, tolerance: 0.1}
  - {note: results stay the same}
references: [none]
tests:
  - name: fires
    facts: {load_efficiency: 0.5, l1_utilization: 0.9, duration: 1.0, compute_capability: 8}
    expect: fires
    gain: {low: 0.1, likely: 0.5, high: 0.9}
    evidence: 50 % used in 1 s
  - {name: silent, facts: {load_efficiency: 0.9}, expect: silent, gain: 0.5}
  - {name: out, facts: {load_efficiency: 0.5}, expect: ruled out, because: L1 is 10 % busy}
  - {name: unknown, facts: {load_efficiency: null}, expect: unknown}
  - {name: too old, facts: {compute_capability: 6}, expect: not applicable}
"""

ESTIMATED = RULE.replace(
    "gain: {low: duration * 0.1, likely: duration * 0.5, high: duration * 0.9}",
    "gain: {estimator: excess_traffic, wasted: 1 - load_efficiency, busy: l1_utilization}",
)

FACTS = """\
thresholds:
  busy: {value: 0.6, unit: "1", source: uncalibrated}
facts:
  sample_ratio: {kind: number, unit: "1", formula: duration / duration, about: x, source: here}
  sample_busy: {kind: boolean, level: kernel, formula: sample_ratio > busy, about: x, source: here}
  sample_sum:
    {unit: s, level: launch, aggregate: sum, formula: duration * 2, about: a sum, source: here}
  sample_share: {unit: "1", paired: true, formula: duration / sample_sum, about: x, source: here}
  sample_known: {kind: text, known_of: {time: duration}, about: labels, source: here}
"""

OPERATION = """\
id: sample
title: A sample
sizes:
  n: {about: elements}
  element: {unit: B, about: an element}
  work: {unit: FLOP, default: 2, about: arithmetic}
  out_element: {unit: B, default: element, about: what is written}
constants:
  one: {value: 1, unit: FLOP, source: a document}
flops: n * (work + one)
bytes: n * (element + out_element)
caveats: [none]
references: [none]
tests:
  - {name: by hand, sizes: {n: 10, element: 4}, flops: 30, bytes: 80}
"""

COUNTERS = """\
profiler: sample
units: [{match: "*", unit: "1"}]
constants:
  sector: {value: 32, unit: B, source: a document}
opcodes:
  first: {counter: histogram, weights: [{match: ^A, weight: 2}]}
  second:
    counter: histogram
    weights: [{match: "^B(?P<n>[0-9])", weight: 2, times: n}]
    except: [first]
helpers:
  ratio: {unit: "1", alternatives: [{from: counted, formula: '"a" / "b"'}]}
quantities:
  dram_bytes: [{from: counted, formula: '"sectors" * sector'}]
  limiting_unit_reported: {breakdown: ["a,b"], units: [{match: a, unit: A}]}
flags: {odd: dram_bytes > sector}
keyed: [histogram]
curves: {registers: curve}
instructions: [executed]
"""


@pytest.fixture(scope="session")
def take_rule(vocabulary: Vocabulary) -> Callable[[Document], object]:
    """Load a rule's document as the loader does."""
    symbols = vocabulary.symbols
    scope = Scope(
        symbols=symbols,
        estimators=load_estimators(symbols),
        shared_guards=(),
        tolerance=0.02,
    )
    scopes = dict.fromkeys(SUBJECTS, scope)

    def take(document: Document) -> object:
        return parse_rule(load(json.dumps(document)), scopes, text_hash="", overrides={})

    return take


@pytest.fixture
def take_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Document], object]:
    """Load a fact file's document as the loader does, without the shipped ones: they take long."""
    monkeypatch.setattr("advisor.facts.vocabulary.rule_dirs", lambda: (tmp_path,))

    def take(document: Document) -> object:
        path = tmp_path / "facts" / "sample.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document))
        return load_vocabulary()

    return take


def take_operation(document: Document) -> object:
    """Load an operation's document as the loader does."""
    return read_operation(load(json.dumps(document)))


@pytest.fixture
def take_counters(tmp_path: Path) -> Callable[[Document], object]:
    """Load a counter file's document as the loader does."""

    def take(document: Document) -> object:
        folder = tmp_path / "sample"
        folder.mkdir(exist_ok=True)
        (folder / "sample.yaml").write_text(json.dumps(document))
        return load_mapping("sample", [tmp_path])

    return take


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((FOLDER / name).read_text(encoding="utf-8")))


def plain(text: str) -> Document:
    document = load(text).plain()
    assert isinstance(document, dict)
    return document


def mutants(document: Document) -> Iterator[tuple[str, Document]]:
    """Yield the document with one key too many, one too few, or one value of another kind."""
    for path, value in places(document, ()):
        where = ".".join(map(str, path)) or "the file"
        if isinstance(value, dict):
            yield f"a key more in {where}", put(document, (*path, "zz"), "zz")
            for key in value:
                yield f"no {key} in {where}", put(document, (*path, key), None, remove=True)
        if path:
            other: object = 17 if isinstance(value, str) else "seventeen"
            yield f"another kind of {where}", put(document, path, other)


def places(value: object, path: tuple[str | int, ...]) -> Iterator[tuple[Any, object]]:
    yield path, value
    pairs = enumerate(value) if isinstance(value, list) else ()
    for key, item in value.items() if isinstance(value, dict) else pairs:
        yield from places(item, (*path, key))


def put(
    document: Document, path: tuple[str | int, ...], value: object, *, remove: bool = False
) -> Document:
    changed = copy.deepcopy(document)
    holder: Any = changed
    for key in path[:-1]:
        holder = holder[key]
    if remove:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


def refusal(take: Callable[[Document], object], document: Document) -> str | None:
    try:
        take(document)
    except RuleError as error:
        return error.problem
    return None


def disagreements(
    name: str, take: Callable[[Document], object], document: Document
) -> tuple[int, list[str]]:
    """Return how many mutants the loader refuses for their form, and where the schema differs."""
    check = validator(name)
    refused, found = 0, []
    for label, mutant in mutants(document):
        problem = refusal(take, mutant)
        valid = check.is_valid(mutant)
        if problem is None and not valid:
            found.append(f"{label}: the loader takes it, the schema does not")
        if problem is not None and FORM.match(problem):
            refused += 1
            if valid:
                found.append(f"{label}: the schema takes it, the loader says: {problem}")
    return refused, found


def test_is_what_the_loaders_say_today() -> None:
    for name, schema in schemas().items():
        written = json.loads((FOLDER / name).read_text(encoding="utf-8"))
        assert written == schema, f"{name} is out of date: run `make docs`"
    assert sorted(schemas()) == sorted(path.name for path in FOLDER.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_is_a_schema_of_its_draft(name: str) -> None:
    Draft202012Validator.check_schema(validator(name).schema)


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("rule.schema.json", list(rule_paths(RULES))),
        ("facts.schema.json", sorted((RULES / "facts").glob("*.yaml"))),
        ("operation.schema.json", operation_paths(RULES)),
        ("counters.schema.json", sorted((RULES / "counters").glob("*/*.yaml"))),
    ],
)
def test_takes_every_shipped_file(name: str, paths: list[Path]) -> None:
    check = validator(name)
    assert paths
    problems = [
        f"{path}: {error.json_path}: {error.message}"
        for path in paths
        for error in check.iter_errors(load(path).plain())
    ]
    assert problems == []


@pytest.mark.parametrize("text", [RULE, ESTIMATED])
def test_agrees_with_the_loader_of_rules(
    text: str, take_rule: Callable[[Document], object]
) -> None:
    document = plain(text)
    assert refusal(take_rule, document) is None
    assert validator("rule.schema.json").is_valid(document)
    refused, found = disagreements("rule.schema.json", take_rule, document)
    assert found == []
    assert refused > 60


def test_agrees_with_the_loader_of_facts(take_facts: Callable[[Document], object]) -> None:
    document = plain(FACTS)
    assert refusal(take_facts, document) is None
    assert validator("facts.schema.json").is_valid(document)
    refused, found = disagreements("facts.schema.json", take_facts, document)
    assert found == []
    assert refused > 30


def test_agrees_with_the_loader_of_operations() -> None:
    document = plain(OPERATION)
    assert refusal(take_operation, document) is None
    assert validator("operation.schema.json").is_valid(document)
    refused, found = disagreements("operation.schema.json", take_operation, document)
    assert found == []
    assert refused > 40


def test_agrees_with_the_loader_of_counters(take_counters: Callable[[Document], object]) -> None:
    document = plain(COUNTERS)
    assert refusal(take_counters, document) is None
    assert validator("counters.schema.json").is_valid(document)
    refused, found = disagreements("counters.schema.json", take_counters, document)
    assert found == []
    assert refused > 40


@pytest.mark.parametrize(
    ("outcome", "kept"),
    [("fires", "fires"), ("silent", "silent"), ("unknown", "unknown"),
     ("ruled out", "out"), ("not applicable", "too old")],
)  # fmt: skip
def test_wants_a_test_of_every_outcome(outcome: str, kept: str) -> None:
    document = plain(RULE)
    tests = [test for test in document["tests"] if test["name"] != kept]
    assert len(tests) == 4
    errors = list(validator("rule.schema.json").iter_errors({**document, "tests": tests}))
    assert errors
    assert all(list(error.absolute_path)[:1] == ["tests"] for error in errors), outcome


def test_takes_a_rule_that_only_changes_another() -> None:
    check = validator("rule.schema.json")
    change = {"id": "memory/l2-misses", "extends": "memory/l2-misses", "enabled": False}
    assert check.is_valid(change)
    assert not check.is_valid({"id": "memory/l2-misses", "enabled": False})
