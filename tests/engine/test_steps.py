"""Steps on a real marketplace: what is due is done, once, and never past the cap."""

from dataclasses import replace

import pytest

from piecework.domain.campaign import AGREED
from piecework.domain.errors import BudgetExceeded, PlatformRefused, StoreError
from piecework.domain.ids import AssignmentId
from piecework.engine import collect, judge, settle
from piecework.engine.opening import open_on_marketplace
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import post, run_pass
from piecework.platforms.mturk import MTurk
from piecework.results.cleaning import clean_answers
from piecework.results.export import export
from piecework.store import assignments, campaign_facts, ledger
from tests.engine.conftest import Open


def test_a_pass_with_nothing_due_changes_nothing(at_work: Open, campaign_text: str) -> None:
    """While workers work, any number of passes posts and pays nothing."""
    with at_work(campaign_text) as (run, _):
        first = run_pass(run)
        assert first.waiting_for == "workers"
        assert run_pass(run) == run_pass(run) == first


def test_the_cap_ends_replacements_and_is_reported(at_work: Open, campaign_text: str) -> None:
    """The plain campaign costs 2.40; with no cent more, nothing can be replaced."""
    with at_work(campaign_text.replace('"20.00"', '"2.40"')) as (run, people):
        reached = run_pass(run)
        while reached.waiting_for != "nobody":
            assert people.work() or reached.waiting_for == "the next pass"
            reached = run_pass(run)
        assert reached.cap_reached
        # bob's two answers are dropped and paid for, and the second batch's money is
        # kept for it. There dan's rejection frees 60 cents again: one assignment more.
        assert (reached.batch, reached.missing, reached.replaced) == (2, 2, 1)
        assert ledger.taken_cents(run.store) == 240


def test_a_raised_cap_buys_what_is_missing_in_any_batch(at_work: Open, campaign_text: str) -> None:
    """The same store with a higher cap posts only what is missing, then ends."""
    tight = campaign_text.replace('"20.00"', '"2.40"')
    with at_work(tight) as (run, people):
        reached = run_pass(run)
        while not reached.is_finished:
            people.work()
            reached = run_pass(run)
        rewards = replace(run.campaign.rewards, budget_cents=2000)
        richer = replace(run, campaign=replace(run.campaign, rewards=rewards))
        reached = run_pass(richer)
        assert reached.waiting_for == "workers"
        while not reached.is_finished:
            people.work()
            reached = run_pass(richer)
        assert (reached.missing, reached.cap_reached) == (0, False)
        assert reached.surplus == 0


def test_a_campaign_dearer_than_its_cap_posts_nothing(at_work: Open, campaign_text: str) -> None:
    """The cap is compared before the first call."""
    with at_work(campaign_text.replace('"20.00"', '"2.39"')) as (run, _):
        with pytest.raises(BudgetExceeded, match=r"\$2\.40 before any replacement"):
            post(run)
        assert list(run.platform.find_hits()) == []


@pytest.mark.parametrize("cap_cents", [100, 239])
def test_a_cap_below_the_plain_cost_ends_a_campaign_under_way(
    at_work: Open, campaign_text: str, cap_cents: int
) -> None:
    """What came is paid and verified; the end names the cap, and a higher one continues it."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        assert people.work() == 2
        rewards = replace(run.campaign.rewards, agreed_cents=cap_cents)
        poor = replace(run, campaign=replace(run.campaign, rewards=rewards))
        reached = [run_pass(poor) for _ in range(2)][-1]
        assert (reached.is_finished, reached.cap_reached, reached.batch) == (True, True, 1)
        assert reached.stopped_by == AGREED
        assert reached.reason.endswith("1 batch cannot be paid for")
        assert campaign_facts.read_notes(run.store).verified_approvals == 2
        assert ledger.balances(run.store)["rewards"] == 100
        assert run_pass(run).waiting_for == "workers"


def test_a_store_is_of_one_marketplace_and_one_set_of_items(
    at_work: Open, campaign_text: str
) -> None:
    """Another endpoint or other items find a closed door, and nothing is posted."""
    with at_work(campaign_text) as (run, _):
        run_pass(run)
        with (
            pytest.raises(StoreError, match="is working on this campaign"),
            open_on_marketplace(run.campaign, run.platform.endpoint, live=False),
        ):
            pass
    campaign = run.campaign
    fewer = replace(campaign, items=campaign.items[:3])
    for other, endpoint, words in (
        (campaign, "http://127.0.0.1:9", "not to http://127.0.0.1:9"),
        (fewer, run.platform.endpoint, "items_per_hit have changed"),
    ):
        with (
            pytest.raises(StoreError, match=words),
            open_on_marketplace(other, endpoint, live=False),
        ):
            pass


@pytest.mark.full
def test_export_of_an_unfinished_campaign_is_valid_and_says_so(
    at_work: Open, campaign_text: str
) -> None:
    """After one batch there is a dataset of one batch, and a report that says so."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        people.work()
        run_pass(run)
        clean_answers(run)
        report = export(run).read_text()
        assert not read_progress(run).is_finished
        assert "The campaign is not finished: 4 of " in report
        assert (run.campaign.out / "dataset/captions.csv").stat().st_size > 0


def test_an_export_before_any_answer_is_valid(at_work: Open, campaign_text: str) -> None:
    """No answer yet: empty files with their columns, and a report."""
    with at_work(campaign_text) as (run, _):
        run_pass(run)
        clean_answers(run)
        assert export(run).exists()
        header = (run.campaign.out / "dataset/captions.csv").read_text()
        assert header.startswith('"answer_id"')


def test_a_price_that_changes_in_the_file_changes_no_posted_hit(
    at_work: Open, campaign_text: str
) -> None:
    """Two HITs at 50 cents are settled at 50 cents, though the file says 3 dollars."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        people.work()
        rewards = replace(run.campaign.rewards, reward_cents=300)
        dearer = replace(run, campaign=replace(run.campaign, rewards=rewards))
        collect.collect(dearer)
        judge.assess(dearer)
        judge.decide(dearer)
        settle.settle(dearer)
        # ann and bob are paid 50 cents each, 10 cents fee each; nothing is held.
        assert ledger.balances(run.store) == {
            "requester": -120,
            "held": 0,
            "rewards": 100,
            "bonuses": 0,
            "compensations": 0,
            "fees": 20,
        }


class _Stubborn(MTurk):
    """Does not let one assignment be approved."""

    refused: AssignmentId

    def approve(self, assignment_id: AssignmentId, message: str = "") -> None:
        """As a marketplace does that has a fault of its own."""
        if assignment_id == self.refused:
            raise PlatformRefused("not this one", code="RequestError")
        super().approve(assignment_id, message)


def test_one_refused_decision_holds_nobody_else_up(at_work: Open, campaign_text: str) -> None:
    """The platform does not let ann be approved; bob is paid all the same."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        people.work()
        collect.collect(run)
        judge.assess(run)
        judge.decide(run)
        ann, bob = assignments.load_assignments(run.store)
        stubborn = _Stubborn(run.platform.endpoint)
        stubborn.refused = ann.assignment_id
        with pytest.raises(PlatformRefused, match="1 of 3 decisions") as error:
            settle.settle(replace(run, platform=stubborn))
        assert ann.assignment_id in str(error.value)
        assert run.platform.assignment_status(bob.assignment_id) == "Approved"
        assert ledger.balances(run.store)["rewards"] == 50
