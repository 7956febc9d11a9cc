"""What ceilings are called."""

from __future__ import annotations

from advisor.reports.record.layout import layout


def ceiling_label(resource: str) -> str:
    """Return what a ceiling is called.

    >>> ceiling_label("dram"), ceiling_label("vmem"), ceiling_label("tensor_bf16")
    ('DRAM', 'VMEM', 'tensor bf16')
    """
    otherwise = resource.replace("_", " ") if "_" in resource else resource.upper()
    return layout().label(resource, otherwise)
