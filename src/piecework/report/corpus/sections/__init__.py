"""A description as a page, the same in a terminal: one section for each question."""

from collections.abc import Callable, Iterator

from markupsafe import Markup

from piecework.domain.text import count, plural, share
from piecework.report.components import KeyFigure, Section, notes_of_remarks
from piecework.report.corpus.description import Description
from piecework.report.corpus.sections import composition, other_datasets, people
from piecework.report.formatting import excerpt
from piecework.report.page import SectionsPage

_SECTIONS: tuple[Callable[[Description], Section | None], ...] = (
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

_PURPOSE = Markup(
    "The analyses of VizWiz-Captions (Gurari et al., ECCV 2020), computed on this dataset. The "
    "paper's figures, shown for comparison, are about 39,181 photographs by blind people; "
    "nothing here was fitted to them."
)


def description_page(description: Description) -> SectionsPage:
    """Build the page; the remarks about a dataset warn about all figures."""
    return SectionsPage(
        source=description.source,
        kicker="What this dataset contains",
        title="what this dataset contains",
        purpose=_PURPOSE,
        key_figures=[*_key_figures(description)],
        notes=notes_of_remarks(excerpt(remark, limit=400) for remark in description.remarks),
        sections=[section for build in _SECTIONS if (section := build(description))],
    )


def _key_figures(description: Description) -> Iterator[KeyFigure]:
    """Yield the few numbers that characterise the dataset."""
    answers = description.captions + description.canned + description.rejected
    yield KeyFigure("Images", count(description.images), "in the file")
    if answers:
        of_answers = f"of {plural(answers, 'answer')}"
        yield KeyFigure("Free-text captions", count(description.captions), of_answers)
    if description.knows_canned:
        easy = description.levels.names.get("easy", 0)
        images = sum(description.levels.names.values())
        no_canned = f"{count(easy)} of {count(images)}; no canned answers"
        yield KeyFigure("Easy images", share(easy, images), no_canned)
    if whole := description.compositions.get("all"):
        words = f"{whole.per_caption['words']:.1f}"
        different = f"{count(whole.unique['words'])} different words in all"
        yield KeyFigure("Words in a caption", words, different)
