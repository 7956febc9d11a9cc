"""The exception tree: every failure a user can cause has a place, a problem and a hint."""

from __future__ import annotations

from advisor.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Location:
    """Where in which file; ``line`` and ``column`` count from 1, ``offset`` in bytes from 0."""

    name: str
    line: int | None = None
    column: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        """Return ``name:line:column``, or ``name: at byte offset`` for binary files."""
        parts = [self.name, *(str(n) for n in (self.line, self.column) if n is not None)]
        text = ":".join(parts)
        return text if self.offset is None else f"{text}: at byte {self.offset:,}"


class AdvisorError(Exception):
    """A failure that the user can understand and fix.

    ``exit_code`` is the process's exit status when the command line meets it (design: exit codes).
    """

    exit_code = 70

    def __init__(
        self, problem: str, *, at: Location | None = None, hint: str | None = None
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.at = at
        self.hint = hint

    def __str__(self) -> str:
        """Return ``place: problem``."""
        return self.problem if self.at is None else f"{self.at}: {self.problem}"


class UsageError(AdvisorError):
    """The command cannot be carried out as asked: nothing by that name, options that clash."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration file or environment variable is wrong."""


class RuleError(UsageError):
    """A rule, fact or counter file is wrong."""


class ExpressionError(RuleError):
    """An expression of the rule language is wrong."""


class InputError(AdvisorError):
    """A profile could not be read."""

    exit_code = 3


class DatabaseError(AdvisorError):
    """The database is locked, damaged, or of another version."""

    exit_code = 4


class LockedError(DatabaseError):
    """Another process holds the database."""


class OutputError(AdvisorError):
    """An answer cannot be written where it should go."""

    exit_code = 4
