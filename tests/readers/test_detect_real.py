"""Every file of a folder is looked at before any is read, other programs' files included."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.readers.base import Source
from advisor.readers.detect import looks_like_profile


@pytest.mark.real
def test_tells_of_every_file_whether_it_is_a_profile(real_data: Path) -> None:
    files = [path for path in sorted(real_data.rglob("*")) if path.is_file()]
    found = [path for path in files if looks_like_profile(Source.from_path(path))]
    assert len(files) > 900
    assert 200 < len(found) < 300  # most are of other profilers
