"""Groups of images, how hard the images are, and how well people describe them.

A group is by what workers answered, or by any column of the images. A majority of workers
says something about an image. Human performance is one caption against the others.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import pandas as pd

from piecework.analyses.corpus.caption_metrics import Pair, bleu, cider_d, meteor, rouge_l
from piecework.analyses.corpus.captions import ANSWERS_OF_QUALITY_FILES, Caption, Corpus, tokens
from piecework.analyses.votes import Difficulty, difficulty, majority
from piecework.domain.errors import ConfigError
from piecework.report.model import tally

TEXT, DIFFICULTY, QUESTION = "text", "difficulty", "question"
"""Groupings with names for their groups; the answers themselves give the first two."""

MOST_GROUPS = 30
"""A column with more values is an id or a text, not a grouping."""

_TEXT_GROUPS = {"yes": "with text", "no": "without text"}
_IN_ORDER = (
    "easy",
    "medium",
    "difficult",
    "with text",
    "without text",
    "with a question",
    "without a question",
)


def group_of_images(
    corpus: Corpus, grouping: str, column: Callable[[str], Mapping[str, str]]
) -> dict[str, str]:
    """Return the group of each image.

    Args:
        corpus: the dataset.
        grouping: "text", "difficulty", "question" (whether the image came with one), or
            a column.
        column: returns the value of each image of a column.

    Raises:
        ConfigError: the dataset does not say it of any image, or the column has too
            many values.
    """
    if grouping == TEXT:
        groups = text_groups(corpus)
    elif grouping == DIFFICULTY:
        groups = {**difficulties(corpus)}
    elif grouping == QUESTION:
        groups = {
            image: f"{'with' if text.strip() else 'without'} a question"
            for image, text in column(QUESTION).items()
        }
    else:
        groups = {image: text for image, text in column(grouping).items() if text}
    known = {*corpus.images, *corpus.accepted}
    groups = {image: group for image, group in groups.items() if image in known}
    if not groups:
        raise ConfigError(["the dataset has it for no image, so there is nothing to group by"])
    if (values := len({*groups.values()})) > MOST_GROUPS:
        raise ConfigError([f"{values:,} different values; at most {MOST_GROUPS} make groups"])
    return groups


def text_groups(corpus: Corpus) -> dict[str, str]:
    """Return whether each image shows text; images without a majority are left out."""
    return {
        image: _TEXT_GROUPS[verdict] for image, verdict in text_of_images(corpus).items() if verdict
    }


def in_order(groups: Iterable[str]) -> list[str]:
    """Sort groups: easy before difficult, with text before without, then by name."""
    return sorted(
        groups,
        key=lambda group: (_IN_ORDER.index(group) if group in _IN_ORDER else len(_IN_ORDER), group),
    )


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


METRICS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR, exact and stem", "ROUGE-L", "CIDEr-D")

ABSENT = "SPICE"

MOST_TOKENS = 100
"""Tokens of a caption that are scored; a thousand would take METEOR an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanPerformance:
    """Scores of people's captions, in per cent (CIDEr-D: of its tenth, as published).

    Attributes:
        images: easy images with two or more captions; one caption was chosen.
        references: captions that the chosen ones were scored against.
        scores: by metric; empty without such images.
    """

    images: int
    references: int
    scores: dict[str, float]


def human_performance(corpus: Corpus, *, seed: int) -> HumanPerformance:
    """Score one caption of each easy image, drawn by the seed, against the others."""
    pairs = [*human_pairs(corpus, seed=seed)]
    values = (*bleu(pairs), meteor(pairs), rouge_l(pairs), cider_d(pairs))
    return HumanPerformance(
        images=len(pairs),
        references=sum(len(pair.references) for pair in pairs),
        scores={name: 100 * value for name, value in zip(METRICS, values, strict=True)}
        if pairs
        else {},
    )


def human_pairs(corpus: Corpus, *, seed: int) -> Iterator[Pair]:
    """Yield the chosen caption and the others, image by image.

    The choice depends on the seed, the image's id and the order of its captions, so
    adding images to a file does not change the others.
    """
    levels = difficulties(corpus)
    for image, captions in corpus.accepted.items():
        if levels.get(image) == "easy":
            words = _spoken(captions)
            if len(words) > 1:
                chosen = Random(f"{seed}/{image}").randrange(len(words))  # noqa: S311 - a sample, not a secret
                yield Pair(words[chosen], words[:chosen] + words[chosen + 1 :])


def _spoken(captions: Sequence[Caption]) -> list[list[str]]:
    token_lists = (
        tokens(caption.text)[:MOST_TOKENS] for caption in captions if not caption.is_canned
    )
    return [words for words in token_lists if words]
