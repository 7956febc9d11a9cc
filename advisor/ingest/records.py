"""A profile to be stored, and the outcome of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime

from advisor.database import ids
from advisor.database.read import StoredRun
from advisor.database.records import storable
from advisor.errors import InputError, Location, UsageError
from advisor.ingest.detail import USUAL_DETAIL, Detail
from advisor.model import Skipped
from advisor.readers import Reader, Source
from advisor.readers.base import State
from advisor.records import dataclass

HELD = 4 * 1024**2
"""Bytes of an unpacked profile that is kept in memory, so that several share one transaction.

A full set of one kernel takes 1 to 3 MB. What is larger is unpacked into a file, and stored alone.
"""

LARGEST_RANK = 2**31 - 1
"""The largest number of a process of a group; more than any launcher counts."""

LONGEST_TEXT = 4096
"""Characters of a label, note or tag, at most: every list and table shows them."""

MOST_TAGS = 100
"""Tags of a run, at most."""

_CHUNK = 1024 * 1024
_TEXTS = ("label", "configuration", "commit", "branch", "note", "compiler", "group")


@dataclass(frozen=True, kw_only=True)
class HowToRead:
    """How profiles are found and read: with ``as_format`` not by their first bytes.

    With ``allow_truncated`` what is whole of a cut file is taken. ``detail`` is how many launches
    are read in detail. ``jobs`` threads hash ahead.
    """

    as_format: str | None = None
    allow_truncated: bool = False
    detail: Detail = USUAL_DETAIL
    jobs: int = 1


USUAL = HowToRead()
"""How profiles are read unless the user says otherwise."""


def check_texts(labels: Mapping[str, object]) -> None:
    """Refuse labels that are too long, and too many tags, by their names.

    Raises:
        UsageError: there is one.
    """
    for name, value in labels.items():
        texts = value if isinstance(value, list | tuple) else (value,)
        longest = max((len(text) for text in texts if isinstance(text, str)), default=0)
        problem = None
        if longest > LONGEST_TEXT:
            problem = f"{name} has {longest:,} characters, more than {LONGEST_TEXT:,}"
        elif len(texts) > MOST_TAGS:
            problem = f"there are {len(texts):,} {name}, more than {MOST_TAGS}"
        if problem is not None:
            raise UsageError(problem, hint="keep what is long in a file, and name that file")


@dataclass(frozen=True, kw_only=True)
class RunLabels:
    """What the user says about the runs; ``step_time`` is in seconds, ``at`` replaces the start.

    Runs of one execution share a ``group``. ``at`` is UTC without a zone. Texts are as they are
    stored; an empty one is ignored.

    Raises:
        UsageError: a text is longer than ``LONGEST_TEXT``, or there are more than ``MOST_TAGS``.
    """

    label: str | None = None
    configuration: str | None = None
    commit: str | None = None
    branch: str | None = None
    note: str | None = None
    compiler: str | None = None
    group: str | None = None
    rank: int | None = None
    tags: tuple[str, ...] = ()
    step_time: float | None = None
    at: datetime | None = None

    def __post_init__(self) -> None:
        """Take empty texts for missing ones, and every tag once."""
        for name in _TEXTS:
            object.__setattr__(self, name, storable(getattr(self, name) or "") or None)
        tags = tuple(dict.fromkeys(storable(tag) for tag in self.tags if tag))
        object.__setattr__(self, "tags", tags)
        check_texts({**{name: getattr(self, name) for name in _TEXTS}, "tags": tags})


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A profile to be stored; ``digest`` is the SHA-256 of its bytes, in hexadecimal.

    ``state`` is that of its file before it was hashed, None where nobody else writes it. One that
    is not ``lasting`` was unpacked into a place that the next profile needs.
    """

    source: Source
    reader: Reader
    digest: str
    state: State | None = None
    labels: RunLabels = RunLabels()
    allow_truncated: bool = False
    detail: Detail = USUAL_DETAIL
    lasting: bool = True

    @property
    def run_id(self) -> str:
        """The id that its run has."""
        return ids.run_id(self.digest)

    @property
    def size(self) -> int:
        """The number of bytes that were hashed."""
        return self.source.size if self.state is None else self.state[0]

    def check_same(self, content_hash: str) -> None:
        """Refuse the profile where the one of ``content_hash`` has its id and is another.

        Raises:
            InputError: it is.
        """
        if content_hash != self.digest:
            raise InputError(
                f"another profile has the id {self.run_id}: their hashes differ further on",
                at=Location(name=self.source.name),
                hint=f"ingest it into another database, or remove the run {self.run_id} first",
            )

    def check_unchanged(self) -> None:
        """Refuse the profile, once it was read, if these were not the bytes that were hashed.

        Raises:
            InputError: its file was written or replaced since.
        """
        if self.state is not None and self.source.state() != self.state:
            raise InputError(
                "changed while it was read",
                at=Location(name=self.source.name),
                hint="ingest it again when it is finished",
            )

    def unstorable(self, error: Exception) -> InputError:
        """Return the error that the profile, the only one or one of several, cannot be stored."""
        reason = str(error).strip().partition("\n")[0]
        return InputError(
            f"what it holds cannot be stored: {reason}",
            at=Location(name=self.source.name),
            hint="nothing of it was stored; please report it, with the file if you may share it",
        )

    def without_launches(self) -> InputError:
        """Return the error that the profile holds no launch."""
        return InputError(
            "the profile holds no kernel launch",
            at=Location(name=self.source.name),
            hint="was the profiled program run to its end, and does the kernel filter match?",
        )


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The outcome of a profile; ``seconds`` is the time it took, those stored with it included.

    ``known`` is the run that was stored before; None where the profile became one.
    """

    run_id: str
    known: StoredRun | None
    launches: int
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]
    seconds: float


def content_hash(source: Source) -> str:
    """Return the SHA-256 of the source's bytes, in hexadecimal.

    Raises:
        InputError: it cannot be read.
    """
    digest = hashlib.sha256()
    with source.open() as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
