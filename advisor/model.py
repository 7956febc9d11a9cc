"""The records that readers hand over: launches as a stream, and what the session records.

A reader yields ``Launch`` and ``Skipped`` records in file order, and exactly one ``Session``: first
of all where the format tells it by then, else last. Counters keep the vendor's names and the
vendor's base units (ns, byte, Hz, percent); scaled units of an export are converted to base units
by its reader. What was not a finite number is left out of ``counters`` and counted in
``invalid_counters``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar

from advisor.records import dataclass

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

Dim3 = tuple[int, int, int]
K = TypeVar("K", bound=Hashable)

UNNAMED = "unnamed kernel"
"""What a kernel is called whose profile does not tell its name."""


def titled(title: str) -> str:
    """Return the name of a kernel of which a profile has only a title, as of a table's column.

    >>> titled("Baseline"), names_function(titled("Baseline")), names_function("scan")
    ('[Baseline]', False, True)
    """
    return f"[{title}]"


def names_function(name: str) -> bool:
    """Return whether a kernel's name is a function's, which a profiler would know it by."""
    return name != UNNAMED and not name.startswith("[")


class Keys(tuple[K, ...]):
    """Distinct keys that many launches have in common, such as the names of their counters."""

    @cached_property
    def places(self) -> dict[K, int]:
        """The place of each key, from 0."""
        return {key: place for place, key in enumerate(self)}

    def __hash__(self) -> int:
        """Return the hash of a tuple, worked out once: there may be hundreds of keys."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __reduce__(self) -> tuple[type[Keys[K]], tuple[tuple[K, ...]]]:
        """Pickle the keys alone: hashes differ between processes."""
        return type(self), (tuple(self),)


class Packed(Mapping[K, float]):
    """Numbers by key: ``named`` are the keys, and ``numbers`` an array of theirs.

    Launches that have the same keys share ``named``; a dictionary for each takes ten times the
    time and memory.
    """

    __slots__ = ("named", "numbers")

    def __init__(self, named: Keys[K], numbers: NDArray[float64]) -> None:
        self.named = named
        self.numbers = numbers

    @classmethod
    def of(cls, numbers: Mapping[K, float]) -> Packed[K]:
        """Return any mapping as one of these."""
        if isinstance(numbers, cls):
            return numbers
        import numpy as np  # what only reads the database needs none

        return cls(_shared(tuple(numbers)), np.array([*numbers.values()], np.float64))

    def __getitem__(self, key: K) -> float:
        return float(self.numbers[self.named.places[key]])

    def __iter__(self) -> Iterator[K]:
        return iter(self.named)

    def __len__(self) -> int:
        return len(self.named)

    def __repr__(self) -> str:
        return repr(dict(self))


@lru_cache(maxsize=64)
def _shared(keys: tuple[K, ...]) -> Keys[K]:
    return Keys(keys)


@dataclass(frozen=True, kw_only=True)
class ReferenceFinding:
    """One message of the vendor's own rules about a launch.

    ``severity`` is the vendor's word: none, ok, warning, error, optimization.
    ``estimate`` is in [0, 1], the share of run time that the vendor thinks removable, of the kind
    ``scope`` ("local" to one unit, "global" for the kernel). ``focus`` holds (counter, value).
    A rule that ran and had nothing to say has an empty ``text``.
    """

    rule: str
    title: str = ""
    section: str = ""
    severity: str = "none"
    text: str = ""
    estimate: float | None = None
    scope: str | None = None
    focus: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Keyed:
    """A counter with one value per key; keys ascend in file order.

    Keys are opcodes ("FFMA") or sizes ("128"). Only non-zero values are kept.
    """

    keys: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Place:
    """What one instruction is: its name (``LDG``) and where it comes from (``kernel.cu:37``).

    ``code`` is a digest of all instructions of its function, operands and constants included.
    """

    opcode: str | None
    line: str | None
    code: str | None = None


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One execution of a kernel, as its profile tells it. ``None`` means: the profile is silent.

    ``started_at`` is in whole nanoseconds of the profile's own clock, whatever that counts from.
    ``blocks`` and ``threads`` (of a block) are known where the shape is not.

    ``instructions`` are counters by address of the instruction, where they are not zero; ``places``
    say what those instructions are, where the profile holds the code. Readers of many launches give
    ``counters`` and ``instructions`` as ``Packed``. Of a launch that is not ``detailed`` neither
    these nor curves nor the vendor's findings were read. ``build`` counts the codes of one name and
    shape that a profile shows to be different without telling how they were compiled.
    """

    index: int
    kernel_name: str
    mangled_name: str | None = None
    grid: Dim3 | None = None
    block: Dim3 | None = None
    blocks: int | None = None
    threads: int | None = None
    device: int | None = None
    device_name: str | None = None
    context: int | None = None
    stream: int | None = None
    process: int | None = None
    started_at: int | None = None
    nvtx: tuple[str, ...] = ()
    clock_locked: bool | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    keyed: Mapping[str, Keyed] = field(default_factory=dict)
    instructions: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    places: Mapping[int, Place] = field(default_factory=dict)
    reference_findings: tuple[ReferenceFinding, ...] = ()
    invalid_counters: int = 0
    detailed: bool = True
    build: int = 0

    @property
    def grid_size(self) -> int | None:
        """Return the number of blocks, also where the shape of the grid is unknown."""
        return self.blocks if self.grid is None else math.prod(self.grid)

    @property
    def block_size(self) -> int | None:
        """Return the number of threads of a block, also where its shape is unknown."""
        return self.threads if self.block is None else math.prod(self.block)


@dataclass(frozen=True, kw_only=True)
class ReportedDevice:
    """A device as the profile describes it; ``attributes`` under the vendor's names and units."""

    id: int
    name: str
    attributes: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Session:
    """What a profile says about the run as a whole.

    ``started_at`` is in seconds since 1970. ``clock_epoch`` says what the clock of its launches
    counts from: "utc" for 1970, "boot" of the computer, or the beginning of the "session".
    """

    profiler: str
    profiler_version: str | None = None
    command_line: str | None = None
    program: str | None = None
    host: str | None = None
    operating_system: str | None = None
    driver_version: str | None = None
    runtime: str | None = None
    runtime_version: str | None = None
    started_at: float | None = None
    clock_epoch: str | None = None
    replay_mode: str | None = None
    cache_control: str | None = None
    clock_control: str | None = None
    devices: tuple[ReportedDevice, ...] = ()
    simulated: bool = False


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """A part of a profile that was left out, where, and why.

    ``cut`` says that the profile is not all there: cut short, or damaged from here.
    """

    place: str
    reason: str
    cut: bool = False


Record = Launch | Session | Skipped
