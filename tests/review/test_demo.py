"""The demo decided by a person: a crowd works, keys decide, all is paid."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from piecework.campaign.opened import CampaignRun
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.run_pass import run_pass
from piecework.platforms.clocks import VirtualClock
from piecework.results.export import export
from piecework.simulation.crowd.crowd import Crowd
from piecework.simulation.crowd.site import WorkerSite
from piecework.simulation.rehearsals.campaign import crowd_of, prepare
from piecework.simulation.rehearsals.marketplace import rehearsal_market
from tests.engine.payments.bookkeeping import check_books
from tests.review.conftest import served

ROOT = Path(__file__).resolve().parents[2]
MOST_CARDS = 400


@contextmanager
def demo_at_work(folder: Path) -> Iterator[tuple[CampaignRun, Crowd]]:
    """The demo, smaller and decided by a person, on a marketplace with its crowd."""
    text = (ROOT / "config/campaigns/demo.toml").read_text()
    for was, now in (
        ('by = "policy"', 'by = "person"'),
        ("scenes = 60", "scenes = 10"),
        ("batches = 5 ", "batches = 1 "),
        ("max_rounds = 4", "max_rounds = 1"),
    ):
        assert was in text
        text = text.replace(was, now)
    path = folder / "demo.toml"
    path.write_text(text)
    campaign = prepare(path)
    with rehearsal_market(campaign) as running:
        clock = VirtualClock(running.endpoint_url)
        site = WorkerSite(running.endpoint_url, clock.now())
        with (
            crowd_of(campaign, site, clock) as crowd,
            open_for_rehearsal(campaign, running.endpoint_url, clock) as run,
        ):
            # A rehearsal's policy decides; here a person does, as in earnest.
            decided = replace(run.campaign, decided_by="person")
            yield replace(run, campaign=decided), crowd


def review_all(page: Page, url: str, *, look: Callable[[Page], object] = bool) -> int:
    """Do by keys what is proposed of each card, until nothing waits; how many acts."""
    acts = 0
    for view in ("answer", "assignment", "worker"):
        while acts < MOST_CARDS:
            page.goto(f"{url}/next?view={view}")
            proposed = page.locator(".choices li", has=page.get_by_text("proposed"))
            if not proposed.count():
                break
            look(page)
            key = proposed.first.locator("button").get_attribute("data-key")
            before = page.url
            page.keyboard.press(str(key))
            page.wait_for_url(lambda now, shown=before: now != shown)  # type: ignore[misc]
            acts += 1
    return acts


@pytest.mark.full
@pytest.mark.browser
def test_the_demo_is_reviewed_by_keys_and_paid_to_the_cent(
    tmp_path: Path, open_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pass by pass until the campaign is finished; its report says what was made."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    with demo_at_work(tmp_path) as (run, crowd):
        acts = 0
        while not (reached := run_pass(run)).is_finished:
            if reached.waiting_for == "workers":
                crowd.work_until()
            elif reached.waiting_for == "people":
                with served(run) as started:
                    page = open_page(started.links["ada"])
                    page.wait_for_url(f"{started.url}/")
                    acts += review_all(page, started.url)
        assert reached.is_finished
        assert acts > 10
        assert reached.to_decide == 0
        check_books(run)
        report = export(run).read_text()
        assert "How reviewers judged the flags" in report
