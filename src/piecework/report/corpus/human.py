"""How well people describe what others describe: one caption against the others.

Follows the supplement of the VizWiz-Captions paper (0.D): for each easy image, one
caption, chosen at random, is scored against the remaining ones. SPICE is left out: it
needs Java and downloads models when it first runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from piecework.analyses.corpus.captions import Caption, Corpus, tokens
from piecework.analyses.corpus.metrics.coco import Pair, bleu, cider_d, rouge_l
from piecework.analyses.corpus.metrics.meteor import meteor
from piecework.report.corpus.levels import difficulties

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
