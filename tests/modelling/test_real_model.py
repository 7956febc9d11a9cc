"""Models against operators that other people measured; docs/model.md explains each miss."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.modelling.elsewhere_settings import ElsewhereSettings, load_settings
from studies.model import DEVICES, Operator, inside, near, pairs, read_operators, shares

KINDS = {"matrix-product", "layer-norm", "attention", "element-wise"}


@pytest.fixture(scope="module")
def settings() -> ElsewhereSettings:
    return load_settings()


@pytest.fixture(scope="module")
def operators(real_data: Path) -> list[Operator]:
    return read_operators(real_data / "torch-trace" / "AMD-AGI__TraceLens")


@pytest.mark.real
def test_nothing_is_faster_than_its_least_time(
    operators: list[Operator], settings: ElsewhereSettings
) -> None:
    found = shares(operators, settings)
    assert found.keys() >= KINDS
    assert sum(map(len, found.values())) > 100
    assert all(0 < share <= 1 for of_kind in found.values() for share in of_kind)


@pytest.mark.real
@pytest.mark.parametrize(("here", "there"), [("h100", "mi300"), ("mi300", "h100")])
def test_predicts_most_operators_of_another_device(
    here: str, there: str, operators: list[Operator], settings: ElsewhereSettings
) -> None:
    found = pairs(operators, DEVICES[here], DEVICES[there], settings)
    assert len(found) == 47
    assert near(found) >= 0.65
    assert inside(found) >= 0.80
