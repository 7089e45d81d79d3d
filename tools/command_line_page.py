"""Generate `docs/reference/command-line.md` from the help of every command.

Write it with `python -m tools.command_line_page > docs/reference/command-line.md`; a
test compares them.
"""

import sys
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from copy import copy

import click

from piecework.cli.lazy_group import LazyCommand
from piecework.cli.main import main
from piecework.cli.serve_markets import ServeCommand, options_by_crowd

_COLUMNS = 80
_SHARED_FROM = 2
"""Commands that have an option, from which the page shows it only once."""

OPENING = """\
# Which commands and options does piecework have?

`python -m tools.command_line_page > docs/reference/command-line.md` writes this page
from `piecework COMMAND --help`. Change the docstrings instead.

Exit codes: 0 done, 1 failed, 2 used wrongly, 3 refused for safety, 4 a source not read,
5 another pass is at work, 130 interrupted.
"""

_SHARED = """\
## Options of several commands

Every command has `-h`, `-v` and `--log-file`, most have `--json`. Below, a command only
names the others.

```text
{options}
```
"""


def own_options() -> list[tuple[str, click.Option]]:
    """Return each option with the path of its command, without hidden names."""
    return [
        (path, option)
        for path, command in leaves()
        for option in command.params
        if isinstance(option, click.Option)
    ]


def shared_options() -> dict[tuple[str, str], click.Option]:
    """Return the options that several commands have with the same help, by both.

    Of a name with several meanings, the most frequent.
    """
    options = [option for _, option in own_options()]
    counted = Counter(map(_same, options))
    usual = {name: (name, text) for (name, text), _ in reversed(counted.most_common())}
    return {
        _same(option): option
        for option in sorted(options, key=_name)
        if counted[_same(option)] >= _SHARED_FROM and usual[_name(option)] == _same(option)
    }


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Yield each command that is not a group, with its path."""
    for path, command in _commands(main, ""):
        if not isinstance(command, click.Group):
            yield path, command


def command_line_page() -> str:
    """Return the page: the commands, the shared options, and the help of each command."""
    parts = [OPENING]
    for title, entries in main.sections.items():
        names = ", ".join(f"[`{entry.name}`](#piecework-{entry.name})" for entry in entries)
        parts.append(f"**{title}:** {names}\n")
    shared = shared_options()
    parts.append(_SHARED.format(options=_listed([*shared.values()])))
    for path, command in _commands(main, ""):
        heading = "##" if path.count(" ") == 0 else "###"
        parts.append(f"{heading} piecework {path}\n\n{_described(command, path, shared)}")
    return "\n".join(parts)


def _commands(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    for name, entry in group.commands.items():
        command = entry.load() if isinstance(entry, LazyCommand) else entry
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from _commands(command, f"{before}{name} ")


def _described(command: click.Command, path: str, shared: Container[tuple[str, str]]) -> str:
    """Return a command's help, and the names of its shared options."""
    own = copy(command)
    own.add_help_option, own.epilog = False, None
    own.params = [
        each
        for each in command.params
        if not isinstance(each, click.Option) or _same(each) not in shared
    ]
    names = [
        _name(each)
        for each in command.params
        if isinstance(each, click.Option) and _same(each) in shared
    ]
    also = ", ".join(
        f"`{name}`" for name in names if name not in {"--verbose", "--log-file", "--json"}
    )
    line = f"Also {also}. " if also else ""
    page = str(command.epilog).removeprefix("Documentation: docs/")
    beside = ""
    if isinstance(command, ServeCommand):
        for crowd, options in options_by_crowd(command).items():
            beside += f"Beside `--crowd {crowd}`:\n\n```text\n{_listed(options)}\n```\n\n"
    text = _help(own, f"piecework {path}").replace(" [OPTIONS]", "", 1)
    if isinstance(command, click.Group):
        # The commands of a group follow, each with its own help and examples.
        text = text.partition("\n\n  Examples:\n")[0]
    return f"```text\n{text}\n```\n\n{beside}{line}[More](../{page})\n"


def _listed(options: Sequence[click.Parameter]) -> str:
    """Return the help of options without a command."""
    together = click.Command("", params=[*options], add_help_option=False)
    return _help(together, "").partition("Options:\n")[2]


def _same(option: click.Option) -> tuple[str, str]:
    return _name(option), option.help or ""


def _name(option: click.Option) -> str:
    return max(option.opts, key=len)


def _help(command: click.Command, path: str) -> str:
    """Return the help as shown in a terminal of 80 columns."""
    context = click.Context(command, info_name=path, terminal_width=_COLUMNS)
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


if __name__ == "__main__":
    sys.stdout.write(command_line_page())
