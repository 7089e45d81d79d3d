"""A review in a real browser, on a real marketplace: keys, two people, axe, pay."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.engine.run_pass import run_pass
from piecework.review.model.decisions_csv import waiting_csv
from piecework.store import decisions, ledger
from tests.browser.pages import violations
from tests.conftest import in_full
from tests.engine.payments.bookkeeping import check_books
from tests.review import stores
from tests.review.conftest import Served, served

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]
HOSTILE = (
    "<script>document.title = 'run'</script><img src=x onerror=alert(1)>",
    "\u202ereversed\u202c and </textarea></bdi> '\" onmouseover=alert(1)",
    "wide" * 60,
    "endless" * 1_500_000,
)


def _entered(open_page: OpenPage, link: str, **size: int) -> Page:
    page = open_page(link, **size)
    page.wait_for_url(lambda url: url.endswith("/"))
    return page


def test_what_is_decided_by_keys_is_settled_to_the_cent(
    waiting: CampaignRun, open_page: OpenPage
) -> None:
    """Bob's first answer is kept, undone, dropped; the second dropped; he goes."""
    with served(waiting) as started:
        page = _entered(open_page, started.links["ada"])
        assert page.url == f"{started.url}/"  # the token is in no address
        assert page.evaluate("history.length") == 2  # the empty page, and this
        _press(page, "Enter")
        expect(page.get_by_text("proposed")).to_have_count(3)
        expect(page.get_by_text("1 answer asked for again.")).to_be_visible()
        _press(page, "k")
        _expect_notice(page, "Kept.")
        _press(page, "u")
        _expect_notice(page, "It waits again")
        _press(page, "d")
        _expect_notice(page, "Dropped;")
        expect(page.get_by_text("$0.60 paid, fees included.").first).to_be_visible()
        _press(page, "e")
        page.keyboard.type("Own words: ")
        _press(page, "Escape")
        _press(page, "d")
        expect(page.get_by_text("Nothing waits in this view")).to_be_visible()
        page.get_by_role("link", name="1 by worker").click()
        expect(page.get_by_role("heading", name="1 worker waits")).to_be_visible()
        _press(page, "Enter")
        expect(page.get_by_role("button", name="Keep worker")).to_be_visible()
        _press(page, "x")
        _expect_notice(page, "Excluded from later HITs.")
    assert waiting_csv(waiting)[1] == 0
    made = [
        decision
        for decision in decisions.load_decisions(waiting.store)
        if decision.decided_by == "ada"
    ]
    assert sorted(decision.verdict for decision in made) == [
        "approve", "drop", "drop", "exclude"
    ]  # fmt: skip
    assert any("Own words" in decision.because for decision in made)
    reached = run_pass(waiting)
    assert (reached.rewards_cents, reached.dropped, reached.excluded) == (100, 2, 1)
    assert (reached.rejected, reached.replaced) == (0, 1)
    # And the marketplace's own books say the same.
    check_books(waiting)


def test_what_is_paid_is_what_the_page_said(waiting: CampaignRun, open_page: OpenPage) -> None:
    """A rejection and an approval are taken back; the sums of what stands are paid."""
    paid_before = _paid(waiting)
    stated_cents: list[int] = []
    with served(waiting) as started:
        page = _entered(open_page, started.links["ada"])
        acts = (("r", 0), ("u", 0), ("a", 60), ("u", 0), ("d", 0), ("d", 60))
        for key, expected in acts:
            if key == "u":
                stated_cents.pop()
                _press(page, "u")
                _expect_notice(page, "It waits again")
                continue
            view = "assignment" if key in "ra" else "answer"
            page.goto(f"{started.url}/next?view={view}")
            stated_cents.append(_cents_to_be_paid(page, key))
            assert stated_cents[-1] == expected, key
            _press(page, key)
            expect(page.locator(".notice.done")).to_be_visible()
    assert sum(stated_cents) == 60
    run_pass(waiting)
    assert _paid(waiting) - paid_before == sum(stated_cents)
    check_books(waiting)


def _cents_to_be_paid(page: Page, key: str) -> int:
    """What the page says beside a key's button that will be paid, in cents."""
    choice = page.locator(".choices li", has=page.locator(f"[data-key={key}]"))
    price = re.search(r"\$(\d+)\.(\d\d) paid", choice.inner_text())
    return int(price[1]) * 100 + int(price[2]) if price else 0


def _paid(opened: OpenedCampaign) -> int:
    """Rewards and their fees so far, in cents."""
    return sum(ledger.balances(opened.store).get(account, 0) for account in ("rewards", "fees"))


def test_two_people_at_one_card(page: Served, open_page: OpenPage) -> None:
    """Who is slower sees what was decided, and by whom; nothing is overwritten."""
    ada = _entered(open_page, page.links["ada"])
    grace = _entered(open_page, page.links["grace"])
    card = f"{page.url}/card?view=assignment&key=A0002-k1"
    ada.goto(card)
    grace.goto(card)
    _press(ada, "k")
    _expect_notice(ada, "Kept.")
    _press(grace, "r")
    expect(grace.get_by_text("Another reviewer decided first")).to_be_visible()
    expect(grace.get_by_role("alert").get_by_text("ada").first).to_be_visible()
    # Each is led to another card than the one the other looks at.
    ada.goto(f"{page.url}/next?view=answer")
    grace.goto(f"{page.url}/next?view=answer")
    assert ada.url != grace.url


def test_many_at_once_are_shown_before(page: Served, open_page: OpenPage) -> None:
    """All four answers of a worker: first a preview with its money, then one key."""
    ada = _entered(open_page, page.links["ada"])
    ada.goto(f"{page.url}/next?view=worker")
    _press(ada, "r")
    expect(ada.get_by_role("heading", name="Reject: 2 at once")).to_be_visible()
    expect(ada.get_by_text("$1.00 not paid. 4 answers set aside.")).to_be_visible()
    _press(ada, "n")
    expect(ada.get_by_role("heading", name="Answers of worker")).to_be_visible()
    _press(ada, "r")
    expect(ada.get_by_role("heading", name="Reject: 2 at once")).to_be_visible()
    _press(ada, "y")
    _expect_notice(ada, "Rejected;")
    _press(ada, "u")
    _expect_notice(ada, "It waits again")


@pytest.mark.parametrize(
    ("scheme", "paths"),
    [
        ("light", ("/", "/next?view=answer", "/next?view=worker!", "/quality", "/words")),
        *in_full(("dark", ("/next?view=assignment", "/next?view=item", "/words"))),
    ],
)
def test_every_page_is_usable_by_everybody(
    tmp_path: Path, open_page: OpenPage, scheme: str, paths: tuple[str, ...]
) -> None:
    """Hostile answers stay text; a phone, a desktop and a tablet have no fault of `violations`."""
    with stores.opened(tmp_path, workers=2, texts=HOSTILE) as run, served(run) as started:
        page = _entered(open_page, started.links["ada"], width=820, height=1180)
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for path in paths:
            page.goto(f"{started.url}{path.removesuffix('!')}")
            if path.endswith("!"):
                _press(page, "d")
                expect(page.get_by_role("heading", name="at once")).to_be_visible()
                assert page.url == f"{started.url}/preview"
            assert len(page.content()) < 200_000, path
            for width, height in ((390, 844), (1280, 900), (820, 1180)):
                page.set_viewport_size({"width": width, "height": height})
                assert violations(page) == [], (path, width)
            assert page.title() != "run"


def _press(page: Page, key: str) -> None:
    """Press a key once the page's script listens: it runs before a page is loaded."""
    page.wait_for_load_state()
    page.keyboard.press(key)


def _expect_notice(page: Page, words: str) -> None:
    """The page says what was done."""
    expect(page.locator(".notice").get_by_text(words)).to_be_visible()
