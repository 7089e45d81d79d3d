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
from piecework.domain.extras import load_extra
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
        return _with_docs(configured, self.path)


def _of_the_command(place: str) -> click.Command:
    module, _, name = place.partition(":")
    command: click.Command = getattr(import_module(f"piecework.cli.{module}"), name or module)
    return command


def commands_of_markets() -> list[LazyCommand]:
    """Return the commands of each market: its group, and then the emulators.

    The command of a market that is broken says so.
    """
    groups, emulators = [], []
    for name in MARKETS:
        try:
            market = registry.market(name)
        except registry.BrokenMarket as fault:
            groups.append(LazyCommand(name, name, str(fault), load_from=_group_of))
            continue
        groups.append(LazyCommand(name, name, market.summary, load_from=_group_of))
        if market.emulator is not None:
            emulators.append(_lazy(market, market.emulator))
    return groups + emulators


def _group_of(name: str) -> click.Command:
    market = registry.market(name)
    commands = [_lazy(market, each) for each in market.commands]
    text = f"{market.summary}\n\n{cleandoc(market.help)}"
    return LazyGroup(market.name, commands=commands, help=text)


def _lazy(market: registry.Market, command: registry.Command) -> LazyCommand:
    return LazyCommand(
        command.name, command.place, command.summary, extra=command.extra, load_from=market.load
    )


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


_PAGES = {
    "piecework": "docs/README.md",
    "init": "docs/reference/campaign-file.md",
    "examples": "docs/tutorial.md",
    "tasks": "docs/reference/gallery.md",
    "new-task": "docs/how-to/tasks.md",
    "check": "docs/reference/campaign-file.md",
    "preview": "docs/tutorial.md",
    "rehearse": "docs/tutorial.md",
    "forecast": "docs/how-to/forecast.md",
    "compare": "docs/how-to/compare.md",
    "run": "docs/how-to/live.md",
    "advance": "docs/how-to/schedule.md",
    "status": "docs/how-to/watch.md",
    "review": "docs/how-to/review.md",
    "decisions": "docs/how-to/review.md",
    "workers": "docs/how-to/exclude-workers.md",
    "workers earned": "docs/how-to/earned.md",
    "workers restore": "docs/how-to/earned.md",
    "workers invite": "docs/how-to/worker-site.md",
    "workers revoke": "docs/how-to/worker-site.md",
    "workers links": "docs/how-to/worker-site.md",
    "workers close": "docs/how-to/worker-site.md",
    "workers continue": "docs/how-to/worker-site.md",
    "pay": "docs/how-to/pay.md",
    "unreject": "docs/how-to/pay.md",
    "stop": "docs/how-to/stop-and-resume.md",
    "archive": "docs/how-to/growing.md",
    "store": "docs/how-to/postgresql.md",
    "reconcile": "docs/how-to/restore.md",
    "backup": "docs/how-to/back-up-and-restore.md",
    "restore": "docs/how-to/back-up-and-restore.md",
    "rebind": "docs/how-to/restore.md",
    "export": "docs/reference/dataset.md",
    "report": "docs/reference/dataset.md",
    "assess": "docs/reference/heuristics.md",
    "analyse": "docs/explanation/analyses.md",
    "clean": "docs/how-to/partitions.md",
    "words": "docs/how-to/chains.md",
    "describe": "docs/how-to/describe.md",
    "score": "docs/how-to/score.md",
    "import": "docs/how-to/importing.md",
    "serve": "docs/how-to/run-a-marketplace.md",
    "requester": "docs/how-to/run-a-marketplace.md",
    "layout": "docs/how-to/run-a-marketplace.md",
    "crowd": "docs/how-to/schedule.md",
}
"""A command, or a subcommand with a page of its own ("workers invite"), to its page.

Markets name the pages of their commands."""


def page_of(command: str) -> str:
    """Return the page of a command; a subcommand without one has its group's.

    >>> page_of("workers list"), page_of("panel link")
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
        yield market.name, market.page
        if market.emulator is not None:
            yield market.emulator.name, market.emulator.page


def docs_line(command: str) -> str:
    """Return the last line of a command's help."""
    return f"Documentation: {page_of(command)}"
