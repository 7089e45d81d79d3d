"""Compare two datasets, and separate differences that only their sizes cause."""

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


def compare(
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
