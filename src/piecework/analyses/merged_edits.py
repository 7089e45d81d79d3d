"""Several corrected versions of one text, joined into a text with all corrections."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class Merged:
    """The words with all edits, and how many edits contradict one made before."""

    words: tuple[str, ...]
    conflicts: int


def merged(before: Sequence[str], versions: Sequence[Sequence[str]]) -> Merged:
    """Apply the edits of all versions to the words before them.

    Edits of the same words that differ contradict each other: that of the first version
    stays. The same edit in two versions is made once.

    >>> merged(["red", "cat"], [["blue", "cat"], ["red", "dog"]])
    Merged(words=('blue', 'dog'), conflicts=0)
    >>> merged(["red", "cat"], [["blue", "cat"], ["green", "cat"]])
    Merged(words=('blue', 'cat'), conflicts=1)
    """
    edits: list[tuple[int, int, tuple[str, ...]]] = []
    conflicts = 0
    for version in versions:
        for start, end, words in _edits(before, version):
            touched = [edit for edit in edits if _overlap(edit, start, end)]
            if not touched:
                edits.append((start, end, words))
            elif touched != [(start, end, words)]:
                conflicts += 1
    result = list(before)
    for start, end, words in sorted(edits, reverse=True):
        result[start:end] = words
    return Merged(tuple(result), conflicts)


def _edits(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, tuple[str, ...]]]:
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    return [
        (start, end, tuple(after[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    ]


def _overlap(edit: tuple[int, int, tuple[str, ...]], start: int, end: int) -> bool:
    own_start, own_end, _ = edit
    # Two insertions at one place contradict each other too.
    return (own_start < end and start < own_end) or own_start == start
