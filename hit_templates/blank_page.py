"""A page with slots for the items' values: made once, filled in for each HIT.

The HITs of a campaign differ in little but ids and addresses, so a template runs once,
over items made of slots. A slot can only be printed. A template that inspects or
changes a value raises `NeedsValue`, and its pages are rendered one by one. A printed
slot leaves a character that no text of piecework contains. The value replaces it,
escaped as the template would have escaped it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from markupsafe import Markup, escape

from piecework.hit_templates.page_compression import (
    MARK,
    compress,
    compressed_spans,
    fitted,
    quoted,
)

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
