"""The words that may be typos at all, with everything around them.

Most of the care is here: what is not a suspect is never touched, whatever looks alike.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from postprocess.language import lexicon
from postprocess.language.corpus import EDGE, Corpus
from postprocess.language.tokens import Place, folded, place, words
from postprocess.text import Text

SHORTEST = 4
"""Shorter words are too often abbreviations, and almost anything is close to them."""

MANY_ITEMS = 12
"""A word that was written about so many items is the crowd's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """One occurrence of a word that no list knows.

    Attributes:
        surface: as it stands in the text, `word` casefolded.
        left: the word before, casefolded, or `corpus.EDGE`; `right` the one after.
        about: how many texts about the item hold a word, by word.
    """

    text_id: str
    start: int
    end: int
    surface: str
    word: str
    left: str
    right: str
    place: Place
    about: Mapping[str, int] = field(compare=False)


def find_suspects(texts: Sequence[Text], corpus: Corpus) -> list[Suspect]:
    """The suspects in the order of texts and places.

    Args:
        texts: all that there are about each of their items.
        corpus: the counts of these texts, and of all others of the campaign.
    """
    suspicious = {
        word for word, n in corpus.items.items() if n < MANY_ITEMS and _may_be(word)
    }
    with_any = [text for text in texts if not suspicious.isdisjoint(folded(text.text))]
    about = _about({text.item_id for text in with_any}, texts)
    return [
        suspect
        for text in with_any
        for suspect in _suspects(text, suspicious, about[text.item_id])
    ]


def _may_be(word: str) -> bool:
    return (
        len(word) >= SHORTEST
        and word.isascii()
        and word.isalpha()
        and not lexicon.is_surely_right(word)
    )


def _about(item_ids: set[str], texts: Sequence[Text]) -> Mapping[str, Counter[str]]:
    """How many texts hold a word, by item and word."""
    about: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        if text.item_id in item_ids:
            about[text.item_id].update(set(folded(text.text)))
    return about


def _suspects(
    text: Text, suspicious: set[str], about: Mapping[str, int]
) -> Iterator[Suspect]:
    line = words(text.text)
    for at, word in enumerate(line):
        if word.word not in suspicious or word.word in text.protected:
            continue
        where = place(text.text, word)
        if where.is_fixed or where.is_name_like:
            continue
        yield Suspect(
            text_id=text.text_id,
            start=word.start,
            end=word.end,
            surface=text.text[word.start : word.end],
            word=word.word,
            left=line[at - 1].word if at else EDGE,
            right=line[at + 1].word if at + 1 < len(line) else EDGE,
            place=where,
            about=about,
        )
