"""What the vendor's own rules said, by variant: launches that agree make one finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor.database.parts import findings_of_vendor
from advisor.reports.record.records import VendorFinding
from advisor.reports.record.rows import number, text, whole

if TYPE_CHECKING:
    import duckdb


def vendor_findings(
    connection: duckdb.DuckDBPyConnection, run_id: str
) -> Mapping[str, tuple[VendorFinding, ...]]:
    """Return the vendor's findings by variant, the largest estimate first."""
    found: dict[str, list[VendorFinding]] = defaultdict(list)
    for row in findings_of_vendor(connection, run_id):
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
