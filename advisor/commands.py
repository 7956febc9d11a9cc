"""Commands that readers may copy: each names the database that it is about."""

from __future__ import annotations

import shlex

_DEFAULT_DATABASE = "advisor.duckdb"


def program(database: str) -> str:
    """Return how a command begins that reads this database."""
    return "advisor" if database == _DEFAULT_DATABASE else f"advisor --db {shlex.quote(database)}"


def on_database(command: str, database: str) -> str:
    """Return a command of the program for this database.

    >>> on_database("advisor report", "my runs.duckdb")
    "advisor --db 'my runs.duckdb' report"
    """
    return program(database) + command.removeprefix("advisor")
