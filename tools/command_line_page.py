"""Generate `docs/reference/command-line.md` from the help of every command.

Write it with `python -m tools.command_line_page > docs/reference/command-line.md`; a
test compares them.
"""

import re
import sys
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from copy import copy

import click

from piecework.cli.lazy_group import LazyCommand, page_of
from piecework.cli.main import main
from piecework.cli.serve_markets import ServeCommand, options_by_crowd

_COLUMNS = 80
_SHARED_FROM = 2
"""Commands that have an option, from which the page shows it only once."""

_Same = tuple[str, str, str]
"""What options have in common that the page shows once: name, help, and shown default."""

_SHARED_PART = re.compile(r" --json| --database [\w.]+")
_PLAIN = re.compile(r"( [\w./-]+\.toml| --help)*")
"""What follows a command in an example that shows nothing of the command's own."""

OPENING = """\
# Which commands and options does piecework have?

`python -m tools.command_line_page > docs/reference/command-line.md` writes this page
from `piecework COMMAND --help`, which also has the simplest
examples. Change the docstrings instead.

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


def shared_options() -> dict[_Same, click.Option]:
    """Return the options that several commands have with the same help and default.

    Of a name with several meanings, the most frequent.
    """
    options = [option for _, option in own_options()]
    counted = Counter(map(_same, options))
    usual = {same[0]: same for same, _ in reversed(counted.most_common())}
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
    headings = {path: _usage(command, path) for path, command in _commands(main, "")}
    for title, entries in main.sections.items():
        names = ", ".join(
            f"[`{entry.name}`](#{_anchor(headings[str(entry.name)])})" for entry in entries
        )
        parts.append(f"**{title}:** {names}\n")
    shared = shared_options()
    parts.append(_SHARED.format(options=_listed([*shared.values()])))
    for path, command in _commands(main, ""):
        heading = "##" if path.count(" ") == 0 else "###"
        described = _described(command, path, shared)
        text = f"{heading} {headings[path]}\n\n{described} {_more(path)}"
        parts.append(text.replace("\n [More]", "\n[More]").rstrip() + "\n")
    return "\n".join(parts)


def _usage(command: click.Command, path: str) -> str:
    """Return the command with its arguments, without "[OPTIONS]"."""
    if isinstance(command, click.Group):
        return f"piecework {path}"
    context = click.Context(command, info_name=f"piecework {path}", terminal_width=_COLUMNS)
    pieces = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    return " ".join([f"piecework {path}", *pieces])


def _anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and MkDocs write it."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()))


def _commands(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    for name, entry in group.commands.items():
        command = entry.load() if isinstance(entry, LazyCommand) else entry
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from _commands(command, f"{before}{name} ")


def _described(command: click.Command, path: str, shared: Container[_Same]) -> str:
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
    line = f"Also {also}." if also else ""
    beside = ""
    if isinstance(command, ServeCommand):
        for crowd, options in options_by_crowd(command).items():
            beside += f"Beside `--crowd {crowd}`:\n\n```text\n{_listed(options)}\n```\n\n"
    text = _help(own, f"piecework {path}").partition("\n\n")[2]
    if isinstance(command, click.Group):
        # The commands of a group follow, each with its own help and examples.
        text = text.partition("\n\n  Examples:\n")[0]
    else:
        text = _without_plain_examples(text, path)
    return f"```text\n{text}\n```\n\n{beside}{line}"


def _more(path: str) -> str:
    """Return a link to the command's page, unless its group has the same link."""
    page = page_of(path)
    group = path.rpartition(" ")[0]
    is_of_group = bool(group) and page_of(group) == page
    return "" if is_of_group else f"[More](../{page.removeprefix('docs/')})"


def _without_plain_examples(text: str, path: str) -> str:
    """Leave out examples that show no more than the heading and the shared options."""
    before, head, after = text.partition("\n\n  Examples:\n")
    examples, blank, options = after.partition("\n\n")
    telling: dict[str, str] = {}
    for each in re.split(r"\n(?=    piecework )", examples):
        own = _SHARED_PART.sub("", each)
        if not _PLAIN.fullmatch(own.strip().removeprefix(f"piecework {path}")):
            telling.setdefault(own, each)
    if not telling:
        head = ""
    return before + head + "\n".join(telling.values()) + blank + options


def _listed(options: Sequence[click.Parameter]) -> str:
    """Return the help of options without a command."""
    together = click.Command("", params=[*options], add_help_option=False)
    return _help(together, "").partition("Options:\n")[2]


def _same(option: click.Option) -> _Same:
    return _name(option), option.help or "", repr(option.default) if option.show_default else ""


def _name(option: click.Option) -> str:
    return max(option.opts, key=len)


def _help(command: click.Command, path: str) -> str:
    """Return the help as shown in a terminal of 80 columns."""
    context = click.Context(command, info_name=path, terminal_width=_COLUMNS)
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


if __name__ == "__main__":
    sys.stdout.write(command_line_page())
