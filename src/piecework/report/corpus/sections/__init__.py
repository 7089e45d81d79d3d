"""The sections of a description, one for each question, in reading order."""

from collections.abc import Callable

from piecework.report.components import Section
from piecework.report.corpus.description import Description
from piecework.report.corpus.sections import composition, other_datasets, people

SECTIONS: tuple[Callable[[Description], Section | None], ...] = (
    composition.images_section,
    composition.composition_section,
    composition.vocabulary_section,
    other_datasets.overlap_section,
    other_datasets.concepts_section,
    people.alike_section,
    people.answers_section,
    people.people_section,
)
"""A section that does not apply to a dataset returns None."""
