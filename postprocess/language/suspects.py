"""Find the words that may be typos, with their context.

Words that are not suspects are never changed: words that are surely right, words in
texts in another language, and words that are not ordinary in their place
(`tokens.Place.is_fixed`).
"""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache

from piecework.postprocess.language.corpus import EDGE, Corpus, has_name, word_counts_by_item
from piecework.postprocess.language.lexicon import is_foreign, may_be_typo
from piecework.postprocess.language.tokens import Place, Text, Word, place, words

_MOSTLY = 0.5
_REMEMBERED = 100_000
"""The number of texts cached, since rules process a campaign repeatedly."""

_USUAL = 20
"""The average rate counts like this many texts: a word seen less often says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """One occurrence of a word that is in no list.

    Attributes:
        surface: the word as written; `word` is casefolded.
        before: the two words before, casefolded, the farther first; `corpus.EDGE` at
            the text's end.
        after: the two words after.
        company: how much more often than usual names occur with the text's known words,
            as a logarithm: above 0 in texts that read out brands.
        about: the number of texts about the item with a word, by word.
    """

    text_id: str
    start: int
    end: int
    surface: str
    word: str
    before: tuple[str, str]
    after: tuple[str, str]
    place: Place
    company: float = 0.0
    about: Mapping[str, int] = field(compare=False)


def find_suspects(texts: Sequence[Text], corpus: Corpus) -> list[Suspect]:
    """Return the suspects in order of texts and places; none in foreign texts.

    Args:
        texts: all texts about each of their items.
        corpus: the counts of these texts, and of all others of the campaign.
    """
    if corpus.n_foreign > _MOSTLY * corpus.n_texts:
        return []
    with_any = [text for text in texts if any(map(may_be_typo, text.words))]
    english = [text for text in with_any if not is_foreign(text.words)]
    about = word_counts_by_item({text.item_id for text in english}, texts)
    company = _Company(corpus)
    suspects = []
    for text in english:
        if in_text := _suspects(text.text, text.protected):
            mean_log_ratio = company.of(frozenset(text.words), own=has_name(text))
            suspects += [
                replace(
                    suspect, text_id=text.text_id, company=mean_log_ratio, about=about[text.item_id]
                )
                for suspect in in_text
            ]
    return suspects


class _Company:
    """How often names occur with each known word."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._usual = (corpus.n_with_names + 1) / (corpus.n_texts + _USUAL)
        self._of_word: dict[tuple[str, bool], float] = {}

    def of(self, line: AbstractSet[str], *, own: bool) -> float:
        """Return the value for a text's known words, excluding the text itself.

        Args:
            line: the words.
            own: whether the text itself has a name.
        """
        known = [word for word in line if not may_be_typo(word)]
        return math.fsum(self._log_ratio(word, own) for word in known) / max(1, len(known))

    def _log_ratio(self, word: str, own: bool) -> float:  # noqa: FBT001 - private
        log_ratio = self._of_word.get((word, own))
        if log_ratio is None:
            texts, with_names = self._corpus.texts_with(word)
            together = with_names - own + _USUAL * self._usual
            usual = (texts - 1 + _USUAL) * self._usual
            log_ratio = self._of_word[word, own] = math.log(together / usual)
        return log_ratio


@lru_cache(maxsize=_REMEMBERED)
def _suspects(text: str, protected: AbstractSet[str]) -> Sequence[Suspect]:
    """Return a text's suspects, as far as possible without any other text."""
    line = words(text)
    suspects = []
    for at, word in enumerate(line):
        if not may_be_typo(word.word) or word.word in protected:
            continue
        where = place(text, word)
        if where.is_fixed:
            continue
        suspects.append(
            Suspect(
                text_id="",
                start=word.start,
                end=word.end,
                surface=text[word.start : word.end],
                word=word.word,
                before=(_word(line, at - 2), _word(line, at - 1)),
                after=(_word(line, at + 1), _word(line, at + 2)),
                place=where,
                about={},
            )
        )
    return suspects


def _word(line: Sequence[Word], at: int) -> str:
    return line[at].word if 0 <= at < len(line) else EDGE


def forget_texts() -> None:
    """Clear what is cached about texts."""
    _suspects.cache_clear()
