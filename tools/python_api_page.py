"""Write `docs/reference/python-api.md` from the docstrings of the library.

Write it with `python -m tools.python_api_page > docs/reference/python-api.md`; a test
compares.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType

import piecework

OPENING = """\
# Python API reference

Look up a function, class or exception of `import piecework` here: its signature, its
arguments and what it returns or raises. [The library](library.md) explains them by
topic, with examples that run. These names stay as they are in later versions.

`python -m tools.python_api_page > docs/reference/python-api.md` writes this page from
the docstrings. Change those instead.
"""

STABLE = {
    "Campaign": {
        "name": "as the campaign file states it",
        "path": "the campaign file",
        "description": "as the campaign file states it",
        "task": "`task.name` stays",
        "items": "each with `item_id` and `columns`",
        "out": "the folder of store, dataset and report",
    }
}
"""Attributes that stay as they are, for a class with others that may change."""

_WIDTH = 88
_SECTION = re.compile(r"^(Args|Returns|Raises|Attributes):\n", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w+): ", re.MULTILINE)


def python_api_page() -> str:
    """The whole page."""
    functions, classes, exceptions = [], [], []
    for name in piecework.__all__:
        member = getattr(piecework, name)
        if not isinstance(member, type):
            functions.append(_function(name, member))
        elif issubclass(member, Exception):
            exceptions.append(_exception(name, member))
        else:
            classes.append(_class(name, member))
    return "\n".join(
        [
            OPENING,
            *("## Functions\n", *functions),
            *("## Classes\n", *classes),
            *("## Exceptions\n", *exceptions),
        ]
    )


def _function(name: str, function: Callable[..., object]) -> str:
    parts = [f"### {name}\n", f"```python\n{_signature(function)}\n```\n"]
    body, sections = _docstring(function)
    parts.append(body)
    for title in ("Args", "Returns", "Raises"):
        if title in sections:
            parts += [f"**{title}**\n", _entries(sections[title])]
    return "\n".join(parts)


def _class(name: str, described: type) -> str:
    body, sections = _docstring(described)
    meanings = dict(_named(sections.get("Attributes", "")))
    meanings |= STABLE.get(name, {})
    rows = [
        f"| `{attribute}` | `{kind}` | {meaning or meanings.get(attribute, '')} |"
        for attribute, kind, meaning in _attributes(described)
        if attribute in STABLE.get(name, [attribute])
    ]
    if name in STABLE:
        body += "\nIts other attributes may change.\n"
    head = "| attribute | type | meaning |\n|---|---|---|"
    return "\n".join([f"### {name}\n", *_base(described), body, head, *rows, ""])


def _base(described: type) -> Iterator[str]:
    (base,) = described.__bases__
    if base is not object:
        yield f"Base class: `{base.__name__}`.\n"


def _exception(name: str, described: type) -> str:
    body, sections = _docstring(described)
    parts = [f"### {name}\n", *_base(described), body]
    if "Attributes" in sections:
        parts += ["**Attributes**\n", _entries(sections["Attributes"])]
    return "\n".join(parts)


def _signature(function: Callable[..., object]) -> str:
    """The signature as the source has it, an argument a line if it is long."""
    node = _parsed(function)
    assert isinstance(node, ast.FunctionDef)  # noqa: S101 - the source of a function
    arguments = node.args
    values = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
    }
    listed = [_argument(each, values[each.arg]) for each in arguments.args]
    if arguments.kwonlyargs:
        named = [_argument(each, values[each.arg]) for each in arguments.kwonlyargs]
        listed += ["*", *named]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{node.name}({', '.join(listed)}){returns}"
    if len(line) <= _WIDTH:
        return line
    lines = "".join(f"    {each},\n" for each in listed)
    return f"{node.name}(\n{lines}){returns}"


def _argument(argument: ast.arg, value: object) -> str:
    """An argument with the default that it has, if it has one."""
    written = ast.unparse(argument)
    if value is inspect.Parameter.empty:
        return written
    if isinstance(value, MappingProxyType):
        value = dict(value)
    return f'{written} = "{value}"' if isinstance(value, str) else f"{written} = {value}"


def _attributes(described: type) -> Iterator[tuple[str, str, str]]:
    """Name, type and, for a property, meaning of each public attribute."""
    node = _parsed(described)
    assert isinstance(node, ast.ClassDef)  # noqa: S101 - the source of a class
    for part in node.body:
        match part:
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, _cell(part.annotation), ""
            case ast.FunctionDef(returns=ast.expr() as returns) if any(
                ast.unparse(each) == "property" for each in part.decorator_list
            ):
                meaning = " ".join((ast.get_docstring(part) or "").split())
                yield part.name, _cell(returns), meaning


def _cell(annotation: ast.expr) -> str:
    return ast.unparse(annotation).replace("|", "\\|")


def _parsed(member: object) -> ast.stmt:
    source = inspect.getsource(member)  # type: ignore[arg-type] # functions and classes
    return ast.parse(textwrap.dedent(source)).body[0]


def _docstring(member: object) -> tuple[str, dict[str, str]]:
    """The paragraphs before the first section, and the sections by title."""
    body, *parts = _SECTION.split((inspect.getdoc(member) or "") + "\n")
    titles, texts = parts[::2], parts[1::2]
    return body.rstrip() + "\n", dict(zip(titles, texts, strict=True))


def _entries(section: str) -> str:
    """The entries of a section as a list, or its text."""
    named = [*_named(section)]
    if not named:
        return textwrap.dedent(section).rstrip() + "\n"
    return "".join(
        textwrap.fill(
            f"- `{name}`: {meaning}",
            _WIDTH,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        + "\n"
        for name, meaning in _together(named)
    )


def _named(section: str) -> Iterator[tuple[str, str]]:
    _, *parts = _ENTRY.split(section)
    for name, meaning in zip(parts[::2], parts[1::2], strict=True):
        yield name, " ".join(meaning.split())


def _together(named: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Join the names of entries that point to the same other function."""
    names: dict[str, list[str]] = {}
    for name, meaning in named:
        names.setdefault(meaning if meaning.startswith("as for ") else name, []).append(name)
    meanings = dict(named)
    for joined in names.values():
        yield "`, `".join(joined), meanings[joined[0]]


if __name__ == "__main__":
    sys.stdout.write(python_api_page())
