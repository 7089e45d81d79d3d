"""Captions in one form for all analyses, whatever file they came from."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

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
