"""Text of strangers, made fit for a terminal: what would steer it is shown instead."""

import unicodedata

_STEERS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Controls, format characters (also those that turn the direction of writing), halves
of characters, and separators of lines and paragraphs."""


def printable(text: str) -> str:
    r"""The text, with what a terminal would obey as escapes; line breaks stay.

    >>> printable("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(
        _shown(letter)
        if letter != "\n" and unicodedata.category(letter) in _STEERS
        else letter
        for letter in text
    )


def one_line(text: str, *, at_most: int = 500) -> str:
    r"""The beginning of a stranger's sentence: printable, and without line breaks.

    >>> one_line("no\n money ", at_most=5)
    'no mo…'
    """
    words = printable(" ".join(text.split()))
    return words if len(words) <= at_most else f"{words[:at_most]}…"


def _shown(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
