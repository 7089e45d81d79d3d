"""What is judged stays in view beside each input, in every task, at two sizes.

At 1280 by 800 pixels and on a phone, on the site's own page: for the first, a middle
and the last control of each field, the page is scrolled to the top of the item, and
further, until the control stands in the lower half of the window, if it does not fit
there. Then at least a part of the picture, and each text that is
judged, must be visible and not behind the control. In `pairwise` on a phone, the three
long texts lie side by side in a row that is swiped; there the row must be visible.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from piecework.hit_templates.page_compression import decompress
from piecework.hit_templates.tasks import load_task, task_names
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.wire import html_question
from piecework.simulation.pictures.drawing import draw
from piecework.simulation.pictures.scenes import scenes
from tests.browser.pages import ends_of_first_screen, sign_in, violations
from tests.conftest import in_full
from tests.hit_templates.examples import example_of
from tests.marketplace.market import Market, post

pytestmark = pytest.mark.browser

SIZES: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
}
SIDEWAYS: dict[str, Any] = {"viewport": {"width": 844, "height": 390}, "has_touch": True}
DESKTOPS = [(1024, 768), (1280, 900), (1440, 900), (1920, 1080)]
SHORT = {("pairwise", "phone"), ("error_categories", "phone"), ("caption", "wide")}
LEAST_PICTURE = 100
MOST_LOOKS = 250
LOOKS_A_SCROLL = 50

ANSWER = """() => {
  const step = document.querySelector(".step:not([hidden])");
  step.querySelectorAll("fieldset")
    .forEach((field) => field.querySelector("input").click());
  step.querySelectorAll("input[type=range], textarea").forEach((box) => {
    box.value = box.value || "A brown dog runs on a sandy beach by the sea";
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
}"""

CONTROLS = """() => {
  const step = document.querySelector(".step:not([hidden])");
  const sampled = Array.from(step.querySelectorAll(".field"))
    .filter((field) => field.offsetParent)
    .flatMap((field) => {
      const controls = Array.from(
        field.querySelectorAll("label:has(input), textarea, input[type=range]"));
      return [controls[0], controls[Math.floor(controls.length / 2)], controls.at(-1)];
    });
  return Array.from(new Set(sampled)).map((control, n) => {
    control.dataset.measured = n;
    return n;
  });
}"""

RECTANGLES = """(n) => {
  const rectangle = (e) => {
    const { top, bottom, left, right } = e.getBoundingClientRect();
    return { top, bottom, left, right };
  };
  const step = document.querySelector(".step:not([hidden])");
  const control = step.querySelector(`[data-measured="${n}"]`);
  const { top } = (control.closest(".columns") || step).getBoundingClientRect();
  const row = step.querySelector(".pinned .texts");
  const texts = row ? [row]
    : Array.from(step.querySelectorAll(".quoted:not([hidden])"));
  const picture = step.querySelector(".frame, .shown");
  return {
    top,
    control: rectangle(control),
    picture: picture && rectangle(picture),
    texts: texts.map(rectangle),
  };
}"""

# Options, texts, buttons and messages of the open item that something else lies over.
COVERED = """() => {
  const step = document.querySelector(".step:not([hidden])");
  const wanted = "label:has(input), textarea, input[type=range], button, .faults span";
  const all = Array.from(step.querySelectorAll(wanted))
    .concat(Array.from(document.querySelectorAll("#next, #send")))
    .filter((control) => control.getClientRects().length && !control.closest(".left"));
  return {
    tried: all.length,
    covered: all.filter((control) => {
      const { left, top, width, height } = control.getBoundingClientRect();
      const on = document.elementFromPoint(left + width / 2, top + height / 2);
      return !(on && (control.contains(on) || on.contains(control)));
    }).map((control) => control.innerText || control.name),
  };
}"""
STEPS_DOWN = 6
# The page tells its frame where it is, and the frame lays out: two pictures later.
SCROLLED = """({ part = 0, down = 0 }) => new Promise((done) => {
  scrollTo(0, down + part * (document.documentElement.scrollHeight - innerHeight));
  let pictures = 6;
  const wait = () => (pictures-- ? requestAnimationFrame(wait) : done());
  wait();
})"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What is where in the window, in pixels from its top.

    Attributes:
        control: the input.
        picture: the picture of the item, if it has one.
        texts: the texts that are judged.
        begin: where the time left ends.
        end: where the window ends.
    """

    control: dict[str, float]
    picture: dict[str, float] | None
    texts: list[dict[str, float]]
    begin: float
    end: float

    def faults(self) -> list[str]:
        """What is hidden, outside the window, or behind the control."""
        named = [("control", self.control, 12.0)]
        if self.picture is not None:
            named.append(("picture", self.picture, LEAST_PICTURE))
        named += [("text", text, 20.0) for text in self.texts]
        faults = [
            f"{name}: {shown:.0f} pixels are visible"
            for name, box, least in named
            if (shown := self._visible(box)) < least
        ]
        behind = [name for name, box, _ in named[1:] if _overlap(box, self.control)]
        return faults + [f"{name} and control overlap" for name in behind]

    def _visible(self, box: dict[str, float]) -> float:
        return min(box["bottom"], self.end) - max(box["top"], self.begin)


def _overlap(text: dict[str, float], control: dict[str, float]) -> bool:
    return (
        text["left"] < control["right"]
        and control["left"] < text["right"]
        and text["top"] < control["bottom"] - 1
        and control["top"] < text["bottom"] - 1
    )


@pytest.fixture
def open_hit(tmp_path: Path, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a HIT with a task's example items on the site, as its worker."""
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    drawing = draw(next(scene for scene in scenes(11, 40) if not scene.flaws))
    contexts = []
    with (
        serve(
            Marketplace(tmp_path / "market.db", rehearsal=True, seed=7, pictures=pictures)
        ) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):

        def opened(name: str, size: str) -> Page:
            page_of_hit = example_of(load_task(name)).page
            shown = decompress(page_of_hit)
            for picture in set(re.findall(r"/pictures/([\w.-]+\.svg)", shown)):
                (pictures / picture).write_text(drawing, "utf-8")
            post(
                market.requester("LAB"),
                Title=load_task(name).title,
                Question=html_question(page_of_hit),
            )
            context = browser.new_context(**SIZES.get(size, SIDEWAYS))
            context.set_default_timeout(15_000)
            contexts.append(context)
            page = context.new_page()
            token = market.worker().token
            sign_in(page, f"{market.endpoint}/worker/sign-in?token={token}")
            page.get_by_role("button", name="Accept a HIT").click()
            expect(page.locator("iframe")).to_have_attribute(
                "style", re.compile(r"height: \d{3,4}px")
            )
            return page

        yield opened
        for context in contexts:
            context.close()


def frame_of(page: Page) -> Frame:
    """The question's frame."""
    (frame,) = (frame for frame in page.frames if frame != page.main_frame)
    return frame


def go_to_item(frame: Frame) -> None:
    """Answer what comes before the first item that counts, and leave that open."""
    item = frame.locator(".step:not([hidden])")
    while not re.fullmatch(r"\d+", item.get_attribute("data-position") or ""):
        frame.evaluate(ANSWER)
        frame.locator("#next").press("Enter")


def end_of_first_screen(page: Page, frame: Frame) -> float:
    """Where item, question and first control end in the window, once the two pages agree."""
    end = 0.0
    for _ in range(MOST_LOOKS):
        page.wait_for_timeout(20)
        at = page.evaluate("document.querySelector('iframe').getBoundingClientRect().top")
        end = at + max(ends_of_first_screen(frame).values())
        if end <= page.evaluate("innerHeight"):
            break
    return end


def sight(page: Page, frame: Frame, number: int) -> Sight:
    """Scroll to the item, or on to the control if it does not fit; measure."""
    seen = None
    for look in range(MOST_LOOKS):
        if look % LOOKS_A_SCROLL == 0:  # The item may still have moved after the last one.
            _scroll_to(page, frame.evaluate(RECTANGLES, number))
        page.wait_for_timeout(20)
        strip = page.locator("#strip").bounding_box()
        assert strip is not None
        top = page.evaluate("document.querySelector('iframe').getBoundingClientRect().top")
        rectangles = frame.evaluate(RECTANGLES, number)
        del rectangles["top"]
        boxes = [rectangles["control"], *rectangles["texts"]]
        boxes += [rectangles["picture"]] if rectangles["picture"] else []
        for box in boxes:
            box["top"] += top
            box["bottom"] += top
        window = page.evaluate("innerHeight")
        seen = Sight(**rectangles, begin=strip["y"] + strip["height"] - 1, end=window)
        if not seen.faults():
            break
    assert seen is not None
    return seen


def _scroll_to(page: Page, places: dict[str, Any]) -> None:
    page.evaluate(
        """([item, top, bottom]) => {
          const strip = document.getElementById("strip").offsetHeight + 8;
          const frame = document.querySelector("iframe").getBoundingClientRect().top;
          const isLow = bottom - item + strip > innerHeight;
          const down = isLow ? top - innerHeight * .68 : item - strip;
          scrollTo(0, scrollY + frame + down);
        }""",
        [places["top"], places["control"]["top"], places["control"]["bottom"]],
    )


@pytest.mark.parametrize(
    ("name", "size"),
    [
        pytest.param(name, size, marks=() if (name, size) in SHORT else (pytest.mark.full,))
        for name in task_names()
        for size in SIZES
    ],
)
def test_the_item_is_in_view_beside_every_input(
    open_hit: Callable[..., Page], name: str, size: str
) -> None:
    """It begins in the first screen, its frame does not scroll, and axe knows no fault."""
    page = open_hit(name, size)
    frame = frame_of(page)
    go_to_item(frame)
    assert end_of_first_screen(page, frame) <= SIZES[size]["viewport"]["height"]
    faults: dict[int, list[str]] = {}
    for number in frame.evaluate(CONTROLS):
        faults[number] = sight(page, frame, number).faults()
    assert faults
    assert {number: faults[number] for number in faults if faults[number]} == {}
    assert frame.evaluate("document.documentElement.scrollHeight - innerHeight") <= 1
    assert violations(page) == []


@pytest.mark.parametrize(
    "name", ["correction", "error_categories", *in_full("caption", "pairwise", "severity")]
)
def test_a_phone_held_sideways_shows_picture_and_texts_beside_every_input(
    open_hit: Callable[..., Page], name: str
) -> None:
    """The small copy has the texts beside the picture; nothing goes out of the window."""
    page = open_hit(name, "sideways")
    frame = frame_of(page)
    go_to_item(frame)
    for number in frame.evaluate(CONTROLS):
        assert sight(page, frame, number).faults() == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert violations(page) == []


def test_above_the_keyboard_of_a_phone_held_sideways_the_text_has_the_room(
    open_hit: Callable[..., Page],
) -> None:
    """A small copy of the picture would cover what is typed."""
    page = open_hit("caption", "sideways")
    frame = frame_of(page)
    go_to_item(frame)
    text = frame.locator("textarea:visible")
    text.focus()
    expect(frame.locator(".pinned")).to_have_count(1)
    expect(frame.locator(".pinned")).to_have_css("padding-left", "6px")  # it covers controls
    page.set_viewport_size({"width": 844, "height": 180})
    expect(frame.locator(".pinned")).to_have_count(0)
    text.scroll_into_view_if_needed()
    expect(text).to_be_in_viewport(ratio=0.5)


_IN_SHORT = ("caption", "pairwise", "severity")
"""Text, two sides and a scale: the tasks whose pages differ most."""


@pytest.mark.parametrize(
    "name", [*_IN_SHORT, *in_full(*(n for n in task_names() if n not in _IN_SHORT))]
)
def test_nothing_lies_over_an_option_wherever_the_page_is_scrolled(
    open_hit: Callable[..., Page], name: str
) -> None:
    """From the top to the end of the page, in four windows, with messages of faults."""
    page = open_hit(name, "wide")
    frame = frame_of(page)
    go_to_item(frame)
    frame.locator("#next, #send").locator("visible=true").press("Enter")
    covered = {}
    for width, height in DESKTOPS:
        page.set_viewport_size({"width": width, "height": height})
        for part in range(STEPS_DOWN + 1):
            page.evaluate(SCROLLED, {"part": part / STEPS_DOWN})
            seen = frame.evaluate(COVERED)
            assert seen["tried"] > 1
            if seen["covered"]:
                covered[width, height, part] = seen["covered"]
    assert covered == {}


# Of the small copy: pixels from its end to the answers, and if a text or the picture is cut.
BELOW_COPY = """() => {
  const columns = document.querySelector(".step:not([hidden]) .columns");
  const copy = columns.querySelector(".pinned");
  if (!copy) return null;
  const texts = Array.from(copy.querySelectorAll(".quoted"));
  return {
    empty: columns.querySelector(".right").getBoundingClientRect().top
      - copy.getBoundingClientRect().bottom,
    isCut: texts.some((text) => text.scrollHeight > text.clientHeight + 1)
      || copy.querySelector(".frame").offsetHeight < WHOLE - 10,
  };
}"""
WHOLE_PICTURE = "() => document.querySelector('.step:not([hidden]) .frame').offsetHeight"


def test_the_small_copy_leaves_no_empty_screen_below(open_hit: Callable[..., Page]) -> None:
    """While something of the copy is cut, it fills the place of what it is a copy of.

    Each item of the HIT in turn: the assignment's ID decides their order, and the texts of
    each are of another length.
    """
    page = open_hit("pairwise", "phone")
    frame = frame_of(page)
    go_to_item(frame)
    too_empty = {}
    for item in (1, 2, 3):
        page.evaluate(SCROLLED, {})
        below_copy = BELOW_COPY.replace("WHOLE", str(frame.evaluate(WHOLE_PICTURE)))
        is_passed = False
        for down in range(200, 1300, 100):
            page.evaluate(SCROLLED, {"down": down})
            below = frame.evaluate(below_copy) or {"empty": 0, "isCut": False}
            is_passed |= below["empty"] < 0
            if below["isCut"] and below["empty"] > 60:
                too_empty[item, down] = below["empty"]
        assert is_passed
        frame.evaluate(ANSWER)
        frame.locator("#next, #send").locator("visible=true").press("Enter")
    assert too_empty == {}


ASKED_OF_FAULT = """() => {
  const step = document.querySelector(".step:not([hidden])");
  const fault = [...step.querySelectorAll(".faults")].find((each) => each.children.length);
  const asked = fault.closest(".field").querySelector("legend, label").getBoundingClientRect();
  const copy = document.querySelector(".pinned")?.getBoundingClientRect().bottom ?? 0;
  return { top: asked.top, bottom: asked.bottom, copy };
}"""


def hidden_parts(page: Page, frame: Frame) -> str:
    """What hides the question of the first fault, once both windows have moved; "" if nothing."""
    strip = page.locator("#strip").bounding_box()
    covered = "no fault"
    for _ in range(MOST_LOOKS):
        page.wait_for_timeout(20)
        at = page.evaluate("document.querySelector('iframe').getBoundingClientRect().top")
        asked = frame.evaluate(ASKED_OF_FAULT)
        begin = max(asked["copy"] + at, strip["y"] + strip["height"] if strip else 0)
        is_shown = asked["top"] + at >= begin - 1 and asked["bottom"] + at <= 844
        covered = "" if is_shown else f"{asked} at {at}, below {begin}"
        if is_shown:
            break
    return covered


@pytest.mark.parametrize("name", ["congruency", "expert_rating", *in_full("caption", "pairwise")])
def test_a_jump_to_a_fault_shows_what_is_asked(open_hit: Callable[..., Page], name: str) -> None:
    """On a phone, from the end of the page, where a small copy of the picture stays on top."""
    page = open_hit(name, "phone")
    frame = frame_of(page)
    go_to_item(frame)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_timeout(300)  # the two windows tell each other where they are
    frame.locator("#next, #send").locator("visible=true").tap()
    assert hidden_parts(page, frame) == ""


@pytest.mark.parametrize("size", SIZES)
def test_the_instructions_fold_into_a_line_that_opens_again(
    open_hit: Callable[..., Page], size: str
) -> None:
    """They are open before the first item; from it on, they are a line above each."""
    page = open_hit("congruency", size)
    frame = frame_of(page)
    summary = frame.locator("#instructions > details > summary")
    instructions = frame.locator("#instructions > details")
    expect(instructions).to_have_attribute("open", "")
    expect(frame.locator("fieldset:visible")).to_have_count(0)
    frame.locator("#next").press("Enter")
    line, field = (summary.bounding_box(), frame.locator("fieldset:visible").bounding_box())
    assert line is not None
    assert field is not None
    assert line["y"] < field["y"]
    expect(instructions).not_to_have_attribute("open", "")
    expect(frame.locator("fieldset:visible")).to_be_in_viewport()
    expect(frame.locator(".step:not([hidden]) .frame")).to_be_in_viewport()
    summary.press("Enter")
    expect(instructions).to_have_attribute("open", "")
    page.reload()
    expect(page.frame_locator("iframe").locator("#instructions > details")).to_be_visible()
    expect(page.frame_locator("iframe").locator("#instructions > details")).not_to_have_attribute(
        "open", ""
    )


def test_a_slow_click_at_the_edge_of_the_window_counts(open_hit: Callable[..., Page]) -> None:
    """The page does not scroll between pressing and releasing the mouse button."""
    page = open_hit("correction", "wide")
    frame = frame_of(page)
    go_to_item(frame)
    text = frame.locator("textarea:visible")
    original = text.input_value()
    text.fill("Something else.")
    text.blur()
    again = frame.locator(".step:not([hidden]) .right button:visible").first
    box = again.bounding_box()
    assert box is not None
    # Only the upper half of the button is inside the window.
    edge = round(box["y"] + box["height"] / 2)
    page.set_viewport_size({"width": 1280, "height": edge})
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(200)  # the page may scroll by itself, or not
    box = again.bounding_box()
    assert box is not None
    assert box["y"] + 8 < edge < box["y"] + box["height"] - 8
    page.mouse.move(box["x"] + box["width"] / 2, edge - 3)
    page.mouse.down()
    page.wait_for_timeout(300)  # as long as a person presses
    page.mouse.up()
    expect(text).to_have_value(original)
