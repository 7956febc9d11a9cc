"""The first advice is the one that was judged by hand, or planted, before the tool ran.

Every third entry of a file is held out from tuning (docs/judged/README.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from seed.simulation.machine import HERE
from tests.support.advice import Advised

ROOT = Path(__file__).parents[2]
ADVICE, STOP = (
    yaml.safe_load((ROOT / "docs" / "judged" / f"{name}.yaml").read_text("utf-8"))["judged"]
    for name in ("advice", "stop")
)
PLANTED = yaml.safe_load((HERE / "expected.yaml").read_text("utf-8"))["kernels"]

# Held out, and not found: why is told in docs/judged/README.md.
MISSED = {
    "simulate-0": "its code tells a build for debugging, which was not seen when it was judged",
}


def params(entries: list[dict[str, Any]]) -> list[Any]:
    """Return the entries as parameters, the misses marked as such."""
    return [
        pytest.param(entry, id=name, marks=_marks(name))
        for entry in entries
        for name in [f"{entry['kernel']}-{entry['launch']}"]
    ]


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(reason=MISSED[name], strict=True)] if name in MISSED else []


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("entry", params(ADVICE))
def test_it_advises_first_what_was_judged(
    entry: dict[str, Any], advice: dict[tuple[str, int], Advised]
) -> None:
    assert advice[entry["report"], entry["launch"]].first in entry["rules"]


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("entry", params(STOP))
def test_it_says_stop_and_warns_of_nothing_at_the_roof(
    entry: dict[str, Any], advice: dict[tuple[str, int], Advised]
) -> None:
    fired = advice[entry["report"], entry["launch"]].fired
    assert "roofline/stop" in fired
    assert set(fired.values()) == {"note"}


@pytest.mark.parametrize(
    "kernel", [pytest.param(name, id=name, marks=_marks(name)) for name in PLANTED]
)
def test_it_advises_first_what_was_planted(kernel: str, simulated: dict[str, Advised]) -> None:
    assert simulated[kernel].first in PLANTED[kernel]["rules"]
