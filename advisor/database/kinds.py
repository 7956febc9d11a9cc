"""Kinds of columns, as tables declare them."""

from __future__ import annotations

from sqlalchemy import ARRAY, BigInteger, Boolean, Column, DateTime, Double, String
from sqlalchemy import text as sql


def text(name: str, comment: str) -> Column[str]:
    """Return a column of texts."""
    return Column(name, String, comment=comment)


def number(name: str, comment: str) -> Column[float]:
    """Return a column of doubles."""
    return Column(name, Double, comment=comment)


def count(name: str, comment: str) -> Column[int]:
    """Return a column of whole numbers."""
    return Column(name, BigInteger, comment=comment)


def flag(name: str, comment: str) -> Column[bool]:
    """Return a column of truth values."""
    return Column(name, Boolean, comment=comment)


def time(name: str, comment: str) -> Column[object]:
    """Return a column of moments, in UTC without a zone."""
    return Column(name, DateTime, comment=comment)


def texts(name: str, comment: str) -> Column[object]:
    """Return a column of lists of texts."""
    return Column(name, ARRAY(String), comment=comment)


def key(name: str, comment: str) -> Column[str]:
    """Return a column of texts that is never NULL, as keys are."""
    return Column(name, String, nullable=False, comment=comment)


def run_number() -> Column[int]:
    """Return the column by which an engine skips rows of other runs without reading them.

    Runs are made in a draft, where it is 0, and get their numbers when they are stored.
    """
    about = "grows from run to run in the order in which they were stored"
    return Column("run_number", BigInteger, nullable=False, server_default=sql("0"), comment=about)


def position(comment: str) -> Column[int]:
    """Return the column that names a launch of a run."""
    return Column("launch_index", BigInteger, nullable=False, comment=comment)
