"""Names beside marks: never over each other, never outside."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.reports.charts.labels import (
    Box,
    LineSegment,
    Subject,
    Surroundings,
    place,
    text_box,
    text_width,
)

FRAME = Box(0, 0, 400, 300)
EMPTY = Surroundings(frame=FRAME, taken=(), roof=(), lines=())


def subject(key: str, x: float, y: float, name: str = "kernel", radius: float = 5) -> Subject:
    return Subject(key=key, x=x, y=y, radius=radius, name=name, second="40 % of roof")


subjects = st.lists(
    st.builds(
        Subject,
        key=st.uuids().map(str),
        x=st.floats(0, 400),
        y=st.floats(0, 300),
        radius=st.floats(4, 23),
        name=st.text(alphabet="abcmwW_<>:", min_size=1, max_size=40),
        second=st.sampled_from(["", "74 % of roof, 36 % of time"]),
    ),
    max_size=25,
)


@given(subjects)
@settings(max_examples=60, deadline=None)
def test_places_labels_apart_and_inside(marks: list[Subject]) -> None:
    labels = place(marks, EMPTY)
    assert all(FRAME.holds(label.box) for label in labels)
    assert all(a.box.overlap(b.box) == 0 for a, b in itertools.combinations(labels, 2))


@given(subjects, st.lists(st.tuples(st.floats(0, 300), st.floats(0, 250)), max_size=8))
@settings(max_examples=30, deadline=None)
def test_keeps_off_words_that_stand_already(
    marks: list[Subject], corners: list[tuple[float, float]]
) -> None:
    taken = tuple(Box(x, y, x + 90, y + 14) for x, y in corners)
    around = Surroundings(frame=FRAME, taken=taken, roof=(), lines=())
    assert all(label.box.overlap(box) == 0 for label in place(marks, around) for box in taken)


def test_prefers_the_right_of_the_mark() -> None:
    (label,) = place([subject("a", 100, 100)], EMPTY)
    # Radius 5 and a gap of 6: the text starts at 111; two lines are centred on the mark.
    assert (label.x, label.anchor, label.lines) == (111, "start", ("kernel", "40 % of roof"))


def test_goes_left_at_the_right_edge() -> None:
    (label,) = place([subject("a", 394, 100)], EMPTY)
    assert label.anchor == "end"


def test_lets_the_more_important_mark_choose_first() -> None:
    first, second = place([subject("a", 100, 100), subject("b", 104, 100)], EMPTY)
    assert (first.key, second.key) == ("a", "b")
    assert second.box.overlap(first.box) == 0


def test_avoids_the_roof_where_another_place_is_free() -> None:
    roof = (LineSegment(106, 96, 300, 96),)
    around = Surroundings(frame=FRAME, taken=(), roof=roof, lines=())
    (label,) = place([subject("a", 100, 100)], around)
    assert roof[0].length_in(label.box) == 0


def test_cuts_a_name_to_its_head_and_tail_then_gives_up() -> None:
    narrow = Surroundings(frame=Box(0, 0, 190, 60), taken=(), roof=(), lines=())
    (label,) = place(
        [subject("a", 10, 30, name="a_very_long_kernel_name_of_forty_chars_x")], narrow
    )
    assert label.lines[0] == "a_very_…chars_x"
    assert (
        place(
            [subject("a", 10, 30)],
            Surroundings(frame=Box(0, 0, 20, 20), taken=(), roof=(), lines=()),
        )
        == ()
    )


@pytest.mark.parametrize(
    ("segment", "length"),
    [
        (LineSegment(0, 5, 20, 5), 10),
        (LineSegment(-5, -5, 25, 25), 50**0.5),
        (LineSegment(0, 20, 20, 20), 0),
        (LineSegment(12, 0, 12, 4), 4),
    ],
)
def test_measures_a_line_inside_a_box(segment: LineSegment, length: float) -> None:
    box = Box(5, 0, 15, 10)
    assert segment.length_in(box) == pytest.approx(length)


def test_hangs_text_at_its_anchor() -> None:
    width = text_width("abc")
    assert text_box(100, 50, "abc", "end").left == pytest.approx(100 - width)
    assert text_box(100, 50, "abc", "middle").right == pytest.approx(100 + width / 2)
