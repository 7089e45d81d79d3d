"""The part of speech of each token of a caption.

The tagger is HanTa (Wartena, KONVENS 2019; version 2023), trained on the British
National Corpus: pure Python, with its English model in the package and no downloads. On
24 captions of VizWiz that were labelled by hand it finds the part of speech of 272 of
277 tokens (docs/how-to/describe.md). Forms of "be" and modals are not verbs here, since
Table 1 of the VizWiz-Captions paper counts verbs as actions.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal, Protocol

from piecework.analyses.corpus.tokens import cased_tokens
from piecework.domain.extras import load_extra

Kind = Literal["noun", "verb", "adjective", "preposition", "other"]
Tagged = tuple[tuple[str, Kind], ...]
"""The lower-case tokens of one caption, each with its kind."""

_KINDS: dict[str, Kind] = {
    "NN0": "noun",
    "NN1": "noun",
    "NN2": "noun",
    "NP0": "noun",
    "AJ0": "adjective",
    "AJC": "adjective",
    "AJS": "adjective",
    "PRP": "preposition",
    "PRF": "preposition",
    **{f"V{verb}{form}": "verb" for verb in "VHD" for form in ("B", "D", "G", "I", "N", "Z")},
}
"""CLAWS C5, the tags of the British National Corpus; all others are "other"."""


_LONGEST = 40
"""Letters of a word that the tagger sees; 2,000 letters took twelve seconds."""


class _Tagger(Protocol):
    def tag_sent(self, sent: list[str], taglevel: int) -> list[str]: ...


def tagged(texts: Iterable[str]) -> Iterator[Tagged]:
    """Yield the tokens of each text with their kinds.

    >>> [kind for _, kind in next(tagged(["A can of diet Coke on a table."]))]
    ['other', 'noun', 'preposition', 'noun', 'noun', 'preposition', 'other', 'noun']
    """
    tagger = _tagger()
    for text in texts:
        words = _unshouted(cased_tokens(text))
        short = [word[:_LONGEST] for word in words]
        tags = tagger.tag_sent(short, taglevel=0) if words else []
        yield tuple(
            (word.lower(), _KINDS.get(tag, "other")) for word, tag in zip(words, tags, strict=True)
        )


@cache
def _tagger() -> _Tagger:
    hanta = load_extra("HanTa.HanoverTagger", extra="describe", use="piecework describe")
    tagger: _Tagger = hanta.HanoverTagger("morphmodel_en.pgz")
    return tagger


def _unshouted(words: list[str]) -> list[str]:
    """Lower the case of texts in capitals, in which every word looks like a name."""
    letters = [character for word in words for character in word if character.isalpha()]
    capitals = sum(map(str.isupper, letters))
    return [word.lower() for word in words] if 2 * capitals > len(letters) else words
