"""What a description tells, one question a module, in reading order."""

from collections.abc import Callable

from postprocess.describe.description import Description
from postprocess.describe.sections import alike, images, overlap, people, words
from postprocess.report.parts import Section

SECTIONS: tuple[Callable[[Description], Section | None], ...] = (
    images.build,
    words.build,
    overlap.build,
    alike.build,
    people.build,
)
"""A section that has nothing to say about a dataset returns None."""
