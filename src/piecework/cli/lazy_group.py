"""A group that knows its commands by name and imports a command when it is called.

Otherwise `piecework --help` and a shell's completion would import every command.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Any

import click

from piecework.cli.configuration import with_configuration
from piecework.cli.docs_page import docs_line
from piecework.cli.logs import with_log_options
from piecework.domain.extras import load_extra

_EXAMPLES = "\n\nExamples:\n"


class LazyCommand(click.Command):
    """The name and summary of a command whose module is not imported.

    Args:
        name: what a person types.
        module: a module of `piecework.cli`, with a command of the same name in it.
        summary: the first sentence of the command's help.
        extra: the extra of piecework that installs what the module needs, if any: a
            package named like it.
    """

    def __init__(self, name: str, module: str, summary: str, *, extra: str = "") -> None:
        super().__init__(name, help=summary)
        self.module, self.extra = module, extra
        self.path = name
        """The name, after the names of the groups that the command is in."""

    def load(self) -> click.Command:
        """Import the command itself.

        Raises:
            ConfigError: its extra is not installed.
        """
        if self.extra:
            use = f"piecework {self.path}"
            load_extra(self.extra.replace("-", "_"), extra=self.extra, use=use)
        module = import_module(f"piecework.cli.{self.module}")
        command: click.Command = getattr(module, self.module)
        configured = with_configuration(with_log_options(command), self.path)
        return _with_docs(configured, self.path)


def _with_docs(command: click.Command, path: str) -> click.Command:
    """Keep the help's examples as lines, and end the help with the command's page."""
    if isinstance(command, LazyCommand):
        command.path = path
        return command
    # click joins the lines of a paragraph that does not begin with this mark.
    text = cleandoc(command.help or "")
    command.help = text.replace(_EXAMPLES, f"\n\n\b{_EXAMPLES[1:]}")
    command.epilog = docs_line(path)
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            _with_docs(inner, f"{path} {name}")
    return command


class LazyGroup(click.Group):
    """A group of lazy commands; it imports the command that a person calls.

    Args:
        sections: title to commands, in the order in which the help lists them. A group
            without sections lists its `commands` in one list.
        aliases: other names that people type, to the name of the command.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's
        sections: Mapping[str, Sequence[click.Command]] | None = None,
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
        """Find and import the command that the first word names."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, LazyCommand):
            command = command.load()
        return name, command, rest

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        formatter: click.HelpFormatter,
    ) -> None:
        """Write one list of commands for each section, with whole summaries."""
        width = max(map(len, self.commands))
        sections = self.sections or {"Commands": [*self.commands.values()]}
        for title, commands in sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (entry.name.ljust(width), entry.get_short_help_str(500))
                        for entry in commands
                        if entry.name
                    ]
                )
