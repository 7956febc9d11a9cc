"""The example report as a fixture."""

from __future__ import annotations

import pytest

from advisor.reports.record.records import Report
from tests.support.example_report import example_report


@pytest.fixture
def report() -> Report:
    """Return a made-up run of five kernels."""
    return example_report()
