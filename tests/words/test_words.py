"""What a reader sees: no word of the engine, no key, no expression, and the vendor's own terms."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from advisor.api.reporting import ReportForm, render_kernel, render_report
from advisor.configuration import DEFAULTS
from advisor.facts.vocabulary import Vocabulary
from advisor.ingest.batches import ProfileWriter
from advisor.ingest.profiles import read_profiles
from advisor.ingest.records import RunLabels
from advisor.knowledge.load import load_knowledge
from advisor.resources import data_dir
from advisor.rules.language.rule import Rule, Template
from advisor.rules.language.settings import EvaluationSettings

ROOT = Path(__file__).parents[2]
WORDS = yaml.safe_load((Path(__file__).parent / "words.yaml").read_text())
EVERYWHERE = {re.compile(each, re.I): better for each, better in WORDS["everywhere"].items()}
PAGES = {re.compile(each, re.I): better for each, better in WORDS["pages"].items()}
DOCSTRINGS = {re.compile(each, re.I): better for each, better in WORDS["docstrings"].items()}
VENDOR = [re.compile(each) for each in WORDS["follows_vendor"]]
# Code in documents, and what a template does; neither is read as words.
CODE = re.compile(r"```.*?```|`[^`]*`", re.S)
MARKUP = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.S)
CONDITION = re.compile(r"\{%.*?%\}|\{\{(?! *[A-Z]).*?\}\}", re.S)
KEY = re.compile(r"\b[a-z0-9]+(_[a-z0-9]+)+\b")


@dataclass(frozen=True)
class Engine:
    """Rules and what they rest on."""

    vocabulary: Vocabulary
    settings: EvaluationSettings
    rules: tuple[Rule, ...]


@pytest.fixture(scope="module")
def engine(
    vocabulary: Vocabulary, settings: EvaluationSettings, shipped_rules: tuple[Rule, ...]
) -> Engine:
    return Engine(vocabulary, settings, shipped_rules)


def templates(rule: Rule) -> Iterator[Template]:
    """Yield every text of a rule that a reader of reports sees."""
    yield from (rule.title, rule.headline, rule.evidence, rule.why)
    yield from (*rule.recommendation, *rule.caveats)
    yield from (guard.because for guard in rule.unless)


def found(text: str, patterns: dict[re.Pattern[str], str]) -> list[str]:
    """Return the words that may not stand, with what to write instead."""
    return [
        f"{match[0]!r} in {text[max(0, match.start() - 40) : match.end() + 40]!r}: write {better}"
        for pattern, better in patterns.items()
        for match in pattern.finditer(text)
    ]


def test_rules_speak_plainly(engine: Engine) -> None:
    problems = [
        f"{rule.id}: {problem}"
        for rule in engine.rules
        for template in templates(rule)
        for problem in found(CONDITION.sub("0", template.text), EVERYWHERE | PAGES)
    ]
    assert problems == []


def test_rules_leave_words_to_the_vendor(engine: Engine) -> None:
    problems = [
        f"{rule.id}: {match[0]!r} in {text!r}"
        for rule in engine.rules
        for template in templates(rule)
        for text in [re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "0", template.text, flags=re.S)]
        for pattern in VENDOR
        for match in pattern.finditer(text)
    ]
    assert problems == []


def test_rules_speak_in_short_sentences(engine: Engine) -> None:
    words = engine.settings.vendors.words("NVIDIA")
    long = []
    for rule in engine.rules:
        for template in templates(rule):
            text = re.sub(r"\{%.*?%\}", "", words.quote(template), flags=re.S)
            text = re.sub(r"\{\{.*?\}\}", "0", text, flags=re.S)
            sentences = re.split(r"(?<=[.;:])\s", text)
            long += [
                f"{rule.id}: {len(sentence.split())}: {sentence}"
                for sentence in sentences
                if len(sentence.split()) > WORDS["longest_sentence"]
            ]
    assert long == []


def test_verbs_follow_the_number_of_what_is_counted(engine: Engine) -> None:
    """A verb of the plural behind "1 block" is wrong; one of "blocks of 1 thread" is not."""
    counted = r"(?<! of )(?<! in )\{\{ *\w+ \| (count|number)\([^}]*['\"][a-z -]+['\"]\) *\}\}"
    plural = re.compile(rf"{counted}(\{{%.*?%\}})?\s+{WORDS['follows_number']}", re.S)
    assert [
        f"{rule.id}: {match[0]!r}"
        for rule in engine.rules
        for template in templates(rule)
        for match in plural.finditer(template.text)
    ] == []


def test_headlines_follow_start_by(engine: Engine) -> None:
    for rule in engine.rules:
        words = engine.settings.vendors.default.fill(rule.headline)
        assert re.match(r"[a-z]+ing\b", words), rule.id
        assert not re.search(r"[:.]", words), rule.id


def test_every_name_has_words(engine: Engine) -> None:
    names = engine.settings.vendors.default.names
    known = {*engine.vocabulary.symbols, *engine.settings.run.symbols}
    assert known - names.keys() == set(), "name it in rules/labels/names.yaml"
    assert names.keys() - known == set(), "rules/labels/names.yaml names what is not there"
    assert [name for name in names.values() if KEY.search(name.text)] == []


def test_a_labelled_value_is_compared_by_no_template(engine: Engine) -> None:
    labelled = engine.settings.vendors.default.values
    compared = re.compile(rf"\b({'|'.join(labelled)})\b\s*[=!]=")
    assert [r.id for r in engine.rules for t in templates(r) if compared.search(t.text)] == []


@pytest.mark.parametrize("vendor", ["NVIDIA", "AMD", None])
def test_terms_are_those_of_the_vendor(engine: Engine, vendor: str | None) -> None:
    expected = {
        "NVIDIA": ("warps", "SMs", "tensor cores", "DRAM"),
        "AMD": ("wavefronts", "CUs", "matrix cores", "HBM"),
        None: ("warps", "multiprocessors", "matrix units", "device memory"),
    }[vendor]
    terms = engine.settings.vendors.words(vendor).terms
    names = ("WARPS", "UNITS", "MATRIX_UNITS", "DEVICE_MEMORY")
    assert tuple(terms[name] for name in names) == expected


def test_the_profiler_decides_where_no_device_is_known(engine: Engine) -> None:
    vendors = engine.settings.vendors
    assert vendors.words(None, "ncu").terms["UNITS"] == "SMs"
    assert vendors.words(None, "other").terms["UNITS"] == "multiprocessors"
    assert vendors.words("AMD", "ncu").terms["UNITS"] == "CUs"


def test_page_templates_speak_plainly() -> None:
    paths = [*(data_dir("templates")).glob("report.*.j2"), data_dir("templates") / "chart.j2"]
    texts = {path.name: MARKUP.sub(" ", path.read_text()) for path in paths}
    problems = {name: found(text, EVERYWHERE | PAGES) for name, text in texts.items()}
    assert not any(problems.values()), problems


def test_documents_speak_plainly() -> None:
    paths = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    texts = {path.name: CODE.sub(" ", path.read_text()) for path in paths}
    problems = {name: found(text, EVERYWHERE) for name, text in texts.items() if name != "style.md"}
    assert not any(problems.values()), problems


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the report of the newest example run in every form that a person reads."""
    folder = tmp_path_factory.mktemp("words")
    database = str(folder / "demo.duckdb")
    newest = data_dir("seed") / "runs" / "nightly" / "night-30.ncu-rep"
    profiles = read_profiles([str(newest)], labels=RunLabels())
    (stored,) = ProfileWriter(database, load_knowledge(), wait=0).store(profiles)
    assert stored.status == "new"
    request = {"run": "latest", "wait": 0.0}
    styles = ("text", "markdown", "html")
    made = {
        style: text
        for style in styles
        for text in render_report(database, form=ReportForm(style=style), **request).values()
    }
    made["show"] = render_kernel(database, ".", every=False, configuration=DEFAULTS, **request)
    body = made["html"].partition("<body>")[2]
    made["html"] = re.sub(r"<script.*?</script>|<(code|q)\b.*?</\1>|<[^>]*>", " ", body, flags=re.S)
    return made


KERNELS = re.compile(r"\b\w+_kernel\b|\b\w+…|\bregex:\S+|\btrain_step\b|\brun_id\b")


@pytest.mark.parametrize("page", ["text", "markdown", "html", "show"])
def test_reports_speak_plainly(pages: dict[str, str], page: str) -> None:
    assert found(pages[page], EVERYWHERE | PAGES) == []


@pytest.mark.parametrize("page", ["text", "markdown", "html", "show"])
def test_reports_show_no_key_and_no_expression(pages: dict[str, str], page: str) -> None:
    text = KERNELS.sub("", pages[page]).replace("\\_", "_")
    text = KERNELS.sub("", text)
    assert {match[0] for match in KEY.finditer(text)} == set()
    assert not re.search(r"\{\{|\{%", text)
    assert not re.search(r"\b(coalesce|min_known|max_known|nullif)\(", text)


def test_docstrings_and_comments_speak_plainly() -> None:
    problems = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path in sorted((ROOT / "advisor").rglob("*.py"))
        for text in prose(path)
        for problem in found(text, EVERYWHERE | DOCSTRINGS)
    ]
    assert not problems, "\n".join(problems)


def prose(path: Path) -> Iterator[str]:
    """Yield the docstrings and comments of a module."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT or token.string.startswith('"""'):
            yield token.string.strip('#" ')
