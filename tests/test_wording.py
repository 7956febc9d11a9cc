"""Numbers for tables: aligned, units apart, and no value where there is none."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import wording


def plain(text: str) -> str:
    return text.replace(wording.NO_BREAK, " ")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0061909, "s", "6.191 ms"),
        (1.312e-5, "s", "13.12 µs"),
        (9.9999e-4, "s", "1.000 ms"),
        (159.0, "s", "159.0 s"),
        (6.63e12, "FLOP/s", "6.630 TFLOP/s"),
        (32.0, "B", "32.00 B"),
        (0.0809, "FLOP/B", "0.08090 FLOP/B"),
        (65535.0, "1", "65,535"),
        (14.4, "cycle", "14.40 cycles"),
    ],
)
def test_scales_a_value_by_its_size(value: float, unit: str, text: str) -> None:
    assert plain(wording.si(value, unit, 4)) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.7443, "74 %"), (0.0996, "10 %"), (0.0321, "3.2 %"), (0.0, "0 %")]
)
def test_writes_shares_for_sentences(share: float, text: str) -> None:
    assert plain(wording.share(share)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9_999_999, "9,999,999"),
        (10_000_000, "10.0 million"),
        (999_960_000, "1.00 billion"),
        (2_194_132_932_993, "2.19 trillion"),
        (-81_013_639_074_374, "−81.0 trillion"),
    ],
)
def test_says_ten_million_and_more_in_words(value: float, text: str) -> None:
    assert plain(wording.amount(value)) == text


def test_keeps_every_digit_in_a_table_of_facts() -> None:
    assert wording.fact(2_194_132_932_993.0, "1") == ("2,194,132,932,993", "")


def test_uses_a_true_minus_and_no_negative_zero() -> None:
    assert wording.fixed(-2.5, 1) == "−2.5"
    assert wording.fixed(-0.01, 1) == "0.0"


@pytest.mark.parametrize("write", [wording.seconds, wording.percent, wording.share, wording.ratio])
@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_says_unknown_where_there_is_no_number(write: object, value: float | None) -> None:
    assert callable(write)
    assert write(value) == "unknown"


@given(st.floats(1e-9, 1e3))
def test_writes_times_that_read_back_within_their_digits(value: float) -> None:
    number, unit = wording.scaled(value, "s", 3)
    factor = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}[unit]
    assert float(number.replace(",", "")) * factor == pytest.approx(value, rel=6e-3)
