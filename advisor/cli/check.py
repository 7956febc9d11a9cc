"""``advisor check``: the gate for continuous integration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from advisor.cli.application import CommandSettings
from advisor.cli.options import output_format
from advisor.cli.output import plain, write_text
from advisor.cli.published import PUBLISHED, TABLES, FormatChoice, checked_output, write_published

if TYPE_CHECKING:
    from advisor.reports.record.gate import Gate

_TRIPPED, _INCONCLUSIVE = 1, 5
_EPILOG = """\b
Examples:
  advisor check my-branch --baseline main
  advisor check latest --baseline 3f2a --fail-on regression --fail-on new-finding:error
  advisor check --fail-on budget --format junit -o advisor.xml

\b
Budgets stand in advisor.yaml; what adds up over launches is meant for one launch:
  budgets:
    - {kernel: "gemm*", fact: duration, at_most: 1.2, unit: ms}
    - {kernel: "*", fact: roof_fraction_achievable, at_least: 70, unit: "%"}

\b
Exit codes: 0 fine, 1 something tripped, 2 no such run or baseline, 4 the database or the output
cannot be used, 5 nothing tripped but something is undecided (--strict).
"""


@click.command(epilog=_EPILOG)
@click.argument("run", default="latest")
@click.option("--baseline", metavar="RUN", help="The run that counts as good.")
@click.option(
    "--fail-on",
    multiple=True,
    default=("regression",),
    show_default=True,
    metavar="WHAT",
    help="regression, budget, or new-finding:SEVERITY (error, warning, note); repeatable.",
)
@click.option("--strict", is_flag=True, help="Exit with 5 where something cannot be decided.")
@output_format("text", "markdown", "json", *PUBLISHED, choice=FormatChoice, folders=TABLES)
@click.option(
    "-o",
    "--output",
    type=click.Path(allow_dash=True),
    help="A file; for csv and parquet a directory.",
)
@click.pass_obj
def check(
    settings: CommandSettings,
    run: str,
    baseline: str | None,
    fail_on: tuple[str, ...],
    strict: bool,
    style: str,
    output: str | None,
) -> int:
    """Fail where a run is worse than a baseline, or over its budgets.

    RUN and --baseline are what `report` takes: an id or the beginning of one, a label, a branch, a
    commit, "latest", or "last~7". Improvements never fail. A kernel that only one of the runs has
    cannot be judged. Of a group's ranks each is checked on its own.
    """
    from advisor.api.checking import check as check_run
    from advisor.reports.write import gate as written

    checked_output(style, output)
    gate = check_run(
        settings.database,
        run,
        baseline=baseline,
        fail_on=fail_on,
        wait=settings.wait,
        configuration=settings.configuration,
    )
    if style in PUBLISHED:
        from advisor.api.publishing import published_run

        published = published_run(
            settings.database,
            gate.run.run_id,
            gate=gate,
            wait=settings.wait,
            configuration=settings.configuration,
        )
        write_published(published, style, output)
    else:
        styles = {"text": written.text, "markdown": written.markdown, "json": _json}
        write_text(styles[style](gate), output)
    if gate.tripped:
        return _TRIPPED
    return _INCONCLUSIVE if strict and gate.unsure else 0


def _json(gate: Gate) -> str:
    from advisor.escaping import json_text
    from advisor.reports.write.gate import as_json

    return json_text(plain(as_json(gate)), indent=2)
