"""Renders tasks' templates in one sandboxed Jinja, and explains their faults.

A gallery template is found by the task's name, and one beside a campaign among the
files that were read with its task. Both may extend and import the gallery's frame and
macros. Each fault names its file and line.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, NoReturn

from markupsafe import Markup, escape

from piecework.domain.errors import ConfigError
from piecework.domain.late_modules import jinja2
from piecework.domain.task import OwnFiles, Task
from piecework.domain.text import did_you_mean
from piecework.hit_templates.jinja_helpers import (
    breakable,
    filled,
    grouped,
    minified,
    packed_drawings,
    plain_number,
    rich,
    steps_of,
    wire,
)
from piecework.hit_templates.messages import FOLDER, shown_path
from piecework.hit_templates.page_compression import (
    MARK,
    compress,
    compressed_spans,
    fitted,
    quoted,
)

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

QUESTION = "question.html.j2"
"""The template of a task's page."""

MACROS = "_macros.html.j2"
"""The gallery's template of macros (docs/reference/macros.md)."""

_TEMPLATE_VALUES = frozenset(
    {"item", "n", "fields", "t", "task", "title", "total", "noun", "minified"}
)
"""The names of the values that a task's template receives."""


@lru_cache
def environment() -> "ImmutableSandboxedEnvironment":
    """Return the environment for tasks' templates.

    It escapes all values, and undefined names are faults. The sandbox blocks access to
    Python's internals and changes to values.
    """
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - most commands render nothing

    made = ImmutableSandboxedEnvironment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=_explained(),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=printed,
    )
    made.globals.update(
        minified=minified,
        packed_drawings=packed_drawings,
        wire=wire,
        grouped=grouped,
        steps_of=steps_of,
    )
    made.filters.update(rich=rich, breakable=breakable, filled=filled, plain_number=plain_number)
    return made


def has_template(task: Task, name: str) -> bool:
    """Return whether the task's folder has a template of this name."""
    if task.own is not None:
        return name in task.own.templates
    return (FOLDER / task.name / name).is_file()


def rendered(task: Task, name: str, values: Mapping[str, object]) -> str:
    """Render a template of the task's folder with these values.

    Raises:
        ConfigError: the template has a fault; names file and line.
        NeedsValue: the template does more than print a slot (`blank_page`).
    """
    try:
        if task.own is None:
            page = environment().get_template(f"{task.name}/{name}")
        else:
            page = _own_environment(task.own).get_template(name)
        return page.render(values)
    except NeedsValue:
        raise
    # A template can divide by zero, call a non-function, or nest endlessly.
    except Exception as fault:
        raise ConfigError(
            [_fault_message(task, name, fault)],
            next_step="docs/reference/macros.md lists what templates can use",
        ) from fault


def line_of_template(task: Task, file: Path, line: int) -> int | None:
    """Return the line in a template of the task's own folder for a compiled line.

    `None` if the code belongs to another file.
    """
    own = task.own
    if own is None or file.parent != Path(own.path) or file.name not in own.templates:
        return None
    return _own_environment(own).get_template(file.name).get_corresponding_lineno(line)


@lru_cache(maxsize=32)
def _own_environment(own: OwnFiles) -> "ImmutableSandboxedEnvironment":
    def read(name: str) -> tuple[str, str, None] | None:
        text = own.templates.get(name)
        return None if text is None else (text, str(Path(own.path) / name), None)

    return environment().overlay(
        loader=jinja2.ChoiceLoader([jinja2.FunctionLoader(read), jinja2.FileSystemLoader(FOLDER)])
    )


def _fault_message(task: Task, name: str, fault: Exception) -> str:
    """Describe a fault in a sentence that begins with its place."""
    if isinstance(fault, jinja2.TemplateSyntaxError):
        file = fault.filename or fault.name or name
        return f"{file}:{fault.lineno}: {str(fault.message).rstrip('.')}."
    where, within = _where(task, name, fault)
    if isinstance(fault, jinja2.TemplateNotFound):
        beside = ", ".join(sorted(task.own.templates)) if task.own else ""
        there = f"; the folder has {beside}" if beside else ""
        return f"{where}: there is no template {fault.name!r}{there}."
    message = str(fault) or type(fault).__name__
    if not isinstance(fault, jinja2.TemplateError):
        message = f"{message} ({type(fault).__name__})"
    end = "" if message.endswith("?") and not within else "."
    return f"{where}: {message.rstrip('.')}{within}{end}"


def _where(task: Task, name: str, fault: Exception) -> tuple[str, str]:
    """Return the line to correct, and where below it rendering stopped, or "".

    A task's author corrects the line that called a gallery macro, not the macro.
    """
    frames = [
        (Path(frame.f_code.co_filename), line)
        for frame, line in walk_tb(fault.__traceback__)
        if frame.f_code.co_filename.endswith(".j2")
    ]
    if not frames:
        return _path(task, name), ""
    own = [at for at in frames if task.own and at[0].parent == Path(task.own.path)]
    last = f"{shown_path(frames[-1][0])}:{frames[-1][1]}"
    if not own or own[-1] == frames[-1]:
        return last, ""
    return f"{own[-1][0]}:{own[-1][1]}", f" (in {last})"


def _explained() -> "type[jinja2.StrictUndefined]":
    """Return the class of undefined names whose message lists the known ones."""
    from jinja2.utils import missing  # noqa: PLC0415 - as above

    class NotThere(jinja2.StrictUndefined):
        __slots__ = ()

        @property
        def _undefined_message(self) -> str:
            name, holder = str(self._undefined_name), self._undefined_obj
            if self._undefined_hint is None and isinstance(holder, Mapping):
                there = [str(key) for key in holder]
                meant = did_you_mean(name, there)
                return f"there is no {name!r} here{meant or _listed(there)}"
            if self._undefined_hint is None and holder is missing:
                return f"{name!r} is not defined{_known(name)}"
            return super()._undefined_message

    return NotThere


def _listed(names: Sequence[str]) -> str:
    return f"; there are {', '.join(names)}" if names else ", nor anything else"


def _known(name: str) -> str:
    """Return the next step for a name that a template does not know."""
    exported = vars(environment().get_template(MACROS).module)
    macros = {macro for macro in exported if not macro.startswith("_")}
    if name in macros:
        return f"; import it: {{% from {MACROS!r} import {name} with context %}}"
    return did_you_mean(name, macros | _TEMPLATE_VALUES)


def _path(task: Task, name: str) -> str:
    folder = task.own.path if task.own else f"hit_templates/{task.name}"
    return f"{folder}/{name}"


_FIRST = 0xF0000
_ITEM_SLOT = re.compile("([\U000f0000-\U000ffffd])")
"""Supplementary private-use characters, one for each slot."""


class NeedsValue(Exception):  # noqa: N818 - not a fault
    """A template inspected a value instead of printing it."""


class Slot:
    """Stands for a value while a blank page is made."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = number

    def _refuse(self, *_: object) -> NoReturn:
        raise NeedsValue

    __getattr__ = __str__ = __repr__ = __format__ = __bool__ = __len__ = _refuse
    __iter__ = __contains__ = __getitem__ = __call__ = __eq__ = __ne__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __hash__ = __add__ = __radd__ = _refuse


def printed(value: object) -> object:
    """Return what the environment prints for a value; a slot leaves its mark."""
    return Markup(chr(_FIRST + value._number)) if isinstance(value, Slot) else value  # noqa: S704, SLF001 - not markup; the slot's own field


@dataclass(frozen=True, slots=True)
class BlankPage:
    """A page cut at its slots, uncompressed and compressed.

    Attributes:
        whole: the pieces of the page; those with an odd index are slot numbers.
        compressed: the same for the compressed page.
        is_quoted: for each piece of `compressed`, whether it is in a script's text.
    """

    whole: tuple[str | int, ...]
    compressed: tuple[str | int, ...]
    is_quoted: tuple[bool, ...]

    def filled(self, values: Sequence[str], *, more_than: int) -> str:
        """Return the page of one HIT, compressed if it has more bytes than `more_than`.

        Args:
            values: the text of each slot, by its number; markup stays as it is.
            more_than: bytes of UTF-8.
        """
        escaped = [str(escape(value)) for value in values]
        page = "".join(piece if isinstance(piece, str) else escaped[piece] for piece in self.whole)
        if len(page.encode()) <= more_than or MARK in page:
            return page
        compressed = "".join(
            piece
            if isinstance(piece, str)
            else (quoted(escaped[piece]) if is_quoted else escaped[piece])
            for piece, is_quoted in zip(self.compressed, self.is_quoted, strict=True)
        )
        # A page this small can share text with its neighbours instead.
        is_small = len(compressed.encode()) <= more_than
        return compressed if is_small else fitted(page, more_than=more_than)


def blank_page(page: str) -> BlankPage:
    """Cut a page that was rendered over slots."""
    compressed = compress(page, more_than=0)
    spans, pieces, start = compressed_spans(compressed), _ITEM_SLOT.split(compressed), 0
    is_quoted = []
    for piece in pieces:
        is_quoted.append(any(first <= start < last for first, last in spans))
        start += len(piece)
    return BlankPage(
        whole=_numbered(_ITEM_SLOT.split(page)),
        compressed=_numbered(pieces),
        is_quoted=tuple(is_quoted),
    )


def _numbered(pieces: Sequence[str]) -> tuple[str | int, ...]:
    return tuple(ord(piece) - _FIRST if n % 2 else piece for n, piece in enumerate(pieces))
