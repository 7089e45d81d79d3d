"""What several browser tests say to a page, and what each page must be.

With PIECEWORK_SHEET=FOLDER, each page at which a test looks is also taken as a picture, for
the contact sheet of `tests.browser.gallery`.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Frame, FrameLocator, Locator, Page, expect

from piecework.hit_templates.tasks import load_task

Open = Callable[..., Page]
RED_HOUSE = "A red house with a brown roof stands beside a post sign"
GREEN_LAWN = "A green lawn under a blue sky, with the sun in a corner"
CANNED = "Quality issues are too severe to recognize visual content."


def sign_in(page: Page, address: str) -> None:
    """Open a link and press the button of the page that it leads to."""
    page.goto(address)
    page.get_by_role("button", name="Sign in as").click()
    page.wait_for_url("**/worker/hits")


def pass_lesson(hit: FrameLocator | Page) -> None:
    """Go on to the first item, if instructions come before it."""
    expect(hit.locator(".step:not([hidden])")).to_be_visible()
    if hit.locator(".step.briefing:not([hidden])").count():
        hit.locator("#next").click()
        expect(hit.locator(".step.briefing")).to_be_hidden()


def check(control: Locator) -> None:
    """Check a box or radio of a question's frame by the key: a click may meet a moving page."""
    control.press("Space")
    expect(control).to_be_checked()


def tick(hit: FrameLocator, name: str, value: str) -> None:
    """Tick a box of a question's frame."""
    check(hit.locator(f'[name="{name}"][value="{value}"]'))


def fill(page: Page, n: int, caption: str) -> None:
    """Answers everything about the item that is shown."""
    page.fill(f"#caption-{n}", caption)
    page.check(f'[name="has_text.{n}"][value=yes]')
    page.check(f'[name="flaws.{n}"][value=none]')


def faults(page: Page, field: str) -> list[str]:
    """The messages beside a field (`caption-1`)."""
    return page.locator(f"#faults-{field} span").all_inner_texts()


def message(rule_name: str) -> str:
    """What a rule says to the worker."""
    return next(rule.message for rule in load_task("caption").rules if rule.name == rule_name)


def draft_keys(page: Page) -> list[str]:
    """Names of the drafts that the page keeps in the browser."""
    keys: list[str] = page.evaluate("Object.keys(window.localStorage)")
    return [key for key in keys if not key.startswith("piecework.read.")]


SIZES = {"desktop": (1280, 900), "phone": (390, 844)}

_ENDS = """() => {
  const step = document.querySelector(".step:not([hidden])");
  const shown = (name) => [...step.querySelectorAll(name)]
    .filter((each) => each.checkVisibility() && !each.closest(".instructions"))
    .map((each) => each.getBoundingClientRect().bottom);
  const item = shown(".viewer, .shown, .quoted, .points, .card, audio, video");
  return {
    item: Math.max(...item),
    asked: shown("legend, .field > label")[0],
    control: shown("label:has(input), textarea, input[type=range]")[0],
  };
}"""


def ends_of_first_screen(page: Page | Frame) -> dict[str, float]:
    """Where the whole item, what is asked and the first control end, in pixels from the top."""
    ends: dict[str, float] = page.evaluate(_ENDS)
    assert set(ends) == {"item", "asked", "control"}
    return ends


PHONE = 480
"""Up to this width, a page is used with fingers."""

_CONTROLS = """(isPhone) => {
  const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = text;
    pixel.fillRect(0, 0, 1, 1);
    return pixel.getImageData(0, 0, 1, 1).data;
  };
  const light = (data) => {
    const [r, g, b] = [...data].slice(0, 3)
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const data = colour(getComputedStyle(each).backgroundColor);
      if (data[3] === 255) return data;
    }
    return colour(matchMedia("(prefers-color-scheme: dark)").matches
      && /dark/.test(getComputedStyle(document.documentElement).colorScheme) ? "#121212" : "#fff");
  };
  const isShown = (element) => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility({ visibilityProperty: true })
      && box.width > 1 && box.height > 1 && box.bottom + scrollY > 0 && box.right + scrollX > 0;
  };
  // WCAG 2.5.8 spares a link in a sentence: the line's height bounds it.
  const isInSentence = (element) => {
    if (element.tagName !== "A" || getComputedStyle(element).display !== "inline") return false;
    let block = element.parentElement;
    while (getComputedStyle(block).display === "inline") block = block.parentElement;
    return block.innerText.trim().length > element.innerText.trim().length + 2;
  };
  const name = (element) => `${element.tagName.toLowerCase()} `
    + `"${(element.innerText || element.name || element.id).trim().slice(0, 40)}"`;
  const faults = [];
  const targets = "a[href], button, summary, input:not([type=hidden]), select, textarea";
  for (const element of document.querySelectorAll(targets)) {
    if (!isShown(element)) continue;
    const boxes = [element, ...(element.labels || [])].map((each) => each.getBoundingClientRect());
    const high = Math.max(...boxes.map((box) => box.height));
    const wide = Math.max(...boxes.map((box) => box.width));
    if (isPhone && !isInSentence(element) && Math.min(high, wide) < 43.9) {
      faults.push(`target ${name(element)}: ${Math.round(wide)} x ${Math.round(high)} px`);
    }
  }
  const bordered = "button, select, textarea, a.button, label:has(input), .option, "
    + "input:not([type=hidden], [type=checkbox], [type=radio], [type=range], [type=color])";
  for (const element of document.querySelectorAll(bordered)) {
    if (!isShown(element) || element.disabled || element.closest("fieldset:disabled")) continue;
    const style = getComputedStyle(element);
    const [own, around] = [ground(element), ground(element.parentElement)];
    const border = colour(style.borderTopColor);
    const hasBorder = parseFloat(style.borderTopWidth) > 0 && border[3] > 0;
    if (!hasBorder && contrast(own, around) < 1.01) continue; // its text alone shows it
    const best = Math.max(contrast(own, around), hasBorder ? contrast(border, around) : 0);
    if (best < 2.995) faults.push(`border of ${name(element)}: ${best.toFixed(2)} to 1`);
  }
  return faults;
}"""


_LETTERS = 90
"""The most letters of a line before another, so that the eye finds it; 75 are better."""

_LONG_LINES = """(most) => {
  const faults = [];
  const blocks = "p, li, dd, figcaption, legend, label";
  for (const block of document.querySelectorAll(blocks)) {
    if (!block.checkVisibility({ visibilityProperty: true }) || block.closest("td, pre")) continue;
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    let [letters, top, height, isFirstOfMore] = [0, null, 0, false];
    const range = document.createRange();
    line: while (walker.nextNode()) {
      const text = walker.currentNode;
      if (text.parentElement.closest(`${blocks}, h1, h2, h3, h4`) !== block) break;
      for (let place = 0; place < text.length; place += 1) {
        range.setStart(text, place);
        range.setEnd(text, place + 1);
        const box = range.getBoundingClientRect();
        if (!box.width) continue;
        if (top === null) [top, height] = [box.top, box.height];
        isFirstOfMore = Math.abs(box.top - top) > height / 2;
        if (isFirstOfMore) break line;
        letters += 1;
      }
    }
    const words = block.innerText.trim().slice(0, 40);
    if (isFirstOfMore && letters > most) faults.push(`a line of ${letters} letters: ${words}`);
  }
  return faults;
}"""


def control_faults(page: Page | Frame) -> list[str]:
    """Targets under 44 pixels on a phone, and controls whose edge has no contrast of 3 to 1."""
    width = page.evaluate("window.innerWidth")
    faults: list[str] = page.evaluate(_CONTROLS, width <= PHONE)
    return faults


def long_lines(page: Page) -> list[str]:
    """Lines of a text with more letters than the eye follows to the next."""
    faults: list[str] = page.evaluate(_LONG_LINES, _LETTERS)
    return faults


def violations(page: Page) -> list[str]:
    """What is wrong with the page as it is: for axe, its width, its controls and its lines."""
    _take_for_the_sheet(page)
    for_axe = Axe().run(page).response["violations"]
    faults = [f"{each['id']}: {[node['target'] for node in each['nodes']]}" for each in for_axe]
    if not fits(page):
        faults.append("the page is wider than the window")
    return [*faults, *control_faults(page), *long_lines(page)]


def fits(page: Page) -> bool:
    """Whether nothing of the page is wider than the window."""
    return bool(
        page.evaluate(
            "(({scrollWidth, clientWidth}) => scrollWidth <= clientWidth)(document.documentElement)"
        )
    )


def _take_for_the_sheet(page: Page) -> None:
    """Take a page for the contact sheet, in each of its sizes, if a sheet is made."""
    folder = os.environ.get("PIECEWORK_SHEET")
    window = page.viewport_size
    if not folder or window is None:
        return
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0].rpartition("/")[2]
    name = re.sub(r"[^a-z0-9]+", "-", test.lower()).strip("-")[:120]
    number = sum(1 for _ in Path(folder).glob(f"{name}-*-phone.png"))
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(150)  # pages lay themselves out again
        page.screenshot(path=Path(folder) / f"{name}-{number:02d}-{size}.png")
    page.set_viewport_size(window)


_TINY = 9
"""Pixels of the smallest letters of a plot on a phone."""

_TINY_LETTERS = """(least) => [...document.querySelectorAll("svg text")]
  .map((text) => {
    const svg = text.closest("svg");
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return [parseFloat(getComputedStyle(text).fontSize) * scale, text.textContent];
  })
  .filter(([size]) => size < least)
  .map(([size, words]) => `letters of ${size.toFixed(1)} px in a plot: ${words}`)"""


def faults_of_file(browser: Browser, file: Path, *, width: int, scheme: str = "light") -> list[str]:
    """What is wrong with a page that a command wrote: all parts open, on one screen.

    It must load nothing and ask nothing, and its plots can be read on a phone.
    """
    page = browser.new_page(
        viewport={"width": width, "height": 844 if width <= PHONE else 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    strange: list[str] = []
    page.on("request", lambda request: strange.append(f"a request: {request.url}"))
    page.on("dialog", lambda dialog: strange.append(f"a dialog: {dialog.message}"))
    try:
        page.goto(file.as_uri())
        page.eval_on_selector_all("details", "all => all.forEach(each => each.open = true)")
        faults = violations(page)
        faults += page.evaluate(_TINY_LETTERS, _TINY) if width <= PHONE else []
    finally:
        page.close()
    usual = (f"a request: {file.as_uri()}", "a request: data:")
    return [*faults, *(each for each in strange if not each.startswith(usual))]
