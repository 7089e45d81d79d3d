"""Captions of a corpus: what each says, and what a worker answered.

Table 2 and section 3.2 of the VizWiz-Captions paper look for "exact string matching". Here
an answer or a name must occur as whole words, in any case and in exactly its form: "no" is
not in "notebook", and "dogs" is no "dog". The paper does not say whether parts of words
counted; with them "no" would be in most captions, but it reports 1 % for yes and no.

Published caption metrics are computed on the output of Stanford's PTBTokenizer,
lower-cased and without punctuation. That program is Java; these rules agree with it on the
captions of VizWiz (docs/internals/measurements/captions.md says how far). Punctuation inside
numbers and words (3.5, 10:30, t-shirt, 1/2) stays.

The tagger is HanTa (Wartena, KONVENS 2019; version 2023), trained on the British National
Corpus: pure Python, with its English model in the package and no downloads. On 24 captions
of VizWiz that were labelled by hand it finds the part of speech of 272 of 277 tokens
(docs/how-to/describe.md). Forms of "be" and modals are not verbs here, since Table 1 of the
VizWiz-Captions paper counts verbs as actions. Stems are Porter's (Snowball).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal, Protocol

import snowballstemmer

from piecework.domain.errors import load_extra

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


ANSWERS_OF_QUALITY_FILES = 5
"""VizWiz-QualityIssues asked five workers about each image (Chiu et al. 2020)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """One answer about an image.

    Attributes:
        text: cleaned, if the file has a cleaned text.
        is_canned: the worker chose the page's own sentence for unrecognisable images.
        shows_text: this worker's "yes" or "no"; "" if unknown.
    """

    image: str
    text: str
    is_canned: bool = False
    is_rejected: bool = False
    shows_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """What five workers said about the quality of one image, without captions.

    Attributes:
        unrecognizable: how many of them found it too bad to recognise.
        flaws: votes by name of the flaw.
    """

    unrecognizable: int
    flaws: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """One dataset.

    Attributes:
        source: the file's name, for people.
        captions: in the file's order, rejected and canned ones included.
        images: all images, with or without captions, in the file's order.
        files: the name of the picture's file by image, where the file has it.
        shows_text: "yes" or "no" by image, if the file has it for images.
        quality: by image, for a file that has only votes on quality.
        holds_canned: whether the file would contain canned answers; False for files
            with novel captions only.
        remarks: what a reader of the results has to know about the file.
    """

    source: str
    captions: Sequence[Caption] = ()
    images: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    shows_text: Mapping[str, str] = field(default_factory=dict)
    quality: Mapping[str, Quality] = field(default_factory=dict)
    holds_canned: bool = True
    remarks: Sequence[str] = ()

    @cached_property
    def accepted(self) -> Mapping[str, Sequence[Caption]]:
        """Captions by image, canned ones included, rejected ones left out."""
        return by_image(caption for caption in self.captions if not caption.is_rejected)

    @cached_property
    def novel(self) -> Sequence[Caption]:
        """Captions that a worker wrote and that were not rejected."""
        return [
            caption for caption in self.captions if not (caption.is_rejected or caption.is_canned)
        ]


def by_image(captions: Iterable[Caption]) -> Mapping[str, Sequence[Caption]]:
    """Group captions by image, both in their order."""
    groups: dict[str, list[Caption]] = defaultdict(list)
    for caption in captions:
        groups[caption.image].append(caption)
    return groups


_PARTS = re.compile(
    r"""
    (?:[^\W\d_]\.){2,}              # u.s.a.
    | \d+(?:[.,:/]\d+)+ (?!\w)      # 3.5  1,000  10:30  1/2
    | [\w]+(?:[-'.&/@_]\w+)*        # words, t-shirt, o'clock, dot.com, at&t
    | \S                            # anything else, a sign at a time
    """,
    re.VERBOSE,
)
_CLITIC = re.compile(r"(?<=\w)(n't|'s|'re|'ve|'ll|'d|'m)$")
_SPLIT = {"cannot": ("can", "not"), "gonna": ("gon", "na"), "wanna": ("wan", "na")}
_QUOTES = str.maketrans("\u2018\u2019\u00b4`", "''''")


def tokens(text: str) -> list[str]:
    """Return lower-case tokens without punctuation.

    >>> tokens("It's a T-shirt, isn't it?  3.5 oz.")
    ['it', "'s", 'a', 't-shirt', 'is', "n't", 'it', '3.5', 'oz']
    """
    return [token.lower() for token in cased_tokens(text)]


def cased_tokens(text: str) -> list[str]:
    """Return the tokens with their case, which a tagger needs.

    >>> cased_tokens("A can of Coke.")
    ['A', 'can', 'of', 'Coke']
    """
    cased: list[str] = []
    for part in _PARTS.findall(text.translate(_QUOTES)):
        if _is_word(part):
            cased += _split(part)
    return cased


def punctuation_marks(text: str) -> int:
    """Return the number of tokens that are punctuation.

    >>> punctuation_marks("A can, a cup (3.5 oz).")
    4
    """
    return sum(not _is_word(part) for part in _PARTS.findall(text.translate(_QUOTES)))


def _is_word(part: str) -> bool:
    return any(character.isalnum() for character in part)


def _split(word: str) -> list[str]:
    if pair := _SPLIT.get(word.lower()):
        return [word[: len(pair[0])], word[len(pair[0]) :]]
    clitic = _CLITIC.search(word.lower())
    if clitic:
        return [word[: clitic.start()], word[clitic.start() :]]
    return [word]


_STEMMER = snowballstemmer.stemmer("english")


@cache
def stem(word: str) -> str:
    """Return the stem of a lower-case word.

    >>> stem("bottles"), stem("sitting")
    ('bottl', 'sit')
    """
    return str(_STEMMER.stemWord(word))


Kind = Literal["noun", "verb", "adjective", "preposition", "other"]
Tagged = tuple[tuple[str, Kind], ...]
"""The lower-case tokens of one caption, each with its kind."""

_KINDS: dict[str, Kind] = {
    "NN0": "noun",
    "NN1": "noun",
    "NN2": "noun",
    "NP0": "noun",
    "AJ0": "adjective",
    "AJC": "adjective",
    "AJS": "adjective",
    "PRP": "preposition",
    "PRF": "preposition",
    **{f"V{verb}{form}": "verb" for verb in "VHD" for form in ("B", "D", "G", "I", "N", "Z")},
}
"""CLAWS C5, the tags of the British National Corpus; all others are "other"."""


_LONGEST = 40
"""Letters of a word that the tagger sees; 2,000 letters took twelve seconds."""


class _Tagger(Protocol):
    def tag_sent(self, sent: list[str], taglevel: int) -> list[str]: ...


def tagged(texts: Iterable[str]) -> Iterator[Tagged]:
    """Yield the tokens of each text with their kinds.

    >>> [kind for _, kind in next(tagged(["A can of diet Coke on a table."]))]
    ['other', 'noun', 'preposition', 'noun', 'noun', 'preposition', 'other', 'noun']
    """
    tagger = _tagger()
    for text in texts:
        words = _unshouted(cased_tokens(text))
        short = [word[:_LONGEST] for word in words]
        tags = tagger.tag_sent(short, taglevel=0) if words else []
        yield tuple(
            (word.lower(), _KINDS.get(tag, "other")) for word, tag in zip(words, tags, strict=True)
        )


@cache
def _tagger() -> _Tagger:
    hanta = load_extra("HanTa.HanoverTagger", extra="describe", use="piecework data describe")
    tagger: _Tagger = hanta.HanoverTagger("morphmodel_en.pgz")
    return tagger


def _unshouted(words: list[str]) -> list[str]:
    """Lower the case of texts in capitals, in which every word looks like a name."""
    letters = [character for word in words for character in word if character.isalpha()]
    capitals = sum(map(str.isupper, letters))
    return [word.lower() for word in words] if 2 * capitals > len(letters) else words


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedCaption:
    """One caption.

    Attributes:
        words: without punctuation.
        marks: the number of punctuation marks, each a token of its own.
    """

    image: str
    text: str
    words: Tagged
    marks: int


def tag_captions(captions: Iterable[Caption]) -> list[TaggedCaption]:
    """Tag captions, in their order."""
    listed = [*captions]
    return [
        TaggedCaption(
            image=caption.image,
            text=caption.text,
            words=words,
            marks=punctuation_marks(caption.text),
        )
        for caption, words in zip(listed, tagged(caption.text for caption in listed), strict=True)
    ]
