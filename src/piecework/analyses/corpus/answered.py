"""How often the captions of an image hold the answer to a question about it.

Table 2 of the VizWiz-Captions paper: the most popular answer to a visual question is
looked for in the image's captions, by "exact string matching". Here it must occur as
whole words, in any case: "no" is not in "notebook". The paper does not say whether
parts of words counted; with them "no" would be in most captions, but it reports 1 % for
yes and no.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from piecework.analyses.corpus.tokens import tokens

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
