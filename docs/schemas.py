"""Write the JSON Schemas of rules, facts and their like, for editors to complete and check.

``python -m docs.schemas`` writes them, ``--check`` says which are out of date and exits with 1.
Keys, choices and estimators are the loaders' own; what only the loaders can tell (names, units,
expressions) stays theirs. Source: JSON Schema, draft 2020-12.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from advisor.counters.files import SECTIONS
from advisor.counters.instructions import VIEW_KEYS, InstructionView, load_instruction_views
from advisor.facts import operations
from advisor.facts.bindings import PARTS
from advisor.facts.declared import AGGREGATES, FACT_KEYS, KINDS, LEVELS, OF_NUMBERS, WAYS
from advisor.facts.runs import load_run_facts
from advisor.facts.sizes import NUMBERS
from advisor.facts.vocabulary import load_vocabulary
from advisor.hardware import machines
from advisor.modelling import read, read_scenario, read_steps, workloads
from advisor.modelling.scenario import ROOFS
from advisor.quantities import load_quantities
from advisor.resources import counter_dirs, data_dir
from advisor.rules.language.estimators import Estimator, load_estimators
from advisor.rules.language.example_files import EXAMPLE_KEYS
from advisor.rules.language.parse import OPTIONAL, REQUIRED
from advisor.rules.language.rule import BOUNDS, JUDGED, Outcome, Severity
from advisor.rules.language.subjects import RUN, SUBJECTS
from advisor.rules.language.verification import Direction
from docs import data_schemas
from docs.shapes import (
    Schema,
    choice,
    list_of,
    map_of,
    mapping_of,
    named_numbers,
    only,
    pair,
    text,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FOLDER = data_dir("rules") / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
EXPRESSION = "an SQL scalar expression over facts and thresholds"


def main(arguments: Sequence[str]) -> int:
    """Write the schemas, or with ``--check`` compare them; return the exit status."""
    stale = []
    for name, schema in schemas().items():
        path = FOLDER / name
        wanted = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") == wanted:
            continue
        stale.append(name)
        if "--check" not in arguments:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(wanted, encoding="utf-8")
    for name in stale:
        click.echo(f"{name} {'is out of date' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


def schemas() -> dict[str, Schema]:
    """Return the schemas by file name."""
    makers: dict[str, Callable[[], Schema]] = {
        "rule": rule_schema,
        "facts": facts_schema,
        "operation": operation_schema,
        "counters": counters_schema,
        "scenario": scenario_schema,
        "workload": workload_schema,
        "profiler": data_schemas.profiler_schema,
        "quantities": data_schemas.quantities_schema,
        "report-labels": data_schemas.report_labels_schema,
        "names": data_schemas.names_schema,
        "terms": data_schemas.terms_schema,
        "page-labels": data_schemas.page_labels_schema,
        "written-labels": data_schemas.written_labels_schema,
        "opcodes": data_schemas.opcodes_schema,
        "history-labels": data_schemas.history_labels_schema,
        "glossary-labels": data_schemas.glossary_labels_schema,
        "fleet-labels": data_schemas.fleet_labels_schema,
    }
    return {f"{name}.schema.json": {"$schema": DIALECT, **make()} for name, make in makers.items()}


def rule_schema() -> Schema:
    """Return the schema of ``<family>/<slug>.yaml``."""
    keys = only(_rule_keys(), (*REQUIRED, *OPTIONAL))
    return {
        "title": "advisor rule",
        **mapping_of(keys),
        "if": {"required": ["extends"]},
        "then": {"required": ["id"]},
        "else": {"required": list(REQUIRED)},
        "allOf": [
            _tested_where("unless", {"minItems": 1}, Outcome.RULED_OUT),
            _tested_where("applies_to", {}, Outcome.NOT_APPLICABLE),
        ],
    }


def _rule_keys() -> dict[str, Schema]:
    return {
        "id": text("the path: family/slug", pattern="^[^/]+/[^/]+$"),
        "title": text("an order of at most eight words: what to do"),
        "headline": text('the same after "Start by": moving products to the matrix units'),
        "severity": choice((each.value for each in Severity), "what a gate fails on; not rank"),
        "subject": choice(SUBJECTS, "what one evaluation is about"),
        "mechanism": text("the cause; findings of one kernel that share it become one action"),
        "threshold": named_numbers("named numbers; a configuration may change them"),
        "applies_to": text(f"where the rule makes sense at all: {EXPRESSION}"),
        "when": text(f"the symptom: {EXPRESSION}"),
        "unless": list_of(_guard(), "guards: reasons not to give the advice"),
        "gain": _gain(),
        "assumes": map_of(
            text(EXPRESSION), "what quantities become when the advice is followed; roofs follow"
        ),
        "evidence": text("a sentence with at least two numbers of this kernel"),
        "why": text("the mechanism, in two sentences"),
        "recommendation": {
            **texts("steps in order; the first names this kernel's numbers"),
            "minItems": 1,
        },
        "caveats": texts("what the reader must mind"),
        "verify": _verify(),
        "references": texts("documents that the rule rests on"),
        "tests": _tests(),
        "extends": text("the id of the rule whose keys this file changes"),
        "enabled": {"type": "boolean", "description": "false takes the rule out"},
        "instructions": choice(
            sorted(name for view in _views() for name in view.symptoms),
            "what shows the symptom in single instructions",
        ),
    }


def _verify() -> Schema:
    forbidden = choice(
        (each.value for each in Direction if each.forbids), "which way it must not move"
    )
    wanted = choice(
        (each.value for each in Direction if not each.forbids), "which way it must move"
    )
    check: dict[str, Schema] = {
        "expression": text(f"the value: {EXPRESSION}"),
        "called": text("its name in a sentence, where it is not a single fact"),
        "tolerance": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "a smaller share of the value before is no change",
        },
    }
    target = {"type": ["string", "number"], "description": f"what it comes to: {EXPRESSION}"}
    required = ("expression", "moves")
    ways = [
        mapping_of({**check, "moves": wanted, "target": target}, required=required),
        mapping_of({**check, "moves": forbidden}, required=required),
        mapping_of({"note": text("what only a person can check")}, required=("note",)),
    ]
    lines = list_of({"oneOf": ways}, "what must move and which way, what must not, and notes")
    return {**lines, "minItems": 1}


def _views() -> tuple[InstructionView, ...]:
    return load_instruction_views(counter_dirs())


def _guard() -> Schema:
    return mapping_of(
        {
            "when": text(EXPRESSION),
            "because": text("why not, as a sentence with this kernel's numbers"),
            "required": {"type": "boolean", "description": "where unknown, the rule is unknown"},
        },
        required=("when", "because"),
    )


def _gain() -> Schema:
    symbols = load_vocabulary().symbols
    of_runs = load_estimators(load_run_facts(symbols).symbols, RUN)
    estimators = load_estimators(symbols) | of_runs
    ways = [
        mapping_of({bound: text(f"seconds: {EXPRESSION}") for bound in BOUNDS}, required=BOUNDS)
    ]
    for name, estimator in estimators.items():
        parameters = {key: text(f"in {unit}: {EXPRESSION}") for key, unit in _units(estimator)}
        ways.append(
            mapping_of(
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
    test = mapping_of(
        only(
            {
                "name": text("what is tested"),
                "facts": map_of(
                    {"type": ["number", "string", "boolean", "null"]},
                    "facts by name, in SI; null is unknown, and so is what is left out",
                ),
                "expect": choice((each.value for each in JUDGED), "what the rule must say"),
                "gain": {
                    "description": "seconds expected, after the cap: the likely ones, or each",
                    "oneOf": [number, mapping_of(dict.fromkeys(BOUNDS, number))],
                },
                "share": {
                    "description": "shares expected of a time that is unknown, as of gains",
                    "oneOf": [number, mapping_of(dict.fromkeys(BOUNDS, number))],
                },
                "assumed": map_of(number, "values expected of what the rule assumes, in SI"),
                "evidence": text("the evidence expected, word for word"),
                "because": text("the guard's reason expected, word for word"),
            },
            EXAMPLE_KEYS,
        ),
        required=("name", "facts", "expect"),
    )
    always = (Outcome.FIRES, Outcome.SILENT, Outcome.UNKNOWN)
    about = "one each at least: fires, silent, unknown, and each branch that the rule has"
    return {**list_of(test, about), "allOf": [_has(outcome) for outcome in always]}


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


def _one_of(key: str, words: Sequence[object]) -> Schema:
    """Return: there is a key, and one of some words under it."""
    return {"required": [key], "properties": {key: {"enum": [*words]}}}


def facts_schema() -> Schema:
    """Return the schema of ``facts/*.yaml``."""
    keys = only(
        {
            "kind": choice(KINDS, "number where left out"),
            "unit": text("s, B, FLOP/s, Hz, W, 1 …; numbers have one, others have none"),
            "level": choice(LEVELS, "computed per launch, or per kernel (default)"),
            "aggregate": choice(sorted(AGGREGATES), "how values of launches become the kernel's"),
            "paired": {
                "type": "boolean",
                "description": "sum only over launches in which all quantities are known",
            },
            "tracked": {
                "type": "boolean",
                "description": "stored with each variant; shipped facts only, by a migration",
            },
            "formula": text("an SQL scalar expression over quantities, facts and thresholds"),
            "known_of": map_of(text("a quantity or fact"), "labels of what is known, joined"),
            "of_operation": choice(PARTS, "what the operation of a kernel says"),
            "by_name": map_of(texts("regular expressions"), "labels of names of kernels"),
            "about": text("what it is, in one line"),
            "source": text("the document that defines it"),
        },
        FACT_KEYS,
    )
    fact = {
        **mapping_of(keys, required=("about", "source")),
        "oneOf": [{"required": [way]} for way in WAYS],
        "if": {"required": ["kind"], "properties": {"kind": {"enum": ["text", "boolean"]}}},
        "then": {"not": {"anyOf": [{"required": ["unit"]}, _one_of("aggregate", OF_NUMBERS)]}},
        "else": {"required": ["unit"]},
        "not": {"allOf": [_one_of("level", ["launch"]), _one_of("paired", [True])]},
        "dependentSchemas": {
            "aggregate": _one_of("level", ["launch"]),
            "known_of": _one_of("kind", ["text"]),
        },
    }
    named = {
        "thresholds": named_numbers("named numbers for the formulas of this file"),
        "facts": map_of(fact, "facts by name"),
    }
    return {"title": "advisor facts", **mapping_of(named, required=("facts",))}


def operation_schema() -> Schema:
    """Return the schema of ``operations/<id>.yaml``."""
    formula = "an SQL scalar expression over sizes and constants"
    size: Schema = {"type": "number", "minimum": 0}
    default = {"description": f"a number, or {formula} given before", "type": ["number", "string"]}
    entry = {
        "about": text("what it is, in one line"),
        "unit": text("1 where left out; B for the size of an element"),
        "number": {
            "enum": list(NUMBERS),
            "description": "count: a whole number; share: from 0 to 1; any where left out",
        },
        "default": default,
    }
    test = {
        "name": text("what is tested"),
        "sizes": map_of(size, "sizes by name"),
        "flops": {"type": "number", "description": "FLOP worked out by hand"},
        "bytes": {"type": "number", "description": "bytes worked out by hand"},
        "writes": {"type": "number", "description": "of those, the written ones"},
    }
    sizes = mapping_of(only(entry, operations.SIZE_KEYS), required=("about",))
    tests = mapping_of(only(test, operations.EXAMPLE_KEYS), required=operations.EXAMPLE_REQUIRED)
    keys = {
        "id": text("the name of the file"),
        "title": text("what is worked out, in one line"),
        "sizes": map_of(sizes, "what the user must say, by name; those with a default may"),
        "constants": named_numbers("named numbers for the formulas"),
        "flops": text(f"least work in FLOP: {formula}"),
        "bytes": text(f"least traffic in B, each operand moved once: {formula}"),
        "writes": text(f"of the traffic, what is written, in B; fusing needs it: {formula}"),
        "weights": text(f"of the traffic, what a larger batch does not add to, in B: {formula}"),
        "pipe": {"enum": list(operations.PIPES), "description": "what usually does the work"},
        "width": text(f"with pipe: bytes of an element that it works on: {formula}"),
        "caveats": texts("where more or less is needed"),
        "references": texts("documents that the formulas rest on"),
        "tests": {**list_of(tests, "one at least"), "minItems": 1},
        "extends": text("the id of the operation whose keys this file changes"),
    }
    return {
        "title": "advisor operation",
        **mapping_of(only(keys, (*operations.REQUIRED, *operations.OPTIONAL))),
        "if": {"required": ["extends"]},
        "then": {"required": ["id"]},
        "else": {"required": list(operations.REQUIRED)},
    }


def scenario_schema() -> Schema:
    """Return the schema of the scenarios that ``advisor model`` takes."""
    keys = {
        "title": text("what is modelled"),
        "devices": list_of({"anyOf": [{"type": "string"}, _own_device()]}, "names, or one's own"),
        "roof": choice(ROOFS, "the kind of ceilings"),
        "sizes": map_of(_GIVEN, "sizes by name; formulas may use the others"),
        "per": {**_GIVEN, "description": "results of a pass"},
        "work": _works(),
        "operations": {**list_of(_modelled_operation(), "what runs, in order"), "minItems": 1},
        "collectives": {**_SHARE, "description": "share of the time in communication"},
        "steps": list_of(_step(), "changes, each upon those before"),
    }
    keys = only(keys, read_scenario.KEYS)
    return {"title": "advisor scenario", **mapping_of(keys, required=("operations",))}


_GIVEN: Schema = {"type": ["number", "string"], "minimum": 0}
_SHARE: Schema = {"type": "number", "minimum": 0, "exclusiveMaximum": 1}


def _works() -> Schema:
    names = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    about = "a ceiling such as tensor_bf16; of a list, the first that the device rates"
    return {"description": about, "anyOf": [{"type": "string"}, names]}


def _own_device() -> Schema:
    ceilings = map_of({"type": "number", "exclusiveMinimum": 0}, "B/s and FLOP/s by resource")
    keys = {
        "name": text("what it is called"),
        "memory": {"type": "number", "exclusiveMinimum": 0, "description": "B"},
        "ceilings": ceilings,
        "project": ceilings,
        "practical": ceilings,
        "vendor": text("who makes it: another vendor's libraries widen a prediction"),
        "l2": {"type": "number", "exclusiveMinimum": 0, "description": "size of its L2, B"},
        "occupancy": text("the key of its occupancy limits"),
        "source": text("where the figures are from"),
    }
    return mapping_of(only(keys, machines.KEYS), required=("name", "ceilings"))


def _reused() -> dict[str, Schema]:
    return {
        "reuse": {"type": "number", "minimum": 1, "description": "uses of a byte DRAM moves"},
        "served_by": text("the memory that serves the others, such as vmem"),
        "reaches": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    }


def _modelled_operation() -> Schema:
    costs = {"description": "a compiler's estimate, or its file", "type": ["object", "string"]}
    keys = {
        "name": text("the operation's id where left out"),
        "operation": text("one of `advisor rules operations`"),
        "work": _works(),
        "repeat": {"type": ["number", "string"], "minimum": 1},
        "sizes": map_of(_GIVEN, "sizes of the operation"),
        "flops": _GIVEN,
        "bytes": _GIVEN,
        "writes": _GIVEN,
        "costs": costs,
        **_reused(),
    }
    return mapping_of(only(keys, read.OPERATION_KEYS))


def _step() -> Schema:
    where = mapping_of({"operation": text("* is anything"), "name": text("* is anything")})
    keys = {
        "name": text("what is done"),
        "where": where,
        "sizes": map_of(_GIVEN, "of the scenario, or of the operations meant"),
        "work": _works(),
        "roof": choice(ROOFS, "the kind of ceilings"),
        "collectives": _SHARE,
        "fuse": {**texts("operations, in order"), "minItems": 2},
        **_reused(),
    }
    return mapping_of(only(keys, read_steps.KEYS), required=("name",))


def workload_schema() -> Schema:
    """Return the schema of ``workloads/<id>.yaml``."""
    formula = text("an SQL scalar expression over sizes")
    key = mapping_of(
        {
            "keys": texts("published keys, the first that is there"),
            "default": _GIVEN,
            "for": map_of(_GIVEN, "the default of some model types"),
            "required": texts("model types that must say it, in place of a default"),
            "counted": {"type": "boolean", "description": "whether a list stands for its length"},
        }
    )
    entry = mapping_of({"count": _GIVEN, "active": _GIVEN}, required=("count",))
    operation = _modelled_operation()
    operation["properties"] |= {"when": formula, "vector": {"type": "boolean"}}
    keys = {
        "id": text("the name of the file"),
        "title": text("what it describes"),
        "model_types": texts("model types of configurations"),
        "config": map_of(key, "sizes that configurations give"),
        "refuse": list_of(pair(when=formula, because=text("why")), "what is not described"),
        "sizes": map_of(_GIVEN, "sizes that follow"),
        "parameters": map_of(entry, "parameters by kind, and those that a token passes"),
        "cache": pair(bytes_per_token=_GIVEN, positions=_GIVEN),
        "per": {**_GIVEN, "description": "tokens of a pass"},
        "element_wise_work": texts("ceilings of operations that are `vector`"),
        "operations": list_of(operation, "a pass, in order"),
        "references": texts("documents"),
    }
    required = [name for name in keys if name != "refuse"]
    return {
        "title": "advisor workload",
        **mapping_of(only(keys, workloads.KEYS), required=required),
    }


def counters_schema() -> Schema:
    """Return the schema of ``counters/<profiler>/*.yaml``."""
    sections = {"profiler": text("whose counters these are"), **_counter_sections()}
    keys = only(sections, ("profiler", *SECTIONS))
    return {"title": "advisor counters", **mapping_of(keys, required=("profiler",))}


def _counter_sections() -> dict[str, Schema]:
    pattern = text("a counter's name; * and ? stand for anything")
    alternatives = _alternatives()
    quantities = sorted(load_quantities().quantities)
    return {
        "units": list_of(pair(match=pattern, unit=text("ns, %, byte …")), "first match wins"),
        "printed_as": list_of(
            pair(match=pattern, unit=text("byte …")), "other units that pages print"
        ),
        "constants": named_numbers("named numbers for formulas"),
        "opcodes": map_of(_opcodes(), "weighted sums over a histogram of opcodes"),
        "helpers": map_of(
            pair(unit=text("the unit in SI"), alternatives=alternatives),
            "values for formulas that are not stored",
        ),
        "quantities": {
            **map_of({"oneOf": [alternatives, _breakdown(pattern)]}, "quantities by name"),
            "propertyNames": {"enum": quantities},
        },
        "flags": map_of(text("a condition over columns of launch"), "what a launch is marked with"),
        "keyed": texts("counters with one value per key that are kept"),
        "builds": texts("counters of what the compiler fixes for each kernel"),
        "curves": map_of(text("a counter"), "what-if curves of the report, by parameter"),
        "instructions": texts("counters with one value per instruction that are kept"),
        "instruction_views": list_of(_view(), "what instructions of a kernel are ranked by"),
    }


def _view() -> Schema:
    keys = {
        "name": text("what rules call it; with a slash, one of its kinds"),
        "title": text("heading"),
        "about": text("what the numbers count"),
        "counter": text("one of `instructions`, or a pattern with * whose counters are added"),
        "ideal": text("what would have been enough; the rest is excess"),
        "unit": text("what is counted"),
        "times": {"type": "number", "description": "what the counter is multiplied by"},
        "kinds": map_of(text("what * stands for"), "kinds under the names of their quantities"),
        "opcodes": map_of(texts("names of instructions"), "kinds by what the instructions are"),
        "except": texts("counters of the pattern that are left out"),
    }
    return mapping_of(only(keys, VIEW_KEYS), required=("name", "title", "about", "counter", "unit"))


def _alternatives() -> Schema:
    way = pair(**{"from": text("label of the way")}, formula=text("counters in double quotes"))
    return {**list_of(way, "ways to know it; the first that is known wins"), "minItems": 1}


def _opcodes() -> Schema:
    weight = mapping_of(
        {
            "match": text("a regular expression for opcodes"),
            "weight": {"type": "number", "description": "what one instruction counts"},
            "times": text("group of the expression whose number multiplies the weight"),
        },
        required=("match", "weight"),
    )
    return mapping_of(
        {
            "counter": text("the histogram"),
            "weights": list_of(weight, "first match wins"),
            "except": texts("columns whose opcodes are left out"),
        },
        required=("counter", "weights"),
    )


def _breakdown(pattern: Schema) -> Schema:
    units = list_of(pair(match=pattern, unit=text("name of the unit")), "first match wins")
    return pair(breakdown=texts("lists of counters that the report names"), units=units)


def _line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
