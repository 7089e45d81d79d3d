"""Concepts of other datasets in the captions of this one, and of another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from piecework.analyses.corpus.answered import Concepts, concepts_of, images_with
from piecework.analyses.corpus.captions import Corpus, TaggedCaption
from piecework.report.corpus.comparison import by_image
from piecework.report.corpus.examples import Example, place

_EXAMPLES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """A list of concepts, or what two lists share.

    Attributes:
        name: the list, or both lists.
        concepts: how many it has.
        here: those that occur in a caption here.
        there: those in the other dataset; None without one.
    """

    name: str
    concepts: int
    here: int
    there: int | None


@dataclass(frozen=True, kw_only=True)
class ConceptCounts:
    """How often concepts occur.

    Attributes:
        lists: each list.
        pairs: what each two lists share.
        shared: concepts that every list has; those of the only list, if there is one.
        here: images by concept, for all concepts of all lists.
        there: the same for the other dataset; None without one.
        images_here: images with captions here.
        images_there: those of the other dataset.
        examples: an image for each of the most common shared concepts.
    """

    lists: Sequence[Coverage]
    pairs: Sequence[Coverage]
    shared: Sequence[str]
    here: Mapping[str, int]
    there: Mapping[str, int] | None
    images_here: int
    images_there: int
    examples: Sequence[Example]

    def as_dict(self) -> dict[str, object]:
        """Convert for programs."""
        return {
            "lists": [_row(coverage) for coverage in self.lists],
            "shared_by_pairs": [_row(coverage) for coverage in self.pairs],
            "shared": list(self.shared),
            "images_here": self.images_here,
            "images_there": self.images_there if self.there is not None else None,
            "images_by_concept": {
                name: {"here": many, "there": self.there[name] if self.there is not None else None}
                for name, many in self.here.items()
            },
        }


def count_concepts(
    lists: Mapping[str, Sequence[str]],
    corpus: Corpus,
    here: Sequence[TaggedCaption],
    there: Sequence[TaggedCaption] | None,
) -> ConceptCounts:
    """Look for the concepts of all lists in the captions.

    Args:
        lists: names by list.
        corpus: the dataset, for the captions of examples.
        here: its captions.
        there: captions of another dataset, if there is one.
    """
    by_list = {name: concepts_of(names) for name, names in lists.items()}
    every: Concepts = {name: words for of in by_list.values() for name, words in of.items()}
    images = images_with(every, words_here := _words(here))
    counts = {name: len(of_concept) for name, of_concept in images.items()}
    counts_there: dict[str, int] | None = None
    if there is not None:
        of_there = images_with(every, _words(there))
        counts_there = {name: len(of_concept) for name, of_concept in of_there.items()}

    def coverage(name: str, concepts: Sequence[str]) -> Coverage:
        return Coverage(
            name=name,
            concepts=len(concepts),
            here=sum(counts[concept] > 0 for concept in concepts),
            there=None
            if counts_there is None
            else sum(counts_there[concept] > 0 for concept in concepts),
        )

    shared = [name for name in every if all(name in concepts for concepts in by_list.values())]
    return ConceptCounts(
        lists=[coverage(name, [*concepts]) for name, concepts in by_list.items()],
        pairs=[
            coverage(
                f"{first} and {second}",
                [name for name in by_list[first] if name in by_list[second]],
            )
            for first, second in combinations(by_list, 2)
        ],
        shared=shared,
        here=dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
        there=counts_there,
        images_here=len(words_here),
        images_there=len({caption.image for caption in there or ()}),
        examples=_examples(shared or [*every], images, corpus),
    )


def _words(captions: Sequence[TaggedCaption]) -> dict[str, list[list[str]]]:
    return {
        image: [[word for word, _ in caption.words] for caption in of_image]
        for image, of_image in by_image(captions).items()
    }


def _examples(
    concepts: Sequence[str], images: Mapping[str, Mapping[str, int]], corpus: Corpus
) -> Sequence[Example]:
    """An image for each common concept: the one that most captions call so."""
    present = [name for name in concepts if images[name]]
    present.sort(key=lambda name: (-len(images[name]), name))
    examples: dict[str, Example] = {}
    for name in present:
        free = [image for image in images[name] if image not in examples]
        if not free or len(examples) == _EXAMPLES:
            continue
        image = min(free, key=lambda image: (-images[name][image], place(image)))
        examples[image] = Example(
            image=image,
            label="concept",
            value=name,
            captions=[caption for caption in corpus.accepted[image] if not caption.is_canned],
        )
    return [*examples.values()]


def _row(coverage: Coverage) -> dict[str, object]:
    return {
        "name": coverage.name,
        "concepts": coverage.concepts,
        "here": coverage.here,
        "there": coverage.there,
    }
