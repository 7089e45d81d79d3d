"""Concepts of other datasets in the captions of this one, and of another.

Images show what a figure means: the captions of a few, chosen by a rule.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

from piecework.analyses.corpus.captions import (
    Caption,
    Concepts,
    Corpus,
    TaggedCaption,
    concepts_of,
    images_with,
)
from piecework.analyses.votes import Difficulty
from piecework.domain.text import plural
from piecework.report.components import Card, Reply, Tag
from piecework.report.corpus.comparison import words_by_image
from piecework.report.formatting import excerpt
from piecework.report.item_sample import place_of

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
            key=place_of,
        )[:_BY_DIFFICULTY]
    ]


def card(example: Example, pictures: Mapping[str, tuple[str, str]]) -> Card:
    """Show an example with its picture, if there is one.

    Args:
        example: the image and its captions.
        pictures: a small copy as `data:` URL, and where the picture is, by image.
    """
    picture, original = pictures.get(example.image, ("", ""))
    times = Counter((caption.text, caption.is_canned) for caption in example.captions)
    shown = [*times.items()][:_MOST_CAPTIONS]
    more = len(times) - len(shown)
    return Card(
        heading=excerpt(example.image, limit=_NAME_CHARACTERS),
        picture=picture,
        original=original,
        texts=(),
        votes=((example.label, example.value),),
        replies=tuple(
            Reply(text=excerpt(text, limit=_CHARACTERS), tag=_TAGS[is_canned], times=number)
            for (text, is_canned), number in shown
        ),
        note=f"{more:,} more not shown." if more else "",
    )


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
            "lists": [asdict(coverage) for coverage in self.lists],
            "shared_by_pairs": [asdict(coverage) for coverage in self.pairs],
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
    images = images_with(every, words_here := words_by_image(here))
    counts = {name: len(of_concept) for name, of_concept in images.items()}
    counts_there: dict[str, int] | None = None
    if there is not None:
        of_there = images_with(every, words_by_image(there))
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
        image = min(free, key=lambda image: (-images[name][image], place_of(image)))
        examples[image] = Example(
            image=image,
            label="concept",
            value=name,
            captions=[caption for caption in corpus.accepted[image] if not caption.is_canned],
        )
    return [*examples.values()]
