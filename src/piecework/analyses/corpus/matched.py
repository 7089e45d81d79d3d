"""A part of a larger dataset that has as many images and captions as a smaller one.

Larger datasets have more different words, so the VizWiz-Captions paper (section 3.2)
compares its dataset with all of MSCOCO-Captions and with a random part of it: the same
number of images, with the same distribution of captions per image.
"""

from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import TypeVar

_Caption = TypeVar("_Caption")


def matched(
    larger: Mapping[str, list[_Caption]], like: Mapping[str, list[_Caption]], *, seed: int
) -> dict[str, list[_Caption]]:
    """Draw images of the larger dataset, and as many captions of each.

    Images that need the most captions are drawn first. The part has fewer images if the
    larger dataset has too few with enough captions.

    >>> matched({"a": [1, 2], "b": [3]}, like={"x": [7, 8]}, seed=0)
    {'a': [1, 2]}
    """
    random = Random(seed)  # noqa: S311 - a sample, not a secret
    wanted = Counter(map(len, like.values()))
    by_size: dict[int, list[str]] = {}
    for image, captions in larger.items():
        by_size.setdefault(len(captions), []).append(image)
    drawn: dict[str, list[_Caption]] = {}
    for size in sorted(wanted, reverse=True):
        enough = [
            image
            for captions, images in by_size.items()
            if captions >= size
            for image in images
            if image not in drawn
        ]
        for image in random.sample(enough, min(wanted[size], len(enough))):
            captions = larger[image]
            places = sorted(random.sample(range(len(captions)), size))
            drawn[image] = [captions[place] for place in places]
    return drawn
