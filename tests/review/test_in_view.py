"""What a reviewer weighs and what decides are in the first screen, measured in a browser."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from piecework.domain.ids import AssignmentId
from piecework.review.desk import Manner
from piecework.review.model.cards import Reason
from tests.browser.pages import violations
from tests.review import stores
from tests.review.conftest import Served, served

pytestmark = pytest.mark.browser

_SIZES = ({"width": 1280, "height": 900}, {"width": 390, "height": 844})
OVER_THE_BAR = """() => {
    const bar = document.querySelector(".bar").getBoundingClientRect();
    const low = (name) => {
        const parts = [...document.querySelectorAll(name)];
        return Math.max(0, ...parts.map((part) => part.getBoundingClientRect().bottom));
    };
    const seen = (name) => low(name) <= bar.top;
    return {
        bar: Math.max(bar.bottom, low(".act"), low(".follows")) <= innerHeight,
        item: seen(".frame"), answer: seen("h1.answer"), reasons: seen(".reasons li"),
    };
}"""


def _entered(open_page: Callable[..., Page], page: Served, **size: int) -> Page:
    opened = open_page(page.links["ada"], **size)
    opened.wait_for_url(f"{page.url}/")
    return opened


@pytest.mark.parametrize("size", _SIZES, ids=("desktop", "phone"))
def test_an_answer_its_reasons_and_the_decision_are_in_the_first_screen(
    page: Served, open_page: Callable[..., Page], size: dict[str, int]
) -> None:
    """Without scrolling, at both sizes; scrolled to the end, the decision is still in view."""
    opened = _entered(open_page, page, **size)
    opened.goto(f"{page.url}/next?view=answer")
    assert opened.evaluate(OVER_THE_BAR) == dict.fromkeys(
        ("bar", "item", "answer", "reasons"), True
    )
    assert opened.locator(".judge li:visible").count() <= 3
    opened.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    assert opened.evaluate(OVER_THE_BAR)["bar"]
    for view in ("worker", "item", "assignment"):
        opened.goto(f"{page.url}/next?view={view}")
        assert opened.evaluate(OVER_THE_BAR)["bar"], view
        assert violations(opened) == [], view


def test_a_low_window_keeps_its_room_for_the_card(
    page: Served, open_page: Callable[..., Page]
) -> None:
    """On a phone held sideways the bar scrolls with the page."""
    opened = _entered(open_page, page, width=844, height=390)
    opened.goto(f"{page.url}/next?view=answer")
    assert opened.evaluate("getComputedStyle(document.querySelector('.bar')).position") == "static"


def test_the_list_is_by_worker_and_says_how_much_is_decided(
    page: Served, open_page: Callable[..., Page]
) -> None:
    """Each worker once with the answers that wait; after a decision the progress counts it."""
    opened = _entered(open_page, page)
    workers = opened.locator("h2.group a").all_inner_texts()
    assert len(workers) == len(set(workers)) == 4
    assert opened.locator(".waiting .why", has_text="Mostly capitals").count() == 8
    assert opened.locator(".progress").count() == 0
    opened.keyboard.press("Enter")
    opened.wait_for_url("**/card?**")
    opened.keyboard.press("d")
    expect(opened.get_by_text("Dropped;")).to_be_visible()
    opened.goto(f"{page.url}/")
    expect(opened.locator(".progress")).to_have_text("1 of 16 decided")
    opened.keyboard.press("?")
    expect(opened.get_by_text("Leave the reason")).to_be_visible()


def test_an_objection_is_shown_while_its_rejection_stands(
    tmp_path: Path, open_page: Callable[..., Page]
) -> None:
    """With the command that takes it back; a stranger's text is shown, not run."""
    text = "<script>document.title = 'run'</script>\nIt is red. " + "x" * 300
    written = {
        AssignmentId("A0000-k1"): text,
        AssignmentId("A0001-k1"): "Not rejected.",
        AssignmentId("of another campaign"): "Why?",
    }
    with (
        stores.opened(tmp_path, workers=2) as run,
        served(run, manner=Manner(objections=written)) as page,
    ):
        opened = _entered(open_page, page, width=390, height=844)
        assert opened.get_by_text("object to a rejection").count() == 0
        opened.goto(f"{page.url}/card?view=assignment&key=A0000-k1")
        opened.wait_for_load_state()
        opened.keyboard.press("r")
        expect(opened.locator(".notice")).to_contain_text("ejected")
        opened.goto(f"{page.url}/")
        expect(
            opened.get_by_role("heading", name="1 worker objects to a rejection")
        ).to_be_visible()
        expect(opened.get_by_text("It is red.")).to_be_visible()
        expect(opened.get_by_text("pay review.toml --rejected A0000-k1")).to_be_visible()
        assert opened.title() != "run"
        assert violations(opened) == []


def test_an_answer_keeps_its_lines(page: Served, open_page: Callable[..., Page]) -> None:
    """Code is shown with the indentation with which it was sent."""
    opened = _entered(open_page, page)
    opened.goto(f"{page.url}/next?view=answer")
    value = opened.locator("h1.answer bdi").first
    value.evaluate("each => { each.textContent = 'def f():\\n    return 1'; }")
    assert value.inner_text() == "def f():\n    return 1"


def test_texts_without_spaces_are_cut_and_not_left_out() -> None:
    """A language that writes no spaces has no other place."""
    clause = Reason(about="", title="", evidence=f"repeats {'あ' * 900}", suspicion=1).clause
    assert clause.startswith("repeats あああ")
