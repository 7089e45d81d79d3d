"""The page in a real browser: axe finds nothing, nothing runs, nothing is fetched."""

from itertools import cycle
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from piecework.report import plots
from piecework.report.comparison_plots import Contest, Mean, contests, matrix, means
from piecework.report.page import render_report
from tests.browser.pages import faults_of_file, violations
from tests.report.campaign import by_hand, hostile, made_up

_PAGES = {
    "empty": made_up.empty(),
    "real": by_hand.small(is_rehearsal=False),
    "large": made_up.large(items=60),
    "hostile": hostile.campaign(hostile.NASTY),
}

_SHORT = {("hostile", 390), ("large", 1280)}
"""What is looked at each time."""

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("name", "width"),
    [
        pytest.param(*(name, width), marks=() if (name, width) in _SHORT else (pytest.mark.full,))
        for name in _PAGES
        for width in (1280, 390)
    ],
)
def test_everybody_can_read_it(browser: Browser, tmp_path: Path, name: str, width: int) -> None:
    """No fault of `violations`, no tiny letters, no request, no dialog."""
    file = tmp_path / "report.html"
    file.write_text(render_report(_PAGES[name]), encoding="utf-8")
    assert faults_of_file(browser, file, width=width) == []


@pytest.mark.full
def test_dark_screens_can_be_read_as_well(browser: Browser, tmp_path: Path) -> None:
    """Every colour has its contrast there too, and the page is dark."""
    file = tmp_path / "report.html"
    file.write_text(render_report(_PAGES["real"]), encoding="utf-8")
    page = browser.new_page(color_scheme="dark")
    page.goto(file.as_uri())
    faults = violations(page)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.close()

    assert faults == []
    assert ground == "rgb(14, 18, 22)"


_SMALL_TEXTS = """() => {
  const small = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.getClientRects().length) continue;
    const svg = element.closest("svg");
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const points = parseFloat(getComputedStyle(element).fontSize) * scale * 0.75;
    if (points < 7.4) small.add(`${points.toFixed(2)} ${element.tagName} ${element.className}`);
  }
  return [...small];
}"""


def test_nothing_is_cut_off_on_paper(browser: Browser, tmp_path: Path) -> None:
    """On the width of A4 between margins no table stands out, pictures show, and no text is tiny.

    A table without quoted texts stays on a page.
    """
    file = tmp_path / "report.html"
    file.write_text(render_report(_PAGES["large"]), encoding="utf-8")
    page = browser.new_page(viewport={"width": 680, "height": 900})
    page.emulate_media(media="print")
    page.goto(file.as_uri())
    width = page.evaluate("document.documentElement.scrollWidth")
    shown = page.evaluate("[...document.images].every(one => one.complete)")
    small = page.evaluate(_SMALL_TEXTS)
    split = page.eval_on_selector_all(
        "table",
        """all => all.filter(table => table.rows.length < 26 && !table.querySelector("td .quote")
          && getComputedStyle(table.closest(".piece")).breakInside !== "avoid")
          .map(table => table.caption.textContent)""",
    )
    page.close()

    assert width <= 680
    assert shown
    assert small == []
    assert split == []


_NAMES = {
    "short": "cat",
    "long": "Repeated sentence or copied instructions that no other worker has written",
    "Chinese": "一个很长的选项名称一个很长的选项名称一个很长的选项名称",
    "Hebrew": "קטגוריה ארוכה מאוד שאין לה מקום בשורה אחת",
    "markup": "<b>dog</b> & </text><script>alert(1)</script>",
    "no spaces": "x" * 90,
}


@pytest.mark.parametrize(
    "size", [17, *(pytest.param(size, marks=pytest.mark.full) for size in (1, 3, 32, 60))]
)
def test_names_and_counts_stay_in_their_room(browser: Browser, size: int) -> None:
    """No label of a heat map or of bars is cut by the page, no count covers its neighbour."""
    names = [f"{name} {place}" for place, name in zip(range(size), cycle(_NAMES.values()))]
    counts = [[10 ** ((row * column) % 6) for column in range(size)] for row in range(size)]
    page = browser.new_page()
    for plot in (
        matrix(names, counts, is_wide=size > 3),
        plots.bars([plots.Bar(name, 3, "3 (100.0 %)") for name in names]),
        means([Mean(name, 0.5, 0.2, 0.8) for name in names], ends=(0, 1), x_label="x"),
        contests([Contest(name, name, 3, 2, 1) for name in names]),
    ):
        svg = plots.draw_svg(plot, key="plot", title="t", description="d")
        width = plot.width_inches * 96
        page.set_content(
            f'<body style="font-family: sans-serif"><main style="width:{width}px">{svg}'
        )
        assert page.evaluate(_OUT_OF_ROOM) == []
    page.close()


_OUT_OF_ROOM = """() => {
  // A wide letter may reach into the gap beside the drawing.
  const drawing = document.querySelector("svg").getBoundingClientRect();
  const texts = [...document.querySelectorAll("svg text")].map(element =>
    [element.textContent, element.getBoundingClientRect()]);
  const out = texts.filter(([, box]) =>
    Math.max(drawing.left - box.left, box.right - drawing.right) > 6);
  const over = texts.filter(([, box], place) => texts.some(([, other], its) => its > place &&
    Math.min(box.right, other.right) - Math.max(box.left, other.left) > 2 &&
    Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > box.height / 2));
  return [...out, ...over].map(([words]) => words);
}"""
