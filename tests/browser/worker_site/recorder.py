"""Looks at each page on a worker's way, and takes the pictures of the docs."""

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.pages import violations

WIDTHS = {"desk": 1000, "phone": 390}
HEIGHT = 800


class Recorder:
    """Holds each page to what a page must be, and keeps a picture of it if asked.

    Args:
        page: the browser's.
        view: a key of `WIDTHS`.
        folder: where the pictures of a page of the docs are; those that are there are
            taken again. None takes none.
    """

    def __init__(self, page: Page, view: str, *, folder: Path | None) -> None:
        self._page = page
        self._view = view
        self._folder = folder
        self._number = 0

    def look(self, name: str) -> None:
        """One more page: no fault of `violations`."""
        assert violations(self._page) == []
        width = WIDTHS[self._view]
        self._number += 1
        picture = f"{self._number:02d}-{name}-{self._view}.png"
        if self._folder and (self._folder / picture).exists():
            self._page.screenshot(
                path=self._folder / picture,
                clip={"x": 0, "y": 0, "width": width, "height": self._bottom()},
            )

    def _bottom(self) -> float:
        """Where the page ends; an empty half would only make the docs longer."""
        end: float = self._page.evaluate(
            "document.querySelector('main').getBoundingClientRect().bottom"
        )
        return min(HEIGHT, end + 16)
