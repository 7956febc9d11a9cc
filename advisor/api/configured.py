"""What is configured, as a table: every value in effect and where it was set."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from advisor.configuration import (
    Budget,
    Configuration,
    KernelOperation,
    Suppression,
    ThresholdSetting,
)

Rows = list[tuple[str, str, str]]

COLUMNS = ("setting", "value", "origin")


def configured(configuration: Configuration, today: date) -> Rows:
    """Return (setting, value, origin) of everything in effect; expired suppressions are marked."""
    return list(_rows(configuration, today))


def _rows(configuration: Configuration, today: date) -> Iterator[tuple[str, str, str]]:
    wait, report_format = configuration.wait, configuration.report_format
    yield "database", configuration.database.value, configuration.database.origin
    yield "wait", f"{wait.value:g} s", wait.origin
    yield "report.format", report_format.value, report_format.origin
    if configuration.devices is not None:
        yield "devices", str(configuration.devices.value), configuration.devices.origin
    for pack in configuration.rules:
        yield "rules", str(pack.value), pack.origin
    for rule, thresholds in sorted(configuration.thresholds.items()):
        for name, threshold in sorted(thresholds.items()):
            yield f"thresholds.{rule}.{name}", _threshold(threshold), str(threshold.at)
    for rule, severity in sorted(configuration.severity.items()):
        yield f"severity.{rule}", severity.value, severity.origin
    for rule, at in sorted(configuration.disable.items()):
        yield "disable", rule, str(at)
    for suppression in configuration.suppress:
        yield "suppress", _suppression(suppression, today), str(suppression.at)
    for declared in configuration.operations:
        yield "operations", _operation(declared), str(declared.at)
    for budget in configuration.budgets:
        yield "budgets", _budget(budget), str(budget.at)


def _threshold(threshold: ThresholdSetting) -> str:
    return " ".join([f"{threshold.value:g}", *([threshold.unit] if threshold.unit else [])])


def _operation(declared: KernelOperation) -> str:
    shape = "" if declared.shape == "*" else f" {declared.shape}"
    sizes = ", ".join(f"{name} {size.value:.15g}" for name, size in declared.sizes.items())
    return f"{declared.kernel}{shape}: {declared.operation.value}; {sizes}"


def _budget(budget: Budget) -> str:
    word = "at most" if budget.is_most else "at least"
    return f"{budget.kernel}: {budget.fact} {word} {budget.limit:g} {budget.unit}"


def _suppression(suppression: Suppression, today: date) -> str:
    parts = [f"{suppression.rule} for {suppression.kernel}"]
    if suppression.expires is not None:
        word = "expired" if suppression.expired(today) else "expires"
        parts.append(f"{word} {suppression.expires}")
    parts.append(suppression.reason)
    if suppression.owner is not None:
        parts.append(suppression.owner)
    return "; ".join(parts)
