"""Write the JSON Schemas of rule, fact and counter files, for editors to complete and check.

``python -m docs.schemas`` writes them, ``--check`` says which are out of date and exits with 1.
Keys, choices and estimators are the loaders' own; what only the loaders can tell (names, units,
expressions) stays theirs. Source: JSON Schema, draft 2020-12.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from advisor.facts.counters import SECTIONS
from advisor.facts.instructions import VIEW_KEYS, InstructionView, load_instruction_views
from advisor.facts.vocabulary import AGGREGATES, FACT_KEYS, KINDS, load_vocabulary
from advisor.quantities import load_quantities
from advisor.resources import data_dir
from advisor.rules.estimators import BOUNDS, Estimator, load_estimators
from advisor.rules.example_files import EXAMPLE_KEYS
from advisor.rules.parse import OPTIONAL, REQUIRED
from advisor.rules.rule import Outcome, Severity, Subject
from advisor.rules.run_facts import load_run_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Schema = dict[str, Any]

FOLDER = data_dir("rules") / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
EXPRESSION = "an SQL scalar expression over facts and thresholds"


def main(arguments: Sequence[str]) -> int:
    """Write the schemas, or with ``--check`` compare them; return the exit status."""
    stale = []
    for name, schema in schemas().items():
        path = FOLDER / name
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        click.echo(f"{name} {'is out of date' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


def schemas() -> dict[str, Schema]:
    """Return the schemas by file name."""
    makers: dict[str, Callable[[], Schema]] = {
        "rule": rule_schema,
        "facts": facts_schema,
        "counters": counters_schema,
    }
    return {f"{name}.schema.json": {"$schema": DIALECT, **make()} for name, make in makers.items()}


def rule_schema() -> Schema:
    """Return the schema of ``<family>/<slug>.yaml``."""
    keys = _only(_rule_keys(), (*REQUIRED, *OPTIONAL))
    return {
        "title": "advisor rule",
        **_object(keys),
        "if": {"required": ["extends"]},
        "then": {"required": ["id"]},
        "else": {"required": list(REQUIRED)},
        "allOf": [
            _tested_where("unless", {"minItems": 1}, Outcome.RULED_OUT),
            _tested_where("applies_to", {}, Outcome.NOT_APPLICABLE),
        ],
    }


def _rule_keys() -> dict[str, Schema]:
    sections = _texts("sections of the profiler's report")
    return {
        "id": _text("the path: family/slug", pattern="^[^/]+/[^/]+$"),
        "title": _text("one line: what is wrong"),
        "severity": _choice((each.value for each in Severity), "what a gate fails on; not rank"),
        "subject": _choice((each.value for each in Subject), "what one evaluation is about"),
        "mechanism": _text("the cause; findings of one kernel that share it become one action"),
        "threshold": _named_numbers("named numbers; a configuration may change them"),
        "applies_to": _text(f"where the rule makes sense at all: {EXPRESSION}"),
        "when": _text(f"the symptom: {EXPRESSION}"),
        "unless": _list(_guard(), "guards: reasons not to give the advice"),
        "gain": _gain(),
        "assumes": _map(
            _text(EXPRESSION), "what quantities become when the advice is followed; roofs follow"
        ),
        "evidence": _text("a sentence with at least two numbers of this kernel"),
        "why": _text("the mechanism, in two sentences"),
        "recommendation": {
            **_texts("steps in order; the first names this kernel's numbers"),
            "minItems": 1,
        },
        "caveats": _texts("what the reader must mind"),
        "verify": _object(
            {
                "expect": _texts("what must move, which way: `duration decreases`"),
                "guard": _texts("what must not get worse: `dram_bytes does not increase`"),
            },
            required=("expect",),
            about="how to see that the advice worked",
        ),
        "collect": _object(
            {"sections": sections, "metrics": _texts("counters of the profiler")},
            about="what to ask the profiler for where the rule is unknown",
        ),
        "references": _texts("documents that the rule rests on"),
        "tests": _tests(),
        "extends": _text("the id of the rule whose keys this file changes"),
        "enabled": {"type": "boolean", "description": "false takes the rule out"},
        "instructions": _choice(
            sorted(name for view in _views() for name in view.symptoms),
            "what shows the symptom in single instructions",
        ),
    }


def _views() -> tuple[InstructionView, ...]:
    return load_instruction_views(data_dir("rules") / "counters")


def _guard() -> Schema:
    return _object(
        {
            "when": _text(EXPRESSION),
            "because": _text("why not, as a sentence with this kernel's numbers"),
            "required": {"type": "boolean", "description": "where unknown, the rule is unknown"},
        },
        required=("when", "because"),
    )


def _gain() -> Schema:
    symbols = load_vocabulary().symbols
    of_runs = load_estimators(load_run_facts(symbols).symbols, Subject.RUN)
    estimators = load_estimators(symbols) | of_runs
    ways = [_object({bound: _text(f"seconds: {EXPRESSION}") for bound in BOUNDS}, required=BOUNDS)]
    for name, estimator in estimators.items():
        parameters = {key: _text(f"in {unit}: {EXPRESSION}") for key, unit in _units(estimator)}
        ways.append(
            _object(
                {"estimator": {"const": name}, **parameters},
                required=("estimator", *parameters),
                about=_line(estimator.about),
            )
        )
    return {"description": "time of the subject that could be saved", "oneOf": ways}


def _units(estimator: Estimator) -> Iterable[tuple[str, str]]:
    return ((name, str(unit)) for name, unit in estimator.parameters.items())


def _tests() -> Schema:
    number: Schema = {"type": "number"}
    test = _object(
        _only(
            {
                "name": _text("what is tested"),
                "facts": _map(
                    {"type": ["number", "string", "boolean", "null"]},
                    "facts by name, in SI; null is unknown, and so is what is left out",
                ),
                "expect": _choice((each.value for each in Outcome), "what the rule must say"),
                "gain": {
                    "description": "seconds expected, after the cap: the likely ones, or each",
                    "oneOf": [number, _object(dict.fromkeys(BOUNDS, number))],
                },
                "assumed": _map(number, "values expected of what the rule assumes, in SI"),
                "evidence": _text("the evidence expected, word for word"),
                "because": _text("the guard's reason expected, word for word"),
            },
            EXAMPLE_KEYS,
        ),
        required=("name", "facts", "expect"),
    )
    always = (Outcome.FIRES, Outcome.SILENT, Outcome.UNKNOWN)
    about = "one each at least: fires, silent, unknown, and each branch that the rule has"
    return {**_list(test, about), "allOf": [_has(outcome) for outcome in always]}


def _has(outcome: Outcome) -> Schema:
    return {
        "contains": {"properties": {"expect": {"const": outcome.value}}, "required": ["expect"]}
    }


def _tested_where(key: str, filled: Schema, outcome: Outcome) -> Schema:
    """Return: where a rule has ``key``, one of its tests has ``outcome``."""
    return {
        "if": {"required": [key, "tests"], "properties": {key: filled}},
        "then": {"properties": {"tests": _has(outcome)}},
    }


def facts_schema() -> Schema:
    """Return the schema of ``facts/*.yaml``."""
    keys = _only(
        {
            "kind": _choice(KINDS, "number where left out"),
            "unit": _text("s, B, FLOP/s, Hz, W, 1 …; numbers have one, others have none"),
            "level": _choice(("launch", "kernel"), "computed per launch, or per kernel (default)"),
            "aggregate": _choice(sorted(AGGREGATES), "how values of launches become the kernel's"),
            "paired": {
                "type": "boolean",
                "description": "sum only over launches in which all quantities are known",
            },
            "formula": _text("an SQL scalar expression over quantities, facts and thresholds"),
            "known_of": _map(_text("a quantity or fact"), "labels of what is known, joined"),
            "about": _text("what it is, in one line"),
            "source": _text("the document that defines it"),
        },
        FACT_KEYS,
    )
    fact = {
        **_object(keys, required=("about", "source")),
        "oneOf": [{"required": ["formula"]}, {"required": ["known_of"]}],
        "if": {"required": ["kind"], "properties": {"kind": {"enum": ["text", "boolean"]}}},
        "then": {"not": {"required": ["unit"]}},
        "else": {"required": ["unit"]},
        "dependentSchemas": {
            "aggregate": {"required": ["level"], "properties": {"level": {"const": "launch"}}}
        },
    }
    named = {
        "thresholds": _named_numbers("named numbers for the formulas of this file"),
        "facts": _map(fact, "facts by name"),
    }
    return {"title": "advisor facts", **_object(named, required=("facts",))}


def counters_schema() -> Schema:
    """Return the schema of ``counters/<profiler>*.yaml``."""
    sections = {"profiler": _text("whose counters these are"), **_counter_sections()}
    keys = _only(sections, ("profiler", *SECTIONS))
    return {"title": "advisor counters", **_object(keys, required=("profiler",))}


def _counter_sections() -> dict[str, Schema]:
    pattern = _text("a counter's name; * and ? stand for anything")
    alternatives = _alternatives()
    quantities = sorted(load_quantities().quantities)
    return {
        "units": _list(_pair(match=pattern, unit=_text("ns, %, byte …")), "first match wins"),
        "constants": _named_numbers("named numbers for formulas"),
        "opcodes": _map(_opcodes(), "weighted sums over a histogram of opcodes"),
        "helpers": _map(
            _pair(unit=_text("the unit in SI"), alternatives=alternatives),
            "values for formulas that are not stored",
        ),
        "quantities": {
            **_map({"oneOf": [alternatives, _breakdown(pattern)]}, "quantities by name"),
            "propertyNames": {"enum": quantities},
        },
        "flags": _map(_text("a condition over columns of launch"), "what a launch is marked with"),
        "keyed": _texts("counters with one value per key that are kept"),
        "curves": _map(_text("a counter"), "what-if curves of the report, by parameter"),
        "instructions": _texts("counters with one value per instruction that are kept"),
        "instruction_views": _list(_view(), "what instructions of a kernel are ranked by"),
    }


def _view() -> Schema:
    keys = {
        "name": _text("what rules call it; with a slash, one of its kinds"),
        "title": _text("heading"),
        "about": _text("what the numbers count"),
        "counter": _text("one of `instructions`, or a pattern with * whose counters are added"),
        "ideal": _text("what would have been enough; the rest is excess"),
        "unit": _text("what is counted"),
        "times": {"type": "number", "description": "what the counter is multiplied by"},
        "kinds": _map(_text("what * stands for"), "kinds under the names of their quantities"),
        "opcodes": _map(_texts("names of instructions"), "kinds by what the instructions are"),
        "except": _texts("counters of the pattern that are left out"),
    }
    return _object(_only(keys, VIEW_KEYS), required=("name", "title", "about", "counter", "unit"))


def _alternatives() -> Schema:
    way = _pair(**{"from": _text("label of the way")}, formula=_text("counters in double quotes"))
    return {**_list(way, "ways to know it; the first that is known wins"), "minItems": 1}


def _opcodes() -> Schema:
    weight = _object(
        {
            "match": _text("a regular expression for opcodes"),
            "weight": {"type": "number", "description": "what one instruction counts"},
            "times": _text("group of the expression whose number multiplies the weight"),
        },
        required=("match", "weight"),
    )
    return _object(
        {
            "counter": _text("the histogram"),
            "weights": _list(weight, "first match wins"),
            "except": _texts("columns whose opcodes are left out"),
        },
        required=("counter", "weights"),
    )


def _breakdown(pattern: Schema) -> Schema:
    units = _list(_pair(match=pattern, unit=_text("name of the unit")), "first match wins")
    return _pair(breakdown=_texts("lists of counters that the report names"), units=units)


def _only(properties: Mapping[str, Schema], keys: Iterable[str]) -> dict[str, Schema]:
    """Return the properties, which must be those that the loader knows."""
    if set(properties) != set(keys):
        raise ValueError(f"the loader knows other keys: {set(properties) ^ set(keys)}")
    return dict(properties)


def _object(
    properties: Mapping[str, Schema], *, required: Iterable[str] = (), about: str = ""
) -> Schema:
    found: Schema = {"description": about} if about else {}
    found |= {"type": "object", "additionalProperties": False, "properties": dict(properties)}
    return {**found, "required": list(required)} if required else found


def _pair(**properties: Schema) -> Schema:
    return _object(properties, required=properties)


def _map(values: Schema, about: str) -> Schema:
    return {"description": about, "type": "object", "additionalProperties": values}


def _list(items: Schema, about: str) -> Schema:
    return {"description": about, "type": "array", "items": items}


def _text(about: str, **more: str) -> Schema:
    return {"description": about, "type": "string", **more}


def _texts(about: str) -> Schema:
    return _list({"type": "string"}, about)


def _choice(words: Iterable[str], about: str) -> Schema:
    return {"description": about, "enum": list(words)}


def _named_numbers(about: str) -> Schema:
    entry = _object(
        {
            "value": {"type": "number"},
            "unit": _text("1 where left out"),
            "source": _text("a document, or uncalibrated"),
        },
        required=("value", "source"),
    )
    return _map(entry, about)


def _line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
