"""Every message that a user can see: found, and fit to be shown."""

import ast
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from tools.messages import ROOT, Message, all_messages, listing, messages_of

FEWEST = 300
ERRORS = ("error", "fault")
BEGINS = re.compile(r"""[A-Za-z0-9{'"<\[`.-]""")
INTERNAL = re.compile(r"^class (_?[A-Z][a-z]+[A-Z]\w*)", re.MULTILINE)
ALSO_MTURKS = {"AnswerKey"}
"""MTurk's documents that a class is named after."""
FOR_PROGRAMMERS = {"ReportFacts"}
"""Checks of a caller's arguments."""
MODULE = """
def faults_of(key):
    yield f"{key}: is missing"
    if key: return ["a: no such key" if key else "b: is empty"]

def load(path, faults):
    faults.append("c: " + "is given twice")
    LOG.warning("%s: no answer", path)
    click.echo("next: piecework check")
    raise ConfigError(
        [f"{path}: cannot be read ({path!r})"], next_step=f"look at {path}"
    )

def strange(path):
    raise wrong("this is odd", code="very odd")
"""


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    """All messages of the project."""
    return all_messages()


def test_each_way_to_say_something_is_found() -> None:
    """One of each kind; a code and a key are not messages."""
    seen = [(each.line, each.kind, each.text) for each in messages_of(MODULE, "a.py")]
    assert sorted(seen) == [
        (3, "fault", "{...}: is missing"),
        (4, "fault", "a: no such key"),
        (4, "fault", "b: is empty"),
        (7, "fault", "c: is given twice"),
        (8, "log", "%s: no answer"),
        (9, "output", "next: piecework check"),
        (11, "error", "{...}: cannot be read ({...})"),
        (11, "next step", "look at {...}"),
        (15, "error", "this is odd"),
    ]


def test_evidence_is_found_in_heuristics_alone() -> None:
    """Sentences with values; shorter texts are names and keys."""
    source = 'def of(n):\n    return f"{n} of {n} answers are short", f"n {n}"\n'
    assert [each.kind for each in messages_of(source, "qc/short.py")] == ["evidence"]
    assert not list(messages_of(source, "src/piecework/store/short.py"))


def test_all_rooms_have_messages(messages: list[Message]) -> None:
    """A change of idiom must not leave a room out unnoticed."""
    errors = [message for message in messages if message.kind in ERRORS]
    assert len(errors) > FEWEST
    rooms = {message.room for message in errors}
    assert {"engine", "store", "campaign", "marketplace", "markets", "cli"} <= rooms
    assert {"config", "flows", "hit_templates", "postprocess", "qc"} <= rooms
    assert sum(message.kind == "evidence" for message in messages) > FEWEST / 10


def test_the_listing_has_a_head_for_each_room(messages: list[Message]) -> None:
    """And a line for each message, with file and line."""
    lines = list(listing(messages))
    heads = [line for line in lines if line.startswith("== ")]
    assert heads == sorted({f"== {message.room}" for message in messages})
    assert len(lines) == len(heads) + len(messages)
    first = messages[0]
    assert any(line.startswith(f"{first.path}:{first.line}: ") for line in lines)


def test_errors_begin_and_end_as_sentences(messages: list[Message]) -> None:
    """With a word, or with what they are about; and nothing is cut off."""
    for message in messages:
        if message.kind in ERRORS:
            assert message.text == message.text.strip(), message
            assert BEGINS.match(message.text), message
            assert not message.text.endswith((":", ",", ";")), message


def test_next_steps_say_something(messages: list[Message]) -> None:
    """A command, or what to do; at least a word."""
    for message in messages:
        if message.kind == "next step":
            assert re.search(r"[a-z]{3}", message.text.replace("{...}", "")), message


COMMAND = re.compile(r"(?:\bpiecework |\brm -r |\bchmod 600 )[^;:()\n`]*$")
"""A command that has not ended yet."""
FILE = re.compile(r"(\bcampaign|[Pp]ath(\.name|s\[0\])?|file(_name)?|folder|sheet)$")
"""How an expression ends that is a path, or a name of a file."""
NO_COMMANDS = {"experiment.py", "dealing.py", "assembling.py", "lazy_group.py"}
"""Modules whose seeds, sentences and names of groups begin as a command does."""


def test_a_path_in_a_command_is_one_word_of_a_shell() -> None:
    """A folder may have spaces in its name, and a command is there to be copied."""
    bare = [
        f"{path.relative_to(ROOT)}: {before}{{{value}}}"
        for path in sources()
        if path.name not in NO_COMMANDS
        for before, value in _values_in_commands(ast.parse(_read(path)))
        if FILE.search(value)
    ]
    assert not bare, "\n".join(bare)


def _values_in_commands(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What stands before a value in a command, and the value."""
    for text in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
        before = ""
        for part in text.values:
            if isinstance(part, ast.FormattedValue):
                value = ast.unparse(part.value)
                if command := COMMAND.search(before):
                    yield command[0], value
                before += f"{{{value}}}".translate(_NO_MARKS)
            elif isinstance(part, ast.Constant):
                before += str(part.value)


_NO_MARKS = str.maketrans("", "", ";:()`\n")


def sources() -> Iterator[Path]:
    """Every module of the package."""
    rooms = ("src/piecework", "config", "flows", "hit_templates", "postprocess", "qc")
    yield from chain.from_iterable((ROOT / room).rglob("*.py") for room in rooms)


def test_no_message_names_a_class_of_ours(messages: list[Message]) -> None:
    """Users know files, keys and commands, not Python's names for them."""
    names = set(chain(*(INTERNAL.findall(_read(path)) for path in sources())))
    names -= ALSO_MTURKS | FOR_PROGRAMMERS
    for message in messages:
        words = set(re.findall(r"\w+", message.text))
        assert not words & names, message
        assert " object at 0x" not in message.text, message


def test_no_message_reads_like_a_translation(messages: list[Message]) -> None:
    """None has a phrase of the house list (`tools.plain_english`)."""
    house = pytest.importorskip("tools.plain_english").HOUSE
    phrases = {phrase: re.compile(rf"\b{phrase}\b", re.IGNORECASE) for phrase in house}
    odd = [
        f"{message.path}:{message.line}: {phrase!r}: write {house[phrase]!r}"
        for message in messages
        for phrase, pattern in phrases.items()
        if pattern.search(message.text)
    ]
    assert not odd, "\n".join(odd)


def _read(path: Path) -> str:
    return path.read_text("utf-8")
