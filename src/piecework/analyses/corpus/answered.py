"""How often captions hold the answer to a question, or a concept of another dataset.

Table 2 and section 3.2 of the VizWiz-Captions paper look for "exact string matching". Here
an answer or a name must occur as whole words, in any case and in exactly its form: "no" is
not in "notebook", and "dogs" is no "dog". The paper does not say whether parts of words
counted; with them "no" would be in most captions, but it reports 1 % for yes and no.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from piecework.analyses.corpus.captions import tokens

ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question about an image.

    Attributes:
        answer: the most popular one.
        kind: of the answer, as "yes/no"; "" if unknown.
    """

    image: str
    answer: str
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A group of questions.

    Attributes:
        images: the group of images, or "all".
        kind: the kind of answer, or "all".
        answered: questions whose answer is in a caption.
    """

    images: str
    kind: str
    questions: int
    answered: int


def answered(
    questions: Iterable[Question],
    captions: Mapping[str, Sequence[Sequence[str]]],
    group_of: Mapping[str, str],
) -> list[Answered]:
    """Count the questions that captions answer, by group of images and kind of answer.

    Questions about images without captions are left out.

    Args:
        questions: of any images.
        captions: lower-case tokens of the captions, by image.
        group_of: the group of each image.
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for question in questions:
        if question.image not in captions:
            continue
        answer = tokens(question.answer)
        is_answered = bool(answer) and any(
            holds(caption, answer) for caption in captions[question.image]
        )
        groups = [ALL, *filter(None, [group_of.get(question.image)])]
        kinds = [ALL, *filter(None, [question.kind])]
        for key in ((group, kind) for group in groups for kind in kinds):
            both = counts.setdefault(key, [0, 0])
            both[0] += 1
            both[1] += is_answered
    return [
        Answered(images=group, kind=kind, questions=many, answered=few)
        for (group, kind), (many, few) in counts.items()
    ]


def holds(caption: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a caption has these words next to each other.

    >>> holds(["a", "red", "cup"], ["red", "cup"]), holds(["cup"], ["cup", "red"])
    (True, False)
    """
    length = len(words)
    return any(
        list(caption[start : start + length]) == list(words)
        for start in range(len(caption) - length + 1)
    )


Concepts = Mapping[str, Sequence[Sequence[str]]]
"""Spellings of each concept, as lower-case tokens."""


def concepts_of(names: Sequence[str]) -> Concepts:
    """Return the spellings of each name; repeated names and empty ones are left out.

    Commas separate spellings of the same concept, as in ImageNet, and underscores stand
    for spaces.

    >>> concepts_of(["soccer_ball", "cup, mug", "Cup, mug"])
    {'soccer ball': [['soccer', 'ball']], 'cup, mug': [['cup'], ['mug']]}
    """
    concepts: dict[str, Sequence[Sequence[str]]] = {}
    for name in names:
        plain = " ".join(name.replace("_", " ").lower().split())
        spellings = [words for part in plain.split(",") if (words := tokens(part))]
        if spellings:
            concepts.setdefault(plain, spellings)
    return concepts


def images_with(
    concepts: Concepts, captions: Mapping[str, Sequence[Sequence[str]]]
) -> dict[str, dict[str, int]]:
    """Return for each concept the images with it, and how many captions have it.

    Args:
        concepts: what to look for.
        captions: lower-case tokens of the captions, by image.

    >>> images_with(concepts_of(["red cup"]), {"1": [["a", "red", "cup"], ["cup"]]})
    {'red cup': {'1': 1}}
    """
    named: dict[tuple[str, ...], list[str]] = {}
    for name, spellings in concepts.items():
        for words in spellings:
            named.setdefault(tuple(words), []).append(name)
    lengths = sorted({len(words) for words in named})
    images: dict[str, dict[str, int]] = {name: {} for name in concepts}
    for image, of_image in captions.items():
        for caption in of_image:
            present = {
                name
                for length in lengths
                for start in range(len(caption) - length + 1)
                for name in named.get(tuple(caption[start : start + length]), ())
            }
            for name in present:
                images[name][image] = images[name].get(image, 0) + 1
    return images
