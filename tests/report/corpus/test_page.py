"""The page of a description: readable by all, and safe from what strangers typed."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from piecework.analyses.corpus.captions import Caption, Corpus, Question
from piecework.report.components import Section, table, text
from piecework.report.corpus.description import describe_corpus
from piecework.report.corpus.page import description_page
from piecework.report.page import SectionsPage, render_sections
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
    """No fault that axe knows, no sideways scrolling, no request, no dialog."""
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
    page = browser.new_page(viewport={"width": width, "height": 900})
    requests: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    page.goto(file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")

    results = Axe().run(page)
    scroll_width = page.evaluate("document.documentElement.scrollWidth")
    plots = page.locator("svg[role=img]").count()
    page.close()

    assert results.violations_count == 0, results.generate_report()
    assert scroll_width <= width
    # Difficulty, parts of speech, nouns, overlap, concepts, specificity, scores.
    assert plots == 7
    assert [url for url in requests if not url.startswith("data:")] == [file.as_uri()]
    assert dialogs == []


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
