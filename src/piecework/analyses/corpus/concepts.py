"""Which concepts of other datasets occur in captions, and in how many images.

Follows section 3.2 of the VizWiz-Captions paper: categories of ImageNet, COCO, SUN and
others are looked for in the captions by exact string matching. Here a name must occur
as whole words, in any case and in exactly its form: "dogs" is no "dog".
"""

from collections.abc import Mapping, Sequence

from piecework.analyses.corpus.tokens import tokens

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
