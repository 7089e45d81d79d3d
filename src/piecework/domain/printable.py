"""Make text from strangers safe for a terminal: show control characters as escapes."""

import unicodedata

_STEERS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control characters, format characters (including those that change the direction of
writing), surrogates, and line and paragraph separators."""


def printable(text: str) -> str:
    r"""Return the text with control characters as escapes; line breaks stay.

    >>> printable("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(
        _shown(letter) if letter != "\n" and unicodedata.category(letter) in _STEERS else letter
        for letter in text
    )


def control_in(text: str) -> str:
    r"""Return the first control character of a text; "" if it has none.

    >>> control_in("birds\x1b.csv")
    '\x1b'
    """
    return next((letter for letter in text if unicodedata.category(letter) == "Cc"), "")


def one_line(text: str, *, at_most: int = 500) -> str:
    r"""Return the beginning of a stranger's text, printable and without line breaks.

    >>> one_line("no\n money ", at_most=5)
    'no mo…'
    """
    words = printable(" ".join(text.split()))
    return words if len(words) <= at_most else f"{words[:at_most]}…"


def _shown(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
