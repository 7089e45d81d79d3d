"""A description as sections, and as one self-contained page."""

from collections.abc import Sequence

from piecework.domain.text import count, plural, share
from piecework.report.components import KeyFigure, Note, Section
from piecework.report.corpus.description import Description
from piecework.report.corpus.sections import SECTIONS
from piecework.report.formatting import excerpt
from piecework.report.page import environment

_TITLE_CHARACTERS = 120


def description_sections(description: Description) -> Sequence[Section]:
    """Build all sections; the terminal and the page show the same ones."""
    return [section for build in SECTIONS if (section := build(description))]


def description_notes(description: Description) -> Sequence[Note]:
    """Return the warnings about all figures."""
    return [Note("watch", excerpt(remark, limit=400)) for remark in description.remarks]


def render_description(description: Description) -> str:
    """Render the description as HTML; equal descriptions give equal bytes.

    As in the report, the page loads nothing and has no scripts; untrusted text is
    escaped and shortened.
    """
    return (
        environment()
        .get_template("description.html.j2")
        .render(
            source=excerpt(description.source, limit=_TITLE_CHARACTERS),
            key_figures=key_figures(description),
            notes=description_notes(description),
            sections=description_sections(description),
        )
    )


def key_figures(description: Description) -> Sequence[KeyFigure]:
    """Return the few numbers that characterise the dataset."""
    answers = description.captions + description.canned + description.rejected
    figures = [KeyFigure("Images", count(description.images), "in the file")]
    if answers:
        figures.append(
            KeyFigure(
                "Novel captions", count(description.captions), f"of {plural(answers, 'answer')}"
            )
        )
    if description.knows_canned:
        easy = description.levels.names.get("easy", 0)
        images = sum(description.levels.names.values())
        figures.append(
            KeyFigure(
                "Easy images",
                share(easy, images),
                f"{count(easy)} of {count(images)}; no canned answers",
            )
        )
    if whole := description.compositions.get("all"):
        figures.append(
            KeyFigure(
                "Words in a caption",
                f"{whole.per_caption['words']:.1f}",
                f"{count(whole.unique['words'])} different words in all",
            )
        )
    return figures
