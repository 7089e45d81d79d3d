"""Slips of the keyboard in ordinary words: `skatebaord` becomes `skateboard`.

Of the words a dictionary does not know most are right: brands, new words, compounds.
Correcting blindly does far more harm than good (`tv` to `to`, `macbook` to `facebook`),
so the question is less which word was meant than whether to touch one at all.

Refuses to touch: words of the dictionary and their possessives; anything under four
letters; names (capitalised inside a sentence), inner capitals, quoted text, addresses,
whatever digits or signs stick to; words of the item's own columns; words that are
common anywhere in English, or that people wrote about several items.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz.distance import OSA

from domain.edit import Edit
from postprocess.language import candidates, lexicon
from postprocess.language.tokens import Token, tokens
from postprocess.text import Text

NAME = "spelling"
VERSION = 1

_SHORTEST = 4
_COMMON_ZIPF = 1.5
_MANY_ITEMS = 4
_LEAST_SCORE = 3.0
_LEAST_MARGIN = 1.0
_COST_OF_AN_EDIT = 2.5


def propose(texts: Sequence[Text]) -> Mapping[str, Sequence[Edit]]:
    """A known word for every unknown one that is clearly a slip of it."""
    words = {text.text_id: list(tokens(text.text)) for text in texts}
    items: defaultdict[str, set[str]] = defaultdict(set)
    for text in texts:
        for token in words[text.text_id]:
            items[token.word].add(text.item_id)
    doubtful = {word for word, seen in items.items() if _is_doubtful(word, len(seen))}
    meant = {
        word: best
        for word, near in candidates.near(doubtful, lexicon.targets()).items()
        if (best := _best(word, near, items))
    }
    edits = {
        text.text_id: list(_edits(text, words[text.text_id], meant)) for text in texts
    }
    return {text_id: found for text_id, found in edits.items() if found}


def _is_doubtful(word: str, items: int) -> bool:
    return (
        len(word) >= _SHORTEST
        and word.isascii()
        and word.isalpha()
        and items < _MANY_ITEMS
        and not lexicon.is_known(word)
        and lexicon.zipf(word) < _COMMON_ZIPF
    )


def _best(
    word: str,
    near: Sequence[str],
    items: Mapping[str, set[str]],
) -> str | None:
    scores = sorted((-_score(word, other, items), other) for other in near)
    if not scores or -scores[0][0] < _LEAST_SCORE:
        return None
    if len(scores) > 1 and scores[1][0] - scores[0][0] < _LEAST_MARGIN:
        return None
    return scores[0][1]


def _score(word: str, other: str, items: Mapping[str, set[str]]) -> float:
    here = min(len(items.get(other, ())), 100) / 25
    cost = _COST_OF_AN_EDIT * OSA.distance(word, other)
    if word[0] != other[0]:
        cost += 2.0
    return lexicon.zipf(other) + here - cost + len(word) / 4


def _edits(
    text: Text, words: Iterable[Token], meant: Mapping[str, str]
) -> Iterable[Edit]:
    for token in words:
        after = meant.get(token.word)
        if after is None or token.is_fixed or token.is_name_like:
            continue
        if token.word in text.protected:
            continue
        yield Edit(
            start=token.start,
            end=token.end,
            before=token.surface,
            after=_in_case_of(token.surface, after),
            rule=NAME,
            reason=f"no dictionary has {token.word!r}, which is close to {after!r}",
        )


def _in_case_of(surface: str, word: str) -> str:
    if surface.isupper():
        return word.upper()
    return word.capitalize() if surface[0].isupper() else word
