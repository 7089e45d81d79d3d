"""The help of every command and subcommand, and other names for commands."""

import ast
import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from piecework.cli.lazy_group import LazyCommand, page_of
from piecework.cli.main import main
from piecework.cli.serve_markets import options_by_crowd
from tests.conftest import ROOT
from tests.for_each import for_each
from tests.test_messages import sources
from tools.command_line_page import leaves, own_options

_COLUMNS = 80
_FEWEST_WORDS, _MOST_WORDS = 3, 8
_MOST_EXAMPLES = 3


def _help(path: str) -> str:
    printed = CliRunner().invoke(main, [*path.split(), "--help"], env={"COLUMNS": str(_COLUMNS)})
    assert printed.exit_code == 0, printed.output
    return printed.output


def _paths(group: click.Group = main, before: str = "") -> Iterator[str]:
    for name, entry in group.commands.items():
        command = entry.load() if isinstance(entry, LazyCommand) else entry
        yield f"{before}{name}"
        if isinstance(command, click.Group):
            yield from _paths(command, f"{before}{name} ")


_ALL = list(_paths())


_TREE = {
    "Prepare": ["init", "check", "preview", "rehearse", "compare"],
    "Run": ["run", "status", "review", "workers", "pay", "stop", "export"],
    "Tools": ["data", "market", "store"],
}
_MOST_LEAVES = 56


def test_a_person_finds_fifteen_commands() -> None:
    """In three sections; what they contain is found by asking them."""
    sections = {
        title.partition(",")[0].split()[0]: [entry.name for entry in entries]
        for title, entries in main.sections.items()
    }
    assert sections == _TREE
    assert sum(map(len, _TREE.values())) == len(main.commands) == 15
    groups = {path.rpartition(" ")[0] for path in _ALL}
    assert len([path for path in _ALL if path not in groups]) <= _MOST_LEAVES


@pytest.mark.parametrize("words", [[], ["data"], ["market"], ["market", "people"], ["workers"]])
def test_a_group_without_a_command_lists_its_commands(words: list[str]) -> None:
    """It is a question and no fault."""
    asked = CliRunner().invoke(main, words)
    assert asked.exit_code == 0
    assert asked.output == CliRunner().invoke(main, [*words, "--help"]).output


def test_prolific_has_a_short_form_that_no_list_shows() -> None:
    """People type it often; the messages and pages say `market prolific`."""
    assert "\n  prolific" not in _help("")
    short, long = (
        CliRunner().invoke(main, [*words, "doctor", "--help"]).output.splitlines()
        for words in (["prolific"], ["market", "prolific"])
    )
    assert short[1:] == long[1:]


@pytest.mark.parametrize("name", ["advance", "serve", "decisions", "requester", "import", "crowd"])
def test_a_former_name_is_no_command(name: str) -> None:
    """Two names for a thing would be two things to learn."""
    assert CliRunner().invoke(main, [name]).exit_code == 2


@for_each("group", ["", *sorted({path.rpartition(" ")[0] for path in _ALL} - {""})])
def test_each_command_is_in_the_list_on_one_line(group: str) -> None:
    """No summary is cut or wrapped at 80 columns."""
    lines = [line.split(maxsplit=1) for line in _help(group).splitlines()]
    for path in _ALL:
        if path.rpartition(" ")[0] == group:
            summary = _help(path).splitlines()[2].strip()
            assert lines.count([path.split()[-1], summary]) == 1


@for_each("path", _ALL)
def test_help_says_what_shows_how_and_names_a_page(path: str) -> None:
    """A short summary, two or three commands, a documentation page; 80 columns."""
    lines = _help(path).splitlines()
    assert max(map(len, lines)) <= _COLUMNS
    summary = lines[2].strip()
    assert summary.endswith(".")
    assert _FEWEST_WORDS <= len(summary.split()) <= _MOST_WORDS
    first = lines.index("  Examples:") + 1
    examples = lines[first : lines.index("", first)]
    commands = [line for line in examples if line.startswith("    piecework ")]
    assert 2 <= len(commands) <= _MOST_EXAMPLES
    assert commands[0].startswith(f"    piecework {path}")
    assert lines[-1] == f"  Documentation: {page_of(path)}"


@for_each("path", ["piecework", *_ALL])
def test_the_page_that_help_names_exists(path: str) -> None:
    """Each command has an entry, and its page was not moved without it."""
    assert (ROOT / page_of(path)).is_file()


@pytest.mark.parametrize(
    ("alias", "name"), [("validate", "check"), ("dry-run", "rehearse"), ("worker", "workers")]
)
def test_other_names_reach_the_command(alias: str, name: str) -> None:
    """People from other tools type these words."""
    with click.Context(main) as context:
        command = main.get_command(context, alias)
    assert command is main.commands[name]
    assert main.commands[name].get_short_help_str(500) in _help(alias)


_PRINTED = re.compile(r"(`?)\bpiecework ([a-z\0][^\n`;:(),]*)")
"""A command in a text; a value stands in it as a null."""
_WORD = re.compile(r"[a-z][a-z-]*|\0")


def test_each_command_that_a_text_names_exists() -> None:
    """Also with a market's name as a value; a short form is no name."""
    unknown = [
        f"{path.relative_to(ROOT)}: {printed}"
        for path in sources()
        for text in _texts(ast.parse(path.read_text("utf-8")))
        for printed in _PRINTED.findall(text)
        if not _exists(printed[1].split(), is_marked=bool(printed[0]))
    ]
    assert not unknown, "\n".join(unknown)


@pytest.mark.parametrize(
    ("words", "is_known"),
    [
        ("market \0 reconcile --adopt \0", True),
        ("\0 reconcile", False),
        ("connect status", False),
        ("market conect status", False),
        ("pay \0 --paid", True),
        ("data", True),
        ("data import batch.csv", True),
        ("data imports", False),
        ("\0 --help", True),
    ],
)
def test_a_command_is_followed_through_its_groups(words: str, *, is_known: bool) -> None:
    """What follows a command is its own affair."""
    assert _exists(words.split(), is_marked=True) is is_known


def _texts(tree: ast.Module) -> Iterator[str]:
    inner = set[ast.AST]()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inner.update(ast.walk(node))
            parts = (getattr(part, "value", "") for part in node.values)
            yield "".join(part if isinstance(part, str) else "\0" for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inner:
            yield node.value


def _exists(words: list[str], *, is_marked: bool) -> bool:
    """Whether words name a command; words that are not marked may be prose."""
    if words[:1] == ["\0"]:
        return not is_marked or not _WORD.fullmatch("".join(words[1:2]))
    named = {""}
    for number, word in enumerate(words):
        if not _WORD.fullmatch(word):
            break
        inside = {
            path
            for path in _ALL
            if path.rpartition(" ")[0] in named and word in ("\0", path.split()[-1])
        }
        if not inside:
            return not is_marked if number == 0 else any(not _has_commands(path) for path in named)
        named = inside
    return True


def _has_commands(path: str) -> bool:
    return any(each.startswith(f"{path} ") for each in _ALL)


_MOST_OPTIONS = 190


def test_a_person_meets_few_options_of_commands() -> None:
    """Equal ones count once; those of a market are shown beside its name."""
    serve = dict(leaves())["market serve"]
    of_markets = [option for crowd in options_by_crowd(serve).values() for option in crowd]
    everywhere = {"--json", "--verbose", "--log-file", "--config", "--print-config"}
    different = {
        (max(option.opts, key=len), option.help)
        for _, option in own_options()
        if option not in of_markets
    }
    assert len({each for each in different if each[0] not in everywhere}) <= _MOST_OPTIONS


def test_options_of_a_market_are_shown_beside_its_name() -> None:
    """And what has no effect for invited people is not shown for them."""
    plain = _help("market serve")
    at_prolific = _help("market serve --crowd prolific")
    at_panel = _help("market serve --crowd=panel")
    assert "--workspace" not in plain
    assert "--spend-at-most" not in plain
    assert "--crowd prolific --help" in plain
    assert "--workspace" in at_prolific
    assert "--spend-at-most" in at_prolific
    assert "--workspace" not in at_panel
    assert "--panel FILE" in at_panel
