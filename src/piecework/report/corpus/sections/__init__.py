"""What a description tells, one question a module, in reading order."""

from collections.abc import Callable

from piecework.report.components import Section
from piecework.report.corpus.description import Description
from piecework.report.corpus.sections import alike, images, overlap, people, words

SECTIONS: tuple[Callable[[Description], Section | None], ...] = (
    images.build,
    words.build,
    overlap.build,
    alike.build,
    people.build,
)
"""A section that has nothing to say about a dataset returns None."""
