from __future__ import annotations

from fractions import Fraction

import pytest

from advisor.errors import Location, RuleError
from advisor.units import DIMENSIONLESS, parse_unit


@pytest.mark.parametrize(
    ("text", "spelled", "scale"),
    [
        ("s", "s", 1),
        ("ns", "s", Fraction(1, 10**9)),
        ("nsecond", "s", Fraction(1, 10**9)),
        ("usecond", "s", Fraction(1, 10**6)),
        ("us", "s", Fraction(1, 10**6)),
        ("µs", "s", Fraction(1, 10**6)),
        ("msecond", "s", Fraction(1, 1000)),
        ("second", "s", 1),
        ("byte", "B", 1),
        ("Kbyte", "B", 1000),
        ("Mbyte", "B", 10**6),
        ("Gbyte", "B", 10**9),
        ("Tbyte", "B", 10**12),
        ("KB", "B", 1000),
        ("KiB", "B", 1024),
        ("byte/second", "B/s", 1),
        ("Gbyte/second", "B/s", 10**9),
        ("byte/s", "B/s", 1),
        ("hz", "Hz", 1),
        ("Khz", "Hz", 1000),
        ("Ghz", "Hz", 10**9),
        ("cycle/second", "Hz", 1),
        ("cycle/nsecond", "Hz", 10**9),
        ("cycle/usecond", "Hz", 10**6),
        ("sector/nsecond", "1/s", 10**9),
        ("inst/cycle", "1/cycle", 1),
        ("byte/cycle", "B/cycle", 1),
        ("register/thread", "1", 1),
        ("Kbyte/block", "B", 1000),
        ("sector/request", "1", 1),
        ("sectors", "1", 1),
        ("%", "1", Fraction(1, 100)),
        ("1", "1", 1),
        ("TFLOP/s", "FLOP/s", 10**12),
        ("OP/s", "FLOP/s", 1),
        ("FLOP/s/W", "FLOP/J", 1),
        ("W", "W", 1),
        ("B^2", "B^2", 1),
        ("1/s^2", "1/s^2", 1),
        ("W*s", "J", 1),
    ],
)
def test_reads_the_spellings_of_profilers(text: str, spelled: str, scale: Fraction) -> None:
    unit = parse_unit(text)
    assert (str(unit), unit.scale) == (spelled, scale)


def test_knows_that_a_hertz_is_a_cycle_per_second_and_a_watt_a_joule_per_second() -> None:
    assert parse_unit("Hz") == parse_unit("cycle/s")
    assert parse_unit("W") == parse_unit("J/s")


def test_multiplies_divides_and_raises_dimension_and_scale() -> None:
    millisecond, kilobyte = parse_unit("ms"), parse_unit("KB")
    assert kilobyte / millisecond == parse_unit("MB/s")
    assert millisecond * parse_unit("W") == parse_unit("mJ")
    assert kilobyte**2 == parse_unit("KB*KB")
    assert (kilobyte / kilobyte) == DIMENSIONLESS


def test_tells_like_units_whatever_their_scale() -> None:
    assert parse_unit("ns").is_like(parse_unit("s"))
    assert not parse_unit("s").is_like(parse_unit("cycle"))
    assert parse_unit("%").is_dimensionless


@pytest.mark.parametrize(
    "text", ["", "Gbite/s", "s//B", "s/", "FLOP per s", "B^0", "s^s", "/s", "12"]
)
def test_refuses_what_is_no_unit(text: str) -> None:
    with pytest.raises(RuleError, match="is not a unit") as caught:
        parse_unit(text, at=Location(name="facts.yaml", line=7))
    assert str(caught.value).startswith("facts.yaml:7: ")
    assert caught.value.hint


def test_proposes_the_unit_that_was_probably_meant() -> None:
    with pytest.raises(RuleError) as caught:
        parse_unit("Gbite/s")
    assert caught.value.hint == "did you mean 'Gbyte'?"
