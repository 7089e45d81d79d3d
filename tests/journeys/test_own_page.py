"""A page from MTurk, unchanged: hidden ids, a form with an address, a script."""

import pytest
from playwright.sync_api import Page

from tests.journeys.conftest import PAGE, Serves, User

pytestmark = [pytest.mark.flow, pytest.mark.browser]


def _accept(page: Page, site: str) -> str:
    """Accept the first HIT of the list; return the address of the question."""
    page.goto(f"{site}/worker/hits")
    page.get_by_role("link", name="Preview").first.click()
    page.get_by_role("button", name="Accept").click()
    page.wait_for_selector("iframe")
    return page.url


def test_what_a_page_sends_is_in_the_dataset_and_ids_are_not(user: User, serves: Serves) -> None:
    """Declared, made by a script, named as a column of ours: all of it arrives."""
    user.write("hit.html", PAGE)
    user.write("items.csv", "id,text\na,soup is good\n")
    user.types("init food.toml --task hit.html --items items.csv --answers 1 --json")
    user.completes("food.toml", by="policy")
    shown = user.types("check food.toml")
    assert "workerId" not in shown
    assert "worker_id" not in shown
    assert "script" in shown
    with serves() as market:
        user.types(f"run food.toml --once --endpoint {market.site}")
        page = market.opens("ann")
        _accept(page, market.site)
        frame = page.frame_locator("iframe")
        frame.get_by_label("yes").check()
        frame.get_by_label("Why?").fill("because of the soup")
        frame.get_by_role("button", name="Send").click()
        page.wait_for_url("**/thanks")
        user.types(f"run food.toml --once --endpoint {market.site}")
        user.types("export food.toml")
        shown = user.types("status food.toml")
    # The test was too fast for a person, so the rules set its answer aside.
    (row,) = user.answers("food", "set_aside")
    assert (row["about"], row["why"]) == ("yes", "because of the soup")
    sent = [name for name, cell in row.items() if cell == "wide"]
    assert len(sent) == 1
    assert "'who.saw': 1 answer" in shown
    (worker_id,) = market.ids
    assert worker_id.encode() in user.path("out/food/piecework.db").read_bytes()
    assert worker_id.encode() not in user.published("food")
