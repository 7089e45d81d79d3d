"""Captions that are split into words and tagged, once for all analyses."""

from collections.abc import Iterable
from dataclasses import dataclass

from piecework.analyses.corpus.captions import Caption
from piecework.analyses.corpus.tagging import Tagged, tagged
from piecework.analyses.corpus.tokens import punctuation_marks


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedCaption:
    """One caption.

    Attributes:
        words: without punctuation.
        marks: the number of punctuation marks, each a token of its own.
    """

    image: str
    text: str
    words: Tagged
    marks: int


def tag_captions(captions: Iterable[Caption]) -> list[TaggedCaption]:
    """Tag captions, in their order."""
    listed = [*captions]
    return [
        TaggedCaption(
            image=caption.image,
            text=caption.text,
            words=words,
            marks=punctuation_marks(caption.text),
        )
        for caption, words in zip(listed, tagged(caption.text for caption in listed), strict=True)
    ]
