"""Everything that is computed about a dataset, in one value."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, islice

from piecework.analyses.corpus.captions import (
    ALL,
    Answered,
    Corpus,
    Question,
    TaggedCaption,
    answered,
    tag_captions,
)
from piecework.analyses.corpus.composition import (
    Composition,
    Part,
    UnknownWords,
    compose,
    top_words,
    unknown_words,
    word_counts,
)
from piecework.domain.errors import ConfigError
from piecework.postprocess.language.lexicon import is_known, is_surely_right
from piecework.report.corpus.comparison import (
    KINDS,
    WORDS_LISTED,
    Comparison,
    compare_corpora,
    specificity_of,
    specificity_summary,
    words_by_image,
)
from piecework.report.corpus.concept_counts import (
    ConceptCounts,
    Example,
    by_difficulty,
    by_specificity,
    count_concepts,
)
from piecework.report.corpus.image_groups import (
    ABSENT,
    DIFFICULTY,
    PEOPLE,
    QUESTION,
    TEXT,
    HumanPerformance,
    Levels,
    difficulties,
    human_performance,
    in_order,
    levels,
    text_groups,
)

_ONLY_HERE = 40

_WORD_LISTS: Mapping[str, Callable[[str], bool]] = {
    "dictionary": is_known,
    "dictionary and common words": is_surely_right,
}
"""pyspellchecker's English words; the same with words that are common on the web."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """The analyses of one dataset.

    Attributes:
        compositions: by group: "all", then "with text" and "without text" if votes on
            text are known, then the groups of other groupings.
        people: images with a novel caption that contains a word for people.
        people_in_words: the same, if parts of words count, as "man" in "manual".
        specificity: by image.
        word_counts: occurrences of each word, by part of speech.
        unknown: words that a word list lacks, by the list's name.
        by_specificity: example images, from the least to the most similar captions.
        by_difficulty: example images, from the easiest level to the hardest.
        files: the name of the picture's file of each example image.
        pictures: a small copy of these pictures as `data:` URL, and where the picture is,
            from the page's folder.
        answered: questions that captions answer, all of them first; empty without
            questions.
        concepts: of lists; None without lists.
        comparison: with another dataset; None without one.
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
    people_in_words: int
    specificity: Mapping[str, float]
    word_counts: Mapping[Part, Counter[str]]
    unknown: Mapping[str, UnknownWords]
    by_specificity: Sequence[Example]
    by_difficulty: Sequence[Example]
    files: Mapping[str, str]
    answered: Sequence[Answered]
    concepts: ConceptCounts | None
    comparison: Comparison | None
    human: HumanPerformance
    seed: int
    pictures: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """Convert for programs: counts, shares from 0 to 1, and scores in per cent."""
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
                name or "tie or unknown": many for name, many in self.levels.text.items()
            },
            "images_by_majority_flaw": dict(self.levels.flaws),
            "images_with_people": self.people,
            "images_with_people_in_words": self.people_in_words,
            "composition": {
                name: asdict(composition) for name, composition in self.compositions.items()
            },
            "top_words": {
                part: {
                    word: self.word_counts[part][word]
                    for word in top_words(self.word_counts[part], WORDS_LISTED)
                }
                for part in KINDS
            },
            "unknown_words": {
                name: {
                    "captions": unknown.captions,
                    "of_captions": unknown.of_captions,
                    "tokens": unknown.tokens,
                    "of_tokens": unknown.of_tokens,
                    "words": dict(islice(unknown.words.items(), WORDS_LISTED)),
                }
                for name, unknown in self.unknown.items()
            },
            "concepts": self.concepts.as_dict() if self.concepts else None,
            "answered": [asdict(row) for row in self.answered],
            "examples": {
                "by_specificity": [example.image for example in self.by_specificity],
                "by_difficulty": [example.image for example in self.by_difficulty],
            },
            "against": self.comparison.as_dict() if self.comparison else None,
            "overlap": self._overlap(),
            "specificity": specificity_summary(self.specificity),
            "human_performance": {**asdict(self.human), "seed": self.seed, "absent": [ABSENT]},
        }

    def _overlap(self) -> dict[str, object]:
        if not self.comparison:
            return {}
        return {
            part: {
                "against": self.comparison.source,
                "compared": overlap.compared,
                "shared": overlap.shared,
                "share": overlap.share,
                "only_here": list(overlap.only_here[:_ONLY_HERE]),
            }
            for part, overlap in self.comparison.overlaps.items()
        }


def describe_corpus(
    corpus: Corpus,
    *,
    against: Corpus | None = None,
    groupings: Mapping[str, Mapping[str, str]] | None = None,
    questions: Sequence[Question] = (),
    concept_lists: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> Description:
    """Run all analyses of a corpus; the same arguments give the same description.

    Args:
        corpus: the dataset.
        against: another one to compare it with.
        groupings: by name, the group of each image (`image_groups`).
        questions: about images, with their answers.
        concept_lists: names of concepts by list.
        seed: of all random draws.

    Raises:
        ConfigError: the other corpus has no captions by people to compare with.
    """
    captions = tag_captions(corpus.novel)
    others = _captions_of(against) if against else None
    concepts = count_concepts(concept_lists, corpus, captions, others) if concept_lists else None
    specificities = specificity_of(captions)
    alike = by_specificity(corpus, specificities)
    hard = by_difficulty(corpus, difficulties(corpus)) if corpus.holds_canned else []
    shown = {example.image for example in chain(alike, hard, concepts.examples if concepts else ())}
    return Description(
        source=corpus.source,
        remarks=corpus.remarks,
        images=len(corpus.images),
        captions=len(corpus.novel),
        canned=sum(caption.is_canned and not caption.is_rejected for caption in corpus.captions),
        rejected=sum(caption.is_rejected for caption in corpus.captions),
        knows_canned=corpus.holds_canned,
        levels=levels(corpus),
        compositions=_compositions(corpus, captions, groupings or {}),
        people=len({caption.image for caption in captions if _names_people(caption)}),
        people_in_words=len(
            {
                caption.image
                for caption in captions
                if any(word in caption.text.lower() for word in PEOPLE)
            }
        ),
        specificity=specificities,
        word_counts=word_counts(caption.words for caption in captions),
        unknown={
            name: unknown_words((caption.words for caption in captions), knows)
            for name, knows in _WORD_LISTS.items()
        },
        by_specificity=alike,
        by_difficulty=hard,
        # A file of Flickr8k's kind has the picture's name as its id.
        files={image: corpus.files.get(image, image) for image in sorted(shown)},
        answered=_answered(corpus, captions, questions),
        concepts=concepts,
        comparison=compare_corpora(
            captions, others, source=against.source, remarks=against.remarks, seed=seed
        )
        if against and others and captions
        else None,
        human=human_performance(corpus, seed=seed),
        seed=seed,
    )


def _captions_of(against: Corpus) -> list[TaggedCaption]:
    captions = tag_captions(against.novel)
    if not captions:
        raise ConfigError([f"{against.source}: no captions by people to compare with"])
    return captions


def _answered(
    corpus: Corpus, captions: Sequence[TaggedCaption], questions: Sequence[Question]
) -> Sequence[Answered]:
    if not questions:
        return ()
    rows = answered(questions, words_by_image(captions), text_groups(corpus))
    if not rows:
        raise ConfigError(
            [
                (
                    "none of the questions is about an image with a caption, for "
                    f"example {questions[0].image!r}; questions name images by id or "
                    "file"
                )
            ]
        )
    groups = in_order({row.images for row in rows} - {ALL})
    order = [ALL, *groups]
    kinds = [ALL, *sorted({row.kind for row in rows} - {ALL})]
    return sorted(rows, key=lambda row: (order.index(row.images), kinds.index(row.kind)))


def _compositions(
    corpus: Corpus, captions: Sequence[TaggedCaption], groupings: Mapping[str, Mapping[str, str]]
) -> dict[str, Composition]:
    if not captions:
        return {}
    compositions = {"all": compose(captions)}
    for name, group_of in {TEXT: text_groups(corpus), **groupings}.items():
        groups: dict[str, list[TaggedCaption]] = {}
        for caption in captions:
            if group := group_of.get(caption.image):
                groups.setdefault(group, []).append(caption)
        for group in in_order(groups):
            is_clear = name in {TEXT, DIFFICULTY, QUESTION}
            label = group if is_clear else f"{name}: {group}"
            compositions[label] = compose(groups[group])
    return compositions


def _names_people(caption: TaggedCaption) -> bool:
    return any(word in PEOPLE for word, _ in caption.words)
