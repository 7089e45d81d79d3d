"""A group that knows its commands by name and imports one when it is called.

Without it `piecework --help` and a shell's completion would import every command.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

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
    """A group of lazy commands; it imports the command that a person calls.

    Args:
        sections: title to commands, in the order in which the help lists them. A group
            without sections lists its `commands` alphabetically, as click does.
        aliases: other names that people type, to the name of the command.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's
        sections: Mapping[str, Sequence[LazyCommand]] | None = None,
        aliases: Mapping[str, str] | None = None,
        **options: Any,  # noqa: ANN401 - click's
    ) -> None:
        self.sections = dict(sections or {})
        self.aliases = dict(aliases or {})
        for commands in self.sections.values():
            options["commands"] = [*options.get("commands", []), *commands]
        super().__init__(*args, **options)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by its name or by an alias."""
        return super().get_command(ctx, self.aliases.get(cmd_name, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names, and import it."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, LazyCommand):
            command = command.load()
        return name, command, rest

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write one list of commands for each section, with summaries uncut."""
        if not self.sections:
            super().format_commands(ctx, formatter)
            return
        width = max(map(len, self.commands))
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (entry.name.ljust(width), entry.get_short_help_str(500))
                        for entry in commands
                        if entry.name
                    ]
                )
