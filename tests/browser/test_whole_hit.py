"""A person does a HIT in Chromium, and the pipeline gets what the crowd also sends."""

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Browser, FrameLocator, expect

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.assignment import fields_of
from piecework.domain.clock import SystemClock
from piecework.engine.collect import collect
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.run_pass import post
from piecework.marketplace.http.server import Marketplace, serve
from piecework.store import assignments
from piecework.store.tables import read_answers
from tests.browser.pages import pass_lesson, sign_in, tick
from tests.crash.people import People
from tests.small_campaign import CAMPAIGN
from tests.store.raw_answers import documents

pytestmark = pytest.mark.browser

CAPTIONS = (
    "A red mug stands on a wooden table beside a window",
    "Two green apples lie in a white bowl in a kitchen",
)


def _fill_in(hit: FrameLocator) -> None:
    """Describe both pictures by hand, and submit."""
    pass_lesson(hit)
    for number, caption in enumerate(CAPTIONS, start=1):
        expect(hit.get_by_text(f"Image {number} of 2").first).to_be_visible()
        hit.locator(f'[name="caption.{number}"]').press_sequentially(caption)
        tick(hit, f"has_text.{number}", "no")
        tick(hit, f"flaws.{number}", "none")
        button = "Next" if number == 1 else "Submit"
        hit.get_by_role("button", name=button).first.click()


def _collected(run: CampaignRun) -> dict[str, dict[str, str]]:
    """What the two workers sent, by worker and field."""
    assert collect(run) == 2
    answers_xml = documents(run.store)
    return {
        assignment.worker_id: dict(fields_of(answers_xml[assignment.assignment_id]))
        for assignment in assignments.load_assignments(run.store)
    }


def test_a_hit_done_by_hand_has_the_form_that_the_crowd_sends(
    tmp_path: Path, browser: Browser
) -> None:
    """Same fields, typed text as typed, and measures that a person leaves."""
    (tmp_path / "crash.toml").write_text(CAMPAIGN)
    rows = "".join(f"p{n},/pictures/p{n}.svg\n" for n in range(1, 5))
    (tmp_path / "items.csv").write_text("image_id,url\n" + rows)
    (tmp_path / "pictures").mkdir()
    for number in range(1, 5):
        (tmp_path / f"pictures/p{number}.svg").write_text(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3">'
            '<rect width="4" height="3" fill="teal"/></svg>'
        )
    text = 'pictures = "pictures"\n' + CAMPAIGN
    (tmp_path / "crash.toml").write_text(text)
    campaign = load_campaign(tmp_path / "crash.toml")
    with (
        serve(
            Marketplace(
                tmp_path / "marketplace.db",
                rehearsal=True,
                seed=1,
                start=datetime(2026, 1, 5, 9, tzinfo=UTC),
                pictures=campaign.pictures_address,
            )
        ) as running,
        open_for_rehearsal(campaign, running.endpoint_url, SystemClock()) as run,
    ):
        post(run)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.set_default_timeout(10_000)
        guest = httpx.post(
            f"{running.endpoint_url}/rehearsal/workers",
            json={
                "handle": "guest",
                "country": "US",
                "hits_approved": 10_000,
                "hits_submitted": 10_000,
            },
        ).json()
        query = urlencode({"token": guest["token"]})
        sign_in(page, f"{running.endpoint_url}/worker/sign-in?{query}")
        page.get_by_role("link", name="Preview").first.click()
        page.get_by_role("button", name="Accept").first.click()
        _fill_in(page.frame_locator("iframe"))
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
        context.close()

        people = People(running.endpoint_url)
        assert people.work() == 1
        by_worker = _collected(run)
        by_hand = by_worker.pop(guest["worker_id"])
        (by_crowd,) = by_worker.values()
        optional = {"comment"}
        assert set(by_hand) - optional == set(by_crowd) - optional
        for number, caption in enumerate(CAPTIONS, start=1):
            assert by_hand[f"caption.{number}"] == caption
            assert by_hand[f"item.{number}"] == by_crowd[f"item.{number}"]
            assert int(by_hand[f"keystrokes.{number}"]) >= len(caption)
            assert int(by_hand[f"pastes.{number}"]) == 0
            assert int(by_hand[f"shown_ms.{number}"]) > 0
        answers = read_answers(run.store, campaign.task)
        assert answers["problems"].tolist() == [()] * 4
