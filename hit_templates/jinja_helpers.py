"""The filters and functions that templates have besides Jinja's own."""

import json
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from markupsafe import Markup, escape

from piecework.domain.field import Field, Option
from piecework.domain.hit import Item
from piecework.domain.text import did_you_mean
from piecework.hit_templates.messages import FOLDER

_STRONG = re.compile(r"\*\*(.+?)\*\*")
_EMPHASIS = re.compile(r"\*(.+?)\*")
_STRUCK = re.compile(r"~~(.+?)~~")
_AROUND = re.compile(r"\s*([{};>])\s*|([:,])\s+")
_STRINGS = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)""")
_SPACED = re.compile(r" ?([=<>!&|?:,;{}()\[\]]) ?")
_ENDED = re.compile(r"([;{,(\[])\n")
_CONST = re.compile(r"\bconst ")
_OWN_CODE = frozenset(path.name for kind in ("_*.js", "_*.css") for path in FOLDER.glob(kind))
"""The only files that an untrusted template can read with `minified`."""

_WITH_DRAWINGS = frozenset(path.parent.name for path in FOLDER.glob("*/*.svg"))

_SLOT = re.compile(r"\{(\w+)\}")


@cache
def minified(name: str) -> Markup:
    """Return one of piecework's scripts or styles without comments and spare spaces.

    A question has room for 65,535 bytes, so these stay out of it.

    Raises:
        ValueError: the name is not one of these files.
    """
    if name not in _OWN_CODE:
        then = "put a file of your own beside the template, and include it"
        raise ValueError(
            f"minified({name!r}): piecework has no such script or style"
            f"{did_you_mean(name, _OWN_CODE, then=then)}"
        )
    lines = (line.strip() for line in (FOLDER / name).read_text("utf-8").splitlines())
    is_style = name.endswith(".css")
    code = [_AROUND.sub(r"\1\2", line) if is_style else _tight(line) for line in lines]
    text = _ENDED.sub(r"\1", "\n".join(filter(None, code))).replace(";}", "}")
    return Markup(text.replace("}\n", "}") if is_style else text)  # noqa: S704


def _tight(line: str) -> str:
    """Return a line of a script without its comment and spaces around signs.

    Strings stay, and so does code with a slash, which may begin a pattern. No string
    of our scripts goes over the end of a line. `let` is shorter than `const`.

    >>> _tight('say("a = b", c = d); // then'), _tight('const a = "const b";')
    ('say("a = b",c=d);', 'let a="const b";')
    """
    parts: list[str] = []
    for n, part in enumerate(_STRINGS.split(line)):
        code, comment, _ = part.partition("// ") if n % 2 == 0 else (part, "", "")
        parts.append(code.rstrip() if comment else part)
        if comment:
            break
    if not any("/" in part for part in parts[::2]):
        parts[::2] = [_SPACED.sub(r"\1", part) for part in parts[::2]]
    parts[::2] = [_CONST.sub("let ", part) for part in parts[::2]]
    return "".join(parts)


@cache
def packed_drawings(folder: str) -> str:
    """Return the drawings in a task's folder (`*.svg`), by name, packed as base64.

    A drawing has ten kilobytes, and a question room for sixty-four; together they
    share what they repeat. `_drawings.js` unpacks and shows them.

    Raises:
        ValueError: the gallery's task has no drawings.
    """
    if folder not in _WITH_DRAWINGS:
        raise ValueError(
            f"packed_drawings({folder!r}): the gallery has no such task with "
            f"drawings{did_you_mean(folder, _WITH_DRAWINGS)}"
        )
    drawings = sorted((FOLDER / folder).glob("*.svg"))
    return deflated(json.dumps({path.stem: path.read_text("utf-8") for path in drawings}))


def deflated(text: str) -> str:
    """Pack a text as a browser's `DecompressionStream("deflate-raw")` unpacks it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b64encode(packer.compress(text.encode()) + packer.flush()).decode()


def inflated(packed: str) -> str:
    """Undo `deflated`.

    >>> inflated(deflated("<p>äöü</p>"))
    '<p>äöü</p>'
    """
    return zlib.decompress(b64decode(packed), -15).decode()


def rich(text: str) -> Markup:
    """Render `**strong**`, `*emphasis*` and `~~struck~~`; escape everything else.

    >>> str(rich("**No** <b> & *some* ~~more~~"))
    '<strong>No</strong> &lt;b&gt; &amp; <em>some</em> <del>more</del>'
    """
    plain = str(escape(text))
    struck = _STRUCK.sub(r"<del>\1</del>", plain)
    strong = _STRONG.sub(r"<strong>\1</strong>", struck)
    return Markup(_EMPHASIS.sub(r"<em>\1</em>", strong))  # noqa: S704 - escaped above


def breakable(text: str) -> Markup:
    """Let browsers break the text after each slash, which they do not do on their own.

    >>> str(breakable("Scene/event & location"))
    'Scene/<wbr>event &amp; location'
    """
    return Markup("/<wbr>").join(text.split("/"))


def filled(text: str, **words: object) -> str:
    """Fill in a message's slots.

    >>> filled("{noun} {n} of {total}", noun="Image", n=1, total=5)
    'Image 1 of 5'

    Raises:
        KeyError: the message has a slot without a value.
    """
    return _SLOT.sub(lambda slot: str(words[slot[1]]), text)


def plain_number(number: float) -> str:
    """Format a number for HTML.

    >>> plain_number(100.0), plain_number(0.5)
    ('100', '0.5')
    """
    return f"{number:g}"


def wire(field: Field, n: int | str) -> str:
    """Return the name of a field's control for an item, a trial ("p1") or the HIT."""
    if isinstance(n, int):
        return f"{field.name}.{n}"
    return f"hit.{field.name}" if n == "hit" else f"practice.{field.name}.{n[1:]}"


def steps_of(field: Field) -> Iterator[str]:
    """Yield every value of a number field, from its minimum to its maximum."""
    count = round((field.maximum - field.minimum) / field.step)
    for number in range(count + 1):
        yield plain_number(field.minimum + number * field.step)


def grouped(field: Field, item: Item | None) -> list[tuple[str, list[Option]]]:
    """Return the options that an item offers, with their labels, by group in order."""
    columns: Mapping[str, str] = item.columns if item else {}
    groups: dict[str, list[Option]] = {}
    for option in field.options:
        label = columns.get(option.column, "") if option.column else option.label
        if label.strip():
            groups.setdefault(option.group, []).append(replace(option, label=label))
    return list(groups.items())
