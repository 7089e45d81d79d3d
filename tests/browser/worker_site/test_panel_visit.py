"""A panel visit in a browser: consent, two HITs, the exit; or no work, or stopping.

It takes the pictures of `docs/how-to/panel.md`.
"""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.worker_site.recorder import HEIGHT, WIDTHS, Recorder
from tests.browser.worker_site.test_visit import HTML, answer
from tests.markets.panel.scene import Scene, a_scene, changed

pytestmark = pytest.mark.browser

_PICTURES = Path(__file__).parents[3] / "docs/explanation/panel-visit"
_VIEWS = ["phone", pytest.param("desk", marks=pytest.mark.full)]
_COMPLETE = "https://panel.example/back?status=complete&pid={person}&sid={session}"


def _posted(scene: Scene) -> None:
    for number in (1, 2):
        scene.post(
            1,
            Title="Describe pictures for people who cannot see them",
            Description="Say in a sentence what each of two pictures shows.",
            Reward="0.40",
            Question=HTML.format(number),
        )


def _link(scene: Scene, person: str, session: str) -> str:
    query = urlencode(scene.panel.open(person, session))
    return f"{scene.market.endpoint}/visit/arrive?{query}"


def _begin(page: Page) -> None:
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Begin").click()


@pytest.mark.parametrize("view", _VIEWS)
def test_a_whole_visit(
    tmp_path: Path, open_page: Callable[..., Page], view: str, *, update_pictures: bool
) -> None:
    """Each page is accessible and fits; the button leads to the panel's exit."""
    with a_scene(tmp_path) as scene:
        _posted(scene)
        page = open_page(_link(scene, "ann", "s1"), width=WIDTHS[view], height=HEIGHT)
        arrived: list[str] = []
        page.route("https://panel.example/**", lambda route: _back(route, arrived))
        recorder = Recorder(page, view, folder=_PICTURES if update_pictures else None)
        recorder.look("welcome")
        expect(page.get_by_text("$0.80")).to_be_visible()
        _begin(page)
        answer(page, "A red bird on a branch.")
        expect(page.get_by_text("Task 2 of 2")).to_be_visible()
        recorder.look("hit")
        answer(page, "A black bird on a roof.")
        expect(page.get_by_text("All done, thank you")).to_be_visible()
        recorder.look("done")
        page.get_by_role("link", name="Finish on Example Panel").click()
        expect(page.get_by_text("Back at the panel")).to_be_visible()
        assert [scene.panel.take_back(address) for address in arrived] == ["complete"]
        page.goto(_link(scene, "bob", "s2"))
        expect(page.get_by_text("There is no work left for you")).to_be_visible()
        recorder.look("quota-full")
        page.get_by_role("link", name="Go back to Example Panel").click()
        assert scene.panel.take_back(arrived[-1]) == "quota_full"


def _back(route: object, arrived: list[str]) -> None:
    arrived.append(route.request.url)  # type: ignore[attr-defined]
    route.fulfill(body="Back at the panel", content_type="text/html")  # type: ignore[attr-defined]


@pytest.mark.parametrize("view", _VIEWS)
def test_who_stops_or_forges_reads_a_sentence(
    tmp_path: Path, open_page: Callable[..., Page], view: str
) -> None:
    """And a panel that wants a code has it shown, without a button."""
    file = changed(
        (
            f'complete = "{_COMPLETE}"',
            'code = "{code}-as-long-as-a-hash-with-sixty-four-digits-{session}"',
        )
    )
    with a_scene(tmp_path, file=file) as scene:
        _posted(scene)
        page = open_page(_link(scene, "ann", "s1"), width=WIDTHS[view], height=HEIGHT)
        recorder = Recorder(page, view, folder=None)
        _begin(page)
        page.get_by_text("Stop here").click()
        recorder.look("stop")
        page.get_by_role("button", name="Yes, stop").click()
        expect(page.get_by_text("You have stopped")).to_be_visible()
        recorder.look("stopped")
        page.goto(_link(scene, "ann", "s1"))
        expect(page.get_by_text("You have stopped this visit")).to_be_visible()
        recorder.look("stopped-before")
        page.goto(_link(scene, "ann", "s2").replace("pid=ann", "pid=eve"))
        expect(page.get_by_text("does not come from Example Panel")).to_be_visible()
        recorder.look("forged")
        page.goto(_link(scene, "bob", "s3"))
        _begin(page)
        answer(page, "A red bird on a branch.")
        expect(page.get_by_text("Task 2 of 2")).to_be_visible()
        answer(page, "A black bird on a roof.")
        expect(page.get_by_text("Enter this code on Example Panel")).to_be_visible()
        recorder.look("code")
        page.goto(_link(scene, "bob", "s3"))
        expect(page.get_by_text("You have already finished")).to_be_visible()
        recorder.look("code-again")
