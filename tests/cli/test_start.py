"""How the command starts: commands come from a table; the one called is imported."""

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

import piecework.cli
from piecework.cli.lazy_group import LazyCommand
from piecework.cli.main import main

FOLDER = Path(piecework.cli.__file__).parent


def _entries(group: click.Group) -> Iterator[LazyCommand]:
    for command in group.commands.values():
        if isinstance(command, LazyCommand):
            yield command
            loaded = command.load()
            if isinstance(loaded, click.Group):
                yield from _entries(loaded)


ENTRIES = list(_entries(main))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.module)
def test_the_table_says_what_the_module_says(entry: LazyCommand) -> None:
    """A name or sentence that changed in the module alone would be told wrongly."""
    command = entry.load()
    assert command.name == entry.name
    assert command.get_short_help_str(500) == entry.get_short_help_str(500)


def test_every_module_with_a_command_is_in_the_table() -> None:
    """A command that the table lacks could not be called."""
    names = {file.stem for file in FOLDER.glob("*.py")}
    with_command = {
        name
        for name in names - {"main"}
        if isinstance(
            getattr(import_module(f"piecework.cli.{name}"), name, None), click.Command
        )
    }
    assert with_command == {entry.module for entry in ENTRIES}


def _modules_after(statement: str) -> set[str]:
    """What a fresh Python has imported after a statement."""
    script = f"import sys\n{statement}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    return set(done.stderr.split())


def test_the_list_of_commands_imports_no_command() -> None:
    """`piecework --help` is asked for often, and has to come at once."""
    modules = _modules_after(
        "from piecework.cli.main import main\nmain(['--help'], standalone_mode=False)"
    )
    assert not {f"piecework.cli.{entry.module}" for entry in ENTRIES} & modules
    assert "rich" not in modules


def test_the_help_of_no_command_imports_what_takes_long() -> None:
    """All commands are imported; pandas, Prefect and matplotlib are for their work."""
    modules = _modules_after(
        "from piecework.cli.main import main\n"
        "for command in main.commands.values():\n"
        "    loaded = command.load()\n"
        "    for inner in getattr(loaded, 'commands', {}).values():\n"
        "        getattr(inner, 'load', list)()"
    )
    assert "piecework.cli.prolific_doctor" in modules
    assert not {"pandas", "prefect", "matplotlib"} & modules
