"""Images that show what a figure means: the captions of a few, chosen by a rule.

As Figures 6 to 8 of the VizWiz-Captions paper show them: captions by specificity, and
images by difficulty.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piecework.analyses.corpus.captions import Caption, Corpus
from piecework.analyses.votes import Difficulty
from piecework.domain.counts import plural
from piecework.report.components import Card, Reply, Tag
from piecework.report.formatting import excerpt

_BY_SPECIFICITY = 6
_BY_DIFFICULTY = 2
"""Images per level."""

_LEVELS: tuple[Difficulty, ...] = ("easy", "medium", "difficult", "unrecognizable")

_CHARACTERS = 300
_NAME_CHARACTERS = 60
_MOST_CAPTIONS = 8

_TAGS = {False: Tag("caption", "fine"), True: Tag("canned", "fact")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One image.

    Attributes:
        label: what was measured.
        value: the image's value, which is why it is shown.
        captions: its captions, rejected ones left out.
    """

    image: str
    label: str
    value: str
    captions: Sequence[Caption]


def by_specificity(corpus: Corpus, specificities: Mapping[str, float]) -> Sequence[Example]:
    """Choose images from the least to the most similar captions, at equal steps."""
    order = sorted(specificities, key=lambda image: (specificities[image], image))
    last = len(order) - 1
    steps = min(_BY_SPECIFICITY, len(order))
    places = [round(last * step / max(steps - 1, 1)) for step in range(steps)]
    return [
        Example(
            image=order[place],
            label="specificity",
            value=f"{specificities[order[place]]:.2f}",
            captions=[
                caption for caption in corpus.accepted[order[place]] if not caption.is_canned
            ],
        )
        for place in places
    ]


def by_difficulty(corpus: Corpus, levels: Mapping[str, Difficulty]) -> Sequence[Example]:
    """Choose a few images of each level, from the easiest to the hardest.

    The choice depends on the image's id alone.
    """
    return [
        Example(
            image=image,
            label=name,
            value=(
                f"{sum(caption.is_canned for caption in corpus.accepted[image])} of "
                f"{plural(len(corpus.accepted[image]), 'answer')} canned"
            ),
            captions=corpus.accepted[image],
        )
        for name in _LEVELS
        for image in sorted(
            (
                image
                for image, level in levels.items()
                if level == name and image in corpus.accepted
            ),
            key=place,
        )[:_BY_DIFFICULTY]
    ]


def card(example: Example, pictures: Mapping[str, str]) -> Card:
    """Show an example with its picture, if there is one.

    Args:
        example: the image and its captions.
        pictures: `data:` URLs by image.
    """
    times = Counter((caption.text, caption.is_canned) for caption in example.captions)
    shown = [*times.items()][:_MOST_CAPTIONS]
    more = len(times) - len(shown)
    return Card(
        heading=excerpt(example.image, limit=_NAME_CHARACTERS),
        picture=pictures.get(example.image, ""),
        texts=(),
        votes=((example.label, example.value),),
        replies=tuple(
            Reply(text=excerpt(text, limit=_CHARACTERS), tag=_TAGS[is_canned], times=number)
            for (text, is_canned), number in shown
        ),
        note=f"{more:,} more not shown." if more else "",
    )


def place(image: str) -> bytes:
    """Return a place in an order that depends on the id alone."""
    return hashlib.sha256(image.encode()).digest()
