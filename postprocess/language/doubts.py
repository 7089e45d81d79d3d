"""The words that may be slips at all, with everything around them.

Most of the care is here: what is not a doubt is never touched, whatever looks alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from postprocess.language import lexicon
from postprocess.language.corpus import EDGE, Corpus
from postprocess.language.tokens import Place, Word, place, words
from postprocess.text import Text

SHORTEST = 4
"""Shorter words are too often abbreviations, and almost anything is close to them."""

MANY_ITEMS = 12
"""A word that was written about so many items is the crowd's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """One occurrence of a word that no list knows.

    Attributes:
        surface: as it stands in the text, `word` casefolded.
        left: the word before, casefolded, or `corpus.EDGE`; `right` the one after.
    """

    text_id: str
    item_id: str
    start: int
    end: int
    surface: str
    word: str
    left: str
    right: str
    place: Place


def read(texts: Sequence[Text]) -> tuple[Corpus, list[Doubt]]:
    """The counts of all texts, and the doubts in the order of texts and places."""
    found = {text.text_id: words(text.text) for text in texts}
    corpus = Corpus((text.item_id, found[text.text_id]) for text in texts)
    rare = {word for word, n in corpus.items.items() if n < MANY_ITEMS}
    doubtful = {word for word in rare if _is_doubtful(word)}
    return corpus, list(_doubts(texts, found, doubtful))


def _is_doubtful(word: str) -> bool:
    return (
        len(word) >= SHORTEST
        and word.isascii()
        and word.isalpha()
        and not lexicon.needs_no_doubt(word)
    )


def _doubts(
    texts: Sequence[Text],
    found: Mapping[str, Sequence[Word]],
    doubtful: set[str],
) -> Iterator[Doubt]:
    for text in texts:
        line = found[text.text_id]
        for at, word in enumerate(line):
            if word.word not in doubtful or word.word in text.protected:
                continue
            where = place(text.text, word)
            if where.is_fixed or where.is_name_like:
                continue
            yield Doubt(
                text_id=text.text_id,
                item_id=text.item_id,
                start=word.start,
                end=word.end,
                surface=text.text[word.start : word.end],
                word=word.word,
                left=line[at - 1].word if at else EDGE,
                right=line[at + 1].word if at + 1 < len(line) else EDGE,
                place=where,
            )
