"""The page of a description: readable by all, and safe from what strangers typed."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from piecework.analyses.corpus.captions import Caption, Corpus, Question
from piecework.report.components import (
    Cell,
    Code,
    Column,
    KeyFigure,
    Link,
    Note,
    Quote,
    Section,
    number,
    table,
    text,
)
from piecework.report.corpus.description import describe_corpus
from piecework.report.corpus.sections import description_page
from piecework.report.page import SectionsPage, render_sections
from tests.browser.pages import faults_of_file
from tests.conftest import in_full

_NASTY = '</svg><script>alert(1)</script> "$x$" \u202e <b onload=alert(2)>red</b> cup'


def _corpus(*, source: str = "cups.csv") -> Corpus:
    texts = ["a red cup on a table", "the red mug stands on a table", _NASTY]
    captions = [
        Caption(
            image=str(image),
            text=text,
            is_canned=image > 5 and place > 0,
            shows_text="yes" if image % 2 else "no",
        )
        for image in range(8)
        for place, text in enumerate(texts)
    ]
    return Corpus(
        source=source,
        captions=captions,
        images=[str(image) for image in range(8)],
        remarks=[f"cut: {_NASTY}"],
    )


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, *in_full(390)])
def test_everybody_can_read_it(browser: Browser, tmp_path: Path, width: int) -> None:
    """No fault of `violations`, no tiny letters, no request, no dialog."""
    corpus = _corpus(source=_NASTY)
    file = tmp_path / "description.html"
    description = describe_corpus(
        corpus,
        against=corpus,
        groupings={_NASTY: {"1": _NASTY, "2": "park"}},
        questions=[Question(image="1", answer="red", kind=_NASTY)],
        concept_lists={_NASTY: ["cup", _NASTY], "things": ["cup", "mug", "kite"]},
    )
    file.write_text(render_sections(description_page(description)), encoding="utf-8")
    assert faults_of_file(browser, file, width=width) == []
    # Difficulty, parts of speech, nouns, overlap, concepts, specificity, scores.
    assert file.read_text().count('role="img"') == 7


def test_equal_descriptions_give_equal_bytes() -> None:
    """Nothing of the clock or of an address in memory."""
    first, second = (
        render_sections(description_page(describe_corpus(_corpus(), against=_corpus(), seed=1)))
        for _ in range(2)
    )
    assert first == second


def test_nothing_of_an_empty_corpus_fails() -> None:
    """A corpus without captions has a page too."""
    page = render_sections(description_page(describe_corpus(Corpus(source="nothing"))))
    assert "What this dataset contains" in page


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_every_kind_of_table_can_be_read(browser: Browser, tmp_path: Path, width: int) -> None:
    """Quotes, ranges, links and codes; a phone stacks what does not fit; a long one is closed."""
    heads: list[Column[object]] = [text(f"Head {place}") for place in range(5)]
    cells: list[Cell] = [Quote(_NASTY * 3), "two words", Link("page", "b.html"), Code("a" * 64)]
    rows = [(Link("first", "a.html"), *cells)] * 2
    tables = [
        table("All", rows, *heads),
        table("Ranges", [("a b", *["1.0 (0.5 to 2.0)"] * 4)], heads[0], *[_RANGE] * 4),
        table("Numbers", [("a b", *["1,000,000"] * 9)], heads[0], *[number("CIDEr-D")] * 9),
        table("Long", [("a", "b")] * 41, *heads[:2]),
        table("Not long", [("a", "b")] * 40, *heads[:2]),
    ]
    shown = SectionsPage(
        source="words",
        kicker="k",
        purpose="A sentence of a purpose. " * 9,
        key_figures=[KeyFigure("Answers", "6,850", "of 1,365 items")],
        notes=[Note("watch", "A note to be read. " * 12)],
        sections=[Section(key="all", title="All", lead=("Lead. " * 40,), tables=tuple(tables))],
    )
    file = tmp_path / "page.html"
    file.write_text(render_sections(shown), encoding="utf-8")
    assert faults_of_file(browser, file, width=width) == []
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(file.as_uri())
    sides = page.eval_on_selector_all(
        "[role=region]", "all => all.map(each => each.scrollWidth > each.clientWidth)"
    )
    summaries = page.locator("summary").all_inner_texts()
    page.close()
    # On a phone only the nine numbers are pushed.
    assert sides == [False, False, width == 390, False, False]
    assert summaries == ["Long (41)"]


_RANGE: Column[object] = Column("Cost", style="r")


@pytest.mark.browser
def test_tables_with_the_same_caption_are_regions_of_their_own(browser: Browser) -> None:
    """As of scores by two groupings, with the published ones beside both."""
    rows = [("cup", "1")]
    tables = [table(caption, rows, text("Word"), text("Times")) for caption in ("By place", "Same")]
    sections = [
        Section(key=title, title=f"By {title}", tables=(*tables, tables[1]))
        for title in ("place", "day")
    ]
    shown = SectionsPage(
        source="words", kicker="k", purpose="p", key_figures=(), notes=(), sections=sections
    )
    page = browser.new_page()
    page.set_content(render_sections(shown))
    results = Axe().run(page)
    page.close()
    assert results.violations_count == 0, results.generate_report()
