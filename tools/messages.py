"""Collect every message that a user can see, from the source code, with file and line.

`python -m tools.messages` prints them by room, so that a person can read them as one
text. A message is a template: `{...}` stands for a value. `tests/test_messages.py`
checks facts about all of them.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[1]
ROOMS = (
    *("src/piecework", "packages/offline-markets/src"),
    *("config", "flows", "hit_templates", "postprocess", "qc"),
)
VALUE = "{...}"
"""Stands for a value in a template."""
Kind = Literal["error", "fault", "evidence", "next step", "output", "log"]

_ERRORS = re.compile(
    r"\w*(Error|Refusal|Refused|Exceeded|Busy|Unusable|Unreadable|Exit|NotAllowed)"
    r"|RefusedForSafety|DecidedMeanwhile"
)
"""Names of classes that take a message."""
_CLICK_ERRORS = {"UsageError", "ClickException", "BadParameter", "MissingParameter"}
_CLICK_OUTPUT = {"echo", "secho", "prompt", "confirm"}
_LOGGED = {"warning", "error", "exception", "critical"}
_FAULTS = re.compile(r"fault|warning|problem|complaint", re.IGNORECASE)
"""Names of functions and lists that gather sentences about a user's input."""
_WORDS_OF_EVIDENCE = 4
_NOT_SHOWN = {"code", "kind", "err", "fg", "nl", "extra", "name", "default", "type"}
"""Keyword arguments that are not text for users."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Message:
    """One message template.

    Attributes:
        path: the file, from the root of the project.
        line: the line in which its text begins.
        kind: what shows it: an error, one of several errors in a file (`fault`), a
            heuristic's evidence, the next step after an error, a command's output, or a
            log line.
        text: the template; each value in it is `{...}`.
    """

    path: str
    line: int
    kind: Kind
    text: str

    @property
    def room(self) -> str:
        """The package below `src/piecework`, or the folder at the root."""
        parts = Path(self.path).parts
        return parts[2] if parts[0] == "src" and len(parts) > 3 else parts[0]  # noqa: PLR2004


def all_messages(root: Path = ROOT) -> list[Message]:
    """Return the messages of all rooms, in the order of files and lines."""
    files = (file for room in ROOMS for file in sorted((root / room).rglob("*.py")))
    by_place: dict[tuple[str, int, str], Message] = {}
    for file in files:
        path = file.relative_to(root).as_posix()
        for message in messages_of(file.read_text("utf-8"), path):
            by_place.setdefault((path, message.line, message.text), message)
    return sorted(by_place.values())


def messages_of(source: str, path: str) -> Iterator[Message]:
    """Yield the messages of one module."""
    finder = _Finder(is_heuristic=path.startswith("qc/"))
    for kind, node in finder.in_module(ast.parse(source)):
        for line, text in _templates(node):
            if _is_text(text):
                yield Message(path=path, line=line, kind=kind, text=text)


class _Finder(ast.NodeVisitor):
    """Finds expressions whose strings are shown to users."""

    def __init__(self, *, is_heuristic: bool) -> None:
        self._is_heuristic = is_heuristic
        self._expressions: list[tuple[Kind, ast.expr]] = []
        self._functions: list[str] = []

    def in_module(self, tree: ast.Module) -> list[tuple[Kind, ast.expr]]:
        self.visit(tree)
        return self._expressions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._functions.append(node.name)
        self.generic_visit(node)
        self._functions.pop()

    def visit_Raise(self, node: ast.Raise) -> None:
        # Also functions that make an error: `raise wrong("...")`.
        if isinstance(node.exc, ast.Call) and not _is_error(node.exc):
            self._take("error", node.exc)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name, owner = _name_of(node.func), _owner_of(node.func)
        if _is_error(node):
            self._take("error", node)
        elif owner == "click" and name in _CLICK_OUTPUT:
            self._take("output", node)
        elif name in _LOGGED and "LOG" in owner.upper():
            self._expressions += [("log", argument) for argument in node.args[:1]]
        elif name in {"append", "extend"} and _FAULTS.search(owner):
            self._expressions += [("fault", argument) for argument in node.args]
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        # Heuristics write evidence in many small functions.
        if self._is_heuristic and len(_text_of(node).split()) >= _WORDS_OF_EVIDENCE:
            self._expressions.append(("evidence", node))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if _FAULTS.search(_name_of(node.target)):
            self._expressions.append(("fault", node.value))
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        self._take_of_function(node.value)
        self.generic_visit(node)

    def visit_Yield(self, node: ast.Yield) -> None:
        self._take_of_function(node.value)
        self.generic_visit(node)

    def _take_of_function(self, value: ast.expr | None) -> None:
        name = self._functions[-1] if self._functions else ""
        is_sentence = not isinstance(value, ast.Call | ast.Dict)
        if value is not None and is_sentence and _FAULTS.search(name):
            self._expressions.append(("fault", value))

    def _take(self, kind: Kind, node: ast.Call) -> None:
        self._expressions += [(kind, argument) for argument in node.args]
        for keyword in node.keywords:
            if keyword.arg == "next_step":
                self._expressions.append(("next step", keyword.value))
            elif keyword.arg not in _NOT_SHOWN:
                self._expressions.append((kind, keyword.value))


def _is_error(node: ast.Call) -> bool:
    name = _name_of(node.func)
    return name in _CLICK_ERRORS or _ERRORS.fullmatch(name) is not None


def _templates(node: ast.expr) -> Iterator[tuple[int, str]]:
    """Yield line and text of each template in an expression."""
    match node:
        case ast.Constant(value=str(text)):
            yield node.lineno, text
        case ast.JoinedStr():
            yield node.lineno, _text_of(node)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            value = (node.lineno, VALUE)
            line, first = next(_templates(left), value)
            _, last = next(_templates(right), value)
            yield line, first + last
        case _:
            for part in _parts(node):
                yield from _templates(part)


def _parts(node: ast.expr) -> Sequence[ast.expr]:
    """Return the parts of an expression that may each be the text."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.BoolOp(values=parts):
            return parts
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return parts
        case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part):
            return [part]
        case ast.Starred(value=part):
            return [part]
    return []


def _text_of(node: ast.JoinedStr) -> str:
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values
    )


def _is_text(text: str) -> bool:
    """Whether a template has words, and is no key, code or escape sequence."""
    words = text.replace(VALUE, " ").split()
    return len(words) > 1 or (len(words) == 1 and text.strip() != words[0])


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _owner_of(node: ast.expr) -> str:
    return _name_of(node.value) if isinstance(node, ast.Attribute) else ""


def listing(messages: Iterable[Message]) -> Iterator[str]:
    """Yield the lines of a listing, room by room."""
    in_order = sorted(messages, key=lambda message: (message.room, message))
    for room, of_room in groupby(in_order, key=lambda message: message.room):
        yield f"== {room}"
        for message in of_room:
            where = f"{message.path}:{message.line}"
            yield f"{where}: {message.kind}: {' '.join(message.text.split())}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in listing(all_messages()))
