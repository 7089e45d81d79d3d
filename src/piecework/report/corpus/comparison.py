"""A corpus beside published datasets: their figures, and its own.

Gurari, Zhao, Zhang, Bhattacharya: "Captioning Images Taken by People Who Are Blind",
ECCV 2020. All figures are about the whole dataset (39,181 images, 168,826 captions that
are neither canned nor rejected); the distribution of canned answers is in
`piecework.report.sections.items`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median

from piecework.analyses.corpus.captions import TaggedCaption
from piecework.analyses.corpus.composition import (
    Composition,
    Overlap,
    Part,
    compose,
    matched,
    novel_words,
    overlaps,
    specificity,
    word_counts,
)

_PARTS: tuple[Part, ...] = ("words", "nouns", "verbs", "adjectives", "spatial relations")
"""The columns of Table 1, left and right."""


def _of_parts(rows: Mapping[str, tuple[float, ...]]) -> Mapping[str, Mapping[Part, float]]:
    return {name: dict(zip(_PARTS, row, strict=True)) for name, row in rows.items()}


MEANS = _of_parts(
    {
        "all": (13.0, 4.4, 0.9, 1.4, 1.9),
        "with text": (12.9, 4.5, 0.9, 1.4, 1.9),
        "without text": (13.1, 4.2, 0.9, 1.6, 1.9),
        "with a question": (13.0, 4.4, 0.9, 1.4, 1.9),
        "without a question": (13.0, 4.4, 0.9, 1.5, 1.9),
    }
)
"""Table 1, left half: mean number in a caption."""

OTHER_MEANS = _of_parts(
    {
        "MSCOCO-Captions": (11.3, 3.7, 1.0, 0.9, 1.7),
        "sample of MSCOCO-Captions": (11.3, 3.7, 1.0, 0.9, 1.7),
    }
)
"""Table 1, last two rows: the sample has as many images and captions of each as
VizWiz-Captions."""

UNIQUE = _of_parts(
    {
        "all": (24422, 16400, 4040, 8755, 275),
        "with text": (21161, 14277, 3294, 7263, 243),
        "without text": (10711, 7114, 1933, 3508, 127),
        "with a question": (22261, 14933, 3719, 7882, 244),
        "without a question": (10651, 7249, 1616, 3212, 120),
    }
)
"""Table 1, right half."""

OTHER_UNIQUE = _of_parts(
    {
        "MSCOCO-Captions": (30122, 19998, 6697, 9651, 381),
        "sample of MSCOCO-Captions": (16966, 11211, 3822, 4922, 197),
    }
)
"""Table 1, right half, last two rows."""

OVERLAP_PERCENT: Mapping[Part, float] = {
    "words": 54.4,
    "nouns": 45.1,
    "adjectives": 31.6,
    "verbs": 42.8,
}
"""Table 5: with MSCOCO-Captions' training set."""

HUMAN: Mapping[str, float] = {
    "BLEU-1": 60.3,
    "BLEU-2": 40.7,
    "BLEU-3": 27.7,
    "BLEU-4": 18.8,
    "METEOR": 22.0,
    "ROUGE-L": 43.4,
    "CIDEr-D": 83.5,
    "SPICE": 17.5,
}
"""Table 7 of the supplement, easy images; METEOR with synonyms and paraphrases."""

TEXT_PERCENT = 63.0
"""Section 3.2: images that show text, by majority."""

PEOPLE_PERCENT = 27.6
"""Section 0.C.2: images captioned with a word for people."""

SYSTEMS: Mapping[str, tuple[float, ...]] = {
    "Up-Down, pretrained": (52.8, 32.8, 19.2, 11.3, 12.6, 35.8, 18.9),
    "Up-Down, from scratch": (64.1, 44.6, 30.0, 19.8, 18.4, 43.2, 49.7),
    "Up-Down, fine-tuned": (62.1, 42.3, 28.2, 18.6, 18.0, 42.0, 48.2),
    "SGAE, pretrained": (55.8, 36.0, 21.8, 13.5, 13.4, 38.1, 20.2),
    "SGAE, from scratch": (67.3, 48.1, 33.2, 22.8, 19.4, 46.6, 52.4),
    "SGAE, fine-tuned": (68.5, 49.4, 34.5, 23.9, 20.2, 47.3, 61.2),
    "AoANet, pretrained": (54.9, 34.7, 21.0, 13.2, 13.4, 37.6, 19.4),
    "AoANet, from scratch": (66.4, 47.9, 33.4, 23.2, 20.3, 47.1, 60.5),
    "AoANet, fine-tuned": (66.6, 47.4, 32.9, 22.8, 19.9, 46.6, 57.6),
}
"""Table 3, on the test set: BLEU-1 to BLEU-4, METEOR, ROUGE-L, CIDEr-D."""

SYSTEMS_BY_GROUP: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "Up-Down, from scratch": {
        "with text": (65.7, 46.6, 32.3, 21.7, 19.2, 45.1, 49.3),
        "without text": (60.2, 40.0, 25.2, 15.7, 16.9, 39.7, 46.7),
        "easy": (67.8, 48.3, 33.2, 22.2, 19.5, 45.7, 53.2),
        "medium": (60.8, 40.0, 25.4, 16.2, 17.2, 40.4, 45.8),
        "difficult": (32.1, 16.9, 9.2, 5.4, 10.6, 26.2, 34.7),
    },
    "SGAE, fine-tuned": {
        "with text": (69.9, 51.2, 36.6, 25.8, 21.0, 49.3, 62.2),
        "without text": (65.7, 45.9, 30.3, 20.2, 18.7, 43.7, 55.5),
        "easy": (72.2, 53.3, 38.0, 26.7, 21.4, 50.0, 65.8),
        "medium": (65.1, 44.7, 29.3, 19.3, 18.8, 44.3, 55.8),
        "difficult": (35.6, 20.1, 11.7, 7.4, 11.9, 28.8, 42.7),
    },
    "AoANet, from scratch": {
        "with text": (68.3, 50.1, 35.8, 25.3, 21.3, 49.2, 62.7),
        "without text": (63.0, 43.7, 28.8, 18.9, 18.5, 43.3, 52.5),
        "easy": (69.8, 51.4, 36.5, 25.6, 21.4, 49.6, 64.3),
        "medium": (63.6, 44.0, 29.2, 19.5, 19.2, 44.5, 56.0),
        "difficult": (36.0, 20.3, 11.8, 7.6, 12.2, 29.6, 44.3),
    },
    "text detector": {"with text": (14.9, 8.8, 5.7, 3.9, 10.4, 15.9, 24.6)},
}
"""Table 4: the same metrics by group of images; the text detector read the text."""

LEVEL_PERCENT: Mapping[str, float] = {
    "easy": 68.5,
    "medium": 22.6,
    "difficult": 6.7,
    "unrecognizable": 2.2,
}
"""Section 3.2: images by canned answers, 0, 1 to 2, 3 to 4 and 5 of five workers."""

MINORITY_PERCENT = 22.6
"""Section 3.2: images that a minority of the workers found too bad."""

MAJORITY_PERCENT = 9.0
"""Section 3.2: images that a majority of the workers found too bad."""

UNKNOWN_PERCENT = 14.0
"""Supplement, 0.A.2: captions flagged as containing unknown tokens, 23,424 of
169,073, by a spelling service that is no longer offered in that form."""

ANSWERED_PERCENT: Mapping[str, Mapping[str, int]] = {
    "all": {"all": 33, "yes/no": 1, "number": 8, "other": 34},
    "with text": {"all": 35, "yes/no": 1, "number": 10, "other": 36},
    "without text": {"all": 30, "yes/no": 1, "number": 3, "other": 31},
}
"""Table 2: answers found in a caption, of 24,842 answerable questions of VizWiz-VQA."""

CATEGORIES_PERCENT: Mapping[str, int] = {
    "ImageNet": 1,
    "COCO": 11,
    "SUN": 18,
    "Places205": 34,
    "COCO-Attributes": 14,
    "SUN-Attributes": 7,
}
"""Section 3.2: categories of classification datasets that occur in a caption."""


WORDS_LISTED = 100
"""As many as in the paper's Figures 9 to 11."""

KINDS: tuple[Part, ...] = ("nouns", "verbs", "adjectives")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A part of one dataset with as many images and captions as the other has.

    Attributes:
        is_of_other: whether it was drawn from the other dataset, the larger one.
        composition: what its captions consist of.
        missing: images that could not be drawn, because too few have enough captions.
    """

    is_of_other: bool
    composition: Composition
    missing: int


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The other dataset.

    Attributes:
        source: its name.
        remarks: what a reader has to know about its file.
        composition: what its captions consist of.
        sample: of the larger dataset.
        specificity: by image.
        overlaps: by part of speech.
        novel: words that the other dataset never uses, by part of speech, with the
            number of their occurrences here; the most common first.
    """

    source: str
    remarks: Sequence[str]
    composition: Composition
    sample: Sample
    specificity: Mapping[str, float]
    overlaps: Mapping[Part, Overlap]
    novel: Mapping[Part, Mapping[str, int]]

    def as_dict(self) -> dict[str, object]:
        """Convert for programs."""
        return {
            "source": self.source,
            "remarks": list(self.remarks),
            "composition": asdict(self.composition),
            "sample": {
                "of": "other" if self.sample.is_of_other else "this",
                "composition": asdict(self.sample.composition),
                "images_missing": self.sample.missing,
            },
            "specificity": specificity_summary(self.specificity),
            "novel_words": {part: dict(words) for part, words in self.novel.items()},
        }


def compare_corpora(
    here: Sequence[TaggedCaption],
    there: Sequence[TaggedCaption],
    *,
    source: str,
    remarks: Sequence[str],
    seed: int,
) -> Comparison:
    """Compare the captions of two datasets.

    Args:
        here: captions of this dataset.
        there: captions of the other one.
        source: the other dataset's name.
        remarks: about its file.
        seed: of the sample.
    """
    counts_here = word_counts(caption.words for caption in here)
    counts_there = word_counts(caption.words for caption in there)
    return Comparison(
        source=source,
        remarks=remarks,
        composition=compose(there),
        sample=_sample(by_image(here), by_image(there), seed=seed),
        specificity=specificity_of(there),
        overlaps=overlaps(counts_here, counts_there),
        novel={
            part: {
                word: counts_here[part][word]
                for word in novel_words(counts_here[part], counts_there["words"], WORDS_LISTED)
            }
            for part in KINDS
        },
    )


def by_image(captions: Sequence[TaggedCaption]) -> dict[str, list[TaggedCaption]]:
    """Group captions by image, both in their order."""
    images: dict[str, list[TaggedCaption]] = {}
    for caption in captions:
        images.setdefault(caption.image, []).append(caption)
    return images


def specificity_of(captions: Sequence[TaggedCaption]) -> dict[str, float]:
    """Return the specificity of each image with two or more captions."""
    return specificity(words_by_image(captions))


def words_by_image(captions: Sequence[TaggedCaption]) -> dict[str, list[list[str]]]:
    """Return the words of the captions of each image."""
    return {
        image: [[word for word, _ in caption.words] for caption in of_image]
        for image, of_image in by_image(captions).items()
    }


def specificity_summary(values: Mapping[str, float]) -> dict[str, object]:
    """Summarise the specificity of images for programs."""
    listed = [*values.values()]
    return {
        "images": len(listed),
        "mean": fmean(listed) if listed else None,
        "median": median(listed) if listed else None,
    }


def _sample(
    here: Mapping[str, list[TaggedCaption]], there: Mapping[str, list[TaggedCaption]], *, seed: int
) -> Sample:
    is_of_other = len(there) >= len(here)
    larger, smaller = (there, here) if is_of_other else (here, there)
    drawn = matched(larger, smaller, seed=seed)
    return Sample(
        is_of_other=is_of_other,
        composition=compose(caption for captions in drawn.values() for caption in captions),
        missing=len(smaller) - len(drawn),
    )
