"""``advisor hardware``: devices and their ceilings."""

from __future__ import annotations

from pathlib import Path

import click

from advisor.cli.application import CommandSettings
from advisor.cli.occupancy import occupancy
from advisor.cli.options import output_file, output_format
from advisor.cli.output import FORMATS, Narrow, csv_text, write_rows, write_text
from advisor.wording import one_line

_EPILOG = """\b
Examples:
  advisor hardware compare "v100 sxm2" "a100 sxm" "h100 sxm" --roof project
  advisor hardware compare h100-sxm mi300x --format json
"""

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
@click.pass_obj
def list_(settings: CommandSettings, vendor: str | None, style: str) -> None:
    """List the devices that advisor knows, and your own."""
    from advisor.api.devices import list_devices

    columns, rows = list_devices(vendor, configuration=settings.configuration)
    write_rows(columns, rows, style, _LIST)


@hardware.command(epilog=_EPILOG)
@click.argument("devices", nargs=-1, required=True, metavar="DEVICE DEVICE...")
@click.option(
    "--roof",
    type=click.Choice(["nominal", "project", "practical"]),
    default="nominal",
    show_default=True,
    help="The kind of ceilings: rated, as printed in the project's documents, practical.",
)
@output_format("table", "csv", "json", "html")
@output_file
@click.pass_obj
def compare(
    settings: CommandSettings, devices: tuple[str, ...], roof: str, style: str, output: str | None
) -> None:
    """Show devices side by side: ceilings, ridge points, and where they disagree.

    Between two ridge points the same work is compute-bound on one device and memory-bound on the
    other.
    """
    from advisor.api.devices import compare_devices

    found = compare_devices(devices, roof, configuration=settings.configuration)
    from advisor.reports.modelled import compared

    if style == "csv":
        text = csv_text(*compared.table_rows(found))
    else:
        write = {"json": compared.json_text, "html": compared.html, "table": compared.text}[style]
        text = write(found)
    write_text(text, output)


@hardware.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_obj
def add(settings: CommandSettings, file: Path) -> None:
    """Check the devices of FILE and keep them where `devices:` of the configuration says.

    FILE is YAML: `devices: [{name: draft, memory: 96.0e+9, ceilings: {dram: 7.2e+12}}]`.
    """
    from advisor.api.devices import add_devices

    kept, found = add_devices(file, configuration=settings.configuration)
    names = ", ".join(one_line(machine.name) for machine in found)
    click.echo(f"kept {names} in {kept}")


@hardware.command()
@click.argument("device")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def show(settings: CommandSettings, device: str, style: str) -> None:
    """Show every ceiling of DEVICE, with kind, source and confidence.

    DEVICE is an id, a name, an alias, or words of an id.
    """
    from advisor.api.devices import show_device

    heading, columns, rows = show_device(device, configuration=settings.configuration)
    if style == "table":
        click.echo(heading + "\n")
    write_rows(columns, rows, style)
