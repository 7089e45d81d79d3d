"""The page as a whole: it is written for any campaign, and loads nothing."""

import re

from postprocess.report.page import render
from tests.postprocess.report import made_up


def test_a_campaign_without_rows_has_a_report() -> None:
    """Frames without rows or columns make a whole page."""
    page = render(made_up.empty())

    assert page.count("<h1>") == 1
    assert "The campaign is not finished" in page


def test_nothing_is_loaded_from_anywhere() -> None:
    """No address of another host stands anywhere in the page."""
    page = render(made_up.large(items=40))

    assert not re.findall(r"https?:|//\w", page)
