"""The marks of all workers about an item, drawn in one picture or text."""

import base64
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from piecework.review.model.marks import MOST_DRAWN
from tests.browser.pages import violations
from tests.review import stores
from tests.review.conftest import served
from tests.review.test_in_view import OVER_THE_BAR
from tests.small_campaign import CAMPAIGN

_SIZE = {"height": 420, "width": 640}
_HOUSE = {"label": "House", "left": 160, "top": 170, "width": 200, "height": 160}
_OF_A = "/card?view=answer&key=A0000-k1.1"
TAGS = CAMPAIGN.replace(
    'task = "caption"', 'task = "tag"\nquestion = "Mark each."\noptions = ["House", "Sun"]'
).replace("items_per_hit = 2", "items_per_hit = 1")


def _sent(part: str, marks: Sequence[object], size: Mapping[str, object] = _SIZE) -> dict[str, str]:
    return {"answer": json.dumps({part: marks, "inputImageProperties": size})}


def _boxes(w: int, _number: int) -> Mapping[str, str]:
    """A house, and the sun of the first and third; the last saw the picture half as large."""
    sun = {"label": "Sun", "left": 560, "top": 40, "width": 80, "height": 84}
    if w == 3:
        half = {"label": "House", "left": 80, "top": 85, "width": 100, "height": 80}
        return _sent("boundingBoxes", [half], {"height": 210, "width": 320})
    return _sent("boundingBoxes", [_HOUSE] if w == 1 else [_HOUSE, sun])


_PLACES = """() => {
    const image = document.querySelector(".sheet img").getBoundingClientRect();
    // object-fit: contain, of a picture of 640 by 420.
    const scale = Math.min(image.width / 640, image.height / 420);
    const left = image.left + (image.width - 640 * scale) / 2;
    const top = image.top + (image.height - 420 * scale) / 2;
    return [...document.querySelectorAll(".marks .line")].map((layer) => {
        // The box without its line, in pixels of the screen.
        const drawn = layer.querySelector("polygon"), box = drawn.getBBox();
        const at = drawn.getScreenCTM();
        return [(box.x * at.a + at.e - left) / scale, (box.y * at.d + at.f - top) / scale,
                box.width * at.a / scale, box.height * at.d / scale].map(Math.round);
    });
}"""


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=("desktop", "phone"))
def test_the_boxes_of_each_worker_are_drawn_where_they_are_in_the_picture(
    tmp_path: Path, open_page: Callable[..., Page], size: tuple[int, int]
) -> None:
    """At each size and zoom; a key hides those of a worker, and letters tell workers apart."""
    width, height = size
    with stores.opened(tmp_path, campaign=TAGS, values=_boxes) as run, served(run) as page:
        opened = open_page(page.links["ada"], width=width, height=height)
        opened.wait_for_url(f"{page.url}/")
        opened.goto(f"{page.url}{_OF_A}")
        expect(opened.locator(".marks text")).to_have_text(
            ["A House", "A Sun", "B House", "C House", "C Sun", "D House"]
        )
        assert opened.evaluate(_PLACES) == [[160, 170, 200, 160]] * 4
        assert violations(opened) == []
        assert opened.evaluate(OVER_THE_BAR)["reasons"]
        text = "parseFloat(getComputedStyle(document.querySelector('.marks text')).fontSize)"
        shown = f"{text} * document.querySelector('.marks').getScreenCTM().a"
        assert opened.evaluate(shown) == pytest.approx(14, abs=0.1)
        box = opened.get_by_role("checkbox", name="A 2 boxes: House, Sun")
        assert opened.locator(".layers label").first.bounding_box()["height"] >= 44  # type: ignore[index]
        box.focus()
        opened.keyboard.press("Space")
        expect(opened.locator(".marks text:visible")).to_have_count(4)
        opened.keyboard.press("Space")
        expect(opened.locator(".marks text:visible")).to_have_count(6)
        opened.keyboard.press("z")
        assert "twice" in (opened.locator(".sheet").get_attribute("class") or "")
        assert opened.evaluate(_PLACES) == [[160, 170, 200, 160]] * 4


@pytest.mark.browser
def test_spans_are_marked_in_the_text_of_each_worker(
    tmp_path: Path, open_page: Callable[..., Page]
) -> None:
    """The emoji is two units for a browser; half of it, and overlaps, are shown whole."""
    spans = [("House", 8, 11), ("Sun", 2, 3), ("Sun", 9, 17), ("House", 90, 99)]

    def values(w: int, _number: int) -> Mapping[str, str]:
        names = ("label", "startOffset", "endOffset")
        marks = [dict(zip(names, span, strict=True)) for span in spans]
        return {"answer": json.dumps({"entities": marks if w else marks[:1]})}

    text = "a 😀 <b>red house."
    made = stores.opened(tmp_path, campaign=TAGS, values=values, text=text)
    with made as run, served(run) as page:
        opened = open_page(page.links["ada"], width=390, height=844)
        opened.wait_for_url(f"{page.url}/")
        opened.goto(f"{page.url}{_OF_A}")
        first, second = opened.locator(".passages").all()[:2]
        expect(first).to_have_text("a 😀 <b>redHouse house.")
        assert first.locator("mark").all_inner_texts() == ["red"]
        expect(second).to_have_text("a 😀Sun <b>redHouse houseSun.")
        assert second.locator("mark").all_inner_texts() == ["😀", "r", "ed", " house"]
        expect(opened.locator(".layers li").nth(1)).to_contain_text("1 not drawn")
        assert opened.evaluate(OVER_THE_BAR)["reasons"]
        assert violations(opened) == []


_NO_MARKS = (
    '{"boundingBoxes": [{"label": "House", "left": NaN, "top": 1, "width": 9, "height": 9}]}',
    '{"boundingBoxes": [{"label": "House", "left": 1, "top": 1, "width": 0, "height": 9}]}',
    '{"boundingBoxes": [{"label": "House", "left": 900, "top": 1, "width": 9, "height": 9}]}',
    '{"boundingBoxes": [{"left": 1e999, "top": 1, "width": 9, "height": 9}, 7, null]}',
    '{"boundingBoxes": [{"left": 1' + "0" * 400 + ', "top": 1, "width": 9, "height": 9}]}',
    '{"boundingBoxes": {"left": 1}}',
    '{"boundingBoxes": "x", "inputImageProperties": {"height": -1, "width": NaN}}',
    "[" * 100_000,
    "no JSON",
    "",
)


def test_answers_that_hold_no_mark_are_said_and_not_drawn(tmp_path: Path) -> None:
    """Beside one that holds a mark; the page has all of it without a script."""

    def values(w: int, _number: int) -> Mapping[str, str]:
        return {"answer": _NO_MARKS[w - 1]} if w else _sent("boundingBoxes", [_HOUSE])

    made = stores.opened(tmp_path, campaign=TAGS, values=values, workers=1 + len(_NO_MARKS))
    with made as run, served(run) as page, page.client() as client:
        card = client.get(_OF_A).raise_for_status().text
        assert re.findall(r"<text[^>]*>(.*?)</text>", card) == ["A House"]
        assert "1 box: House" in card
        assert card.count("1 not drawn") == 4
        assert card.count("3 not drawn") == 1
        assert not re.search(r"<g[^>]*hidden", card)
        assert client.get("/card?view=item&key=p1").raise_for_status().text.count("<text x") == 1


def test_thousands_of_boxes_and_half_characters_make_a_page(tmp_path: Path) -> None:
    """As many boxes are drawn as a person can look at; the rest is counted."""
    many = [{**_HOUSE, "left": n % 600, "label": "\ud83d<b>"} for n in range(5_000)]

    def values(w: int, _number: int) -> Mapping[str, str]:
        return _sent("boundingBoxes", many if w else [_HOUSE])

    with (
        stores.opened(tmp_path, campaign=TAGS, values=values, workers=2) as run,
        served(run) as page,
        page.client() as client,
    ):
        for view in ("/", _OF_A, "/card?view=worker&key="):
            key = run.pseudonym(run.answers()["worker_id"].iloc[-1]) if "worker" in view else ""
            shown = client.get(view + key).raise_for_status().text
            assert "<b>" not in shown
        card = client.get(_OF_A).text
        assert card.count("<text x") == 1 + MOST_DRAWN
        assert f"{5_000 - MOST_DRAWN} not drawn" in card


PAGE = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form>
<crowd-polygon name="roof" src="${url}" header="Roof" labels="['Roof']"></crowd-polygon>
<crowd-keypoint name="door" src="${url}" header="Door" labels="['Door']"></crowd-keypoint>
<crowd-polyline name="way" src="${url}" header="Way" labels="['Way']"></crowd-polyline>
</crowd-form>"""


def test_points_polygons_and_lines_are_drawn_too(tmp_path: Path) -> None:
    """Also a polygon that crosses itself, which a page of another requester may send."""
    (tmp_path / "page.html").write_text(PAGE)
    corners = [{"x": 0, "y": 0}, {"x": 9, "y": 9}, {"x": 9, "y": 0}, {"x": 0, "y": 9}]
    sent: Mapping[str, Mapping[str, object]] = {
        "roof": {"polygons": [{"label": "Roof", "vertices": corners}, {"vertices": [{"x": 1}]}]},
        "door": {"keypoints": [{"label": "Door", "x": 600, "y": 5}]},
        "way": {"polylines": [{"label": "Way", "vertices": corners[:3]}]},
    }

    def values(_w: int, _number: int) -> Mapping[str, str]:
        return {
            name: json.dumps({**of, "inputImageProperties": _SIZE}) for name, of in sent.items()
        }

    campaign = CAMPAIGN.replace('"caption"', '"page.html"').replace("_hit = 2", "_hit = 1")
    with stores.opened(tmp_path, campaign=campaign, values=values) as run, served(run) as page:
        with page.client() as client:
            card = client.get(_OF_A).raise_for_status().text
        lines = re.search(r'<g class="line.*?</g>', card, re.DOTALL)
        assert lines is not None
        assert re.findall(r'<(\w+) class="(\w+)" points="([^"]*)"', lines[0]) == [
            ("polygon", "area", "0,0 9,9 9,0 0,9"),
            ("polyline", "point", "600,5 600,5"),
            ("polyline", "line", "0,0 9,9 9,0"),
        ]
        assert "1 not drawn" in card


def _mask(*rectangles: tuple[int, tuple[int, int, int, int]], wide: int = 640) -> Mapping[str, str]:
    """An answer with a mask: rectangles of colour 1 (House), 2 (Sun) or 0 (none), in order."""
    picture, file = Image.new("P", (wide, 420), 0), io.BytesIO()
    picture.putpalette([255, 255, 255, 0x1F, 0x77, 0xB4, 0xFF, 0x7F, 0x0E])
    for colour, place in rectangles:
        picture.paste(colour, place)
    picture.save(file, "PNG")
    labels = {
        "House": {"color": "#1f77b4"},
        "Sun": {"color": "#ff7f0e"},
        "Fog": {"color": "#2ca02c"},
    }
    document = {
        "inputImageProperties": {"width": wide, "height": 420},
        "labelMappings": labels,
        "labeledImage": {"pngImageData": base64.b64encode(file.getvalue()).decode()},
    }
    return {"areas": json.dumps(document)}


MASKS = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form><crowd-semantic-segmentation name="areas" src="${url}" header="Paint"
labels="['House', 'Sun', 'Fog']"></crowd-semantic-segmentation></crowd-form>"""


def _masks(w: int, _number: int) -> Mapping[str, str]:
    house = (1, (160, 170, 360, 330))
    if w == 3:
        return {"areas": '{"labeledImage": {"pngImageData": "?"}, "labelMappings": {}}'}
    return _mask(house, *([(0, (200, 200, 240, 240)), (2, (560, 40, 640, 124))] if w == 0 else []))


def test_the_outlines_of_masks_are_drawn(tmp_path: Path) -> None:
    """With holes, and one name for each label that was used; what is no mask is not drawn."""
    (tmp_path / "page.html").write_text(MASKS)
    campaign = CAMPAIGN.replace('"caption"', '"page.html"').replace("_hit = 2", "_hit = 1")
    with (
        stores.opened(tmp_path, campaign=campaign, values=_masks) as run,
        served(run) as page,
        page.client() as client,
    ):
        card = client.get(_OF_A).raise_for_status().text
    assert re.findall(r"<text[^>]*>(.*?)</text>", card) == [
        "A House",
        "A Sun",
        "B House",
        "C House",
    ]
    (first, *_) = re.findall(r'<g class="line.*?</g>', card, re.DOTALL)
    drawn = [
        [[float(side) for side in corner.split(",")] for corner in points.split(" ")]
        for points in re.findall(r'class="area" points="([^"]*)"', first)
    ]
    boxes = [[f(place) for f in (min, max) for place in zip(*line, strict=True)] for line in drawn]
    assert [[round(side) for side in box] for box in boxes] == [
        [160, 170, 360, 330],
        [200, 200, 240, 240],
        [560, 40, 640, 124],
    ]
