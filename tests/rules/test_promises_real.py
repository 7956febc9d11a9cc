"""What advice promises and says of every real profile: bounds, one roof, no contradiction.

`python -m studies.promises` prints the counts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from studies.promises import CHECKS, Check, Kernel, commands_run, kernels_of

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def kernels(real_database: Path) -> list[Kernel]:
    """Return every kernel of every real profile."""
    return kernels_of(str(real_database))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_holds_of_every_kernel(
    check: Callable[[list[Kernel]], Check], kernels: list[Kernel]
) -> None:
    found = check(kernels)
    assert found.wrong == []
    assert found.checked


def test_commands_run(real_database: Path) -> None:
    found = commands_run(str(real_database))
    assert found.wrong == []
    assert found.checked
