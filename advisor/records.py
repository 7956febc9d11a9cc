"""``dataclass`` for records, in a tenth of the time: a command imports two hundred of them.

The library writes and compiles six functions for each class. Records are frozen and take their
fields by name, so theirs are made of closures; what they offer and refuse is the same. Of records
that are kept in files by the thousand, ``Seldom`` leaves packed what few commands ask for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence, Set
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["Seldom", "dataclass"]

_PACKED = "packed fields"  # no name of a field has a space
_RECORD = {"frozen": True, "kw_only": True}

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """Return a class of data; one that is no frozen record is made by the library."""
        if options == _RECORD:
            return _record
        return dataclasses.dataclass(cls, **options)


class Seldom:
    """A record that is unpickled without its fields ``SELDOM``: they follow when one is asked for.

    These fields have no default, and are not shared with what is pickled beside the record.
    """

    SELDOM: ClassVar[tuple[str, ...]]

    def __getstate__(self) -> dict[str, object]:
        """Return the fields, those that are seldom asked for as bytes."""
        state = dict(self.__dict__)
        seldom = {name: state.pop(name) for name in self.SELDOM if name in state}
        if seldom:
            import pickle  # nothing is written where everything is remembered

            state[_PACKED] = pickle.dumps(seldom, pickle.HIGHEST_PROTOCOL)
        return state

    if not TYPE_CHECKING:  # which would know every name then

        def __getattr__(self, name: str) -> object:
            """Unpack the fields that are seldom asked for; other names stay unknown."""
            packed = self.__dict__.get(_PACKED)
            if packed is None or name not in self.SELDOM:
                problem = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(problem, name=name, obj=self)
            import pickle

            self.__dict__.update(pickle.loads(packed))
            return self.__dict__[name]


def _record(cls: type) -> type:
    """Add to a class what the library adds to frozen records."""
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)
    fields = dataclasses.fields(cls)
    shown = [field.name for field in fields if field.repr]
    compared = [field.name for field in fields if field.compare]
    made: dict[str, Callable[..., object]] = {
        "__init__": _initializer(fields, has_more=hasattr(cls, "__post_init__")),
        "__repr__": _shown(shown),
        **_compared(compared),
        **_refusing(cls, {field.name for field in fields}),
    }
    for name, function in made.items():
        if cls.__dict__.get(name) is None:  # Python sets no hash where a class has an __eq__
            setattr(cls, name, function)
    return cls


def _initializer(
    fields: tuple[dataclasses.Field[Any], ...], *, has_more: bool
) -> Callable[..., None]:
    missing = dataclasses.MISSING
    names = frozenset(field.name for field in fields if field.init)
    defaults = {f.name: f.default for f in fields if f.default is not missing}
    factories = {f.name: f.default_factory for f in fields if f.default_factory is not missing}
    required = names.difference(defaults, factories)
    is_whole = len(names) == len(fields)

    def initialise(self: Any, /, **values: object) -> None:
        given = values.keys()
        if given != names or not is_whole:
            if not required <= given <= names:
                raise TypeError(_refusal(type(self), required - given, given - names))
            values = {**defaults, **values}
            for name, make in factories.items():
                if name not in values:
                    values[name] = make()
        self.__dict__.update(values)
        if has_more:
            self.__post_init__()

    return initialise


def _refusal(cls: type, lacking: Set[str], unknown: Set[str]) -> str:
    wrong = f"lacks {sorted(lacking)}" if lacking else f"has no {sorted(unknown)}"
    return f"{cls.__qualname__}() {wrong}"


def _shown(names: Sequence[str]) -> Callable[[object], str]:
    def show(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return show


def _compared(names: Sequence[str]) -> dict[str, Callable[..., object]]:
    values: Callable[[object], object] = attrgetter(*names) if len(names) > 1 else _few(names)

    def equals(self: object, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    return {"__eq__": equals, "__hash__": lambda self: hash(values(self))}


def _few(names: Sequence[str]) -> Callable[[object], object]:
    """Return what gives the values of one name or none as a tuple, too."""
    return lambda record: tuple([getattr(record, name) for name in names])


def _refusing(cls: Any, names: Set[str]) -> dict[str, Callable[..., None]]:
    """Return what keeps the fields of a record as they are, and others off it."""

    def assign(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": assign, "__delattr__": delete}
