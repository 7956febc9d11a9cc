"""What the vendor's own rules said, by variant: launches that agree make one finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor.reports.record.records import VendorFinding
from advisor.reports.record.rows import fetch, number, text, whole

if TYPE_CHECKING:
    import duckdb

_VENDOR = """
    SELECT variant_id, rule, any_value(title) AS title, severity, scope,
      arg_max(text, (coalesce(estimate, 0), -launch_index)) AS text,
      max(estimate) AS estimate, count(*) AS launches
    FROM main.reference_finding JOIN main.launch USING (run_id, launch_index)
    WHERE run_id = ? AND text <> '' AND (severity NOT IN ('none', 'ok') OR estimate IS NOT NULL)
    GROUP BY variant_id, rule, severity, scope
    ORDER BY estimate DESC NULLS LAST, rule
"""


def vendor_findings(
    connection: duckdb.DuckDBPyConnection, run_id: str
) -> Mapping[str, tuple[VendorFinding, ...]]:
    """Return the vendor's findings by variant, the largest estimate first."""
    found: dict[str, list[VendorFinding]] = defaultdict(list)
    for row in fetch(connection, _VENDOR, [run_id]):
        found[str(row["variant_id"])].append(
            VendorFinding(
                rule=str(row["rule"]),
                title=text(row, "title") or "",
                text=text(row, "text") or "",
                severity=str(row["severity"]),
                estimate=number(row, "estimate"),
                scope=text(row, "scope") or "",
                launches=whole(row, "launches"),
            )
        )
    return {variant: tuple(findings) for variant, findings in found.items()}
