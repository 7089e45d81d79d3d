"""Takes the pictures of docs/reference/gallery.md: every task's page in Chromium.

Run it with `python -m tests.browser.gallery [TASK ...]`; it is no test. The pages show
the first items of the example campaigns, with the scenes that they name. For Chinese,
a font with its characters must be installed.

`python -m tests.browser.gallery --sheet SHEET.png [TEST ...]` puts every page at which the
browser tests look into one picture, in the sizes of a desktop and a phone.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, sync_playwright

from piecework.campaign.assembling import read_anywhere
from piecework.domain.campaign import Campaign
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.messages import FOLDER as TASKS
from piecework.hit_templates.messages import languages
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import task_names
from piecework.simulation.rehearsals.campaign import draw_pictures
from tests.browser import host as hosts
from tests.conftest import ARGUMENTS, installed_chromium

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/reference/gallery"
WIDTH, HEIGHT = 1180, 860
MOST_BYTES = 150_000
CAMPAIGNS = {("caption", "en"): "demo", ("severity", "en"): "severity_en"}
"""The example campaigns whose names differ from the task's."""

_TILES, _TILE_HEIGHT, _TILE_WIDTH = 4, 450, 860
_LOOKING = ("tests/browser", "tests/review", "tests/report")
"""The tests that look at pages of workers, reviewers and readers."""

FIRST = {"demo": 1}
"""The item to begin with: the first picture of `demo` is a dark one."""


def take(browser: Browser, name: str, language: str) -> Path:
    """One picture of a task's first item."""
    path = FOLDER / f"{name}.{language}.png"
    campaign_file = CAMPAIGNS.get((name, language), name)
    campaign = read_anywhere(ROOT / f"config/campaigns/{campaign_file}.toml")
    first = FIRST.get(campaign_file, 0)
    items = campaign.items[first : first + campaign.task.items_per_hit]
    with hosts.serving() as host:
        host.pictures = _pictures(campaign, items)
        host.page = render_hit(campaign.task, [_served(item) for item in items])
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        page = context.new_page()
        page.goto(host.preview_address(), wait_until="networkidle")
        while page.locator(".step.item:visible").count() == 0:
            page.click("#next")
        page.evaluate("document.getElementById('notice-preview').hidden = true")
        page.evaluate(
            "document.querySelectorAll('#instructions > details')"
            ".forEach((part) => { part.open = false; })"
        )
        page.screenshot(path=path)
        context.close()
    # 256 colours are enough for a page, and a third of the bytes.
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256)
    small.save(path, optimize=True)
    return path


def _served(item: Item) -> Item:
    """The item with its picture's address on the host."""
    url = item.columns.get("url", "")
    shown = f"/pictures/{Path(url).name}" if url else ""
    columns = {**item.columns, "url": shown} if "url" in item.columns else item.columns
    return Item(item_id=ItemId(item.item_id), columns=columns)


def _pictures(campaign: Campaign, items: Sequence[Item]) -> dict[str, str]:
    """What the items' pictures show, by name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        drawn = campaign.pictures_address
        if campaign.rehearsal.scenes or drawn is None:
            draw_pictures(out, campaign.rehearsal.seed, items)
            drawn = str(out / "pictures")
        return {path.name: path.read_text("utf-8") for path in Path(drawn).glob("*.svg")}


def make_sheet(sheet: Path, tests: Sequence[str]) -> None:
    """Run browser tests, and put each page that they looked at into one picture."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "browser", *tests]
        subprocess.run(command, env={**os.environ, "PIECEWORK_SHEET": folder}, check=False)
        pages = [_tile(path, folder) for path in sorted(Path(folder).glob("*-desktop.png"))]
    rows = -(-len(pages) // _TILES)
    width, height = pages[0].size
    whole = Image.new("RGB", (_TILES * width, rows * height), "#888")
    for number, tile in enumerate(pages):
        whole.paste(tile, (number % _TILES * width, number // _TILES * height))
    whole.save(sheet)


def _tile(desktop: Path, folder: str) -> Image.Image:
    """A page in both sizes, with the name of its test."""
    name = desktop.name.removesuffix("-desktop.png")
    tile = Image.new("RGB", (_TILE_WIDTH, _TILE_HEIGHT + 20), "#888")
    left = 4
    for path in (desktop, Path(folder) / f"{name}-phone.png"):
        with Image.open(path) as picture:
            share = _TILE_HEIGHT / picture.height
            small = picture.convert("RGB").resize((round(picture.width * share), _TILE_HEIGHT))
        tile.paste(small, (left, 16))
        left += small.width + 4
    ImageDraw.Draw(tile).text((4, 2), name[-110:], fill="#fff")
    return tile


def main(names: list[str]) -> None:
    """Take the pictures of these tasks, or of all; or make the sheet."""
    if names[:1] == ["--sheet"]:
        make_sheet(Path(names[1]), names[2:] or _LOOKING)
        return
    FOLDER.mkdir(exist_ok=True)
    chromium = installed_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for name in names or task_names():
            for language in languages(TASKS / name):
                path = take(browser, name, language)
                if path.stat().st_size > MOST_BYTES:
                    raise SystemExit(f"{path} is larger than {MOST_BYTES} bytes")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
