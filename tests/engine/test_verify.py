"""What the marketplace said it did is looked at again; and what items said is kept."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused, StoreError
from piecework.domain.ids import AssignmentId
from piecework.engine.opening import open_to_look
from piecework.engine.run_pass import run_pass
from piecework.platforms.mturk import MTurk
from piecework.store import ledger
from tests.crash.people import People
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import check_books


def _to_the_end(run: CampaignRun, people: People) -> None:
    while not run_pass(run).is_finished:
        people.work()


class _Liar(MTurk):
    """Says that it approved, and did not."""

    def approve(self, assignment_id: AssignmentId, message: str = "") -> None:
        """Do nothing."""


def test_approvals_that_are_not_true_are_told_at_the_end(at_work: Open, campaign_text: str) -> None:
    """The campaign does not end well until the workers have their money."""
    with at_work(campaign_text) as (opened, people):
        run = replace(opened, platform=_Liar(opened.platform.endpoint))
        with pytest.raises(PlatformRefused, match=r"of 5 approvals .* is Submitted"):
            _to_the_end(run, people)
        # Somebody pays them by hand.
        for row in run.store.db.query(
            "SELECT assignment_id FROM assignments WHERE verdict = 'approve'"
        ):
            opened.platform.approve(AssignmentId(row["assignment_id"]))
        assert run_pass(run).is_finished


@pytest.mark.full
def test_a_sample_is_read_once(at_work: Open, campaign_text: str) -> None:
    """A schedule goes on calling; nothing is asked again."""
    with at_work(campaign_text) as (run, people):
        _to_the_end(run, people)
        deaf = replace(run, platform=MTurk("http://127.0.0.1:9"))
        assert run_pass(deaf).is_finished


def test_a_column_that_changes_in_mid_campaign_is_noticed(
    at_work: Open, campaign_text: str, tmp_path: Path
) -> None:
    """Another picture under the same id: the answers would be about two things."""
    with at_work(campaign_text) as (run, _people):
        run_pass(run)
        items = tmp_path / "items.csv"
        items.write_text(items.read_text().replace("/3.jpg", "/9.jpg"))
        changed = load_campaign(tmp_path / "crash.toml")
    with pytest.raises(StoreError, match="a column of an item"), open_to_look(changed):
        pass


class _Stutterer(MTurk):
    """Lists every assignment twice."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)

        def twice(parsed: dict[str, Any], **_: object) -> None:
            parsed["Assignments"] = parsed.get("Assignments", []) * 2

        self._client.meta.events.register("after-call.mturk.ListAssignmentsForHIT", twice)


def test_an_assignment_that_is_listed_twice_is_held_and_paid_once(
    at_work: Open, campaign_text: str
) -> None:
    """No slot was added, so nothing more is held than the caps were asked for."""
    with at_work(campaign_text) as (opened, people):
        run = replace(opened, platform=_Stutterer(opened.platform.endpoint))
        _to_the_end(run, people)
        check_books(run)
        assert ledger.balances(run.store)["rewards"] == 250
