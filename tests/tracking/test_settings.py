from __future__ import annotations

from pathlib import Path

import pytest

from advisor.errors import RuleError
from advisor.resources import data_dir
from advisor.tracking.settings import load_settings

SHIPPED = data_dir("rules") / "tracking.yaml"


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = SHIPPED.read_text()
    assert text.count(old) == 1
    path = tmp_path / "tracking.yaml"
    path.write_text(text.replace(old, new))
    return path


def test_reads_numbers_in_their_units_and_counts_of_nights_as_whole_numbers() -> None:
    settings = load_settings()
    assert settings.window == 14
    assert isinstance(settings.window, int)
    assert settings.smallest_effect == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("  window:  ", "  windows: ", "unknown key 'windows'"),
        ("{value: 14,", "{value: 14.5,", "whole numbers"),
        ("{value: 14,", "{value: many,", "expected a number"),
        ("{value: 14,", "{value: -1,", "not negative"),
    ],
)
def test_refuses_a_wrong_entry_with_its_place(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    with pytest.raises(RuleError, match=rf"tracking\.yaml:\d+:\d+: .*{problem}"):
        load_settings(changed(tmp_path, old, new))


def test_refuses_a_missing_entry(tmp_path: Path) -> None:
    lines = [line for line in SHIPPED.read_text().splitlines() if "  clip:" not in line]
    path = tmp_path / "tracking.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(RuleError, match="'clip' is missing"):
        load_settings(path)
