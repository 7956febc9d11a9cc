"""A click group that imports a command only when it runs, and knows what was meant."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from advisor.suggest import did_you_mean


class LazyGroup(click.Group):
    """Commands given as ``name -> ("module:attribute", one line of help)``.

    ``--help`` prints the lines as they stand here, so listing the commands imports none of them.
    """

    def __init__(
        self, *args: Any, commands_at: Mapping[str, tuple[str, str]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.commands_at = dict(commands_at or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they were given."""
        return [*self.commands_at, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command, or None where there is none of that name."""
        if cmd_name not in self.commands_at:
            return super().get_command(ctx, cmd_name)
        module, attribute = self.commands_at[cmd_name][0].split(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{module}:{attribute} is no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        rows = [(name, help_text) for name, (_, help_text) in self.commands_at.items()]
        for name in super().list_commands(ctx):
            command = super().get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, command.get_short_help_str()))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; name the nearest one where it does not exist."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = did_you_mean(args[0], self.list_commands(ctx))
            if near is None:
                raise
            raise click.UsageError(f"{error.message} {near.capitalize()}", ctx) from error

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; say where an option stands that was given behind it."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            option, behind = error.option_name, error.ctx
            if behind is None or not any(option in each.opts for each in self.params):
                raise
            name = ctx.command_path
            command = behind.command_path.removeprefix(name).strip()
            problem = f"{option} stands before the command: {name} {option} … {command}"
            raise click.UsageError(problem, behind) from error
