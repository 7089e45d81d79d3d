"""A circle in a picture is a circle on every page, however the page sizes it."""

import base64
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Page, expect

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.render import render_hit
from piecework.platforms.wire import html_question
from tests.conftest import in_full
from tests.hit_templates.own_html import task_of
from tests.marketplace.market import Market, post

pytestmark = pytest.mark.browser

SIZES = {
    "inline height": 'style="height: 300px"',
    "inline width and height": 'style="width: 260px; height: 300px"',
    "attributes": 'width="260" height="300"',
    "all of the width": 'style="max-width: 100%; height: 220px"',
}
CROWD = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form><p>{}</p><crowd-input name="word" label="Word"></crowd-input>
</crowd-form>"""
PLAIN = '<p>{}</p><label>Word <input name="word"></label>'
DOCUMENT = f"<html><head><title>Birds</title></head><body>{PLAIN}</body></html>"


def disc() -> str:
    """The address of a wide picture with a black disc in its middle."""
    picture = Image.new("RGB", (1200, 400), "#ffd27f")
    ImageDraw.Draw(picture).ellipse((450, 50, 750, 350), fill="black")
    file = io.BytesIO()
    picture.save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def shape(content: bytes) -> tuple[int, int]:
    """Width and height of what is black on a picture of the page."""
    is_black = np.asarray(Image.open(io.BytesIO(content)).convert("L")) < 60
    rows, columns = is_black.any(axis=1), is_black.any(axis=0)
    return int(columns.sum()), int(rows.sum())


PAGES = {"crowd": CROWD, "plain": PLAIN, "document": DOCUMENT}
CASES = [
    (html, size)
    for html in PAGES
    for size in SIZES
    # Without a rule for its width it is as wide as it wants, wherever it is shown.
    if html == "crowd" or size != "inline height"
]


@pytest.mark.parametrize(
    "viewport",
    [
        pytest.param((1280, 900), id="desk", marks=pytest.mark.full),
        pytest.param((390, 844), id="phone"),
    ],
)
@pytest.mark.parametrize(("html", "size"), [*CASES[:2], *in_full(*CASES[2:])])
def test_a_circle_stays_a_circle(
    market: Market,
    open_site: Callable[..., Page],
    tmp_path: Path,
    html: str,
    size: str,
    viewport: tuple[int, int],
) -> None:
    """As wide as it is high, to two pixels."""
    picture = f'<img alt="A disc" src="{disc()}" {SIZES[size]}>'
    task = task_of(tmp_path, PAGES[html].format(picture))
    item = Item(item_id=ItemId("row_1"), columns={"item_id": "row_1"})
    ann = market.worker()
    made = post(market.requester("LAB"), Question=html_question(render_hit(task, [item])))
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    width, height = viewport
    page = open_site(ann.token, f"/worker/assignments/{assignment}", width=width, height=height)
    image = page.frame_locator("iframe").get_by_alt_text("A disc")
    expect(image).to_be_visible()
    image.evaluate("(image) => image.decode()")
    across, down = shape(image.screenshot())
    assert across > 40
    assert abs(across - down) <= 2, (across, down)
