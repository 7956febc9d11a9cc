"""What is worth saying is data, with a source beside every number."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from advisor.errors import RuleError
from advisor.reports.record import judgement


def test_reads_shares_in_order() -> None:
    read = judgement.load_judgement()
    assert all(0 < getattr(read, field.name) < 1 for field in fields(read))
    assert read.medium_confidence < read.high_confidence


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("worth_a_card:", "worth_a_cart:", "worth_a_cart"),
        ("{value: 0.9, source", "{source", "value"),
        ("value: 0.75, source: uncalibrated", "value: 0.75", "source"),
        ("value: 0.01,", "value: small,", "number"),
    ],
)
def test_refuses_a_file_that_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, complaint: str
) -> None:
    shipped = (judgement.data_dir("rules") / "report.yaml").read_text(encoding="utf-8")
    assert old in shipped
    (tmp_path / "report.yaml").write_text(shipped.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(judgement, "data_dir", lambda _: tmp_path)
    with pytest.raises(RuleError, match=complaint):
        judgement.load_judgement()
