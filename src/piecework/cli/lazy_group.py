"""A group that knows its commands by name and imports one when it is called.

Without it `piecework --help` and a shell's completion would import every command.
"""

from importlib import import_module

import click

from piecework.cli.logs import with_log_options


class LazyCommand(click.Command):
    """The name and summary of a command whose module is not imported.

    Args:
        name: what a person types.
        module: in `piecework.cli`; the command in it is called as the module is.
        summary: the first sentence of the command's help.
    """

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name, help=summary)
        self.module = module

    def load(self) -> click.Command:
        """Import the command itself."""
        module = import_module(f"piecework.cli.{self.module}")
        command: click.Command = getattr(module, self.module)
        return with_log_options(command)


class LazyGroup(click.Group):
    """A group of lazy commands; the one that is called is imported."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first of the words names."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, LazyCommand):
            command = command.load()
        return name, command, rest
