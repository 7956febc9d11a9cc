"""What who writes rules needs: lint, test, pages, a scaffold."""

from __future__ import annotations

import shlex
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.configuration import DEFAULTS, Configuration, Setting
from advisor.errors import ConfigError, Location, RuleError, UsageError
from advisor.facts.operations import load_operations, run_operation_examples
from advisor.knowledge.compile import has_rules
from advisor.knowledge.load import find_rule, load_knowledge
from advisor.records import dataclass
from advisor.resources import data_dir, rule_dirs
from advisor.rules.engine.examples import run_examples
from advisor.rules.language.lint import Remark, lint
from advisor.rules.language.load import NOT_RULES
from advisor.rules.language.proven import load_proven
from advisor.rules.language.scaffold import write_scaffold
from advisor.rules.pages import rule_pages
from advisor.wording import count, printable

if TYPE_CHECKING:
    from advisor.facts.operations import Operation
    from advisor.facts.operations import WorkedExample as OperationExample
    from advisor.rules import Rule
    from advisor.rules.language.rule import RuleExample

_NOT_LINTED = frozenset(NOT_RULES) - {"facts", "operations"}
_WHAT = "name FAMILY/SLUG.yaml, facts/NAME.yaml or operations/NAME.yaml, or their directory"

__all__ = ["Remark", "Tested", "junit", "lint_rules", "run_rule_tests", "write_pages"]


def lint_rules(path: str | None) -> list[Remark]:
    """Return every remark on a pack, a family of it, or one file; on the shipped rules for None.

    What keeps the rules of the pack from being loaded is an error of each file in it.

    Raises:
        UsageError: there is no such directory or file, or it holds no rule, fact or operation.
    """
    if path is None:
        return _with_loading(lint(), data_dir("rules"))
    place = Path(path)
    if place.is_file():
        return _lint_files([place.resolve()])
    if not place.is_dir():
        raise UsageError(f"there is no directory {path!r}", hint="name a directory of families")
    if has_rules(place):
        return _with_loading(lint(place), place)
    family = sorted(place.resolve().glob("*.yaml"))
    if not family:
        raise UsageError(f"{path!r} holds no rule, fact or operation", hint=_WHAT)
    return _lint_files(family)


def _lint_files(places: Sequence[Path]) -> list[Remark]:
    """Return the remarks on files of one folder."""
    first = places[0]
    kind, pack = first.parent.name, first.parent.parent
    is_other = kind in _NOT_LINTED or pack.name in NOT_RULES
    if first.suffix != ".yaml" or is_other or first.parent == data_dir("rules").resolve():
        what = first if len(places) == 1 else first.parent
        raise UsageError(f"{what} holds no rule, fact or operation", hint=_WHAT)
    found = lint(pack)
    shown = [each for each in found if each.ends_it or _is_on(each, places)]
    others = sum(each.kind == "error" and each not in shown for each in found)
    if others and not any(each.kind == "error" for each in shown):
        problem = f"{count(others, 'error')} in other files of it: its rules cannot be loaded"
        at, hint = Location(name=str(pack)), f"advisor rules lint {shlex.quote(str(pack))}"
        return [*shown, Remark(kind="error", problem=problem, at=at, hint=hint, ends_it=True)]
    return _with_loading(shown, pack)


def _is_on(remark: Remark, places: Sequence[Path]) -> bool:
    return remark.at is None or Path(remark.at.name).resolve() in places


def _with_loading(remarks: list[Remark], pack: Path) -> list[Remark]:
    """Return the remarks, with the error that shows only where all rules are loaded together."""
    if any(each.kind == "error" for each in remarks):
        return remarks
    configuration = DEFAULTS
    if pack.resolve() not in (each.resolve() for each in rule_dirs()):
        configuration = replace(DEFAULTS, rules=(Setting(value=pack, origin=str(pack)),))
    try:
        _ = load_knowledge(configuration).outcomes
        if configuration is DEFAULTS:
            _load_the_rest()
    except (RuleError, ConfigError) as error:
        ended = Remark(
            kind="error", problem=error.problem, at=error.at, hint=error.hint, ends_it=True
        )
        return [*remarks, ended]
    return remarks


def _load_the_rest() -> None:
    """Load what stands beside the rules in their directory: labels, words, settings of commands.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    from advisor.database.names import load_names
    from advisor.modelling import defaults, elsewhere_settings, workloads
    from advisor.readers.ncu.code import load_opcodes
    from advisor.readers.ncu.values import load_labels
    from advisor.reports.record.history_settings import load_history_settings
    from advisor.reports.record.judgement import load_judgement
    from advisor.reports.record.layout import layout

    for load in (layout, load_history_settings, load_judgement, load_labels, load_names):
        load()
    load_opcodes()
    defaults.load_defaults()
    elsewhere_settings.load_settings()
    workloads.load_workloads(rule_dirs())


@dataclass(frozen=True, kw_only=True)
class Tested:
    """The outcome of one test of a rule or operation; ``problems`` is empty where it passed."""

    id: str
    name: str
    at: Location
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Return whether everything came out as the test says."""
        return not self.problems


def run_rule_tests(what: str | None, configuration: Configuration = DEFAULTS) -> list[Tested]:
    """Run the examples of one rule or operation, of those of a directory, or of all.

    Thresholds are those of the files, which the examples were written for.

    Raises:
        UsageError: there is no such rule; names the nearest.
        RuleError: a file is wrong; with its place.
    """
    directory = Path(what) if what is not None and Path(what).is_dir() else None
    asked = replace(DEFAULTS, rules=configuration.rules)
    if directory is not None:
        asked, directory = _with_pack(asked, directory)
    knowledge, known = load_knowledge(asked), load_operations(asked.rule_dirs)
    rules: Sequence[Rule] = knowledge.rules
    operations: Sequence[Operation] = list(known.values())
    if directory is not None:
        rules = [rule for rule in rules if Path(rule.at.name).is_relative_to(directory)]
        operations = [each for each in operations if Path(each.at.name).is_relative_to(directory)]
    elif what in known:
        rules, operations = [], [known[what]]
    elif what is not None:
        rules, operations = [find_rule(rules, what)], []
    results = run_examples(rules, vocabulary=knowledge.vocabulary, settings=knowledge.settings)
    return [
        *(_result(each.rule.id, each.example, each.problems) for each in results),
        *(
            _result(operation.id, example, problems)
            for operation, example, problems in run_operation_examples(operations)
        ),
    ]


def _with_pack(configuration: Configuration, directory: Path) -> tuple[Configuration, Path]:
    """Return a configuration that reads a directory once, and what it calls the directory."""
    for pack in (data_dir("rules"), *configuration.rule_dirs):
        if pack.resolve() == directory.resolve():
            return configuration, pack
    added = Setting(value=directory, origin="the command")
    return replace(configuration, rules=(*configuration.rules, added)), directory


def _result(
    subject: str, example: RuleExample | OperationExample, problems: tuple[str, ...]
) -> Tested:
    return Tested(id=subject, name=example.name, at=example.at, problems=problems)


def junit(results: Sequence[Tested]) -> str:
    """Return the results as JUnit XML: a suite per rule or operation, a case per example."""
    root = ET.Element("testsuites", name="advisor rules test")
    by_id: dict[str, list[Tested]] = {}
    for result in results:
        by_id.setdefault(result.id, []).append(result)
    for name, found in sorted(by_id.items()):
        failures = sum(not each.passed for each in found)
        counts = {"tests": str(len(found)), "failures": str(failures)}
        suite = ET.SubElement(root, "testsuite", {"name": name, **counts})
        for each in found:
            _case(suite, each)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _case(suite: ET.Element, result: Tested) -> None:
    at = result.at
    place = {"classname": result.id, "file": at.name, "line": str(at.line or 1)}
    case = ET.SubElement(suite, "testcase", {"name": printable(result.name), **place})
    if not result.passed:
        text = printable("\n".join(result.problems))
        failure = ET.SubElement(case, "failure", message=text.splitlines()[0])
        failure.text = f"{at}\n{text}"


def write_pages(directory: str, configuration: Configuration = DEFAULTS) -> Iterator[Path]:
    """Write a page per rule, one on operations and an index; yield what was written.

    Raises:
        UsageError: a page cannot be written.
    """
    knowledge = load_knowledge(configuration)
    operations = load_operations(configuration.rule_dirs).values()
    pages = rule_pages(
        knowledge.rules,
        knowledge.vocabulary,
        load_proven(),
        operations,
        knowledge.settings.vendors.default,
        knowledge.compiled.reaches,
    )
    for name, text in pages.items():
        path = Path(directory) / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            hint = "choose another directory with -o"
            raise UsageError(f"cannot write {path}: {error.strerror}", hint=hint) from error
        yield path


def what_tests(rule_id: str, directory: str) -> str:
    """Return what `rules test` is given to run the tests of a new rule: its id or its directory."""
    is_shipped = Path(directory).resolve() == data_dir("rules").resolve()
    return rule_id if is_shipped else directory


def new_rule(rule_id: str, directory: str) -> Path:
    """Write a scaffold and return its path.

    Raises:
        UsageError: the id has another form, or the file exists.
    """
    return write_scaffold(rule_id, Path(directory))
