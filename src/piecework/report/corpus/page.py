"""A description as a page of sections, the same in a terminal."""

from collections.abc import Iterator

from markupsafe import Markup

from piecework.domain.text import count, plural, share
from piecework.report.components import KeyFigure, notes_of_remarks
from piecework.report.corpus.description import Description
from piecework.report.corpus.sections import SECTIONS
from piecework.report.formatting import excerpt
from piecework.report.page import SectionsPage

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
        sections=[section for build in SECTIONS if (section := build(description))],
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
