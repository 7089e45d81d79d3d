"""What `docs/operations` contains, read as data: commands, units, compose files."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import yaml

from piecework.cli.lazy_group import LazyCommand
from piecework.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "operations"
DEPLOY = PAGES / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE = [DEPLOY / "compose.yaml", DEPLOY / "compose.trial.yaml"]

_SHELL = re.compile(r"^ *```sh\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_PROGRAM = re.compile(r"(?:^|[;(|&{] *|\s)(?:/opt/\S+/)?(?:piecework|pw) +([a-z].*)")
_ENDS = re.compile(r"\s[>|;#]|\)|&&")
_SETTING = re.compile(r"^(\w+)=(.*)$", re.MULTILINE)


def services(file: Path) -> dict[str, dict[str, Any]]:
    """Return the services of a compose file."""
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    by_name: dict[str, dict[str, Any]] = document["services"]
    return by_name


def settings(unit: Path) -> dict[str, list[str]]:
    """Return the settings of a unit: all values by key, in order."""
    values: dict[str, list[str]] = {}
    for key, value in _SETTING.findall(unit.read_text(encoding="utf-8")):
        values.setdefault(key, []).append(value)
    return values


def shell_of(page: Path) -> str:
    """Return the shell commands of a page, with lines that continue joined."""
    blocks = _SHELL.findall(page.read_text(encoding="utf-8"))
    return "\n".join(blocks).replace("\\\n", " ")


def commands_of(shell: str) -> Iterator[list[str]]:
    """Yield the words of each call of piecework in shell commands."""
    # A service whose own program is another one.
    for line in shell.replace("--entrypoint piecework worker", "piecework").splitlines():
        for rest in _PROGRAM.findall(line):
            yield shlex.split(_ENDS.split(f"{rest} ")[0])


def check_accepted(words: Sequence[str]) -> None:
    """Check that a command exists and takes these options; nothing is run or opened.

    Raises:
        click.UsageError: there is no such command or option, or a value is missing.
    """
    name, *rest = words
    entry = main.commands.get(name)
    if entry is None:
        raise click.UsageError(f"no command {name}")
    command = entry.load() if isinstance(entry, LazyCommand) else entry
    ctx = click.Context(command, info_name=name)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        sub = command.get_command(ctx, rest[0])
        if sub is None:
            break  # `workers list` of a campaign file, for example
        command = sub.load() if isinstance(sub, LazyCommand) else sub
        ctx, rest = click.Context(command, parent=ctx, info_name=rest[0]), rest[1:]
    _, _, order = command.make_parser(ctx).parse_args(list(rest))
    # A file may state an option, and never an argument.
    needed = {
        each
        for each in command.params
        if each.required and ("--config" not in rest or isinstance(each, click.Argument))
    } - set(order)
    if needed:
        raise click.UsageError(f"{words}: {[each.name for each in needed]} missing")
