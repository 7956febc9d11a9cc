"""Rules as Markdown: a page per rule, and an index by family and by symptom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from advisor.facts.operations import Operation, OperationSize
from advisor.facts.vocabulary import Vocabulary
from advisor.rules.engine.collect import Asking
from advisor.rules.engine.reach import Reach
from advisor.rules.language.proven import Evidence
from advisor.rules.language.rule import Outcome, Rule
from advisor.rules.language.subjects import KERNEL
from advisor.rules.language.verify_words import general_lines
from advisor.rules.language.words import VendorWords


def rule_pages(
    rules: Sequence[Rule],
    vocabulary: Vocabulary,
    counted: Mapping[str, Evidence],
    operations: Iterable[Operation],
    words: VendorWords,
    reaches: Mapping[str, Reach] | None = None,
) -> dict[str, str]:
    """Return Markdown by relative path: ``FAMILY/SLUG.md`` per rule, and ``index.md``.

    Operations stand together in ``operations.md``; ``reaches`` say what profilers can tell.
    """
    ordered = sorted(rules, key=lambda rule: rule.id)
    pages = {
        f"{rule.id}.md": _page(rule, counted.get(rule.id), words, reaches or {}) for rule in ordered
    }
    index = _index(ordered, vocabulary, words)
    return {"index.md": index, "operations.md": operations_page(operations), **pages}


def operations_page(operations: Iterable[Operation]) -> str:
    """Return all operations: what each needs at least, its sizes, and what it rests on."""
    parts = [
        "# Operations\n",
        "What a piece of work needs at least: arithmetic, and bytes where each operand is moved"
        " once. The configuration says which kernels do which; sizes with a default may be left"
        " out.\n",
        *map(_operation, operations),
    ]
    return "\n".join(parts)


def _operation(operation: Operation) -> str:
    lines = [
        f"## `{operation.id}`\n",
        f"**{operation.title}**\n",
        f"* least work: `{_one_line(operation.flops.expression.text)}` FLOP",
        f"* least traffic: `{_one_line(operation.bytes.expression.text)}` B",
        *(
            f"* {what}: `{_one_line(formula.expression.text)}` B"
            for what, formula in (
                ("of it written", operation.writes),
                ("of it the same for any batch", operation.weights),
            )
            if formula is not None
        ),
        *([f"* usual work: {usual}"] if (usual := operation.usual_work) else ()),
        *(f"* size {_size(size)}" for size in operation.sizes.values()),
        *(
            f"* constant `{each.name}` = {each.value:g} {each.unit}; source: {each.source}"
            for each in operation.constants.values()
        ),
        *(f"* mind: {caveat}" for caveat in operation.caveats),
        *(f"* reference: {reference}" for reference in operation.references),
    ]
    return "\n".join(lines) + "\n"


def _size(size: OperationSize) -> str:
    unit = "" if size.unit == "1" else f" [{size.unit}]"
    default = "" if size.default is None else f", by default `{size.default_text}`"
    return f"`{size.name}`{unit}: {size.about}{default}"


def summary(rule: Rule, words: VendorWords) -> str:
    """Return a rule in short: what it looks for, its thresholds, and what its advice rests on."""
    lines = [
        f"### `{rule.id}`\n",
        f"**{words.fill(rule.title)}** ({rule.severity.value}, about a {rule.subject};"
        f" mechanism `{rule.mechanism}`)\n",
        f"{words.fill(rule.why)}\n",
        f"Fires when `{_one_line(rule.when.text)}`.\n",
        *_guards(rule, words),
        *_thresholds(rule),
        *(f"* reference: {reference}" for reference in rule.references),
    ]
    return "\n".join(lines) + "\n"


def _page(
    rule: Rule, counted: Evidence | None, words: VendorWords, reaches: Mapping[str, Reach]
) -> str:
    parts = [
        f"# {words.fill(rule.title)}\n",
        f"`{rule.id}`, {rule.severity.value}, about a {rule.subject}, mechanism"
        f" `{rule.mechanism}`. {_proof(rule, counted)}\n",
        f"{words.fill(rule.why)}\n",
        "## When it fires\n",
        f"`{_one_line(rule.when.text)}`\n",
    ]
    if rule.applies_to is not None:
        parts.append(f"Applies where `{_one_line(rule.applies_to.text)}`.\n")
    sections = (
        ("Not when", list(_guards(rule, words))),
        ("Thresholds", list(_thresholds(rule))),
        ("What it says", [_one_line(words.quote(rule.evidence))]),
        ("Shown in instructions by", [f"`{rule.instructions}`"] if rule.instructions else []),
        ("What to do", _numbered(words.quote(step) for step in rule.recommendation)),
        ("What it is worth", list(_gain(rule))),
        ("Caveats", [f"* {words.fill(caveat)}" for caveat in rule.caveats]),
        ("How to verify", [f"* {line}" for line in general_lines(rule.verify, words.name)]),
        ("What to collect", list(_collect(rule, reaches))),
        ("Examples", list(_examples(rule))),
        ("References", [f"* {reference}" for reference in rule.references]),
    )
    parts += [f"## {head}\n\n" + "\n".join(lines) + "\n" for head, lines in sections if lines]
    return "\n".join(parts)


def _index(rules: Sequence[Rule], vocabulary: Vocabulary, words: VendorWords) -> str:
    parts = ["# Rules\n", "## By family\n"]
    families: dict[str, list[Rule]] = defaultdict(list)
    symptoms: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        families[rule.family].append(rule)
        if rule.subject == KERNEL:
            for name in sorted(rule.when.names - rule.thresholds.keys()):
                symptoms[name].append(rule)
    for family, members in families.items():
        parts.append(f"### {family}\n\n" + "\n".join(_link(each, words) for each in members) + "\n")
    parts.append("[Operations](operations.md) are what kernels can be bound to.\n")
    parts.append("## By symptom\n\nThe facts that rules look at, and which do.\n")
    for name in sorted(symptoms):
        about = f": {fact.about}" if (fact := vocabulary.facts.get(name)) else ""
        lines = "\n".join(_link(each, words) for each in symptoms[name])
        parts.append(f"### `{name}`{about}\n\n{lines}\n")
    return "\n".join(parts)


def _link(rule: Rule, words: VendorWords) -> str:
    return f"* [{words.fill(rule.title)}]({rule.id}.md) `{rule.id}`"


def _proof(rule: Rule, counted: Evidence | None) -> str:
    subjects = f"real {rule.subject}s"
    if counted is None or not counted.is_proof:
        return f"Unproven: not yet shown to distinguish {subjects}."
    return f"Proven: fired on {counted.fired:,} {subjects}, silent on {counted.silent:,}."


def _guards(rule: Rule, words: VendorWords) -> Iterator[str]:
    for guard in rule.unless:
        yield f"* not when `{_one_line(guard.when.text)}`: {_one_line(words.quote(guard.because))}"


def _thresholds(rule: Rule) -> Iterator[str]:
    for each in rule.thresholds.values():
        unit = "" if each.unit == "1" else f" {each.unit}"
        yield f"* threshold `{each.name}` = {each.shown:g}{unit}; source: {each.source}"


def _gain(rule: Rule) -> Iterator[str]:
    if rule.gain is None:
        return
    if rule.gain.estimator:
        yield f"Estimator `{rule.gain.estimator}`:\n"
    for name, expression in rule.gain.likely.parameters.items():
        yield f"* `{name} = {_one_line(expression.text)}`"
    for name in ("low", "likely", "high"):
        yield f"* {name}: `{_one_line(getattr(rule.gain, name).expression.text)}`"
    for name, expression in rule.assumes.items():
        yield f"* then `{name}` becomes `{_one_line(expression.text)}`"


def _collect(rule: Rule, reaches: Mapping[str, Reach]) -> Iterator[str]:
    """Yield what to ask each profiler for, where it has collected nothing yet."""
    if rule.subject != KERNEL:
        return
    for reach in reaches.values():
        name = reach.profiler.name
        if rule.id in reach.hopeless:
            yield f"* {name}: it does not collect what decides this rule"
            continue
        asking = Asking(reach=reach, version=None, known={})
        if words := asking.words("", sorted(rule.when.names - rule.thresholds.keys())):
            yield f"* {name}: `{words}`"


def _examples(rule: Rule) -> Iterator[str]:
    for example in rule.examples:
        facts = ", ".join(f"{name} = {value}" for name, value in example.facts.items())
        evidence = f" “{_one_line(example.evidence)}”" if example.evidence else ""
        mark = "**fires**" if example.expect is Outcome.FIRES else example.expect.value
        yield f"* {example.name}: {mark}{evidence} (`{facts}`)"


def _numbered(texts: Iterator[str]) -> list[str]:
    return [f"{place}. {_one_line(text)}" for place, text in enumerate(texts, start=1)]


def _one_line(text: str) -> str:
    return " ".join(text.split())
