"""Models of scenario files and texts, with the shipped operations and devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.api.modelling import known_to
from advisor.configuration import DEFAULTS
from advisor.documents import load
from advisor.modelling.declare import asked_scenario
from advisor.modelling.estimate import model
from advisor.modelling.names import ModelRequest
from advisor.modelling.ranges import parse_sweep
from advisor.modelling.read import Known
from advisor.modelling.read_scenario import read_scenario, scenario_of
from advisor.modelling.results import DeviceResult, Modelled, OperationResult
from advisor.resources import data_dir

Model = Callable[..., Modelled]


@pytest.fixture(scope="session")
def known() -> Known:
    """Return the shipped operations and devices."""
    return known_to(DEFAULTS)


@pytest.fixture(scope="session")
def shipped(known: Known) -> Model:
    """Model a scenario of seed/scenarios by its name."""

    def run(name: str, *devices: str, sweep: str | None = None) -> Modelled:
        scenario = read_scenario(data_dir("seed") / "scenarios" / f"{name}.yaml", known)
        asked = asked_scenario(scenario, ModelRequest(devices=devices), known)
        return model(asked, None if sweep is None else parse_sweep(sweep))

    return run


@pytest.fixture(scope="session")
def written(known: Known) -> Model:
    """Model a scenario that is written down in a test."""

    def run(text: str, *, sweep: str | None = None) -> Modelled:
        scenario = scenario_of(load(text, name="test.yaml"), known, Path())
        asked = asked_scenario(scenario, ModelRequest(), known)
        return model(asked, None if sweep is None else parse_sweep(sweep))

    return run


def operation(result: DeviceResult, name: str) -> OperationResult:
    """Return the kernel of a name."""
    (found,) = (each for each in result.operations if each.name == name)
    return found
