"""The sections of a description, one question per module, in reading order."""

from collections.abc import Callable

from piecework.report.components import Section
from piecework.report.corpus.description import Description
from piecework.report.corpus.sections import (
    alike,
    answers,
    composition,
    concepts,
    images,
    overlap,
    people,
    vocabulary,
)

SECTIONS: tuple[Callable[[Description], Section | None], ...] = (
    images.build,
    composition.build,
    vocabulary.build,
    overlap.build,
    concepts.build,
    alike.build,
    answers.build,
    people.build,
)
"""A section that does not apply to a dataset returns None."""
