"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
REAL = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of other people's profiles; skip where it is absent."""
    if not REAL.is_dir():
        pytest.skip("the folder of real profiles, ../shared/data, is absent")
    return REAL
