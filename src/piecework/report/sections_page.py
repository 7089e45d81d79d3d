"""A page of sections about one source, used when there is no campaign to report on."""

from collections.abc import Sequence
from dataclasses import dataclass

from piecework.report.components import KeyFigure, Note, Section
from piecework.report.formatting import excerpt
from piecework.report.page import environment

_TITLE_CHARACTERS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsPage:
    """The content about one source, the same in a terminal and on a page.

    Attributes:
        source: the file or campaign that it is about.
        kicker: the kind of page, in a few words.
        purpose: how to read it, in a sentence or two.
    """

    source: str
    kicker: str
    purpose: str
    key_figures: Sequence[KeyFigure]
    notes: Sequence[Note]
    sections: Sequence[Section]


def render_sections(page: SectionsPage) -> str:
    """Render the page as self-contained HTML; escape and shorten untrusted text."""
    return (
        environment()
        .get_template("sections.html.j2")
        .render(
            source=excerpt(page.source, limit=_TITLE_CHARACTERS),
            kicker=page.kicker,
            purpose=page.purpose,
            key_figures=page.key_figures,
            notes=page.notes,
            sections=page.sections,
        )
    )
