"""The JSON Schemas of scenarios and workloads take what is shipped, and refuse another key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from advisor.documents import load
from advisor.resources import data_dir
from docs.schemas import schemas

SCENARIOS = sorted((data_dir("seed") / "scenarios").glob("*.yaml"))
WORKLOADS = sorted((data_dir("rules") / "workloads").glob("*.yaml"))


def validator(name: str) -> Draft202012Validator:
    schema: dict[str, Any] = json.loads((data_dir("rules") / "schemas" / name).read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", ["scenario.schema.json", "workload.schema.json"])
def test_are_what_the_loaders_say(name: str) -> None:
    path = data_dir("rules") / "schemas" / name
    assert json.loads(path.read_text()) == schemas()[name]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *((path, "scenario.schema.json") for path in SCENARIOS),
        *((path, "workload.schema.json") for path in WORKLOADS),
    ],
    ids=lambda value: value.stem if isinstance(value, Path) else "",
)
def test_take_what_is_shipped(path: Path, name: str) -> None:
    content = load(path).plain()
    assert list(validator(name).iter_errors(content)) == []
    assert isinstance(content, dict)
    assert list(validator(name).iter_errors({**content, "stpes": []})) != []
