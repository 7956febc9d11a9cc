"""``advisor hardware occupancy``: what fits on a multiprocessor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import FORMATS, plain, table, terminal_width, write_rows
from advisor.errors import UsageError
from advisor.wording import count, percent, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.api.occupancy import Calculation, StoredCurve
    from advisor.hardware.occupancy import OccupancyStep, Parameter

_EPILOG = """\b
Examples:
  advisor hardware occupancy --cc 9.0 --threads 256 --registers 64 --shared 48K
  advisor hardware occupancy --device a100 --threads 128 --registers 96 --carveout 100K
  advisor hardware occupancy --kernel matmul --run latest
"""
_SIZE = re.compile(r"(?P<number>[0-9]+)\s*(?:(?P<kibi>K|KiB)|B)?", re.IGNORECASE)
_TITLES = {
    "registers": "registers per thread",
    "threads": "threads per block",
    "shared": "B of shared memory per block",
}


class ByteSize(click.ParamType[int]):
    """A number of bytes: ``49152``, ``49152B``, ``48K`` or ``48KiB``; K is 1,024."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes; click tells the user where they cannot be read."""
        found = _SIZE.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"{value!r} is no size; write 49152, 48K or 48KiB", param, ctx)
        return int(found["number"]) * (1024 if found["kibi"] else 1)


@click.command(epilog=_EPILOG)
@click.option("--cc", "capability", metavar="X.Y", help="Compute capability.")
@click.option("--device", help="A device instead: id, name, alias or words of an id.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads of a block.")
@click.option("--registers", type=click.IntRange(min=1), help="Registers of a thread.")
@click.option("--shared", type=ByteSize(), help="Static shared memory of a block; none.")
@click.option("--dynamic", type=ByteSize(), help="Dynamic shared memory of a block; none.")
@click.option("--carveout", type=ByteSize(), help="Shared memory of a multiprocessor; the largest.")
@click.option("--kernel", help="A measured kernel instead: name, part, regular expression, id.")
@click.option("--run", help="The run of the kernel, as `report` takes it; the latest.")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def occupancy(settings: CommandSettings, /, kernel: str | None, style: str, **given: Any) -> None:
    """Show how many blocks fit on a multiprocessor, what limits them, and what would change it.

    Sizes are bytes; K and KiB mean 1,024 of them. CSV holds the curves only, JSON everything.
    """
    from advisor.api.occupancy import STEP_COLUMNS, as_json

    found = _calculations(settings, kernel, **given)
    if style == "json":
        from advisor.escaping import json_text

        click.echo(json_text([plain(as_json(one)) for one in found], indent=2))
    elif style == "csv":
        rows = [(one.kernel, one.variant, *row) for one in found for row in one.rows()]
        write_rows(("kernel", "variant", *STEP_COLUMNS), rows, style)
    else:
        click.echo("\n\n".join("\n".join(_lines(one)) for one in found))


def _calculations(
    settings: CommandSettings, kernel: str | None, **given: Any
) -> tuple[Calculation, ...]:
    from advisor.api.occupancy import calculate_measured

    run = given.pop("run")
    if kernel is None:
        if run is not None:
            raise UsageError("--run chooses the run of a kernel", hint="add --kernel NAME")
        return (_unmeasured(**given),)
    if clash := [name for name, value in given.items() if value is not None]:
        problem = f"--kernel takes the launch from its profile, not from --{', --'.join(clash)}"
        raise UsageError(problem, hint="leave out one or the other")
    return calculate_measured(settings.database, kernel, run=run or "latest", wait=settings.wait)


def _unmeasured(
    *,
    capability: str | None,
    device: str | None,
    threads: int | None,
    registers: int | None,
    shared: int | None,
    dynamic: int | None,
    carveout: int | None,
) -> Calculation:
    from advisor.api.occupancy import calculate
    from advisor.hardware.occupancy import BlockShape

    if threads is None or registers is None:
        hint = "give --threads and --registers, or --kernel for a measured one"
        raise UsageError("a launch has threads and registers", hint=hint)
    shape = BlockShape(
        threads=threads,
        registers=registers,
        shared_static=shared or 0,
        shared_dynamic=dynamic or 0,
        carve_out=carveout,
    )
    return calculate(shape, capability=capability, device=device)


def _lines(found: Calculation) -> Iterator[str]:
    yield from _heading(found)
    yield ""
    yield _limits(found)
    for parameter, curve in found.curves.items():
        yield ""
        yield from _curve(found, parameter, curve)


def _heading(found: Calculation) -> Iterator[str]:
    limits, launch, fits = found.limits, found.launch, found.occupancy
    if found.kernel is not None:
        yield f"{printable(found.kernel)} ({found.variant})"
    yield (
        f"compute capability {limits.capability} ({limits.name}): {count(launch.threads)} threads,"
        f" {count(launch.registers)} registers, {count(launch.shared)} B of shared memory;"
        f" carve-out {count(fits.carve_out)} B"
    )
    if launch.shared > limits.shared_opt_in:
        yield f"a kernel must opt in to more than {count(limits.shared_opt_in)} B of shared memory"
    yield (
        f"{count(fits.blocks, 'block')} a multiprocessor, {fits.warps} of {limits.warps} warps,"
        f" occupancy {percent(fits.occupancy, 1)}; limited by {' and '.join(fits.binding)}"
    )
    if found.reported is not None:
        yield f"theoretical occupancy in the profile: {percent(found.reported, 1)}"


def _limits(found: Calculation) -> str:
    fits, limits = found.occupancy, found.limits
    allocated = {
        "warps": f"{fits.warps_per_block} a block, {limits.warps} a multiprocessor",
        "blocks": f"{limits.blocks} a multiprocessor",
        "registers": (
            f"{count(fits.registers_per_warp)} a warp, {count(fits.registers)} a block,"
            f" {count(limits.registers)} a multiprocessor"
        ),
        "shared memory": (
            f"{count(fits.shared_memory)} B a block, {count(fits.carve_out)} B a multiprocessor"
        ),
    }
    rows = [
        (
            "*" if name in fits.binding else "",
            name,
            "no limit" if blocks is None else str(blocks),
            allocated[name],
        )
        for name, blocks in fits.limits.items()
    ]
    return table(("", "limit", "blocks", "allocated"), rows, width=terminal_width())


def _curve(
    found: Calculation, parameter: Parameter, curve: tuple[OccupancyStep, ...]
) -> Iterator[str]:
    title, now = _TITLES[parameter.value], found.launch.value(parameter)
    stored = found.stored.get(parameter)
    columns = ["", title, "blocks", "warps", "occupancy", "limited by"]
    rows = [
        [
            "*" if step.holds(now) else "",
            f"{count(step.first)} to {count(step.last)}",
            step.blocks,
            step.warps,
            percent(step.occupancy, 1),
            " and ".join(step.binding) or "cannot be launched",
            *([] if stored is None else [found.stored_warps(parameter, step)]),
        ]
        for step in curve
    ]
    if stored is not None:
        columns.append("warps in the profile")
    yield table(columns, rows, width=terminal_width())
    better = found.better().get(parameter)
    if better is not None:
        yield _advice(found, title, now, better)
    if stored is not None:
        yield _agreement(found, stored)


def _advice(found: Calculation, title: str, now: int, better: OccupancyStep) -> str:
    fits = found.occupancy
    return (
        f"{count(now)} → {count(better.last)} {title} gives {fits.blocks} → {better.blocks} blocks,"
        f" {fits.warps} → {better.warps} warps"
    )


def _agreement(found: Calculation, stored: StoredCurve) -> str:
    points = f"the profiler's curve: {stored.agreeing:,} of {len(stored.warps):,} points are equal"
    if stored.carve_out == found.occupancy.carve_out:
        return points
    return f"{points}; it assumes a carve-out of {count(stored.carve_out)} B"
