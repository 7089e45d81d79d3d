"""`piecework preview` in its own process: what a person sees, click by click."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, expect

from tests.marketplace.market import free_ports

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def preview(campaign: str) -> Iterator[str]:
    """What the command prints, up to the line that says how it ends."""
    command = [sys.executable, "-c", "from piecework.cli.main import main; main()", "preview"]
    command += [f"config/campaigns/{campaign}.toml", "--port", str(free_ports())]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if "Ctrl-C" in line:
                    break
            yield "".join(lines)
        finally:
            process.send_signal(signal.SIGTERM)


def address(printed: str, begin: str) -> str:
    """The address in the line that begins so."""
    match = re.search(rf"^{begin}.*?(http://\S+)$", printed, re.MULTILINE)
    assert match, printed
    return match[1]


def test_the_first_click_shows_the_hit_also_where_a_test_is_asked(
    open_page: Callable[..., Page],
) -> None:
    """No test keeps the person out, and its pictures are there; pay is denied once."""
    missing: list[str] = []

    def note(response: Response) -> None:
        if response.status >= 400:
            missing.append(response.url)

    with preview("hodosh_caption") as printed:
        assert "pays and stores nothing" in printed
        page = open_page(address(printed, "open"))
        page.on("response", note)
        statements = re.findall(r"[^.]*\bpa(?:id|y)\b[^.]*\.", page.inner_text("main"))
        assert [text.strip() for text in statements] == ["This is a rehearsal: no work is paid."]
        page.get_by_role("button", name="Sign in as guest").click()
        # The HIT's own page, with its first picture.
        hit = page.frame_locator("iframe")
        expect(hit.get_by_role("heading", name="Before you start")).to_be_visible()
        page.get_by_role("button", name="Accept this kind of HIT").click()
        expect(hit.get_by_role("button", name="Start")).to_be_visible()

        page.goto(address(printed, "then the qualification test"))
        page.get_by_role("button", name="Begin the test").click()
        expect(page.get_by_role("button", name="Next")).to_be_visible()
        pictures = page.locator("form img")
        expect(pictures.first).to_be_attached()
        for picture in pictures.all():
            page.wait_for_function("image => image.complete", arg=picture.element_handle())
            assert picture.evaluate("image => image.naturalWidth") > 0
    assert missing == []
