"""The tables of what users declare about series, and of noise that was measured for them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, DateTime, Double, MetaData, PrimaryKeyConstraint, Table
from sqlalchemy import String as Text


def tables_of_marks(schema: MetaData) -> None:
    """Add these tables to the schema."""
    _links(schema)
    _accepted(schema)
    _calibrations(schema)


def _links(schema: MetaData) -> None:
    Table(
        "series_link",
        schema,
        _key("series_id", "series that goes on under another name"),
        _key("continued_by", "the series that it is counted to"),
        _declared_at("linked_at", "when the user declared it (UTC)"),
        PrimaryKeyConstraint("series_id"),
    )


def _accepted(schema: MetaData) -> None:
    Table(
        "accepted",
        schema,
        _key("series_id", "series"),
        _key("run_id", "run from which its level is the baseline"),
        _key("because", "why, in the user's words"),
        _declared_at("accepted_at", "when the user declared it (UTC)"),
        PrimaryKeyConstraint("series_id", "run_id"),
    )


def _calibrations(schema: MetaData) -> None:
    Table(
        "calibration",
        schema,
        _key("series_id", "series"),
        Column("runs", BigInteger, comment="nights of one commit and environment it comes from"),
        Column("noise", Double, nullable=False, comment="spread of one night around a level [1]"),
        _declared_at("measured_at", "when it was measured (UTC)"),
        PrimaryKeyConstraint("series_id"),
    )


def _key(name: str, comment: str) -> Column[str]:
    return Column(name, Text, nullable=False, comment=comment)


def _declared_at(name: str, comment: str) -> Column[object]:
    return Column(name, DateTime, nullable=False, comment=comment)
