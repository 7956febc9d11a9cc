"""JUnit XML: a suite for each configuration and device, a case for each kernel.

Source: testmoapp, "JUnit XML file format"; Jenkins xUnit plugin, ``junit-10.xsd``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from advisor.reports.formats.texts import short
from advisor.reports.record.format_settings import FormatSettings
from advisor.reports.record.published import Published, PublishedKernel


def junit(published: Published, settings: FormatSettings) -> str:
    """Return the test suites: what regressed or is over its budget fails, findings never do."""
    suites: dict[tuple[str, str], list[PublishedKernel]] = defaultdict(list)
    for kernel in published.kernels:
        suites[kernel.configuration, kernel.device].append(kernel)
    root = ET.Element("testsuites", {"name": "advisor", **_counts(published.kernels)})
    for (configuration, device), kernels in suites.items():
        name = short(f"{configuration}, {device}", settings.limits.name)
        suite = ET.SubElement(root, "testsuite", {"name": name, **_counts(kernels)})
        for kernel in kernels:
            _case(suite, kernel, settings)
    ET.indent(root)
    body = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _counts(kernels: Sequence[PublishedKernel]) -> dict[str, str]:
    failed = sum(bool(kernel.failures) for kernel in kernels)
    skipped = sum(bool(kernel.undecided) and not kernel.failures for kernel in kernels)
    counts = {"tests": len(kernels), "failures": failed, "errors": 0, "skipped": skipped}
    return {name: str(value) for name, value in counts.items()} | {"time": _time(kernels)}


def _time(kernels: Sequence[PublishedKernel]) -> str:
    """Return the time of some kernels in the run [s]."""
    return f"{sum(kernel.duration or 0.0 for kernel in kernels):.9f}"


def _case(suite: ET.Element, kernel: PublishedKernel, settings: FormatSettings) -> None:
    limits = settings.limits
    case = ET.SubElement(
        suite,
        "testcase",
        classname="advisor.kernels",
        name=short(kernel.kernel, limits.name),
        time=_time([kernel]),
    )
    failures = [short(line, limits.message) for line in kernel.failures]
    if failures:
        ET.SubElement(case, "failure", message=failures[0], type="performance").text = "\n".join(
            failures
        )
    elif kernel.undecided:
        ET.SubElement(case, "skipped", message=short(kernel.undecided, limits.message))
    if kernel.remarks:
        remarks = "\n".join(short(line, limits.message) for line in kernel.remarks)
        ET.SubElement(case, "system-out").text = remarks
