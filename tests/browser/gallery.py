"""Takes the pictures of docs/reference/gallery.md: every task's page in Chromium.

Run it with `python -m tests.browser.gallery [TASK ...]`; it is no test. Pictures that
the pages show are drawn scenes that fit the examples as well as they can.
"""

import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.messages import FOLDER as TASKS
from piecework.hit_templates.messages import languages
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task, task_names
from piecework.rehearsal.pictures.drawing import draw
from piecework.rehearsal.pictures.portraits import draw_portrait
from piecework.rehearsal.pictures.scenes import scenes
from tests.browser import host as hosts
from tests.conftest import ARGUMENTS, installed_chromium
from tests.hit_templates.examples import example_of
from tools.examples.one_error import TRIALS
from tools.examples.one_error import rows as rows_of_severity

FOLDER = Path(__file__).resolve().parents[2] / "docs/reference/gallery"
WIDTH, HEIGHT = 1180, 860
MOST_BYTES = 150_000


def take(browser: Browser, name: str, language: str) -> Path:
    """One picture of a task's first item."""
    path = FOLDER / f"{name}.{language}.png"
    with hosts.serving() as host:
        host.page = _page(name, language)
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        page = context.new_page()
        page.goto(host.preview_address(), wait_until="networkidle")
        while page.locator(".step.item:visible").count() == 0:
            page.click("#next")
        page.evaluate("document.getElementById('notice-preview').hidden = true")
        page.screenshot(path=path)
        context.close()
    # 256 colours are enough for a page, and a third of the bytes.
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256)
    small.save(path, optimize=True)
    return path


def _page(name: str, language: str) -> str:
    """The page of a task's example, with sentences in its language."""
    task = load_task(name, language)
    if (name, language) != ("severity", "zh-Hant"):
        return example_of(task).page
    rows = [
        {**row, "url": "/pictures/person.svg"} for row in rows_of_severity(language)
    ]
    items = [Item(item_id=ItemId(row["item_id"]), columns=row) for row in rows]
    practice = [item for item in items if item.columns["practice"]]
    return render_hit(task, items[len(practice) :], practice=practice)


def main(names: list[str]) -> None:
    """Take the pictures of these tasks, or of all."""
    FOLDER.mkdir(exist_ok=True)
    scene = draw(
        next(candidate for candidate in scenes(11, 40) if len(candidate.things) > 1)
    )
    person = draw_portrait(TRIALS[0][0].portrait)
    chromium = installed_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for name in names or task_names():
            hosts.PICTURE = person if name == "severity" else scene
            for language in languages(TASKS / name):
                path = take(browser, name, language)
                if path.stat().st_size > MOST_BYTES:
                    raise SystemExit(f"{path} is larger than {MOST_BYTES} bytes")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
