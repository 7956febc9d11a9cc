"""JSON Schemas of profilers, quantities and labels: files that packs may bring."""

from __future__ import annotations

from advisor import quantities
from advisor.profilers import files as profilers
from advisor.reports.record import layout
from docs.shapes import Schema, list_of, map_of, mapping_of, only, pair, text, texts

_FLAG: Schema = {"type": "boolean"}
_FORMS: Schema = {
    "description": "what a reader sees; two forms where it can be counted: singular, plural",
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
    ],
}


def profiler_schema() -> Schema:
    """Return the schema of ``profilers/<profiler>.yaml``."""
    section = {
        "name": text("as the profiler's command names it"),
        "first": text("the first version that has it", pattern="[0-9]"),
        "last": text("the last version that has it", pattern="[0-9]"),
        "counters": texts("what it brings; * stands for anything"),
        "reserve": {**_FLAG, "description": "asked for only where nothing else tells a fact"},
    }
    offer = {key: section[key] for key in profilers.OFFER_KEYS}
    options = {
        "programs": texts("what the profiler's program is called"),
        "flags": texts("options without a value"),
        "chooses": texts("options that say which launches are profiled"),
        "keeps": texts("options that hold for the next call, too"),
    }
    never = {"names": texts("quantities, values and facts"), "because": text("why, as a clause")}
    retired = {
        "devices": texts("what their isa is called in seed/devices"),
        "last": section["last"],
        "source": text("where that is written"),
    }
    places = "|".join(profilers.PLACES)
    part = text("words of the call", pattern=f"^([^{{]|\\{{({places})\\}}|\\{{\\W)*$")
    keys = {
        "profiler": text("its name in rules/counters"),
        "name": text("what it is called"),
        "suffixes": texts("what its files are called"),
        "printed": map_of({"type": "string"}, "what has more than profiles of a format"),
        "command": list_of(part, "the call, part by part; what has no value is left out"),
        "options": mapping_of(only(options, profilers.OPTION_KEYS)),
        "sections": list_of(
            mapping_of(only(section, profilers.SECTION_KEYS), required=("name",)),
            "sets of counters, the preferred ones first",
        ),
        "always": texts("counters that come without being asked for"),
        "by_name": list_of(
            mapping_of(only(offer, profilers.OFFER_KEYS), required=("counters",)),
            "counters that one may ask for by their names",
        ),
        "launch": map_of({"type": "string"}, "the counter that tells a value of the launch"),
        "never": list_of(
            mapping_of(only(never, profilers.NEVER_KEYS), required=("because",)),
            "what it can never know",
        ),
        "retired": list_of(
            mapping_of(only(retired, profilers.RETIRED_KEYS), required=("devices", "last")),
            "devices that newer versions do not profile",
        ),
    }
    keys = only(keys, profilers.KEYS)
    return {"title": "advisor profiler", **mapping_of(keys, required=("profiler", "name"))}


def quantities_schema() -> Schema:
    """Return the schema of ``quantities/*.yaml``."""
    plain = "|".join(sorted(quantities.AGGREGATES))
    keys = {
        "unit": text("the stored SI unit; 1 for a count or a share"),
        "type": {"const": "text", "description": "a text, which has no unit"},
        "aggregate": text(
            "how launches become one number", pattern=f"^({plain}|weighted_by \\w+)$"
        ),
        "about": text("what it is, in one line"),
        "remember_source": {**_FLAG, "description": "keep which alternative gave the value"},
        "ceiling": {
            **texts("resource and kind of a ceiling of the device"),
            "minItems": 2,
            "maxItems": 2,
        },
        "attribute": text("a column of the table `device`"),
        "occupancy": text("a limit of the device's instruction set"),
    }
    entry = {
        **mapping_of(only(keys, quantities.KEYS), required=("about",)),
        "oneOf": [{"required": ["unit"]}, {"required": ["type"]}],
    }
    origins = [{"required": [key]} for key in ("ceiling", "attribute", "occupancy")]
    measured = {**entry, "not": {"anyOf": origins}}
    of_device = {**entry, "allOf": [{"oneOf": origins}]}
    groups = {
        "launch": map_of(measured, "what readers take of a launch"),
        "quantities": map_of(measured, "columns of the table `launch`"),
        "device": map_of(of_device, "values of the device"),
    }
    groups = only(groups, quantities.GROUPS)
    return {"title": "advisor quantities", **mapping_of(groups), "minProperties": 1}


def report_labels_schema() -> Schema:
    """Return the schema of ``labels/report.yaml``."""
    resource = {
        "label": text("its name"),
        "time": text("the fact that is its least time"),
        "work": text("the fact of its operations; by default flops_ and its name"),
        "peak": text("the fact of its profiled peak; by default peak_ and its name"),
        "pipe_of": text("the arithmetic on whose pipe it runs"),
        "drawn": {**_FLAG, "description": "a roof of the chart"},
        "nominal": {**texts("fact and resource of the rated peak"), "minItems": 2, "maxItems": 2},
    }
    resource_of = mapping_of(only(resource, layout.RESOURCE), required=("label", "time"))
    stall = {
        "share": text("the fact that is its share"),
        "about": text("what warps wait for"),
        "neutral": {**_FLAG, "description": "no stall"},
    }
    line = {
        "name": text("a quantity or fact"),
        "label": text("what a reader sees"),
        "show": text("share, where it is shown in percent"),
        "essential": {**_FLAG, "description": "shown as unknown where it is missing"},
        "zero": text("hidden, where 0 is left out"),
        "of": text("the fact that is its share of a peak"),
        "of_what": text("of which peak"),
        "kind": text("how it came about, where it is not measured"),
        "part_of": text("the fact beside which an equal value says nothing"),
        "least_launches": {"type": "number", "description": "launches that a kernel needs for it"},
    }
    lines = list_of(mapping_of(only(line, layout.ENTRY), required=("name", "label")), "in order")
    word = {"type": "string"}
    parts = {
        "levels": map_of(resource_of, "levels of memory, in order"),
        "others": map_of(word, "what else a least time may be made of"),
        "precisions": map_of(resource_of, "kinds of arithmetic, in order"),
        "limiters": map_of(word, "what stands for a limiter in a sentence"),
        "waiting": map_of(word, "why a kernel that waits does so, by the fact waiting_because"),
        "sources": map_of(word, "how a quantity was had"),
        "notes": map_of(word, "what stands below a table, by the head of a column"),
        "stalls": map_of(
            mapping_of(only(stall, layout.STALL), required=("share", "about")), "reasons to stall"
        ),
        "limits": map_of(texts("facts, the first known one counts"), "what bounds blocks"),
        "shares": texts("pure numbers that are shown in percent"),
        "groups": list_of(pair(name=text("of the group"), facts=lines), "facts of a kernel"),
    }
    return {"title": "advisor labels of a report", **mapping_of(only(parts, layout.PARTS))}


def names_schema() -> Schema:
    """Return the schema of ``labels/names.yaml``."""
    values = map_of(map_of({"type": "string"}, "words by value"), "words for texts, by fact")
    keys = {"names": map_of(_FORMS, "by quantity or fact"), "values": values}
    return {"title": "advisor display names", **mapping_of(keys, required=("names",))}


def terms_schema() -> Schema:
    """Return the schema of ``labels/terms.yaml``; a vendor is a key of each term."""
    words = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    upper = {"type": "string", "pattern": "^[A-Z][A-Z0-9_]*$"}
    term = {
        "type": "object",
        "properties": {"terms": {"type": "array", "items": upper, "minItems": 1}},
        "additionalProperties": words,
        "required": ["terms"],
    }
    keys = {
        "vendors": {**texts("the first holds where no device is known"), "minItems": 1},
        "profilers": map_of({"type": "string"}, "whose words are used where a run has no device"),
        "terms": list_of(term, "names of one thing, and what each vendor calls it"),
    }
    return {"title": "advisor terms", **mapping_of(keys)}


def page_labels_schema() -> Schema:
    """Return the schema of labels on printed pages, such as ``labels/ncu.yaml``."""
    by_unit = map_of({"type": "string"}, "the counter by unit")
    counter = {"anyOf": [{"type": "string"}, by_unit]}
    sections = map_of(map_of(counter, "counters by label"), "labels by section")
    sentence = {
        "match": text(
            "a regular expression, with the value unless that is what the message is worth"
        ),
        "counter": text("its name"),
    }
    sentences = list_of(pair(**sentence), "what messages say about counters")
    cut = pair(ending=text("what a name ends with"), whole=text("what that stands for"))
    keys = {
        "shortened": list_of(cut, "what people cut of names of counters"),
        "sizes": texts("counters of which a page rounds sizes in bytes"),
        "alone": list_of(text("a regular expression"), "how lines of the profiler alone begin"),
        "worth": text("a regular expression with percent and local: how messages of worth begin"),
        "unlocked": text("the line that says that clocks were not held"),
        "sections": sections,
        "sentences": sentences,
    }
    return {"title": "advisor labels of printed pages", **pair(profiler=text("its name"), **keys)}


def written_labels_schema() -> Schema:
    """Return the schema of ``labels/written.yaml``, of pages that people write."""
    label = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    other = pair(
        program=text("whose table it is"),
        title=text("a regular expression with name: how a line begins that titles one"),
        head=text("a regular expression: how its head begins"),
    )
    columns = {
        "labels": texts("titles of the column of labels"),
        "units": texts("titles of the column of units"),
        "values": texts("titles of the column of values of one launch"),
        "others": texts("regular expressions: titles of columns that hold no launch"),
    }
    kernels = {
        "titles": texts("titles of the column of kernels"),
        "numbers": texts("titles of a column of numbers before it"),
        "sums": text("a regular expression: rows that are no kernel's"),
        "lines": texts("regular expressions with name: lines that name a kernel"),
        "below": text("a regular expression with name: the same below a heading about a kernel"),
        "numbered": text("a regular expression: what headings begin with before a name"),
        "compares": text("a regular expression: what stands in headings that compare"),
        "command": text("a regular expression: a command of the profiler"),
        "runs": text("a regular expression with call: a line that is nothing but such a command"),
        "program": text("a regular expression with program: what a command runs, with arguments"),
        "profiled": text("a regular expression with name: the kernel that a command profiles"),
        "imported": text("a regular expression with report: what a command prints again"),
        "skipped": text("a regular expression: what launches a command leaves out"),
        "unlocked": text("a regular expression: the option by which clocks are not held"),
        "others": text("a regular expression: names that are no kernel's"),
    }
    keys = {
        "profiler": text("its name"),
        "labels": map_of(label, "printed labels or counters by shortened label"),
        "common": texts("counters that other programs' reports have, too"),
        "whole": texts("counters that a unit may share one value with"),
        "shapes": texts("labels of the launch's shape"),
        "neutral": texts("regular expressions: what in brackets changes no label"),
        "units": map_of(text("a unit"), "units by other spelling"),
        "multiples": map_of({"type": "integer"}, "factors of counts by letter"),
        "behind": texts("regular expressions: what may stand behind a value"),
        "columns": pair(**columns),
        "device": text("a regular expression with name: a line that names the device"),
        "device_of_heading": text("a regular expression with name: a heading that names it"),
        "device_described": text("the same in any line, with its compute capability behind it"),
        "other_tables": list_of(other, "tables of other programs on such pages"),
        "introduces": text("a regular expression: other lines that may name it so"),
        "kernels": pair(**kernels),
    }
    return {"title": "advisor labels of written pages", **pair(**keys)}


def opcodes_schema() -> Schema:
    """Return the schema of ``labels/sass.yaml``."""
    code = {"anyOf": [{"type": "string", "pattern": "^0x"}, {"type": "integer"}]}
    keys = {
        "majors": list_of({"type": "number"}, "of the compute capability"),
        "opcodes": map_of(list_of(code, "codes"), "by name"),
    }
    return {"title": "advisor opcodes", **pair(**keys)}


def history_labels_schema() -> Schema:
    """Return the schema of ``labels/history.yaml``."""
    word: Schema = {"type": "string"}
    keys = {
        "sentences": map_of(word, "what a report says over nights; names in braces are filled in"),
        "first_night": text("what stands where there is nothing to compare with"),
        "worse": text("of a change"),
        "better": text("of a change"),
        "terms": map_of(word, "the parts of a change"),
        "states": map_of(word, "of a change"),
        "charts": map_of(word, "what the charts over nights show"),
    }
    return {"title": "advisor words over nights", **pair(**keys)}


def glossary_labels_schema() -> Schema:
    """Return the schema of ``labels/glossary.yaml``."""
    word = pair(
        id={"type": "string", "pattern": "^[a-z][a-z-]*$", "description": "its address"},
        word=text("as pages write it"),
        means=text("what it means, in a sentence"),
    )
    word["properties"]["also"] = texts("other ways in which pages write it")
    keys = {"words": list_of(word, "in the order of the page")}
    return {"title": "advisor words explained", **pair(**keys)}


def fleet_labels_schema() -> Schema:
    """Return the schema of ``labels/fleet.yaml``."""
    most = pair(value={"type": "integer"}, source=text("why so many"))
    part = pair(
        heading=text("of a table"),
        about=text("what it is about"),
        empty=text("what stands there where it has no row"),
        columns=texts("its heads, but that of the runs"),
    )
    keys = {
        "title": text("of the page"),
        "verdict": text("its first sentence; names in braces are filled in"),
        "unknown": text("the same where no kernel has a roof"),
        "about": text("what is counted"),
        "ahead": text("runs whose clock is wrong"),
        "rows": {**most, "description": "rows of a table"},
        "runs": {**most, "description": "runs behind a row that are named"},
        "parts": map_of(part, "the tables, by the view that each shows"),
        "whats": map_of({"type": "string"}, "what came of a kernel or of advice"),
    }
    return {"title": "advisor words about a fleet", **pair(**keys)}
