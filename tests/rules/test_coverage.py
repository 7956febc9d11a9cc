"""``docs/coverage.md`` names rules by hand; they must be there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from advisor.rules import Rule

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_names_rules_that_exist(page: str, shipped_rules: tuple[Rule, ...]) -> None:
    named = set(re.findall(r"`([a-z]+/[a-z0-9-]+)`", page))
    assert len(named) > 50
    assert named <= {rule.id for rule in shipped_rules}


def test_puts_nothing_else_into_code(page: str) -> None:
    assert all(re.fullmatch(r"[a-z]+/[a-z0-9-]+", each) for each in re.findall(r"`(.*?)`", page))


def test_links_to_pages_that_exist(page: str) -> None:
    linked = re.findall(r"\]\(([^)]+)\)", page)
    assert linked
    assert all((PAGE.parent / each).is_file() for each in linked)
