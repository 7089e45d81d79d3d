"""Whether a text that a worker edited was changed as little as was asked.

Compared are words (`piecework.hit_templates.text_rules`), without case and without
signs around them, so that a comma or a capital is no change.
"""

import re
from collections.abc import Sequence

from piecework.domain.differences import Change, changes
from piecework.hit_templates.text_rules import CHARACTERS, plain, words

_NO_WORD = CHARACTERS["spaces"] + CHARACTERS["symbols"]
_AROUND = re.compile(f"^[{_NO_WORD}]+|[{_NO_WORD}]+$")


def compared_words(text: str) -> list[str]:
    """The words that count when two texts are compared.

    >>> compared_words('A "red" cat.')
    ['a', 'red', 'cat']
    """
    return [_AROUND.sub("", word).lower() for word in words(text)]


def changes_of(before: str, after: str) -> tuple[Change, ...]:
    """What was changed, in runs of words."""
    return changes(compared_words(before), compared_words(after))


def is_same(before: str, after: str) -> bool:
    """Whether nothing at all was changed."""
    return plain(before) == plain(after)


def stays_within(made: Sequence[Change], groups: Sequence[str]) -> bool:
    """Whether each word gave way to one of its own group, in the same number.

    Args:
        made: the changes.
        groups: each of words that may stand for each other, parted by spaces.
    """
    word_sets = [frozenset(group.split()) for group in groups]
    return all(
        len(change.removed) == len(change.inserted)
        and all(
            any(old in group and new in group for group in word_sets)
            for old, new in zip(change.removed, change.inserted, strict=True)
        )
        for change in made
    )
