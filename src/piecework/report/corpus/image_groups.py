"""Groups of images: by what workers answered, or by any column of the images."""

from collections.abc import Callable, Iterable, Mapping

from piecework.analyses.corpus.captions import Corpus
from piecework.domain.errors import ConfigError
from piecework.report.corpus.levels import difficulties, text_of_images

TEXT, DIFFICULTY, QUESTION = "text", "difficulty", "question"
"""Groupings with names for their groups; the answers themselves give the first two."""

MOST_GROUPS = 30
"""A column with more values is an id or a text, not a grouping."""

_TEXT_GROUPS = {"yes": "with text", "no": "without text"}
_IN_ORDER = (
    "easy",
    "medium",
    "difficult",
    "with text",
    "without text",
    "with a question",
    "without a question",
)


def group_of_images(
    corpus: Corpus, grouping: str, column: Callable[[str], Mapping[str, str]]
) -> dict[str, str]:
    """Return the group of each image.

    Args:
        corpus: the dataset.
        grouping: "text", "difficulty", "question" (whether the image came with one), or
            a column.
        column: returns the value of each image of a column.

    Raises:
        ConfigError: the dataset does not say it of any image, or the column has too
            many values.
    """
    if grouping == TEXT:
        groups = text_groups(corpus)
    elif grouping == DIFFICULTY:
        groups = {**difficulties(corpus)}
    elif grouping == QUESTION:
        groups = {
            image: f"{'with' if text.strip() else 'without'} a question"
            for image, text in column(QUESTION).items()
        }
    else:
        groups = {image: text for image, text in column(grouping).items() if text}
    known = {*corpus.images, *corpus.accepted}
    groups = {image: group for image, group in groups.items() if image in known}
    if not groups:
        raise ConfigError(["the dataset has it for no image, so there is nothing to group by"])
    if (values := len({*groups.values()})) > MOST_GROUPS:
        raise ConfigError([f"{values:,} different values; at most {MOST_GROUPS} make groups"])
    return groups


def text_groups(corpus: Corpus) -> dict[str, str]:
    """Return whether each image shows text; images without a majority are left out."""
    return {
        image: _TEXT_GROUPS[verdict] for image, verdict in text_of_images(corpus).items() if verdict
    }


def in_order(groups: Iterable[str]) -> list[str]:
    """Sort groups: easy before difficult, with text before without, then by name."""
    return sorted(
        groups,
        key=lambda group: (_IN_ORDER.index(group) if group in _IN_ORDER else len(_IN_ORDER), group),
    )
