"""Repair signs of Windows-1252 that were read as control characters.

Some programs read the bytes 0x80 to 0x9F, curly quotes and dashes in Windows-1252, as
Latin-1, where they are invisible control characters. Then `someone's` looks like
`someones`. Browsers decode these characters as Windows-1252 (WHATWG Encoding Standard,
"Names and labels"); so does this rule. It leaves U+0085, which is also a line break,
to the whitespace rule.
"""

import re

from piecework.domain.edit import Edit

NAME = "windows_signs"
VERSION = 1

_CONTROL = re.compile(r"[\x80\x82-\x84\x86-\x8c\x8e\x91-\x9c\x9e\x9f]")
"""The characters to which Windows-1252 assigns a sign, without U+0085."""


def mend(text: str) -> list[Edit]:
    r"""Return edits to the signs that were typed.

    >>> [ascii(edit.after)[1:-1] for edit in mend("someone\x92s \x93lap\x94")]
    ['\\u2019', '\\u201c', '\\u201d']
    """
    return [
        Edit(
            start=match.start(),
            end=match.end(),
            before=match.group(),
            after=(sign := match.group().encode("latin-1").decode("cp1252")),
            rule=NAME,
            reason=f"{sign} in Windows-1252, read as a control character",
        )
        for match in _CONTROL.finditer(text)
    ]
