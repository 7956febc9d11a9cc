"""The table of outcomes of advice."""

from __future__ import annotations

from sqlalchemy import Column, Double, MetaData, PrimaryKeyConstraint, String, Table


def outcomes(schema: MetaData) -> None:
    """Add the table to a schema; times are of one launch."""
    Table(
        "outcome",
        schema,
        Column("series_id", String, nullable=False, comment="series that the advice was for"),
        Column("rule_id", String, nullable=False, comment="rule that gave it"),
        Column("opened_run", String, nullable=False, comment="first run of two in which it fired"),
        Column(
            "decided_run",
            String,
            comment="run that decided; NULL while it is open or the series is gone",
        ),
        Column(
            "state",
            String,
            nullable=False,
            comment="open, worked, partly, no effect, backfired, by other means or gone",
        ),
        Column("duration_before", Double, comment="median time of a launch while it was open [s]"),
        Column("duration_after", Double, comment="median time of a launch once it was decided [s]"),
        Column("predicted_low", Double, comment="time that one launch could save, low [s]"),
        Column("predicted_likely", Double, comment="time that one launch could save, likely [s]"),
        Column("predicted_high", Double, comment="time that one launch could save, high [s]"),
        Column("achieved", Double, comment="time that one launch became shorter by [s]"),
        Column(
            "lines",
            String,
            comment="JSON list of {name, unit, before, after, moved}: its verify lines",
        ),
        Column(
            "level_run",
            String,
            comment="run from which its level counts; NULL where it was not open on settled nights",
        ),
        PrimaryKeyConstraint("series_id", "rule_id", "opened_run"),
    )
