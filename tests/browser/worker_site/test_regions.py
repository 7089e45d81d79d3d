"""Crowd elements that mark pictures and texts post what MTurk's posted, however drawn."""

import base64
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image, ImageColor
from playwright.sync_api import Browser, Page, expect

from piecework.analyses.areas import MOST_CELLS
from piecework.analyses.regions import MOST, marks_in
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.generic import Asked
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tagging import tag_task
from piecework.platforms.wire import html_question as posted_as_it_is
from tests.browser.pages import check, sign_in, violations
from tests.browser.worker_site.hands import HIGH, SVG, TEXT, WIDE, Finger, Hand, Keys
from tests.browser.worker_site.questions import html_question
from tests.browser.worker_site.test_stand_ins import accepted_page, answers
from tests.conftest import in_full
from tests.marketplace.market import Market, post

pytestmark = pytest.mark.browser

SCRIPT = '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script><h1>Mark</h1>'
PICTURE = SVG.format(WIDE, HIGH)
NAMES = {
    "crowd-bounding-box": "boxes",
    "crowd-keypoint": "points",
    "crowd-polygon": "polygons",
    "crowd-polyline": "polylines",
    "crowd-line": "lines",
    "crowd-semantic-segmentation": "areas",
    "crowd-instance-segmentation": "instances",
}


def marked(tag: str, name: str, traits: str = "", source: str = PICTURE) -> str:
    """An element with two labels and a picture."""
    return (
        f'<{tag} name="{name}" src="{source}" header="Mark it" {traits} '
        "labels=\"['Cat', 'Dog']\">"
        '<full-instructions header="How">Tightly.</full-instructions>'
        f"<short-instructions>All.</short-instructions></{tag}>"
    )


ENTITIES = (
    '<crowd-entity-annotation name="spans" header="Mark names" labels="['
    "{'label': 'person', 'shortDisplayName': 'per', 'fullDisplayName': 'Person'}, "
    "{'label': 'place'}]\" text=\"" + TEXT + '"></crowd-entity-annotation>'
)
ALL = "".join(marked(tag, name) for tag, name in NAMES.items()) + ENTITIES


def crowd_form(body: str, traits: str = "") -> str:
    """A page with a crowd form."""
    return f"{SCRIPT}<crowd-form {traits}>{body}</crowd-form>"


@contextmanager
def at_work(
    market: Market,
    browser: Browser,
    body: str,
    *,
    width: int = 1280,
    height: int = 900,
    touch: bool = False,
) -> Iterator[tuple[Page, str]]:
    """The work page of a new HIT with this body, and the HIT's id."""
    ann = market.worker()
    made = post(market.requester("LAB"), Question=html_question(body))
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    context = browser.new_context(viewport={"width": width, "height": height}, has_touch=touch)
    context.set_default_timeout(15_000)
    page = context.new_page()
    sign_in(page, f"{market.endpoint}/worker/sign-in?token={ann.token}")
    page.goto(f"{market.endpoint}/worker/assignments/{assignment}")
    question = page.frame_locator("iframe")
    expect(question.locator(".crowd-stage")).to_have_count(
        sum(body.count(f"<{tag} ") for tag in NAMES)
    )
    for stage in question.locator(".crowd-stage:has(img)").all():
        expect(stage.locator("svg")).to_have_attribute("viewBox", re.compile(r"\d"))
    yield page, made["HITId"]
    context.close()


def sent(page: Page, market: Market, hit: str) -> dict[str, Any]:
    """Submit, and return what a crowd form sent."""
    page.frame_locator("iframe").get_by_role("button", name="Submit").click()
    page.wait_for_url("**/thanks")
    (document,) = json.loads(answers(market, hit)["taskAnswers"])
    return dict(document)


def near(value: object) -> object:
    """A document whose numbers may differ by two pixels."""
    if isinstance(value, dict):
        return {key: near(member) for key, member in value.items()}
    if isinstance(value, list):
        return [near(member) for member in value]
    return pytest.approx(value, abs=2) if isinstance(value, int) else value


def corner(right: float, down: float) -> dict[str, int]:
    """A place from the middle, as it is posted."""
    return {"x": round(WIDE / 2 + right), "y": round(HIGH / 2 + down)}


def mask_of(text: str) -> Image.Image:
    """The picture in an answer."""
    return Image.open(io.BytesIO(base64.b64decode(text)))


def earlier_mask(areas: Mapping[str, tuple[int, int, int, int]]) -> str:
    """The address of a mask with a rectangle in each colour."""
    picture, file = Image.new("RGB", (WIDE, HIGH), "white"), io.BytesIO()
    for colour, box in areas.items():
        picture.paste(ImageColor.getrgb(colour), box)
    picture.save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def colour_at(mask: Image.Image, place: dict[str, int]) -> str:
    """A pixel's colour as the answer's legend writes it."""
    palette = mask.getpalette() or []
    index = mask.tobytes()[place["y"] * mask.width + place["x"]]
    return "#" + bytes(palette[3 * index : 3 * index + 3]).hex()


ASKED = Asked(
    kind="tag",
    stated={"question", "options"},
    path="birds.toml",
    question="Box each ${bird}, please.",
    options=(("a {{bird}}", "a {{bird}}"), ("nest", "nest")),
    instructions=("Draw tight boxes.",),
)
PHOTOS = ({"item_id": "a", "about": "Birds", "photo": "https://e.org/a.png"},)


def test_a_page_that_a_campaign_file_states_is_for_everybody(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """On a phone, in a language that is written from right to left, as is the site around."""
    task = tag_task(replace(ASKED, language="he"), PHOTOS)
    shown = render_hit(task, [Item(item_id=ItemId("a"), columns=PHOTOS[0])])
    assert '<html lang="he" dir="rtl">' in shown
    # Pages of others often state their language alone.
    body = shown.replace(PHOTOS[0]["photo"], PICTURE).replace(' dir="rtl"', "")
    ann = market.worker()
    made = post(market.requester("LAB"), Question=posted_as_it_is(body))
    accepted = ann.accept(made["HITGroupId"]).json()
    page = open_site(ann.token, f"/worker/assignments/{accepted['assignment_id']}", width=360)
    for html in (page.locator("html"), page.frame_locator("iframe").locator("html")):
        expect(html).to_have_attribute("lang", "he")
        expect(html).to_have_attribute("dir", "rtl")
    page.goto(accepted["frame_url"])
    expect(page.locator(".crowd-stage svg")).to_have_attribute("viewBox", re.compile(r"\d"))
    assert violations(page) == []
    page.get_by_role("button", name="שליחה").click()
    expect(page.get_by_role("alert")).to_contain_text("„אין כאן מה לסמן”")
    page.locator("summary").evaluate_all("(all) => all.forEach((each) => each.click())")
    theirs = re.compile(
        "|".join(
            map(
                re.escape, [str(ASKED.question), "a {{bird}}", "nest", "Draw tight boxes.", "Birds"]
            )
        )
    )
    words = set(re.findall("[A-Za-z]+", theirs.sub("", page.locator("body").inner_text())))
    assert words <= {"Enter", "Shift", "Escape", "Delete"}


def judged(overlay: object, **traits: str) -> str:
    """A page whose workers judge earlier marks."""
    written = escape(json.dumps(overlay) if isinstance(overlay, dict) else str(overlay))
    return (
        f'<crowd-image-classifier name="{traits.get("name", "quality")}" header="How good?" '
        f'src="{PICTURE}" categories="[\'good\', \'bad\']" overlay="{written}">'
        "</crowd-image-classifier>"
    )


BOXES = """{ "boundingBox": { labels: ["bird", "cat"], value: [
  { height: 40, label: "bird", left: 20, top: 10, width: 30 },
  { height: 60, label: "nest", left: 90, top: 30, width: 0 }, ] }, }"""


def test_earlier_marks_are_shown_to_those_who_judge_them(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """Boxes with their labels, and areas in the colours of the mask; nothing changes them."""
    labels = {"Cat": {"color": "#2ca02c"}, "BACKGROUND": {"color": "#ffffff"}}
    source = earlier_mask({"#2ca02c": (50, 50, 150, 150)})
    areas = {"semanticSegmentation": {"labels": ["Cat"], "labelMappings": labels, "src": source}}
    instances = [{"color": "#2ca02c", "label": "Cat"}, {"color": "#1f77b4", "label": "Cat"}]
    each = {"instanceSegmentation": {"labels": ["Cat"], "instances": instances, "src": source}}
    names = {"boxes": BOXES, "areas": areas, "each": each}
    body = "".join(judged(overlay, name=name) for name, overlay in names.items())
    page, hit = accepted_page(market, open_site, crowd_form(body))
    frame = page.frame_locator("iframe")
    boxes, *masks = frame.locator("crowd-image-classifier").all()
    expect(boxes.locator("svg .crowd-box")).to_have_count(2)
    assert boxes.locator("svg text").all_text_contents() == ["bird", "nest"]
    left_top = boxes.locator("svg .crowd-box").first.get_attribute("d") or ""
    assert left_top.startswith("M20 10L50 10L50 50")
    for mask, legend in zip(masks, ("Cat", "Cat 1"), strict=True):
        expect(mask.locator(".crowd-legend li")).to_have_text([legend])
        colours = mask.locator("canvas").evaluate(
            f"""(canvas) => new Promise((show) => requestAnimationFrame(() => {{
              const places = [100, 20].map((at) => at * canvas.width / {WIDE});
              const context = canvas.getContext("2d");
              show(places.map((at) => [...context.getImageData(at, at, 1, 1).data]));
            }}))"""
        )
        assert colours == [[44, 160, 44, 255], [0, 0, 0, 0]]
    assert violations(page) == []
    for element in (boxes, *masks):
        element.locator(".crowd-stage").click()
        check(element.get_by_label("bad"))
    assert sent(page, market, hit) == {name: {"label": "bad"} for name in names}


SIZE = {"width": 20, "height": 20}
TWO = earlier_mask({"#2ca02c": (50, 50, 150, 150), "#1f77b4": (200, 50, 250, 150)})


@pytest.mark.parametrize(
    "overlay",
    [
        {"boundingBox": {"labels": ["bird"], "value": [{"label": "bird"}]}},
        {"boundingBox": {"labels": ["bird"]}},
        {"semanticSegmentation": {"labels": ["Cat"], "src": "/gone.png"}},
        {
            "semanticSegmentation": {
                "labelMappings": {"Cat": {"color": "#2ca02c"}},
                "src": "data:image/png;base64,x",
            }
        },
        {"videoObjectTracking": {}},
        "${marks}",
        {
            "boundingBox": {
                "value": [{"label": "a", **dict.fromkeys(("left", "top"), 5000), **SIZE}]
            }
        },
        {"keypoint": {"value": [{"label": "a", "x": -9, "y": 9}]}},
        {"polygon": {"value": [{"label": "a", "vertices": []}]}},
        {"semanticSegmentation": {"labelMappings": {"Cat": {"color": "#ff0000"}}, "src": TWO}},
        {"semanticSegmentation": {"labelMappings": {"Rest": {"color": "#ffffff"}}, "src": TWO}},
        {"instanceSegmentation": {"instances": [{"color": "#2ca02c", "label": "a"}], "src": TWO}},
        {"instanceSegmentation": {"instances": [], "src": TWO}},
    ],
    ids=[
        *("no numbers", "no marks", "no colours", "no mask", "another task", "no JSON"),
        *("a box outside", "a point outside", "no corners", "other colours", "white alone"),
        *("one colour of two", "no instances"),
    ],
)
def test_nobody_judges_marks_that_cannot_be_shown(
    market: Market, open_site: Callable[..., Page], overlay: object
) -> None:
    """The page says so, and is not sent."""
    page, _ = accepted_page(market, open_site, crowd_form(judged(overlay)))
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("alert").first).to_contain_text("eturn the HIT")
    check(frame.get_by_label("good"))
    frame.get_by_role("button", name="Submit").click()
    expect(frame.locator("fieldset").get_by_role("alert")).to_contain_text("are not shown")
    assert [assignment["status"] for assignment in market.books()["assignments"]] == ["Accepted"]


def test_pictures_without_marks_are_judged(market: Market, open_site: Callable[..., Page]) -> None:
    """An overlay without a task, a list or a mask of nothing, a box partly in view."""
    box = {"label": "a", "left": -10, "top": -10, **SIZE}
    overlays = {
        "empty": "{}",
        "null": " null ",
        "blank": " ",
        "none": {"boundingBox": {"value": []}},
        "part": {"boundingBox": {"value": [box]}},
        "mask": {"instanceSegmentation": {"instances": [], "src": earlier_mask({})}},
    }
    body = "".join(judged(overlay, name=name) for name, overlay in overlays.items())
    page, hit = accepted_page(market, open_site, crowd_form(body))
    frame = page.frame_locator("iframe")
    expect(frame.locator("crowd-image-classifier img")).to_have_count(len(overlays))
    expect(frame.locator("svg .crowd-box")).to_have_count(1)
    for element in frame.locator("crowd-image-classifier").all():
        check(element.get_by_label("bad"))
    assert sent(page, market, hit) == {name: {"label": "bad"} for name in overlays}


def test_a_task_that_a_campaign_file_states_is_done(market: Market, browser: Browser) -> None:
    """`tag`: the page that piecework writes offers the tags, and posts what is marked."""
    task = tag_task(ASKED, PHOTOS)
    assert task.html_page is not None
    body = task.html_page.html.replace("${photo}", PICTURE).replace("${about}", "Birds")
    with at_work(market, browser, body) as (page, hit):
        hand, tool = Hand(page), page.frame_locator("iframe").locator("crowd-bounding-box")
        heading = page.frame_locator("iframe").get_by_role("heading")
        expect(heading).to_have_text("Box each ${bird}, please.")
        expect(tool.get_by_label("a {{bird}}")).to_be_visible()
        hand.label(tool, "nest")
        hand.drag(tool.locator(".crowd-stage"), (-100, -50), (100, 50))
        document = sent(page, market, hit)
    left, top = corner(-100, -50).values()
    box = {"height": 100, "label": "nest", "left": left, "top": top, "width": 200}
    assert document["answer"]["boundingBoxes"] == near([box])


@pytest.mark.parametrize("kind", [Hand, Finger, Keys])
def test_marks_are_posted_as_published(market: Market, browser: Browser, kind: type[Hand]) -> None:
    """Made, moved, resized, labelled and deleted by mouse, touch or keyboard."""
    # So high that all pictures have their own size: a key moves the cross by 10 pixels of it.
    with at_work(market, browser, crowd_form(ALL), height=1200, touch=kind is Finger) as (
        page,
        hit,
    ):
        hand, frame = kind(page), page.frame_locator("iframe")
        tools = {tag: frame.locator(tag) for tag in NAMES}
        stages = {tag: tool.locator(".crowd-stage") for tag, tool in tools.items()}
        boxes = "crowd-bounding-box"
        hand.drag(stages[boxes], (-300, -150), (-200, -100))
        hand.drag(stages[boxes], (200, 100), (300, 150))
        hand.press(tools[boxes].get_by_role("button", name="Delete box 1"))
        hand.label(tools[boxes], "Dog")
        hand.drag(stages[boxes], (-100, -50), (50, 50))
        hand.move_chosen(tools[boxes], (-25, 0), (20, -30))
        hand.move_corner(tools[boxes], 3, (70, 20), (50, 10))
        hand.tap(stages["crowd-keypoint"], (100, -50))
        for tag in ("crowd-polygon", "crowd-polyline"):
            for place in ((-100, -100), (100, -100), (100, 100)):
                hand.tap(stages[tag], place)
            hand.press(tools[tag].get_by_role("button", name="Finish"))
        hand.label(tools["crowd-line"], "Dog")
        hand.drag(stages["crowd-line"], (-100, 0), (100, 50))
        hand.drag(stages["crowd-semantic-segmentation"], (-100, 0), (100, 0))
        hand.label(tools["crowd-semantic-segmentation"], "Dog")
        hand.drag(stages["crowd-semantic-segmentation"], (0, 100), (100, 100))
        instances = "crowd-instance-segmentation"
        hand.drag(stages[instances], (-100, 0), (100, 0))
        hand.press(tools[instances].get_by_role("button", name="Add instance: Cat"))
        hand.drag(stages[instances], (0, 100), (100, 100))
        text = frame.locator(".crowd-text")
        hand.select(text, "Ada Lovelace")
        hand.label(frame.locator("crowd-entity-annotation"), "place")
        hand.select(text, "London")
        document = sent(page, market, hit)
    size = {"height": HIGH, "width": WIDE}
    masks = {
        name: mask_of(document[name].pop("labeledImage")["pngImageData"])
        for name in ("areas", "instances")
    }
    triangle = [corner(-100, -100), corner(100, -100), corner(100, 100)]
    assert document == near(
        {
            "boxes": {
                "boundingBoxes": [
                    {"height": 50, "label": "Cat", "left": 667, "top": 333, "width": 100},
                    {"height": 110, "label": "Dog", "left": 387, "top": 153, "width": 200},
                ],
                "inputImageProperties": size,
            },
            "points": {
                "inputImageProperties": size,
                "keypoints": [{"label": "Cat", **corner(100, -50)}],
            },
            "polygons": {
                "inputImageProperties": size,
                "polygons": [{"label": "Cat", "vertices": triangle}],
            },
            "polylines": {
                "inputImageProperties": size,
                "polylines": [{"label": "Cat", "vertices": triangle}],
            },
            "lines": {
                "inputImageProperties": size,
                "lines": [{"label": "Dog", "vertices": [corner(-100, 0), corner(100, 50)]}],
            },
            "areas": {
                "inputImageProperties": size,
                "labelMappings": {"Cat": {"color": "#1f77b4"}, "Dog": {"color": "#ff7f0e"}},
            },
            "instances": {
                "inputImageProperties": size,
                "instances": [
                    {"color": "#1f77b4", "label": "Cat"},
                    {"color": "#2ca02c", "label": "Cat"},
                ],
            },
            "spans": {
                "entities": [
                    # The smiling face is two UTF-16 units, and one character of Python.
                    {"endOffset": 12, "label": "person", "startOffset": 0},
                    {"endOffset": 50, "label": "place", "startOffset": 44},
                ]
            },
        }
    )
    spans = document["spans"]["entities"]
    in_units = TEXT.encode("utf-16-le")
    words = [in_units[2 * s["startOffset"] : 2 * s["endOffset"]] for s in spans]
    assert [word.decode("utf-16-le") for word in words] == ["Ada Lovelace", "London"]
    for name, second in (("areas", "#ff7f0e"), ("instances", "#2ca02c")):
        mask = masks[name]
        assert (mask.mode, mask.size) == ("P", (WIDE, HIGH))
        colours = [
            colour_at(mask, corner(0, 0)),
            colour_at(mask, corner(50, 100)),
            colour_at(mask, corner(-300, -100)),
        ]
        assert colours == ["#1f77b4", second, "#ffffff"]


def jpeg(wide: int, high: int, *, orientation: int = 1) -> str:
    """A photograph's address, with how its camera was held."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = io.BytesIO()
    Image.new("RGB", (wide, high), "teal").save(content, "JPEG", exif=exif)
    return "data:image/jpeg;base64," + base64.b64encode(content.getvalue()).decode()


def value_of(page: Page, tag: str) -> dict[str, Any]:
    """What an element would post, as a page's own script reads it."""
    value: dict[str, Any] = page.frames[1].evaluate(f"document.querySelector('{tag}').value")
    return value


def test_a_flattened_form_has_the_columns_of_mturks_batches(
    market: Market, browser: Browser
) -> None:
    """`Answer.annotatedResult.boundingBoxes` is JSON, and the size has a column each."""
    body = crowd_form(
        marked("crowd-bounding-box", "annotatedResult"), 'answer-format="flatten-objects"'
    )
    with at_work(market, browser, body) as (page, hit):
        Hand(page).drag(page.frame_locator("iframe").locator(".crowd-stage"), (0, 0), (100, 50))
        page.frame_locator("iframe").get_by_role("button", name="Submit").click()
        page.wait_for_url("**/thanks")
        columns = answers(market, hit)
    assert list(columns) == [
        "annotatedResult.boundingBoxes",
        "annotatedResult.inputImageProperties.height",
        "annotatedResult.inputImageProperties.width",
    ]
    (box,) = json.loads(columns["annotatedResult.boundingBoxes"])
    assert list(box) == ["height", "label", "left", "top", "width"]
    assert columns["annotatedResult.inputImageProperties.width"] == str(WIDE)


def test_a_text_to_mark_brings_its_own_form(market: Market, browser: Browser) -> None:
    """As published: more questions are put into it through the shadow root."""
    body = (
        SCRIPT
        + ENTITIES.replace(
            "</crowd-entity-annotation>",
            '<div id="more"><crowd-input name="subject" label="Subject"></crowd-input></div>'
            "</crowd-entity-annotation>",
        )
        + """<script>document.addEventListener('all-crowd-elements-ready', () => {
          document.querySelector('crowd-entity-annotation').shadowRoot
            .querySelector('crowd-form').form.appendChild(more); });</script>"""
    )
    with at_work(market, browser, body) as (page, hit):
        frame = page.frame_locator("iframe")
        frame.get_by_label("Subject").fill("history")
        hand = Hand(page)
        hand.select(frame.locator(".crowd-text"), "Babbage")
        hand.select(frame.locator(".crowd-text"), "bage in")
        expect(frame.get_by_role("status")).to_contain_text("has a label already")
        document = sent(page, market, hit)
    assert document == {
        "spans": {"entities": [{"endOffset": 40, "label": "person", "startOffset": 33}]},
        "subject": "history",
    }


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_a_portrait_to_mark_is_whole_in_one_screen(
    market: Market, browser: Browser, width: int, height: int
) -> None:
    """The first below what is asked, also in a lower window; another with its labels."""
    source = SVG.format(480, 720)
    body = crowd_form(
        marked("crowd-bounding-box", "boxes", source=source)
        + marked("crowd-semantic-segmentation", "areas", source=source)
    )
    with at_work(market, browser, body, width=width, height=height) as (page, _):
        first, second = page.frame_locator("iframe").locator(".crowd-stage").all()
        expect(first).to_be_in_viewport(ratio=1)
        if width == 1280:
            high = first.evaluate("stage => stage.offsetHeight")
            page.set_viewport_size({"width": width, "height": height - 60})
            expect(first).to_be_in_viewport(ratio=1)
            page.set_viewport_size({"width": width, "height": height})
            expect(first).to_have_js_property("offsetHeight", high)
        labels = page.frame_locator("iframe").get_by_role("group", name="Label").last
        places = [place.bounding_box() for place in (first, second, labels)]
    seen, whole, asked = (place for place in places if place is not None)
    assert seen["height"] >= 299
    assert [1.5 * each["width"] for each in (seen, whole)] == near(
        [round(each["height"]) for each in (seen, whole)]
    )
    assert whole["height"] > seen["height"]
    assert whole["y"] + whole["height"] - asked["y"] < height


@pytest.mark.parametrize("size", [(12_000, 80), (1, 1), (80, 12_000)])
def test_marks_lie_on_the_picture_however_thin_it_is(
    market: Market, browser: Browser, size: tuple[int, int]
) -> None:
    """Also at the largest, which is at least 16 times as wide as the column of the page."""
    body = crowd_form(marked("crowd-bounding-box", "boxes", source=SVG.format(*size)))
    with at_work(market, browser, body, width=390) as (page, _):
        frame = page.frame_locator("iframe")
        parts = [frame.locator(f".crowd-stage{part}") for part in ("", " img", " svg")]
        for presses, least in ((0, 15), (9, 16 * 300)):
            for _ in range(presses):
                frame.get_by_role("button", name="Larger").click()
            stage, *others = [part.bounding_box() for part in parts]
            assert stage is not None
            assert stage["width"] > least
            assert stage["height"] > 15
            assert others == [stage, stage]


def test_coordinates_are_pixels_of_the_upright_picture(market: Market, browser: Browser) -> None:
    """Whatever the zoom and the window, and turned as the camera's EXIF tag says."""
    source = jpeg(600, 400, orientation=6)  # held upright: 400 wide, 600 high
    body = crowd_form(marked("crowd-bounding-box", "boxes", source=source))
    with at_work(market, browser, body, width=420) as (page, _):
        stage = page.frame_locator("iframe").locator(".crowd-stage")
        whole = stage.bounding_box()
        for _ in range(3):
            page.frame_locator("iframe").get_by_role("button", name="Larger").click()
        box = stage.bounding_box()
        assert box is not None
        assert whole is not None
        assert box["width"] == pytest.approx(8 * whole["width"], abs=8)
        page.mouse.move(box["x"] + 0.05 * box["width"], box["y"] + 0.02 * box["height"])
        page.mouse.down()
        page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 0.04 * box["height"])
        page.mouse.up()
        page.set_viewport_size({"width": 900, "height": 900})
        value = value_of(page, "crowd-bounding-box")
    assert value == near(
        {
            "inputImageProperties": {"height": 600, "width": 400},
            "boundingBoxes": [{"height": 12, "label": "Cat", "left": 20, "top": 12, "width": 20}],
        }
    )


BAD = (
    "[{label: 'Cat', left: -50, top: 10, width: 100, height: 5000},"  # clipped
    " {label: 'Cat', left: 'x', top: 1, width: 2, height: 2},"
    " {label: 'Cat', top: 1, width: 2, height: 2},"
    " {label: 'Cat', left: 5, top: 5, width: 0, height: 9},"
    " {label: 'Cat', left: 5000, top: 5, width: 9, height: 9},"
    " {label: 'Cow', left: 5, top: 5, width: 9, height: 9}, null, 7, ]"
)


def test_what_has_no_place_on_the_picture_is_clipped_or_left_out(
    market: Market, browser: Browser
) -> None:
    """The page sends no NaN, no region without a size and no unknown label."""
    body = crowd_form(marked("crowd-bounding-box", "boxes", f'initial-value="{BAD}"'))
    with at_work(market, browser, body) as (page, hit):
        frame = page.frame_locator("iframe")
        stage = frame.locator(".crowd-stage")
        expect(frame.get_by_role("listitem")).to_have_count(1)
        Hand(page).drag(stage, (100, 0), (101, 0))  # without a size: a press beside it
        expect(frame.get_by_role("status")).to_contain_text("A box needs a size")
        Hand(page).drag(stage, (300, 100), (560, 200))  # beyond the picture
        document = sent(page, market, hit)
    assert document["boxes"] == near(
        {
            "boundingBoxes": [
                {"height": HIGH - 10, "label": "Cat", "left": 0, "top": 10, "width": 50},
                {"height": 100, "label": "Cat", "left": 767, "top": 333, "width": 167},
            ],
            "initialValueModified": True,
            "inputImageProperties": {"height": HIGH, "width": WIDE},
        }
    )


def test_a_polygon_does_not_cross_itself(market: Market, browser: Browser) -> None:
    """A corner that would is refused with words, drawn or moved."""
    body = crowd_form(marked("crowd-polygon", "polygons"))
    with at_work(market, browser, body) as (page, _):
        frame, hand = page.frame_locator("iframe"), Hand(page)
        stage = frame.locator(".crowd-stage")
        for place in ((-100, -100), (100, 100), (100, -100)):
            hand.tap(stage, place)
        hand.tap(stage, (-100, 50))
        expect(frame.get_by_role("status")).to_contain_text("would cross itself")
        hand.tap(stage, (-99, -99))  # the first corner closes it
        expect(frame.get_by_role("status")).to_contain_text("Polygon 1 added")
        frame.get_by_role("button", name="Add a corner").click()
        hand.drag(stage, (0, 0), (200, 0))
        (polygon,) = value_of(page, "crowd-polygon")["polygons"]
    assert polygon["vertices"] == near(
        [corner(-100, -100), corner(0, 0), corner(100, 100), corner(100, -100)]
    )


@pytest.mark.parametrize("tag", ["crowd-polygon", "crowd-polyline"])
def test_a_double_click_ends_what_has_corners(market: Market, browser: Browser, tag: str) -> None:
    """The status says that it was added, and no fault of a mark that was not begun."""
    with at_work(market, browser, crowd_form(marked(tag, "marks"))) as (page, _):
        frame, hand = page.frame_locator("iframe"), Hand(page)
        stage = frame.locator(".crowd-stage")
        for place in ((-100, -50), (100, -50)):
            hand.tap(stage, place)
        page.mouse.dblclick(*hand.at(stage, (0, 100)))
        expect(frame.get_by_role("status")).to_have_text(re.compile("1 added: Cat"))


def test_a_corner_added_to_a_line_lies_on_it(market: Market, browser: Browser) -> None:
    """Also if its last corner is held: its ends stay."""
    with at_work(market, browser, crowd_form(marked("crowd-polyline", "marks"))) as (page, _):
        frame, hand = page.frame_locator("iframe"), Hand(page)
        stage = frame.locator(".crowd-stage")
        places = (-200, -50), (0, 50), (200, -50)
        for place in (*places, places[-1]):
            hand.tap(stage, place)
        frame.get_by_label("Corner 3 of line 1").focus()
        frame.get_by_role("button", name="Add a corner").click()
        (line,) = value_of(page, "crowd-polyline")["polylines"]
    assert near(line["vertices"]) == [corner(*at) for at in (*places[:2], (100, 0), places[2])]


def test_nothing_is_sent_before_something_is_marked(market: Market, browser: Browser) -> None:
    """Or the worker says that there is nothing; an empty list is then posted."""
    body = crowd_form(marked("crowd-keypoint", "points"))
    with at_work(market, browser, body) as (page, hit):
        frame = page.frame_locator("iframe")
        frame.get_by_role("button", name="Submit").click()
        expect(frame.get_by_role("alert")).to_contain_text("Mark at least one point")
        check(frame.get_by_label("Nothing to mark here"))
        document = sent(page, market, hit)
    assert document["points"]["keypoints"] == []


@pytest.mark.parametrize("source", ["data:image/png;base64,AAAA", ""])
def test_a_picture_that_does_not_load_says_so(
    market: Market, open_site: Callable[..., Page], source: str
) -> None:
    """And nothing is sent about a picture that the worker did not see."""
    body = crowd_form(marked("crowd-bounding-box", "boxes", source=source))
    page, _ = accepted_page(market, open_site, body)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("alert")).to_contain_text("The picture did not load")
    frame.get_by_role("button", name="Submit").click()
    assert [assignment["status"] for assignment in market.books()["assignments"]] == ["Accepted"]


def test_a_pages_own_script_reads_the_marks_before_they_are_sent(
    market: Market, browser: Browser
) -> None:
    """As scripts on MTurk did, under both names that they used."""
    body = crowd_form(marked("crowd-bounding-box", "boxes")) + (
        "<script>document.querySelector('crowd-form').onsubmit = (event) => {"
        "const tool = document.querySelector('crowd-bounding-box');"
        "const boxes = tool.value.boundingBoxes || tool._submittableValue.boundingBoxes;"
        "if (boxes.length < 2) { event.preventDefault(); window.isRefused = true; } };</script>"
    )
    with at_work(market, browser, body) as (page, hit):
        stage = page.frame_locator("iframe").locator(".crowd-stage")
        Hand(page).drag(stage, (0, 0), (50, 50))
        page.frame_locator("iframe").get_by_role("button", name="Submit").click()
        assert page.frames[1].evaluate("window.isRefused")
        Hand(page).drag(stage, (-100, -100), (-50, -50))
        assert len(sent(page, market, hit)["boxes"]["boundingBoxes"]) == 2


def test_an_earlier_answer_can_be_corrected(market: Market, browser: Browser) -> None:
    """`initial-value` in JSON or as JavaScript writes it; a change is told."""
    lines = (
        "{ lines: [ { label: 'Dog', // first\n vertices: [{x: 84, y: 110}, {x: 60, y: 100},] } ] }"
    )
    earlier = {
        "src": earlier_mask({"#008000": (10, 20, 110, 120)}),
        "labelMappings": {"Dog": {"color": "#008000"}},
    }
    body = crowd_form(
        marked("crowd-line", "lines", f'initial-value="{lines}"')
        + marked("crowd-semantic-segmentation", "areas", f"initial-value='{json.dumps(earlier)}'")
    )
    with at_work(market, browser, body) as (page, hit):
        frame = page.frame_locator("iframe")
        tool = frame.locator("crowd-semantic-segmentation")
        assert value_of(page, "crowd-line")["initialValueModified"] is False
        check(tool.get_by_role("radio", name="Eraser"))
        Hand(page).drag(
            tool.locator(".crowd-stage"),
            (60 - WIDE / 2, 5 - HIGH / 2),
            (60 - WIDE / 2, 200 - HIGH / 2),
        )
        document = sent(page, market, hit)
    assert document["lines"]["lines"] == [
        {"label": "Dog", "vertices": [{"x": 84, "y": 110}, {"x": 60, "y": 100}]}
    ]
    assert document["areas"]["initialValueModified"] is True
    image = mask_of(document["areas"]["labeledImage"]["pngImageData"])
    # Cat is index 1, Dog 2; the eraser, 20 pixels wide, went down at x = 60.
    assert [image.getpixel((x, 60)) for x in (5, 15, 60, 100, 115)] == [0, 2, 0, 2, 0]


def test_earlier_instances_are_sent_and_painted_on(market: Market, browser: Browser) -> None:
    """An untouched form sends them all; one with a draft too; a new mark goes to one of them."""
    boxes = {
        "#ff7f0e": (10, 20, 110, 120),
        "#ffaa00": (210, 20, 310, 120),
        "#008000": (10, 220, 110, 320),
    }
    legend = [
        {"color": colour, "label": label}
        for colour, label in zip(boxes, ("Dog", "Dog", "Cat"), strict=True)
    ]
    earlier = json.dumps({"src": earlier_mask(boxes), "instances": legend})
    element = marked("crowd-instance-segmentation", "areas", f"initial-value='{earlier}'")
    for is_touched in (False, True):
        with at_work(market, browser, crowd_form(element)) as (page, hit):
            frame, hand = page.frame_locator("iframe"), Hand(page)
            radios = frame.locator("crowd-instance-segmentation").get_by_role("radio")
            expect(radios.and_(frame.get_by_label("Dog 2"))).to_have_count(1)
            if is_touched:
                frame.get_by_role("button", name="Add instance: Dog").click()
                hand.drag(frame.locator(".crowd-stage"), (0, 0), (50, 0))
                check(frame.get_by_label("Dog 2", exact=True))
                hand.drag(frame.locator(".crowd-stage"), (0, 90), (50, 90))
                page.reload()
                expect(frame.locator(".crowd-list li")).to_have_count(2)
            expect(frame.get_by_label("Nothing to mark here")).to_be_hidden()
            document = sent(page, market, hit)["areas"]
        image = mask_of(document["labeledImage"]["pngImageData"])
        painted = [colour_at(image, {"x": x + 50, "y": y + 50}) for x, y, *_ in boxes.values()]
        assert painted == [*boxes]
        if is_touched:
            (added,) = (each for each in document["instances"] if each not in legend)
            assert (colour_at(image, corner(20, 0)), "Dog") == (added["color"], added["label"])
            assert colour_at(image, corner(20, 90)) == "#ffaa00"
        else:
            assert document["instances"] == legend


def test_a_picture_of_48_million_pixels_has_a_mask_of_its_size(
    market: Market, browser: Browser
) -> None:
    """Larger than the largest canvas of many phones."""
    content = io.BytesIO()
    Image.new("1", (8000, 6000)).save(content, "PNG")
    source = "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()
    body = crowd_form(marked("crowd-semantic-segmentation", "areas", source=source))
    with at_work(market, browser, body, width=420) as (page, hit):
        Hand(page).drag(page.frame_locator("iframe").locator(".crowd-stage"), (-100, 0), (100, 0))
        document = sent(page, market, hit)["areas"]
    image = mask_of(document["labeledImage"]["pngImageData"])
    assert document["inputImageProperties"] == {"height": 6000, "width": 8000}
    assert (image.size, image.getpixel((4000, 3000)), image.getpixel((9, 9))) == (
        (8000, 6000),
        1,
        0,
    )


MANY = [
    {"label": "Cat", "left": 4 * n, "top": 2 * n, "width": 60, "height": 30} for n in range(200)
]


def test_two_hundred_boxes_stay_quick_on_a_phone(market: Market, browser: Browser) -> None:
    """From a finger's move to the next painted frame passes less than 50 ms."""
    initial = f"initial-value='{json.dumps(MANY)}'"
    body = crowd_form(marked("crowd-bounding-box", "boxes", initial))
    with at_work(market, browser, body, width=390, touch=True) as (page, _):
        expect(page.frame_locator("iframe").get_by_role("listitem")).to_have_count(200)
        page.frames[1].evaluate(
            """() => { window.took = []; new PerformanceObserver((list) => {
              list.getEntries().forEach((entry) => window.took.push([entry.name, entry.duration]));
            }).observe({ type: "event", durationThreshold: 16 }); }"""
        )
        hand = Finger(page)
        stage = page.frame_locator("iframe").locator(".crowd-stage")
        for n in range(4):
            hand.drag(stage, (-400 + 200 * n, 190), (-330 + 200 * n, 220))
        hand.move_chosen(
            page.frame_locator("iframe").locator("crowd-bounding-box"), (235, 205), (50, -50)
        )
        took = page.frames[1].evaluate("window.took")
        assert len(value_of(page, "crowd-bounding-box")["boundingBoxes"]) == 204
    durations = sorted(duration for _, duration in took) or [0]
    assert durations[len(durations) // 2] < 50, took


def test_a_page_without_marks_loads_none_of_their_code(market: Market, browser: Browser) -> None:
    """And one with a text does not load what draws on pictures."""
    loaded: list[list[str]] = []
    for element in ('<crowd-input name="a"></crowd-input>', ENTITIES):
        with at_work(market, browser, crowd_form(element)) as (page, _):
            expect(
                page.frame_locator("iframe").get_by_role("button", name="Submit")
            ).to_be_visible()
            loaded.append(
                page.frames[1].evaluate(
                    "performance.getEntriesByType('resource').map((r) => r.name.split('/').at(-1))"
                )
            )
    assert loaded == [
        ["crowd-html-elements.js"],
        ["crowd-html-elements.js", "crowd-tools.js", "crowd-spans.js"],
    ]


def test_marks_stay_when_a_page_is_loaded_again(market: Market, browser: Browser) -> None:
    """A lost network or a refused form takes no box, and not that there is no span."""
    elements = marked("crowd-bounding-box", "boxes") + ENTITIES
    with at_work(market, browser, crowd_form(elements)) as (page, hit):
        hand, question = Hand(page), page.frame_locator("iframe")
        boxes = question.locator("crowd-bounding-box")
        hand.label(boxes, "Dog")
        hand.drag(boxes.locator(".crowd-stage"), (-100, -50), (100, 50))
        check(question.locator("crowd-entity-annotation").get_by_label("Nothing to mark here"))
        expect(boxes.locator(".crowd-list li")).to_have_count(1)
        page.reload()
        expect(boxes.locator(".crowd-list li")).to_have_count(1)
        expect(boxes.get_by_text("There is nothing to undo.")).to_have_count(0)
        document = sent(page, market, hit)
    assert [box["label"] for box in document["boxes"]["boundingBoxes"]] == ["Dog"]
    assert document["spans"]["entities"] == []


def test_marks_are_accessible_and_their_controls_are_large(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """Axe finds nothing, nothing is wider than a phone, and a finger hits every control."""
    ann = market.worker()
    made = post(market.requester("LAB"), Question=html_question(crowd_form(ALL)))
    accepted = ann.accept(made["HITGroupId"]).json()
    page = open_site(ann.token, width=360)
    page.goto(accepted["frame_url"])
    for stage in page.locator(".crowd-stage:has(img)").all():
        expect(stage.locator("svg")).to_have_attribute("viewBox", re.compile(r"\d"))
    for tag in ("crowd-bounding-box", "crowd-keypoint"):
        page.locator(f"{tag} .crowd-stage").focus()
        for key in ("Enter", "ArrowRight", "ArrowDown", "Enter"):
            page.keyboard.press(key)
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    small = page.evaluate(
        """() => Array.from(document.querySelectorAll(
            ".crowd-tool :is(button, select, label, summary, [type=range])"))
          .filter((node) => node.checkVisibility() && !node.closest(".crowd-handles"))
          .filter((node) => Math.min(node.getBoundingClientRect().width,
            node.getBoundingClientRect().height) < 44)
          .map((node) => node.outerHTML)"""
    )
    assert small == []


def test_small_elements_that_hold_no_answer_show_what_they_say(
    market: Market, browser: Browser
) -> None:
    """A floating button submits as its page's script says; tags may close themselves."""
    body = crowd_form(
        '<div><p id="note">Note <crowd-badge label="3" for="note"/></p></div>'
        '<crowd-input name="issue" label="Issue"></crowd-input>'
        '<crowd-toast duration="60000" opened>Welcome</crowd-toast>'
        '<div><crowd-icon-button id="one" icon="report-problem" title="Report"/></div>'
        '<div><crowd-fab id="two" label="?" title="Help"/></div>'
    ) + (
        "<script>two.addEventListener('click', () => "
        "document.querySelector('crowd-form').submit());"
        "</script>"
    )
    with at_work(market, browser, body) as (page, hit):
        frame = page.frame_locator("iframe")
        expect(frame.get_by_text("Welcome")).to_be_visible()
        expect(frame.locator("crowd-badge")).to_have_text("3")
        expect(frame.get_by_role("button", name="Report")).to_be_visible()
        frame.get_by_label("Issue").fill("blurred")
        frame.locator("crowd-fab button").click()
        page.wait_for_url("**/thanks")
        (document,) = json.loads(answers(market, hit)["taskAnswers"])
    assert document == {"issue": "blurred"}


def test_a_pages_script_may_change_labels_and_picture(market: Market, browser: Browser) -> None:
    """Tool stay with new labels; a new picture begins again, with one tool."""
    body = crowd_form(marked("crowd-bounding-box", "boxes"))
    with at_work(market, browser, body) as (page, _):
        frame, hand = page.frame_locator("iframe"), Hand(page)
        stage = frame.locator(".crowd-stage")
        hand.drag(stage, (-200, -100), (200, 100))
        hand.drag(stage, (-50, 30), (50, 60))  # begins inside of the first
        page.frames[1].evaluate(
            "document.querySelector('crowd-bounding-box').labels = ['Cat', 'Bird']"
        )
        frame.get_by_label("Label of box 2").select_option("Bird")
        boxes = value_of(page, "crowd-bounding-box")["boundingBoxes"]
        assert [box["label"] for box in boxes] == ["Cat", "Bird"]
        frame.get_by_role("button", name="Undo").click()
        frame.get_by_role("button", name="Undo").click()
        assert len(value_of(page, "crowd-bounding-box")["boundingBoxes"]) == 1
        page.frames[1].evaluate(
            "source => { document.querySelector('crowd-bounding-box').src = source; }",
            SVG.format(300, 200),
        )
        expect(stage.locator("svg")).to_have_attribute("viewBox", "0 0 300 200")
        assert value_of(page, "crowd-bounding-box")["boundingBoxes"] == []
        expect(frame.locator("short-instructions")).to_have_count(1)


def test_a_mask_keeps_its_labels_when_a_script_sets_others(
    market: Market, browser: Browser
) -> None:
    """Areas go by the names of labels; one without a label is named, and not left out."""
    earlier = {
        "src": earlier_mask({"#008000": (10, 20, 110, 120)}),
        "labelMappings": {"Dog": {"color": "#008000"}},
    }
    body = crowd_form(
        marked("crowd-semantic-segmentation", "areas", f"initial-value='{json.dumps(earlier)}'")
    )
    relabel = "labels => { document.querySelector('crowd-semantic-segmentation').labels = labels; }"
    with at_work(market, browser, body) as (page, hit):
        frame, hand = page.frame_locator("iframe"), Hand(page)
        hand.drag(frame.locator(".crowd-stage"), (0, 0), (50, 0))
        page.frames[1].evaluate(relabel, ["Bird"])
        frame.get_by_role("button", name="Submit").click()
        alert = frame.get_by_role("alert")
        expect(alert).to_contain_text("The page no longer has the label of area 1.")
        page.frames[1].evaluate(relabel, ["Bird", "Dog", "Cat"])
        document = sent(page, market, hit)["areas"]
    image = mask_of(document["labeledImage"]["pngImageData"])
    for label, place in (("Dog", {"x": 50, "y": 50}), ("Cat", corner(20, 0))):
        assert colour_at(image, place) == document["labelMappings"][label]["color"]


def test_a_mask_beyond_the_limit_of_an_answer_is_not_lost(market: Market, browser: Browser) -> None:
    """Thousands of spots: the worker reads how large they are, and can go on."""
    source = SVG.format(4000, 3000)
    body = crowd_form(marked("crowd-semantic-segmentation", "areas", source=source))
    with at_work(market, browser, body) as (page, hit):
        frame = page.frame_locator("iframe")
        page.frames[1].evaluate(
            """() => { const { tool } = document.querySelector("crowd-semantic-segmentation");
              tool.regions = Array.from({ length: 20000 }, (_, n) => ({
                label: "Cat", shape: "brush", width: 9,
                points: [[4000 * Math.sin(n) ** 2, 3000 * Math.sin(n * n) ** 2]] })); }"""
        )
        frame.get_by_role("button", name="Submit").click()
        expect(frame.get_by_role("alert")).to_contain_text("at most 64000 can be sent")
        page.frames[1].evaluate(
            """() => { const { tool } = document.querySelector("crowd-semantic-segmentation");
              tool.regions = tool.regions.slice(0, 40); }"""
        )
        document = sent(page, market, hit)
    assert mask_of(document["areas"]["labeledImage"]["pngImageData"]).size == (4000, 3000)


def test_what_no_measure_reads_is_not_sent(market: Market, browser: Browser) -> None:
    """Too many marks, areas around most of the picture, a mask of too many pixels."""
    far = SVG.format(2_000, 2_000)
    body = crowd_form(
        marked("crowd-keypoint", "points") + marked("crowd-polygon", "areas", "", far)
    )
    with at_work(market, browser, body) as (page, hit):
        frame = page.frame_locator("iframe")
        submit = frame.get_by_role("button", name="Submit")
        page.frames[1].evaluate(
            """([most, areas]) => {
              const mark = (tag, shape, count, points) => {
                const { tool } = document.querySelector(tag);
                const region = { label: "Cat", shape, points };
                tool.regions = Array.from({ length: count }, () => ({ ...region }));
                tool.refresh();
              };
              mark("crowd-keypoint", "point", most + 1, [[1, 1]]);
              mark("crowd-polygon", "polygon", areas, [[0, 0], [2000, 0], [2000, 2000]]);
            }""",
            [MOST, MOST_CELLS // 2_000**2 + 1],
        )
        submit.click()
        alert = frame.locator("crowd-keypoint").get_by_role("alert")
        expect(alert).to_have_text(f"There are {MOST + 1} marks; at most {MOST} can be sent.")
        frame.locator("crowd-keypoint").get_by_role(
            "button", name=f"Delete point {MOST + 1}"
        ).click()
        submit.click()
        alert = frame.locator("crowd-polygon").get_by_role("alert")
        expect(alert).to_contain_text("The areas cover too much of the picture together")
        for name in ("Delete polygon 1", "Delete polygon 1"):
            frame.get_by_role("button", name=name, exact=True).click()
        document = sent(page, market, hit)
    for name in ("points", "areas"):
        assert marks_in(json.dumps(document[name])) is not None


def test_only_marks_that_are_merged_have_a_limit(market: Market, browser: Browser) -> None:
    """Earlier lines may be more; earlier marks that cannot be sent are refused at once."""
    state = """([tag, mark, count]) => document.querySelector(tag)
      .setAttribute("initial-value", JSON.stringify(Array(count).fill(mark)))"""
    line = {"label": "Cat", "vertices": [{"x": 1, "y": 1}, {"x": 9, "y": 9}]}
    for tag in ("crowd-line", "crowd-polyline"):
        with at_work(market, browser, crowd_form(marked(tag, "lines"))) as (page, hit):
            page.frames[1].evaluate(state, [tag, line, MOST + 1])
            frame = page.frame_locator("iframe")
            expect(frame.get_by_role("button", name=f"Delete line {MOST + 1}")).to_be_attached()
            (document,) = sent(page, market, hit).values()
        assert len(document[NAMES[tag]]) == MOST + 1
    marks = {
        "crowd-keypoint": {"label": "Cat", "x": 1, "y": 1},
        "crowd-entity-annotation": {"label": "person", "startOffset": 0, "endOffset": 3},
    }
    body = crowd_form(marked("crowd-keypoint", "points") + ENTITIES)
    with at_work(market, browser, body) as (page, hit):
        frame = page.frame_locator("iframe")
        refusal = "The earlier marks are more than can be sent. Return the HIT."
        for tag, mark in marks.items():
            page.frames[1].evaluate(state, [tag, mark, MOST + 1])
            expect(frame.locator(tag).get_by_role("alert")).to_have_text(refusal)
        frame.get_by_role("button", name="Submit").click()
        expect(frame.locator("crowd-keypoint").get_by_role("alert")).to_have_text(refusal)
        for tag, mark in marks.items():
            page.frames[1].evaluate(state, [tag, mark, 1])
            expect(frame.locator(tag).get_by_role("alert")).to_have_text("")
        sent(page, market, hit)


def test_a_mask_that_no_measure_reads_is_not_sent(market: Market, browser: Browser) -> None:
    """Labels with spots in all corners of a large picture, and a picture that is larger still."""
    labels = json.dumps([f"L{n}" for n in range(MOST_CELLS // 2_000**2 + 5)])
    size = SVG.format(2_000, 2_000)
    mask = marked("crowd-semantic-segmentation", "areas", source=size)
    body = crowd_form(mask.replace("['Cat', 'Dog']", labels.replace('"', "'")))
    with at_work(market, browser, body) as (page, hit):
        frame = page.frame_locator("iframe")
        page.frames[1].evaluate(
            """() => { const { tool } = document.querySelector("crowd-semantic-segmentation");
              const spot = { shape: "brush", width: 2 };
              tool.regions = tool.labels.flatMap((label, n) => [
                { ...spot, label, points: [[2, 2 + 9 * n]] },
                { ...spot, label, points: [[1998, 1998 - 9 * n]] }]);
              tool.refresh(); }"""
        )
        frame.get_by_role("button", name="Submit").click()
        expect(frame.get_by_role("alert")).to_contain_text(
            "the areas cover too much of the picture"
        )
        page.frames[1].evaluate(
            """() => { const { tool } = document.querySelector("crowd-semantic-segmentation");
              tool.regions = tool.regions.slice(10); tool.refresh(); }"""
        )
        document = sent(page, market, hit)
    assert marks_in(json.dumps(document["areas"])) is not None
    body = crowd_form(
        marked("crowd-instance-segmentation", "areas", source=SVG.format(8_001, 8_000))
    )
    with at_work(market, browser, body) as (page, _):
        alert = page.frame_locator("iframe").get_by_role("alert")
        expect(alert).to_contain_text("The picture has more than 64000000 pixels")


def test_labels_have_the_colours_of_the_page_and_may_come_later(
    market: Market, browser: Browser
) -> None:
    """`label-colors` are those of the mask; a script may name the labels after the start."""
    colours = "label-colors=\"['#112233', 'blue']\""
    body = crowd_form(
        marked("crowd-semantic-segmentation", "areas", colours)
        + marked("crowd-instance-segmentation", "instances").replace("['Cat', 'Dog']", "[]")
    )
    with at_work(market, browser, body) as (page, hit):
        frame, hand = page.frame_locator("iframe"), Hand(page)
        hand.drag(frame.locator("crowd-semantic-segmentation .crowd-stage"), (0, 0), (50, 0))
        tool = frame.locator("crowd-instance-segmentation")
        hand.drag(tool.locator(".crowd-stage"), (0, 0), (50, 0))
        expect(tool.get_by_role("status")).to_have_text("Choose a label first.")
        page.frames[1].evaluate(
            "document.querySelector('crowd-instance-segmentation').labels = ['Cow']"
        )
        hand.drag(tool.locator(".crowd-stage"), (0, 0), (50, 0))
        document = sent(page, market, hit)
    mappings = document["areas"]["labelMappings"]
    # What is no colour is replaced by the label's own.
    assert mappings == {"Cat": {"color": "#112233"}, "Dog": {"color": "#ff7f0e"}}
    mask = mask_of(document["areas"]["labeledImage"]["pngImageData"])
    assert colour_at(mask, corner(20, 0)) == "#112233"
    assert document["instances"]["instances"] == [{"color": "#1f77b4", "label": "Cow"}]


def test_no_two_labels_or_instances_have_one_colour(market: Market, browser: Browser) -> None:
    """Whatever a page states, and however many there are; white is what has no label."""
    names = [f"Kind {n}" for n in range(40)]
    stated = ["#FF7F0E", "blue", "#ff7f0e", "#ffffff"]
    body = "".join(
        f"<{tag} name='{NAMES[tag]}' src=\"{PICTURE}\" labels='{json.dumps(names)}' "
        f"label-colors='{json.dumps(stated)}'></{tag}>"
        for tag in ("crowd-semantic-segmentation", "crowd-instance-segmentation")
    )
    with at_work(market, browser, crowd_form(body)) as (page, hit):
        for tool in ("crowd-semantic-segmentation", "crowd-instance-segmentation"):
            page.frames[1].evaluate(
                """name => { const { tool } = document.querySelector(name);
                  tool.names().forEach((part, n) => tool.add({ ...tool.named(part),
                    shape: "brush", width: 9, points: [[20 * n + 20, 50]] })); }""",
                tool,
            )
        document = sent(page, market, hit)
    mappings, instances = document["areas"]["labelMappings"], document["instances"]["instances"]
    ordered = [mappings[name] for name in names]
    for part, legend in (("areas", ordered), ("instances", instances)):
        colours = [each["color"].lower() for each in legend]
        assert len({"#ffffff", *colours}) == len(names) + 1
        mask = mask_of(document[part]["labeledImage"]["pngImageData"])
        painted = [colour_at(mask, {"x": 20 * n + 20, "y": 50}) for n in range(len(names))]
        assert painted == colours
    assert mappings["Kind 0"]["color"] == "#FF7F0E"


FUZZ = """(seed) => {
  let state = seed;
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  const pick = (list) => list[Math.floor(random() * list.length)];
  const all = (tool, selector) => Array.from(tool.root.querySelectorAll(selector));
  const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Enter", "Escape", "Delete",
    "Backspace", "Insert", "1", "2", "9", "a"];
  for (const element of document.querySelectorAll(".crowd-stage")) {
    const box = element.getBoundingClientRect();
    for (let n = 0; n < 150; n += 1) {
      const near = () => [box.left + (random() * 1.4 - 0.2) * box.width,
        box.top + (random() * 1.4 - 0.2) * box.height];
      const tool = element.closest("[name]").tool;
      const send = (type, buttons) => {
        const [clientX, clientY] = near();
        element.dispatchEvent(new PointerEvent(type, { clientX, clientY, buttons, isPrimary: true,
          pointerType: pick(["mouse", "touch"]), bubbles: true, cancelable: true, pointerId: 1 }));
      };
      pick([
        () => { send("pointerdown", 1); send("pointermove", 1); send("pointerup", 0); },
        () => send(pick(["pointerdown", "pointermove", "pointerup"]), pick([0, 1])),
        () => send("pointercancel", 0),
        () => element.dispatchEvent(new KeyboardEvent("keydown",
          { key: pick(keys), shiftKey: random() < 0.3, bubbles: true })),
        () => pick(all(tool, ".crowd-handles button"))?.dispatchEvent(
          new KeyboardEvent("keydown", { key: pick(keys), bubbles: true })),
        () => pick(all(tool, "button").filter((button) => !button.hidden))?.click(),
      ])();
    }
  }
}"""


@pytest.mark.parametrize("seed", [1, *in_full(*range(2, 12))])
def test_whatever_is_pressed_only_marks_of_the_picture_are_left(
    market: Market, browser: Browser, seed: int
) -> None:
    """Random presses, keys and buttons leave whole numbers within the picture."""
    body = crowd_form(ALL)
    with at_work(market, browser, body) as (page, _):
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        stages = page.frame_locator("iframe").locator('.crowd-stage:has(svg[viewBox*=" "])')
        expect(stages).to_have_count(len(NAMES))  # their pictures have loaded
        # Made-up events cannot be captured.
        page.frames[1].evaluate("Element.prototype.setPointerCapture = () => {}")
        page.frames[1].evaluate(FUZZ, seed)
        values = {tag: value_of(page, tag) for tag in NAMES}
    assert errors == []
    for box in values["crowd-bounding-box"]["boundingBoxes"]:
        assert box["label"] in {"Cat", "Dog"}
        assert min(box["left"], box["top"]) >= 0
        assert min(box["width"], box["height"]) >= 1
        assert box["left"] + box["width"] <= WIDE
        assert box["top"] + box["height"] <= HIGH
    least = {"polygons": 3, "polylines": 2, "lines": 2}
    shapes = [
        (part, shape["vertices"])
        for tag, part in (
            ("crowd-polygon", "polygons"),
            ("crowd-polyline", "polylines"),
            ("crowd-line", "lines"),
        )
        for shape in values[tag][part]
    ]
    places = [place for part, vertices in shapes for place in vertices]
    places += values["crowd-keypoint"]["keypoints"]
    assert all(0 <= place["x"] <= WIDE and 0 <= place["y"] <= HIGH for place in places)
    assert all(isinstance(place["x"], int) for place in places)
    assert all(len(vertices) >= least[part] for part, vertices in shapes)
