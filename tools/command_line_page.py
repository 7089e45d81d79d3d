"""Generate `docs/reference/command-line.md` from the help of every command.

Write it with `python -m tools.command_line_page > docs/reference/command-line.md`; a
test compares them.
"""

import sys
from collections.abc import Iterator

import click

from piecework.cli.lazy_group import LazyCommand
from piecework.cli.main import main

_COLUMNS = 80

OPENING = """\
# Which commands and options does piecework have?

`python -m tools.command_line_page > docs/reference/command-line.md` writes this page
from `piecework COMMAND --help`. Change the docstrings in `src/piecework/` instead.

Every command also takes `-v`, `--log-file` and `-h`. Exit codes: 0 done, 1 failed, 2
used wrongly, 3 refused for safety, 4 a source not read, 130 interrupted.
"""


def command_line_page() -> str:
    """Return the page: a list by section, then the help of each command."""
    parts = [OPENING]
    for title, entries in main.sections.items():
        rows = [
            f"- [`piecework {entry.name}`](#piecework-{entry.name}): "
            f"{entry.get_short_help_str(500)}"
            for entry in entries
        ]
        parts.append(f"**{title}**\n\n" + "\n".join(rows) + "\n")
    for entries in main.sections.values():
        for entry in entries:
            parts += _sections(entry, f"piecework {entry.name}", "##")
    return "\n".join(parts)


def _sections(command: click.Command, path: str, heading: str) -> Iterator[str]:
    if isinstance(command, LazyCommand):
        command = command.load()
    yield f"{heading} {path}\n\n```text\n{_help(command, path)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.commands:
            yield from _sections(command.commands[name], f"{path} {name}", "###")


def _help(command: click.Command, path: str) -> str:
    """Return the help as shown in a terminal of 80 columns."""
    context = click.Context(
        command, info_name=path, terminal_width=_COLUMNS, help_option_names=["-h", "--help"]
    )
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


if __name__ == "__main__":
    sys.stdout.write(command_line_page())
