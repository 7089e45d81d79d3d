"""A group that knows its commands by name and imports a command when it is called.

Otherwise `piecework --help` and a shell's completion would import every command. The last
line of each command's help names its page of the documentation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Any

import click

from piecework.cli.configuration import with_configuration
from piecework.cli.logs import with_log_options
from piecework.domain.crowds import MARKETS
from piecework.domain.errors import load_extra
from piecework.markets import registry

_EXAMPLES = "\n\nExamples:\n"


class LazyCommand(click.Command):
    """The name and summary of a command whose module is not imported.

    Args:
        name: what a person types.
        place: a module of `piecework.cli`, with a command of the same name in it; or
            `module:command`.
        summary: the first sentence of the command's help.
        extra: the extra of piecework that installs what the module needs, if any: a
            package named like it.
        load_from: returns what stands at the place; by default in `piecework.cli`.
    """

    def __init__(
        self,
        name: str,
        place: str,
        summary: str,
        *,
        extra: str = "",
        load_from: Callable[[str], click.Command] | None = None,
    ) -> None:
        super().__init__(name, help=summary)
        self.place, self.extra = place, extra
        self._load_from = load_from or _of_the_command
        self.path = name
        """The name, after the names of the groups that the command is in."""

    def load(self) -> click.Command:
        """Import the command itself.

        Raises:
            ConfigError: its extra is not installed.
            BrokenMarket: it is a market's, and cannot be imported.
        """
        if self.extra:
            use = f"piecework {self.path}"
            load_extra(self.extra.replace("-", "_"), extra=self.extra, use=use)
        command = self._load_from(self.place)
        configured = with_configuration(with_log_options(command), self.path)
        return with_docs(configured, self.path)


def _of_the_command(place: str) -> click.Command:
    module, _, name = place.partition(":")
    command: click.Command = getattr(import_module(f"piecework.cli.{module}"), name or module)
    return command


def groups_of_markets() -> list[LazyCommand]:
    """Return the group of commands of each market; that of a broken market says so."""
    groups = []
    for name in MARKETS:
        try:
            summary = registry.market(name).summary
        except registry.BrokenMarket as fault:
            summary = str(fault)
        groups.append(LazyCommand(name, name, summary, load_from=_group_of))
    return groups


def _group_of(name: str) -> click.Command:
    market = registry.market(name)
    commands = [
        LazyCommand(each.name, each.place, each.summary, extra=each.extra, load_from=market.load)
        for each in market.commands
    ]
    text = f"{market.summary}\n\n{cleandoc(market.help)}"
    return LazyGroup(market.name, commands=commands, help=text)


def with_docs(command: click.Command, path: str) -> click.Command:
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
            with_docs(inner, f"{path} {name}")
    return command


class LazyGroup(click.Group):
    """A group of lazy commands; it imports the command that a person calls.

    Args:
        sections: title to commands, in the order in which the help lists them. A group
            without sections lists its `commands` in one list.
        aliases: other names that people type, to the name of the command.
        short_forms: hidden names of commands in a group of this group, to the group.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's
        sections: Mapping[str, Sequence[click.Command]] | None = None,
        aliases: Mapping[str, str] | None = None,
        short_forms: Mapping[str, str] | None = None,
        **options: Any,  # noqa: ANN401 - click's
    ) -> None:
        self.sections = dict(sections or {})
        self.aliases = dict(aliases or {})
        self.short_forms = dict(short_forms or {})
        for commands in self.sections.values():
            options["commands"] = [*options.get("commands", []), *commands]
        super().__init__(*args, **options)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by its name, by an alias, or by its short form."""
        group = self.commands.get(self.short_forms.get(cmd_name, ""))
        if isinstance(group, click.Group):
            return group.get_command(ctx, cmd_name)
        return super().get_command(ctx, self.aliases.get(cmd_name, cmd_name))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; without any, list the commands and end without a fault."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        return super().parse_args(ctx, args)

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


_PAGES = {
    "piecework": "docs/README.md",
    "init": "docs/how-to/tasks.md",
    "check": "docs/reference/campaign-file.md",
    "preview": "docs/tutorial.md",
    "rehearse": "docs/how-to/compare.md",
    "compare": "docs/how-to/compare.md",
    "run": "docs/how-to/live.md",
    "status": "docs/how-to/watch.md",
    "review": "docs/how-to/review.md",
    "workers": "docs/how-to/exclude-workers.md",
    "workers earned": "docs/how-to/earned.md",
    "workers grant": "docs/how-to/earned.md",
    "pay": "docs/how-to/pay.md",
    "stop": "docs/how-to/stop-and-resume.md",
    "export": "docs/reference/dataset.md",
    "data": "docs/how-to/importing.md",
    "data assess": "docs/reference/heuristics.md",
    "data analyse": "docs/explanation/analyses.md",
    "data clean": "docs/how-to/tables.md",
    "data words": "docs/how-to/chains.md",
    "data describe": "docs/how-to/describe.md",
    "data score": "docs/how-to/describe.md",
    "market": "docs/how-to/run-a-marketplace.md",
    "market people": "docs/how-to/worker-site.md",
    "store": "docs/how-to/back-up-and-restore.md",
    "store archive": "docs/how-to/growing.md",
    "store copy": "docs/how-to/postgresql.md",
    "store reconcile": "docs/how-to/back-up-and-restore.md",
    "store move": "docs/how-to/back-up-and-restore.md",
}
"""A command, or a subcommand with a page of its own ("workers grant"), to its page.

Markets name the pages of their commands."""


def page_of(command: str) -> str:
    """Return the page of a command; a subcommand without one has its group's.

    >>> page_of("workers list"), page_of("market panel link")
    ('docs/how-to/exclude-workers.md', 'docs/how-to/panel.md')
    """
    pages = {**_PAGES, **dict(_pages_of_markets())}
    while command not in pages:
        command, space, _ = command.rpartition(" ")
        if not space:
            raise KeyError(command)
    return pages[command]


def _pages_of_markets() -> Iterator[tuple[str, str]]:
    for market in registry.markets():
        yield f"market {market.name}", market.page
        for command in market.commands:
            if command.page:
                yield f"market {market.name} {command.name}", command.page


def docs_line(command: str) -> str:
    """Return the last line of a command's help."""
    return f"Documentation: {page_of(command)}"
