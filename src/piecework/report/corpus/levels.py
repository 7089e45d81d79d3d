"""How hard the images of a dataset are, and what a majority of workers says about them.

The levels are those of `piecework.analyses.votes`, majorities those of `analyses`;
here they are counted over a corpus from any file, including files of votes on quality.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from piecework.analyses.corpus.captions import ANSWERS_OF_QUALITY_FILES, Corpus
from piecework.analyses.votes import Difficulty, difficulty, majority
from piecework.report.model import tally

PEOPLE = frozenset({"people", "person", "man", "woman", "child", "hand", "foot", "torso"})
"""Words that identify images of people in the paper's supplement (0.C.2)."""


@dataclass(frozen=True, kw_only=True)
class Levels:
    """Counts of images by their answers.

    Attributes:
        canned: images by number of canned answers; a series with index 0, 1, 2, ...
        wanted: answers that a complete image has: the most of any image.
        incomplete: images with fewer than that.
        names: images by name of the level.
        text: images by majority on text: "yes", "no", "" for a tie or no vote.
        flaws: images by flaw that a majority of the workers ticked.
    """

    canned: pd.Series
    wanted: int
    incomplete: int
    names: Mapping[str, int]
    text: Mapping[str, int]
    flaws: Mapping[str, int]


def levels(corpus: Corpus) -> Levels:
    """Count the images of a corpus by their votes."""
    counts = dict(_votes(corpus))
    wanted = max((answers for _, answers in counts.values()), default=0)
    canned = pd.Series([many for many, _ in counts.values()], dtype="int64")
    return Levels(
        canned=tally(canned, at_least=wanted),
        wanted=wanted,
        incomplete=sum(answers < wanted for _, answers in counts.values()),
        names=Counter(difficulties(corpus).values()),
        text=Counter(text_of_images(corpus).values()),
        flaws=Counter(
            flaw
            for quality in corpus.quality.values()
            for flaw, votes in quality.flaws.items()
            if 2 * votes > ANSWERS_OF_QUALITY_FILES
        ),
    )


def difficulties(corpus: Corpus) -> dict[str, Difficulty]:
    """The level of each image that has answers."""
    return {
        image: difficulty(canned=canned, answers=answers)
        for image, (canned, answers) in _votes(corpus)
    }


def text_of_images(corpus: Corpus) -> dict[str, str]:
    """Whether each image shows text: "yes", "no", or "" for a tie or no vote.

    The majority of the workers' answers; if the file has none, its value for the whole
    image.
    """
    votes = pd.DataFrame(
        [
            (image, "", caption.shows_text)
            for image, captions in corpus.accepted.items()
            for caption in captions
        ],
        columns=["item_id", "worker", "value"],
    )
    majorities = majority(votes)["value"].fillna("").to_dict()
    return {
        image: majorities.get(image) or corpus.shows_text.get(image, "")
        for image in dict.fromkeys([*corpus.images, *corpus.accepted])
        if image in majorities or image in corpus.shows_text
    }


def _votes(corpus: Corpus) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the canned answers and answers of each image that has any."""
    for image, quality in corpus.quality.items():
        yield image, (quality.unrecognizable, ANSWERS_OF_QUALITY_FILES)
    for image, captions in corpus.accepted.items():
        yield image, (sum(caption.is_canned for caption in captions), len(captions))
