"""Rules for tasks that ask workers to change a text as little as possible.

The rules compare words (`piecework.hit_templates.text_rules`) without case and
surrounding punctuation, so a comma or a capital is not a change.
"""

import re
from collections.abc import Sequence

from piecework.domain.differences import Change, changes
from piecework.hit_templates.text_rules import CHARACTERS, plain, words

_NO_WORD = CHARACTERS["spaces"] + CHARACTERS["symbols"]
_AROUND = re.compile(f"^[{_NO_WORD}]+|[{_NO_WORD}]+$")


def compared_words(text: str) -> list[str]:
    """Return the words that count when two texts are compared.

    >>> compared_words('A "red" cat.')
    ['a', 'red', 'cat']
    """
    return [_AROUND.sub("", word).lower() for word in words(text)]


def changes_of(before: str, after: str) -> tuple[Change, ...]:
    """Return the changes, as runs of words."""
    return changes(compared_words(before), compared_words(after))


def is_same(before: str, after: str) -> bool:
    """Return whether the text was left unchanged."""
    return plain(before) == plain(after)


def stays_within(made: Sequence[Change], groups: Sequence[str]) -> bool:
    """Return whether each word was replaced by one of its group, one for one.

    Args:
        made: the changes.
        groups: each a group of interchangeable words, separated by spaces.
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
