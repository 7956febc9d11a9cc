"""``advisor hardware``: devices and their ceilings."""

from __future__ import annotations

import click

from advisor.cli.occupancy import occupancy
from advisor.cli.output import FORMATS, Narrow, write_rows

_LIST = Narrow(
    whole=("device",),
    spare=("name", "vendor", "architecture", "units", "confidence", "fp16 matrix", "memory"),
)


@click.group()
def hardware() -> None:
    """List devices; show their ceilings, ridge points and where each figure comes from."""


hardware.add_command(occupancy)


@hardware.command("list")
@click.option("--vendor", help="Only this vendor's devices.")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
def list_(vendor: str | None, style: str) -> None:
    """List the devices that advisor knows."""
    from advisor.api.devices import list_devices

    columns, rows = list_devices(vendor)
    write_rows(columns, rows, style, _LIST)


@hardware.command()
@click.argument("device")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
def show(device: str, style: str) -> None:
    """Show every ceiling of DEVICE, with kind, source and confidence.

    DEVICE is an id, a name, an alias, or words of an id.
    """
    from advisor.api.devices import show_device

    heading, columns, rows = show_device(device)
    if style == "table":
        click.echo(heading + "\n")
    write_rows(columns, rows, style)
