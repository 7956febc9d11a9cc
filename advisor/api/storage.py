"""The database file: its schema's revision, upgrades and copies."""

from __future__ import annotations

from collections.abc import Callable

from advisor.database import upgrade


def current_revision(database: str, *, wait: float) -> str:
    """Return one line: the file's revision and the newest one."""
    found = upgrade.current(database, wait)
    state = "up to date"
    if found.revision != found.head:
        older = found.revision < found.head
        state = "older than this version" if older else "newer than this version"
    return f"{database}: schema {found.revision}, newest {found.head}, {state}"


def upgrade_database(
    database: str, *, wait: float, progress: Callable[[str], None] = lambda _: None
) -> str:
    """Bring the file to the newest schema after a copy was made; return what was done."""
    done = upgrade.upgrade(database, wait, progress=progress)
    if done.backup is None:
        return f"{database}: schema {done.after} is the newest; nothing to do"
    changed = f"schema {done.before} → {done.after}" * (done.before != done.after)
    added = f"new columns of packs: {', '.join(done.columns)}" if done.columns else ""
    what = "; ".join(filter(None, (changed, added, f"the copy before is {done.backup}")))
    return f"{database}: {what}"


def backup_database(
    database: str,
    output: str | None,
    *,
    wait: float,
    progress: Callable[[str], None] = lambda _: None,
) -> str:
    """Copy the database and return where the copy is."""
    return str(upgrade.backup(database, output, wait, progress))


def restore_database(
    database: str, copy: str, *, wait: float, progress: Callable[[str], None] = lambda _: None
) -> str:
    """Put a copy in the place of the database; return what was done."""
    before = upgrade.restore(database, copy, wait, progress)
    restored = f"{database}: restored from {copy}"
    return restored if before is None else f"{restored}; the database before is {before}"
