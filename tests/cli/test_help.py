"""The list of commands that `piecework --help` prints, and other names for them."""

import click
import pytest
from click.testing import CliRunner

from piecework.cli.main import main

_COLUMNS = 80
_FEWEST_WORDS, _MOST_WORDS = 3, 8


def _help(*words: str) -> str:
    printed = CliRunner().invoke(
        main, [*words, "--help"], env={"COLUMNS": str(_COLUMNS)}
    )
    assert printed.exit_code == 0, printed.output
    return printed.output


def test_each_command_is_in_one_section_on_one_line() -> None:
    """No description is cut or wrapped at 80 columns."""
    lines = [line.split(maxsplit=1) for line in _help().splitlines() if line.strip()]
    for name, command in main.commands.items():
        summary = command.get_short_help_str(500)
        assert lines.count([name, summary]) == 1


@pytest.mark.parametrize("name", sorted(main.commands))
def test_a_summary_is_a_short_sentence(name: str) -> None:
    """Three to eight words, so that a reader scans the list."""
    words = main.commands[name].get_short_help_str(500).split()
    assert _FEWEST_WORDS <= len(words) <= _MOST_WORDS


@pytest.mark.parametrize("name", sorted(main.commands))
def test_the_help_of_a_command_fits_a_terminal(name: str) -> None:
    """The text above the options is at most 80 columns wide."""
    about = _help(name).split("\nOptions:")[0]
    assert max(map(len, about.splitlines())) <= _COLUMNS


@pytest.mark.parametrize(
    ("alias", "name"), [("validate", "check"), ("dry-run", "rehearse")]
)
def test_other_names_reach_the_command(alias: str, name: str) -> None:
    """People from other tools type these words."""
    with click.Context(main) as context:
        command = main.get_command(context, alias)
    assert command is main.commands[name]
    assert main.commands[name].get_short_help_str(500) in _help(alias)
