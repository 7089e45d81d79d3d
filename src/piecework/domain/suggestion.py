"""Suggestions for misspelt words."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the most similar known word as the end of a sentence, or "".

    >>> did_you_mean("asignments", ["assignments", "batches"])
    "; did you mean 'assignments'?"
    >>> did_you_mean("fields", ["fields"])
    ''
    >>> did_you_mean("zebra", ["assignments", "batches"])
    ''
    """
    others = [other for other in known if other != word]
    alike = get_close_matches(word.lower(), others, n=1)
    return f"; did you mean {alike[0]!r}?" if alike else ""
