"""What templates can say: filters and functions beside Jinja's own."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from markupsafe import Markup, escape

from piecework.domain.hit import Item
from piecework.domain.suggestion import did_you_mean
from piecework.domain.task import Field, Option
from piecework.hit_templates.messages import FOLDER

_STRONG = re.compile(r"\*\*(.+?)\*\*")
_EMPHASIS = re.compile(r"\*(.+?)\*")
_AROUND = re.compile(r"\s*([{};])\s*")
_OWN_CODE = frozenset(
    path.name for kind in ("_*.js", "_*.css") for path in FOLDER.glob(kind)
)
"""A template that somebody sent reads these files by `minified`, and no others."""

_SLOT = re.compile(r"\{(\w+)\}")


@cache
def minified(name: str) -> Markup:
    """One of our own scripts or styles, without indents and lines of comment.

    Styles lose the spaces around braces and semicolons too.

    A question has room for 65,535 bytes; what is only for us need not travel.

    Raises:
        ValueError: it is another file's name.
    """
    if name not in _OWN_CODE:
        raise ValueError(
            f"minified({name!r}): there is no such script or style of piecework"
            f"{did_you_mean(name, _OWN_CODE)}; put a file of your own beside the "
            "template, and include it"
        )
    lines = (line.strip() for line in (FOLDER / name).read_text("utf-8").splitlines())
    code = [line for line in lines if line and not line.startswith("//")]
    if name.endswith(".css"):
        code = [_AROUND.sub(r"\1", line) for line in code]
    return Markup("\n".join(code))  # noqa: S704 - files of this folder, no stranger's


def rich(text: str) -> Markup:
    """Text with `**strong**` and `*emphasis*`; everything else is escaped.

    >>> str(rich("**No** <b> & *some*"))
    '<strong>No</strong> &lt;b&gt; &amp; <em>some</em>'
    """
    plain = str(escape(text))
    strong = _STRONG.sub(r"<strong>\1</strong>", plain)
    return Markup(_EMPHASIS.sub(r"<em>\1</em>", strong))  # noqa: S704 - escaped above


def breakable(text: str) -> Markup:
    """Text that browsers may break after each slash, as they do not by themselves.

    >>> str(breakable("Scene/event & location"))
    'Scene/<wbr>event &amp; location'
    """
    return Markup("/<wbr>").join(text.split("/"))


def filled(text: str, **words: object) -> str:
    """A message with its slots filled in.

    >>> filled("{noun} {n} of {total}", noun="Image", n=1, total=5)
    'Image 1 of 5'

    Raises:
        KeyError: the message has a slot that nothing is given for.
    """
    return _SLOT.sub(lambda slot: str(words[slot[1]]), text)


def plain_number(number: float) -> str:
    """A number as HTML wants it.

    >>> plain_number(100.0), plain_number(0.5)
    ('100', '0.5')
    """
    return f"{number:g}"


def wire(field: Field, n: int | str) -> str:
    """The name of a field's control: of an item, of a trial ("p1"), of the HIT."""
    if isinstance(n, int):
        return f"{field.name}.{n}"
    return f"hit.{field.name}" if n == "hit" else f"practice.{field.name}.{n[1:]}"


def steps_of(field: Field) -> Iterator[str]:
    """Every value of a number, from its minimum to its maximum."""
    count = round((field.maximum - field.minimum) / field.step)
    for number in range(count + 1):
        yield plain_number(field.minimum + number * field.step)


def grouped(field: Field, item: Item | None) -> list[tuple[str, list[Option]]]:
    """The options that an item offers, with their labels, by group in order."""
    columns: Mapping[str, str] = item.columns if item else {}
    groups: dict[str, list[Option]] = {}
    for option in field.options:
        label = columns.get(option.column, "") if option.column else option.label
        if label.strip():
            groups.setdefault(option.group, []).append(replace(option, label=label))
    return list(groups.items())
