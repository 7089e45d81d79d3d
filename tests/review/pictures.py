"""Takes the pictures of `docs/how-to/review.md`: the demo, as a reviewer finds it.

python -m tests.review.pictures
"""

import os
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from piecework.engine.run_pass import run_pass
from tests.conftest import ARGUMENTS, installed_chromium
from tests.review.conftest import served
from tests.review.test_demo import demo_at_work

FOLDER = Path(__file__).resolve().parents[2] / "docs/how-to/review"
_DESK = ViewportSize(width=1280, height=960)
_TABLET = ViewportSize(width=820, height=1180)


def _take(page: Page, url: str) -> None:
    page.goto(f"{url}/next?view=answer")
    _keep(page, "card")
    page.set_viewport_size(_TABLET)
    _keep(page, "tablet")
    page.set_viewport_size(_DESK)
    page.emulate_media(color_scheme="dark")
    page.goto(f"{url}/next?view=worker")
    _keep(page, "dark")


def _keep(page: Page, name: str) -> None:
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path)
    # 256 colours are enough for a page, and a third of the bytes.
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256)
    small.save(path, optimize=True)


def main() -> None:
    """Let the demo's crowd work until people are waited for, and look."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "A-REQUESTER", "AWS_SECRET_ACCESS_KEY": "none"}
    with (
        tempfile.TemporaryDirectory(prefix="review") as folder,
        demo_at_work(Path(folder)) as (run, crowd),
    ):
        while run_pass(run).waiting_for == "workers":
            crowd.work_until()
        with served(run) as started, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=installed_chromium(), args=ARGUMENTS
            )
            page = browser.new_page(viewport=_DESK)
            page.goto(started.links["ada"])
            page.wait_for_url(f"{started.url}/")
            _take(page, started.url)
            browser.close()


if __name__ == "__main__":
    main()
