"""Output cannot be forged: one corpus of hostile names through every escaping module."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata

import pytest

from advisor.escaping import csv_lines, json_document, json_text
from advisor.reports.escaping import escape_for_both, escape_markdown
from advisor.wording import one_line

HOSTILE = [
    "a\rb", "a\nb", "a\r\nfake,row", "\x1b[2Kgone", "\x9b2Kgone", "a\u202egpj.exe", "a\u2066b",
    "a\u2028b", "\ufeffa", "=cmd()|x", "+1", "-1+1", "@SUM(1)", "\t=1", " =1", '"quoted",more',
    "@all", "#123", "GH-12", "https://evil.example", "www.evil.example", "a@b.example",
    "<img src=x onerror=1>", "</script><script>", "`code`", "a|b|c", "::error::x", "\x00", "\ud800",
]  # fmt: skip
ACTED_ON = ("Cc", "Cf", "Cs", "Zl", "Zp")


def acted_on(text: str) -> list[str]:
    return [c for c in text if unicodedata.category(c) in ACTED_ON]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_terminal_acts_on_nothing(name: str) -> None:
    assert acted_on(one_line(name)) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_json_keeps_the_name_and_shows_nothing_to_act_on(name: str) -> None:
    for text in (json_text({"kernel": name}), json_document({"kernel": name})):
        assert json.loads(text) == {"kernel": name}
        assert acted_on(text.replace("\n", "")) == []


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("a\udcff", "a\udcff"),  # a path that is no UTF-8, as Python has it
        (2**70, 2**70),
        ({"a": "\udcff", "b": float("nan")}, {"a": "\udcff", "b": None}),
        (float("inf"), None),
        ({1: 2}, {"1": 2}),
    ],
)
def test_json_of_a_report_takes_every_value(value: object, read: object) -> None:
    text = json_document({"value": value, "values": [value]})
    assert json.loads(text) == {"value": read, "values": [read]}
    assert acted_on(text.replace("\n", "")) == []


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("newlines", ["universal", "as they are"])
def test_csv_keeps_its_rows(name: str, newlines: str) -> None:
    text = "".join(csv_lines(["kernel", "time"], [(name, 1.5), ("next", 2)]))
    file = io.StringIO(text, newline=None if newlines == "universal" else "")
    rows = list(csv.reader(file))
    assert len(rows) == 3
    assert all(len(row) == 2 for row in rows)
    assert rows[2] == ["next", "2"]
    assert rows[1][0].lstrip()[:1] not in ("=", "+", "-", "@", "\t", "\r")
    assert [c for c in acted_on(text) if c != "\n"] == []


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("escape", [escape_markdown, escape_for_both])
def test_markdown_pings_nobody_and_links_nothing(name: str, escape: object) -> None:
    assert callable(escape)
    text = escape(f"by {name}")
    assert acted_on(text) == []
    for live in ("@all", "@b", "@SUM", "#123", "GH-12", "https://", "www.evil"):
        assert live not in text
    assert not re.search(r"(?<!\\)[<`|](?!!-- -->)", text)


def test_markdown_leaves_other_signs_alone() -> None:
    assert escape_markdown("12.5 ms at 3:4, a-b") == "12.5 ms at 3:4, a-b"
