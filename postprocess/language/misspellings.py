"""Misspellings that others have collected, and what was meant by each.

The list is codespell's: some 65,000 that people met in text, most from Wikipedia's.
Only its data file is read; the package's code is never imported
(docs/decisions/dependencies.md).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

_LIST = "codespell_lib/data/dictionary.txt"


def listed(word: str) -> Sequence[str]:
    """What the list says is meant by a casefolded word; empty where it has none.

    >>> listed("persue"), listed("layed"), listed("pursue")
    (['pursue'], ['laid'], [])
    """
    return [meant for meant in _list().get(word, "").split(",") if meant]


@cache
def _list() -> Mapping[str, str]:
    """By misspelling what may be meant, with commas between."""
    text = Path(str(distribution("codespell").locate_file(_LIST))).read_text("utf-8")
    rows = (line.split("->") for line in text.casefold().splitlines())
    return {typed: meant.replace(", ", ",").strip(",") for typed, meant in rows}
