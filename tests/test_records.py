"""Records are what the library's frozen dataclasses are; only their classes are made faster."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest

from advisor.records import Seldom
from advisor.records import dataclass as ours

DECORATORS = pytest.mark.parametrize("decorator", [ours, dataclasses.dataclass])


@ours(frozen=True, kw_only=True)
class Point:
    """A record of a module, which can be pickled."""

    x: int
    name: str = "a"


class Heavy:
    """What tells how often it was unpickled."""

    unpickled = 0

    def __setstate__(self, state: dict[str, int]) -> None:
        Heavy.unpickled += 1

    def __getstate__(self) -> dict[str, int]:
        return {"is": 1}


@ours(frozen=True, kw_only=True)
class Book(Seldom):
    """A record of which two fields are seldom asked for."""

    SELDOM: ClassVar = ("notes", "index")

    title: str
    notes: list[Heavy] = field(compare=False)
    index: dict[str, int]


def classes(decorator: Callable[..., Any]) -> tuple[Any, Any]:
    """Return a class of records and one that adds a field to it."""

    @decorator(frozen=True, kw_only=True)
    class Base:
        x: float
        name: str = "a"
        tags: list[str] = field(default_factory=list)
        hidden: int = field(default=3, repr=False, compare=False)
        made: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

        @cached_property
        def double(self) -> float:
            return 2 * self.x

    @decorator(frozen=True, kw_only=True)
    class More(Base):
        y: int

        def __post_init__(self) -> None:
            if self.y < 0:
                raise ValueError("below 0")

    return Base, More


@DECORATORS
def test_has_its_fields_and_defaults(decorator: Callable[..., Any]) -> None:
    base, more = classes(decorator)
    first, second = base(x=1.5), base(x=1.5)
    assert (first.x, first.name, first.tags, first.hidden, first.made) == (1.5, "a", [], 3, {})
    assert first.tags is not second.tags
    assert first.made is not second.made
    assert asdict(more(y=2, x=1)) == {
        "x": 1, "name": "a", "tags": [], "hidden": 3, "made": {}, "y": 2
    }  # fmt: skip
    assert replace(first, name="b").name == "b"
    assert first.double == 3.0


@DECORATORS
def test_is_shown_compared_and_hashed_by_its_fields(decorator: Callable[..., Any]) -> None:
    base, more = classes(decorator)
    assert repr(base(x=1, name="b")).endswith("Base(x=1, name='b', tags=[])")
    assert base(x=1, hidden=1) == base(x=1, hidden=2)
    assert base(x=1) != base(x=2)
    assert base(x=1) != more(x=1, y=2)
    nan = float("nan")
    assert base(x=nan) == base(x=nan)
    assert hash(base(x=1, tags=())) == hash(base(x=1, tags=(), hidden=9))
    assert hash(base(x=1, tags=())) == hash((1, "a", ()))


@DECORATORS
def test_refuses_what_it_has_no_field_for(decorator: Callable[..., Any]) -> None:
    base, more = classes(decorator)
    for wrong in ({}, {"x": 1, "z": 2}, {"x": 1, "made": {}}, {"name": "a"}):
        with pytest.raises(TypeError, match="Base"):
            base(**wrong)
    with pytest.raises(TypeError):
        base(1)
    with pytest.raises(ValueError, match="below 0"):
        more(x=1, y=-1)


@DECORATORS
def test_never_changes(decorator: Callable[..., Any]) -> None:
    record = classes(decorator)[1](x=1, y=2)
    for name in ("x", "y", "z"):
        with pytest.raises(FrozenInstanceError, match=name):
            setattr(record, name, 5)
    with pytest.raises(FrozenInstanceError, match="x"):
        del record.x
    assert (record.x, record.y) == (1, 2)


@DECORATORS
def test_keeps_what_a_class_says_itself(decorator: Callable[..., Any]) -> None:
    def equals(self: Any, other: Any) -> bool:
        return bool(self.name.lower() == other.name.lower())

    @decorator(frozen=True, kw_only=True)
    class Loose:
        name: str
        __eq__ = equals
        __hash__ = None

        def __repr__(self) -> str:
            return "loose"

    assert Loose(name="A") == Loose(name="a")
    assert repr(Loose(name="A")) == "loose"
    assert hash(Loose(name="A")) == hash(("A",))


def test_is_copied_and_pickled() -> None:
    point = Point(x=3, name="b")
    assert copy.deepcopy(point) == point
    assert pickle.loads(pickle.dumps(point)) == point


def test_what_is_seldom_asked_for_is_unpickled_when_it_is() -> None:
    book = Book(title="a", notes=[Heavy(), Heavy()], index={"b": 3})
    Heavy.unpickled = 0
    kept = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(book))))
    assert (kept.title, Heavy.unpickled) == ("a", 0)
    assert len(kept.notes) == 2
    assert (kept.index, Heavy.unpickled) == ({"b": 3}, 2)
    assert kept == book
    assert replace(pickle.loads(pickle.dumps(book)), title="c").index == {"b": 3}
    assert copy.deepcopy(book) == book


def test_a_record_that_was_unpickled_knows_its_own_names_alone() -> None:
    kept = pickle.loads(pickle.dumps(Book(title="a", notes=[], index={})))
    with pytest.raises(AttributeError, match="'Book' object has no attribute 'pages'"):
        _ = kept.pages
    assert not hasattr(Book(title="a", notes=[], index={}), "pages")


def test_other_classes_of_data_are_the_librarys() -> None:
    @ours
    class Open:
        x: int = 1

    @ours(frozen=True, kw_only=True, slots=True)
    class Slim:
        x: int

    record = Open(2)
    record.x = 3
    assert record == Open(3)
    assert not hasattr(Slim(x=1), "__dict__")
