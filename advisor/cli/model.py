"""``advisor model``: how fast could it be, before anyone writes or buys it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.application import CommandSettings
from advisor.cli.options import a_number, output_file, output_format
from advisor.cli.output import csv_text, terminal_width, write_text
from advisor.errors import UsageError
from advisor.stdout import has_unicode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.modelling.names import ModelRequest
    from advisor.modelling.results import Modelled

_EPILOG = """\b
Examples:
  advisor model seed/scenarios/serving.yaml --device "h100 sxm" --device "a100 sxm"
  advisor model matrix-product m=64 n=11008 k=4096 element=2 --device "h100 sxm"
  advisor model seed/scenarios/serving.yaml --sweep batch=1:1000 --format csv
  advisor model --transformer config.json --phase decode --context 4096 --device "h100 sxm"
  advisor model --costs analysis.json --device v7x --work tensor_bf16
"""
_SCENARIOS = (".yaml", ".yml")
_PHASES = ("decode", "prefill")
_OF_A_PASS = {"batch": 1, "weights": "bf16", "kv": "bf16"}
_LACKING = {
    "phase": " or ".join(_PHASES),
    "context": "the positions of a sequence, such as 4096",
}
_OF_LANGUAGE_MODELS = ("phase", "batch", "context", "weights", "kv")


@click.command(epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="FILE.yaml | OPERATION SIZE=VALUE...")
@click.option("--device", "devices", multiple=True, help="A device, in place of the file's.")
@click.option(
    "--roof", type=click.Choice(["nominal", "project", "practical"]), help="The kind of ceilings."
)
@click.option("--work", help="The ceiling of the work, such as tensor_bf16.")
@click.option(
    "--repeat", type=click.FloatRange(min=1), callback=a_number, help="How often it runs."
)
@click.option("--sweep", metavar="SIZE=RANGE", help="Over a size: 1,2,4 or 1:1000[:step].")
@click.option(
    "--costs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A compiler's cost analysis, JSON, in place of a scenario.",
)
@click.option(
    "--transformer",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="config.json",
    help="A language model's published configuration, in place of a scenario.",
)
@click.option("--phase", type=click.Choice(_PHASES), help="Of a language model.")
@click.option("--batch", type=click.IntRange(min=1), help="Sequences; 1.")
@click.option("--context", type=click.IntRange(min=1), help="Positions of a sequence.")
@click.option("--weights", metavar="FORMAT", help="bf16, fp8, int8 or int4; bf16.")
@click.option("--kv", metavar="FORMAT", help="Of the cache, likewise; bf16.")
@output_format("text", "json", "csv", "html", "markdown")
@output_file
@click.pass_obj
def model(
    settings: CommandSettings,
    /,
    words: tuple[str, ...],
    sweep: str | None,
    costs: Path | None,
    transformer: Path | None,
    style: str,
    output: str | None,
    **options: Any,
) -> None:
    """Compute the least time of operations on devices, by the roofline.

    A scenario is a YAML file; one operation can be given with its sizes. `advisor rules operations`
    lists operations, `advisor hardware list` devices.
    """
    found = _found(settings, words, sweep, costs, transformer, **options)
    text = _written(found, style)
    write_text(text, output)
    if output not in (None, "-"):
        click.echo(f"wrote {output}", err=True)


def _found(
    settings: CommandSettings,
    words: tuple[str, ...],
    sweep: str | None,
    costs: Path | None,
    transformer: Path | None,
    **options: Any,
) -> Modelled:
    """Return the answer to what the words and options ask."""
    from advisor.api import modelling

    asked = modelling.ModelRequest(
        devices=options["devices"],
        roof=options["roof"],
        work=options["work"],
        repeat=options["repeat"],
    )
    if transformer is not None:
        if words or costs is not None or asked.repeat is not None:
            raise UsageError("--transformer is in place of a scenario, --costs and --repeat")
        return _language_model(settings, transformer, asked, sweep, options)
    if given := [name for name in _OF_LANGUAGE_MODELS if options[name] is not None]:
        raise UsageError(f"--{given[0]} is for --transformer", hint="add --transformer config.json")
    if costs is not None:
        if words or sweep is not None:
            raise UsageError("--costs is in place of a scenario and of a sweep")
        return modelling.model_costs(costs, asked, configuration=settings.configuration)
    if not words:
        raise UsageError("nothing to model", hint="name a file.yaml, or an operation and sizes")
    first, *others = words
    if not first.endswith(_SCENARIOS) and Path(first).name == first:
        return modelling.model_operation(
            first, others, asked, sweep=sweep, configuration=settings.configuration
        )
    if others:
        raise UsageError(f"{others[0]!r} is too much", hint="a scenario holds its sizes itself")
    return modelling.model_file(
        Path(first), asked, sweep=sweep, configuration=settings.configuration
    )


def _language_model(
    settings: CommandSettings,
    path: Path,
    asked: ModelRequest,
    sweep: str | None,
    options: Mapping[str, Any],
) -> Modelled:
    from advisor.api import modelling
    from advisor.modelling.transformer import Pass

    options = {
        **_OF_A_PASS,
        **{name: value for name, value in options.items() if value is not None},
    }
    for name, hint in _LACKING.items():
        if name not in options:
            raise UsageError(f"a language model needs --{name}", hint=hint)
    asked_pass = Pass(
        phase=options["phase"],
        batch=options["batch"],
        context=options["context"],
        weights=options["weights"],
        kv=options["kv"],
    )
    return modelling.model_transformer(
        path, asked_pass, asked, sweep=sweep, configuration=settings.configuration
    )


def _written(found: Modelled, style: str) -> str:
    if style in ("json", "csv"):
        from advisor.reports.modelled.machine import json_text, table_rows

        return json_text(found) if style == "json" else csv_text(*table_rows(found))
    if style == "text":
        from advisor.reports.modelled.text import model_text

        return model_text(found, width=terminal_width(), ascii_only=not has_unicode())
    from advisor.reports.modelled.page import html, markdown

    return html(found) if style == "html" else markdown(found)
