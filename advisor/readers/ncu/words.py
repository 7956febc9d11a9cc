"""The words that people use where they write from a profile: ``rules/labels/written.yaml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from advisor.cache import remembered
from advisor.documents import load
from advisor.documents.nodes import DocumentNode, MappingNode, SequenceNode
from advisor.readers.ncu.values import CounterLabels, is_counter, load_labels
from advisor.records import dataclass
from advisor.resources import data_dir

_MARKS = re.compile(r"[*`]")
_WIDE = str.maketrans("（）［］：，％／", "()[]:,%/")
_BLANKS = re.compile(r"[\s\u00a0_‐‑–—-]+")
_PER = re.compile(r" ?/ ?| per ")


@dataclass(frozen=True, kw_only=True)
class ColumnWords:
    """How columns of a table are titled."""

    labels: frozenset[str]
    units: frozenset[str]
    values: frozenset[str]
    others: re.Pattern[str]


@dataclass(frozen=True, kw_only=True)
class KernelWords:
    """How kernels are named in tables, lines and headings, and what looks like it."""

    titles: frozenset[str]
    numbers: frozenset[str]
    sums: re.Pattern[str]
    lines: tuple[re.Pattern[str], ...]
    below: re.Pattern[str]
    numbered: re.Pattern[str]
    compares: re.Pattern[str]
    others: re.Pattern[str]
    command: re.Pattern[str]
    runs: re.Pattern[str]
    program: re.Pattern[str]
    imported: re.Pattern[str]
    skipped: re.Pattern[str]
    unlocked: re.Pattern[str]
    profiled: re.Pattern[str]


@dataclass(frozen=True, kw_only=True)
class OtherTable:
    """How the line begins that titles a table of another program, and how its head begins."""

    program: str
    title: re.Pattern[str]
    head: re.Pattern[str]


@dataclass(frozen=True, kw_only=True)
class WrittenWords:
    """Labels in their plain form with the counters that they may mean, and words around values."""

    labels: Mapping[str, frozenset[str]]
    common: frozenset[str]
    whole: frozenset[str]
    shapes: frozenset[str]
    neutral: re.Pattern[str]
    units: Mapping[str, str]
    multiples: Mapping[str, int]
    behind: re.Pattern[str]
    columns: ColumnWords
    device: re.Pattern[str]
    device_of_heading: re.Pattern[str]
    device_described: re.Pattern[str]
    introduces: re.Pattern[str]
    other_tables: tuple[OtherTable, ...]
    kernels: KernelWords


def unmarked(text: str) -> str:
    """Return a text without the marks of Markdown.

    >>> unmarked("**Duration** of `scan_rows`")
    'Duration of scan_rows'
    """
    return _MARKS.sub("", text.translate(_WIDE)).strip()


def plain_label(text: str) -> str:
    """Return the form in which labels are compared.

    >>> plain_label("Avg. Active Threads / Warp"), plain_label("Registers_Per-Thread")
    ('avg active threads/warp', 'registers/thread')
    """
    text = _BLANKS.sub(" ", unmarked(text).casefold().replace(".", "").replace(":", " "))
    return _PER.sub("/", text.strip())


def _choice(nodes: SequenceNode, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{text})" for text in nodes.texts()), flags)


def _plain(nodes: SequenceNode) -> frozenset[str]:
    return frozenset(map(plain_label, nodes.texts()))


def _counters(known: CounterLabels, name: str) -> frozenset[str]:
    if is_counter(name):
        return frozenset({name})
    found = set[str]()
    for labels in known.sections.values():
        meant = labels.get(name) if isinstance(labels, Mapping) else None
        found |= {meant} if isinstance(meant, str) else set()
    return frozenset(found)


def _labels(written: MappingNode) -> dict[str, frozenset[str]]:
    """Return what printed and shortened labels mean, without a unit that is part of one."""
    known = load_labels()
    labels = dict[str, frozenset[str]]()
    for name in known.names():
        key = plain_label(name.removesuffix("[%]"))
        labels[key] = labels.get(key, frozenset()) | _counters(known, name)
    for key, node in written.items():
        meant = node.texts() if isinstance(node, SequenceNode) else (node.as_text(),)
        labels[key] = frozenset[str]().union(*(_counters(known, name) for name in meant))
    return {label: counters for label, counters in labels.items() if counters}


@lru_cache(maxsize=1)
def load_words() -> WrittenWords:
    """Return the words of ``rules/labels/written.yaml``."""
    labels = data_dir("rules") / "labels"
    written = labels / "written.yaml"
    files = [written, labels / "ncu.yaml"]
    return remembered("words of pages", files, "", lambda: _words(load(written)))


def _words(document: MappingNode) -> WrittenWords:
    columns, kernels = document.mapping("columns"), document.mapping("kernels")
    return WrittenWords(
        labels=_labels(document.mapping("labels")),
        common=frozenset(document.sequence("common").texts()),
        whole=frozenset(document.sequence("whole").texts()),
        shapes=_plain(document.sequence("shapes")),
        neutral=_choice(document.sequence("neutral")),
        units={key: node.as_text() for key, node in document.mapping("units").items()},
        multiples={key: _whole(node) for key, node in document.mapping("multiples").items()},
        behind=_choice(document.sequence("behind")),
        columns=ColumnWords(
            labels=_plain(columns.sequence("labels")),
            units=_plain(columns.sequence("units")),
            values=_plain(columns.sequence("values")),
            others=_choice(columns.sequence("others")),
        ),
        device=re.compile(document.text("device")),
        device_of_heading=re.compile(document.text("device_of_heading")),
        device_described=re.compile(document.text("device_described")),
        introduces=re.compile(document.text("introduces")),
        other_tables=tuple(map(_other_table, document.sequence("other_tables"))),
        kernels=KernelWords(
            titles=_plain(kernels.sequence("titles")),
            numbers=_plain(kernels.sequence("numbers")),
            sums=re.compile(kernels.text("sums"), re.IGNORECASE),
            lines=tuple(map(re.compile, kernels.sequence("lines").texts())),
            below=re.compile(kernels.text("below")),
            numbered=re.compile(kernels.text("numbered"), re.IGNORECASE),
            compares=re.compile(kernels.text("compares"), re.IGNORECASE),
            command=re.compile(kernels.text("command")),
            runs=re.compile(kernels.text("runs")),
            program=re.compile(kernels.text("program")),
            imported=re.compile(kernels.text("imported")),
            skipped=re.compile(kernels.text("skipped")),
            unlocked=re.compile(kernels.text("unlocked")),
            profiled=re.compile(kernels.text("profiled")),
            others=re.compile(kernels.text("others")),
        ),
    )


def _other_table(node: DocumentNode) -> OtherTable:
    other = node.as_mapping()
    title, head = re.compile(other.text("title")), re.compile(other.text("head"))
    return OtherTable(program=other.text("program"), title=title, head=head)


def _whole(node: DocumentNode) -> int:
    return int(node.as_number())
