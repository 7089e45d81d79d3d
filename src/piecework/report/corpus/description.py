"""Everything that is computed about a dataset, in one value."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median

from piecework.analyses.corpus.captions import Corpus
from piecework.analyses.corpus.composition import Composition, Part, compose
from piecework.analyses.corpus.overlap import Overlap, overlaps
from piecework.analyses.corpus.specificity import specificity
from piecework.analyses.corpus.tagging import Tagged, tagged
from piecework.report.corpus.human import ABSENT, HumanPerformance, human_performance
from piecework.report.corpus.levels import PEOPLE, Levels, levels, text_of_images

_TEXT_GROUPS = {"yes": "with text", "no": "without text"}

_WORDS_LISTED = 40


@dataclass(frozen=True, kw_only=True)
class Description:
    """The analyses of one dataset.

    Attributes:
        compositions: by group: "all", then "with text" and "without text" if votes on
            text are known.
        people: images with a novel caption that contains a word for people.
        overlaps: by part of speech; empty without another corpus.
        against: the other corpus's name; "" without one.
        specificity: by image.
    """

    source: str
    remarks: Sequence[str]
    images: int
    captions: int
    canned: int
    rejected: int
    knows_canned: bool
    levels: Levels
    compositions: Mapping[str, Composition]
    people: int
    overlaps: Mapping[Part, Overlap]
    against: str
    specificity: Mapping[str, float]
    human: HumanPerformance
    seed: int

    def as_dict(self) -> dict[str, object]:
        """Convert for programs: counts, shares from 0 to 1, and scores in per cent."""
        specificities = [*self.specificity.values()]
        canned = self.levels.canned.tolist() if self.knows_canned else []
        return {
            "source": self.source,
            "remarks": list(self.remarks),
            "images": self.images,
            "captions": self.captions,
            "canned": self.canned,
            "rejected": self.rejected,
            "images_by_canned_answers": canned,
            "images_by_difficulty": dict(self.levels.names) if canned else {},
            "images_by_text": {
                name or "tie or unknown": many
                for name, many in self.levels.text.items()
            },
            "images_by_majority_flaw": dict(self.levels.flaws),
            "images_with_people": self.people,
            "composition": {
                name: asdict(composition)
                for name, composition in self.compositions.items()
            },
            "overlap": {
                part: {
                    "against": self.against,
                    "compared": overlap.compared,
                    "shared": overlap.shared,
                    "share": overlap.share,
                    "only_here": list(overlap.only_here[:_WORDS_LISTED]),
                }
                for part, overlap in self.overlaps.items()
            },
            "specificity": {
                "images": len(specificities),
                "mean": fmean(specificities) if specificities else None,
                "median": median(specificities) if specificities else None,
            },
            "human_performance": {
                **asdict(self.human),
                "seed": self.seed,
                "absent": [ABSENT],
            },
        }


def describe(
    corpus: Corpus, *, against: Corpus | None = None, seed: int = 0
) -> Description:
    """Run all analyses of a corpus; the same arguments give the same description."""
    words_here = [*tagged(caption.text for caption in corpus.novel)]
    words_there = tagged(caption.text for caption in against.novel) if against else ()
    captions = [
        (caption.image, tagged_words)
        for caption, tagged_words in zip(corpus.novel, words_here, strict=True)
    ]
    by_image: dict[str, list[list[str]]] = {}
    for image, tagged_words in captions:
        by_image.setdefault(image, []).append([word for word, _ in tagged_words])
    return Description(
        source=corpus.source,
        remarks=corpus.remarks,
        images=len(corpus.images),
        captions=len(corpus.novel),
        canned=sum(
            caption.is_canned and not caption.is_rejected for caption in corpus.captions
        ),
        rejected=sum(caption.is_rejected for caption in corpus.captions),
        knows_canned=corpus.holds_canned,
        levels=levels(corpus),
        compositions=_compositions(corpus, captions),
        people=len(
            {image for image, tagged_words in captions if _names_people(tagged_words)}
        ),
        overlaps=overlaps(words_here, words_there) if against else {},
        against=against.source if against else "",
        specificity=specificity(by_image),
        human=human_performance(corpus, seed=seed),
        seed=seed,
    )


def _compositions(
    corpus: Corpus, captions: Sequence[tuple[str, Tagged]]
) -> dict[str, Composition]:
    text = text_of_images(corpus)
    groups: dict[str, Iterable[tuple[str, Tagged]]] = {"all": captions}
    for verdict, name in _TEXT_GROUPS.items():
        group = [
            (image, tagged_words)
            for image, tagged_words in captions
            if text.get(image) == verdict
        ]
        if group:
            groups[name] = group
    return {name: compose(group) for name, group in groups.items()} if captions else {}


def _names_people(caption: Tagged) -> bool:
    return any(word in PEOPLE for word, _ in caption)
