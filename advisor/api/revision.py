"""The commit of a working directory."""

from __future__ import annotations

import subprocess

from advisor.errors import Location, UsageError
from advisor.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Revision:
    """A commit, its branch, and its subject, which is the ``note``.

    The commit ends in ``-dirty`` where files differ from it. The branch is None where none is
    checked out.
    """

    commit: str
    branch: str | None
    note: str | None


def git_revision() -> Revision:
    """Return what is checked out in the working directory.

    Raises:
        UsageError: there is no git, or the directory is in no repository with a commit.
    """
    describe = ("describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
    return Revision(
        commit=_git(*describe),
        branch=_git("branch", "--show-current") or None,
        note=_git("log", "-1", "--format=%s") or None,
    )


def _git(*words: str) -> str:
    command = ("git", *words)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, errors="replace")
    except FileNotFoundError as error:
        raise UsageError("there is no git to ask", hint="name --commit and --branch") from error
    except subprocess.CalledProcessError as error:
        lines = str(error.stderr).strip().splitlines()
        problem = f"git does not know the commit: {lines[0] if lines else 'it says nothing'}"
        hint = "run it in the repository of the profiled program, or name --commit and --branch"
        raise UsageError(problem, at=Location(name="."), hint=hint) from error
    return done.stdout.strip()
