"""Everything that is computed about a dataset, in one value."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median

from analyses.corpus.captions import Corpus
from analyses.corpus.composition import Composition, Part, compose
from analyses.corpus.overlap import Overlap, overlaps
from analyses.corpus.specificity import specificity
from analyses.corpus.tagging import Tagged, tagged
from report.corpus.human import ABSENT, HumanPerformance, human_performance
from report.corpus.levels import PEOPLE, Levels, levels, text_of_images

_TEXT_GROUPS = {"yes": "with text", "no": "without text"}

_WORDS_LISTED = 40


@dataclass(frozen=True, kw_only=True)
class Description:
    """The analyses of one dataset.

    Attributes:
        compositions: by group: "all", then "with text" and "without text" where
            votes on text are known.
        people: images that a novel caption describes with a word for people.
        overlaps: by part of speech; empty without another corpus.
        against: the other corpus's name, "" without.
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
        """For programs: counts, shares 0 to 1, and scores in per cent."""
        alike = [*self.specificity.values()]
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
                name: asdict(one) for name, one in self.compositions.items()
            },
            "overlap": {
                part: {
                    "against": self.against,
                    "compared": one.compared,
                    "shared": one.shared,
                    "share": one.share,
                    "only_here": list(one.only_here[:_WORDS_LISTED]),
                }
                for part, one in self.overlaps.items()
            },
            "specificity": {
                "images": len(alike),
                "mean": fmean(alike) if alike else None,
                "median": median(alike) if alike else None,
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
    """All analyses of a corpus; the same arguments give the same description."""
    words = [*tagged(one.text for one in corpus.novel)]
    others = tagged(one.text for one in against.novel) if against else ()
    captions = [
        (one.image, of_one) for one, of_one in zip(corpus.novel, words, strict=True)
    ]
    by_image: dict[str, list[list[str]]] = {}
    for image, of_one in captions:
        by_image.setdefault(image, []).append([word for word, _ in of_one])
    return Description(
        source=corpus.source,
        remarks=corpus.remarks,
        images=len(corpus.images),
        captions=len(corpus.novel),
        canned=sum(one.is_canned and not one.is_rejected for one in corpus.captions),
        rejected=sum(one.is_rejected for one in corpus.captions),
        knows_canned=corpus.holds_canned,
        levels=levels(corpus),
        compositions=_compositions(corpus, captions),
        people=len({image for image, one in captions if _names_people(one)}),
        overlaps=overlaps(words, others) if against else {},
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
        some = [(image, one) for image, one in captions if text.get(image) == verdict]
        if some:
            groups[name] = some
    return {name: compose(some) for name, some in groups.items()} if captions else {}


def _names_people(caption: Tagged) -> bool:
    return any(word in PEOPLE for word, _ in caption)
