"""HITs that stay open: their answers are fetched, judged in time, and exported."""

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta

import httpx
import pandas as pd
import pytest
from mypy_boto3_mturk.type_defs import AssignmentTypeDef

from piecework.campaign.opened import CampaignRun
from piecework.domain.assignment import Assignment
from piecework.domain.ids import HitId, HitTypeId
from piecework.engine import collect, judge
from piecework.engine.posted_hits import must_be_over
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import run_pass
from piecework.engine.snapshot import Reader, due_for_decision, next_poll_of_open_hits
from piecework.engine.waits import OPEN_HITS
from piecework.platforms import listing
from piecework.platforms.clocks import VirtualClock
from piecework.platforms.mturk import MTurk
from piecework.platforms.wire import assignment_from_wire
from piecework.postprocess.datasets.reading import read_captions
from piecework.results.cleaning import clean_answers
from piecework.results.export import export, write_batch_results
from piecework.store import assignments, decisions, hits, ledger, tables
from tests.crash.people import People
from tests.engine.conftest import Open

At = tuple[CampaignRun, People, VirtualClock]
HalfDone = Callable[[str], AbstractContextManager[At]]


@pytest.fixture
def half_done(at_work: Open, campaign_text: str) -> HalfDone:
    """The campaign in the marketplace's time; of its first HIT one of two is done.

    What nobody judges is approved by the marketplace after two days; three quarters of
    that are 36 hours.
    """

    @contextmanager
    def opened(decided_by: str) -> Iterator[At]:
        text = campaign_text.replace('by = "policy"', f'by = "{decided_by}"')
        text = text.replace("[posting]", "[posting]\nauto_approval_hours = 48")
        with at_work(text) as (market, people):
            clock = VirtualClock(market.platform.endpoint)
            run = replace(market, clock=clock)
            run_pass(run)
            assert people.work(at_most=1) == 1
            yield run, people, clock

    return opened


def _calls(run: CampaignRun) -> dict[str, int]:
    counts: dict[str, int] = httpx.get(f"{run.platform.endpoint}/rehearsal/calls").json()
    return counts


def test_an_open_hit_is_asked_after_some_hours_and_not_before(half_done: HalfDone) -> None:
    """One look at each six hours: a listing for all, a call for what has news."""
    with half_done("policy") as (run, _, clock):
        assert collect.collect(run) == 0
        before = _calls(run)
        assert "ListAssignmentsForHIT" not in before
        clock.let_pass(OPEN_HITS)
        assert collect.collect(run) == 1
        assert next_poll_of_open_hits(run) == clock.now() + OPEN_HITS
        clock.let_pass(OPEN_HITS)
        assert collect.collect(run) == 0
        calls = _calls(run)
        assert calls["ListAssignmentsForHIT"] == 1
        # Two looks, each a page and the empty one that ends a list.
        assert calls["ListHITs"] - before["ListHITs"] == 4


def _without_approval_time(wire: AssignmentTypeDef) -> Assignment:
    return replace(assignment_from_wire(wire), auto_approved_at=None)


def test_answers_of_an_open_hit_come_when_they_are_asked_for(half_done: HalfDone) -> None:
    """Whoever wants them now has them now, and twice is once."""
    with half_done("policy") as (run, _, _clock):
        assert collect.collect(run, Reader(run, poll_open_hits=True)) == 1
        assert collect.collect(run, Reader(run, poll_open_hits=True)) == 0
        assert tables.last_numbers(run.store) == (2, 0)


def test_an_open_batch_is_judged_before_the_platform_does_it(half_done: HalfDone) -> None:
    """After three quarters of the delay ann is paid, though the HIT is still open."""
    with half_done("policy") as (run, _, clock):
        clock.let_pass(timedelta(hours=35))
        waiting = run_pass(run)
        assert (waiting.answers, waiting.accepted) == (2, 0)
        assert waiting.undecided == 2
        # Of two workers one has answered and one can: nothing is out of reach yet.
        two = replace(run, campaign=replace(run.campaign, crowd_size=2))
        assert read_progress(two).too_few_workers == ""
        clock.let_pass(timedelta(hours=1, minutes=1))
        paid = run_pass(run)
        assert (paid.accepted, paid.hits_open, paid.rewards_cents) == (2, 1, 50)
        assert paid.undecided == 0
        assert paid.waiting_for == "workers"
        assert run_pass(run) == paid


@pytest.mark.parametrize("is_silent", [False, True])
@pytest.mark.parametrize("hours", [1, 720])
def test_posted_hits_keep_the_times_they_were_posted_with(
    half_done: HalfDone, monkeypatch: pytest.MonkeyPatch, hours: int, *, is_silent: bool
) -> None:
    """What the campaign file says later is for new HITs: no deadline of an open one moves.

    A marketplace that does not say when it approves work does it by the HIT's own delay.
    """
    if is_silent:
        monkeypatch.setattr(listing, "assignment_from_wire", _without_approval_time)
    with half_done("person") as (run, _, clock):
        collect.collect(run, Reader(run, poll_open_hits=True))
        (work,) = assignments.load_assignments(run.store)
        posting = run.campaign.posting
        other = replace(
            posting, auto_approval_delay_seconds=hours * 3600, lifetime_seconds=hours * 60
        )
        changed = replace(run, campaign=replace(run.campaign, posting=other))
        (hit,) = hits.uncollected(run.store)
        assert hit.lifetime_seconds == posting.lifetime_seconds
        assert hit.duration_seconds == posting.assignment_duration_seconds
        assert not must_be_over(changed, hit)
        judged_at = work.submitted_at + timedelta(hours=36)
        assert assignments.next_due(run.store, clock.now()) == judged_at
        assert not due_for_decision(changed, is_collected=False)
        clock.let_pass(timedelta(hours=36))
        assert due_for_decision(changed, is_collected=False) == {work.assignment_id}
        approved_at = work.submitted_at + timedelta(hours=48)
        assert assignments.first_auto_approval(run.store, [work.assignment_id]) == approved_at
        rows = run.campaign.out / "batch_results.csv"
        write_batch_results(changed, rows)
        row = pd.read_csv(rows).iloc[0]
        assert row["AutoApprovalDelayInSeconds"] == 48 * 3600
        assert row["LifetimeInSeconds"] == posting.lifetime_seconds
        assert row["AssignmentDurationInSeconds"] == posting.assignment_duration_seconds
        assert row["AutoApprovalTime"] == f"{approved_at:%a %b %d %H:%M:%S UTC %Y}"


def test_what_came_early_is_kept_and_paid_once_when_the_hit_is_done(half_done: HalfDone) -> None:
    """The whole campaign ends as if it had been collected in one piece."""
    with half_done("policy") as (run, people, clock):
        clock.let_pass(timedelta(hours=37))
        reached = run_pass(run)
        while not reached.is_finished:
            people.work()
            reached = run_pass(run)
        assert (reached.submitted, reached.rejected, reached.missing) == (6, 1, 0)
        assert ledger.balances(run.store)["rewards"] == 250
        books = httpx.get(f"{run.platform.endpoint}/rehearsal/books").json()
        assert sum(assignment["paid_cents"] for assignment in books["assignments"]) == 250


def test_an_export_half_way_is_whole_and_says_what_is_provisional(half_done: HalfDone) -> None:
    """Ann's two captions are in every file, marked, and nothing was decided."""
    with half_done("policy") as (run, _, _clock):
        collect.collect(run, Reader(run, poll_open_hits=True))
        judge.assess(run)
        clean_answers(run)
        export(run)
        dataset = run.campaign.out / "dataset"
        captions = pd.read_csv(dataset / "captions.csv")
        assert captions["is_provisional"].tolist() == [True, True]
        card = (dataset / "README.md").read_text()
        assert "8 accepted answers still wanted, 1 HIT still open, " in card
        assert "Do not train on it" not in card
        assert decisions.load_decisions(run.store) == []


@pytest.mark.full
def test_what_a_person_has_to_look_at_is_no_part_of_a_half_way_export(half_done: HalfDone) -> None:
    """Bob shouts, and a person decides: his captions are set aside as not decided."""
    with half_done("person") as (run, people, _clock):
        people.work(at_most=1)
        collect.collect(run)
        judge.assess(run)
        clean_answers(run)
        export(run)
        dataset = run.campaign.out / "dataset"
        assert len(pd.read_csv(dataset / "captions.csv")) == 2
        aside = pd.read_csv(dataset / "set_aside.csv")
        assert set(aside["rejected_because"]) == {"not decided yet: a person has to look at it"}
        assert set(aside["set_aside"]) == {"undecided"}
        assert not aside["is_rejected"].any()
        assert "| undecided | 2 |" in (dataset / "README.md").read_text()
        # Nor does a reader of the dataset count them as accepted.
        assert len(read_captions(dataset / "captions.csv").captions) == 2


def test_people_are_asked_about_an_open_batch_before_the_platform_decides(
    half_done: HalfDone,
) -> None:
    """Bob shouted: his answers wait for a person while the HIT's last slot is open."""
    with half_done("person") as (run, people, clock):
        # ann's work is beyond doubt; bob's is the second assignment of the same HIT,
        # so the batch is whole, and only he waits.
        people.work(at_most=1)
        clock.let_pass(timedelta(hours=37))
        reached = run_pass(run)
        assert reached.waiting_for == "people"
        assert reached.accepted == 2
        assert reached.to_decide > 0


class _Unordered(MTurk):
    """Lists the newest HITs last: who reads to an older one only, never sees them."""

    def reviewable_hits(
        self, hit_type_ids: Sequence[HitTypeId], *, older: Container[str] = ()
    ) -> Iterator[HitId]:
        """What is listed, but only to those who read all."""
        is_whole = older == frozenset()
        return super().reviewable_hits(hit_type_ids) if is_whole else iter(())


def test_a_hit_that_must_be_over_is_not_overlooked(
    at_work: Open, campaign_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listings are read in part, until a HIT is overdue; then they are read whole."""
    monkeypatch.setattr("piecework.engine.snapshot.OPEN_HITS", timedelta(days=365))
    monkeypatch.setattr("piecework.engine.collect.OPEN_HITS", timedelta(days=365))
    with at_work(campaign_text) as (market, people):
        clock = VirtualClock(market.platform.endpoint)
        run = replace(market, clock=clock, platform=_Unordered(market.platform.endpoint))
        run_pass(run)
        while hits.batch_at_work(run.store) == 1:
            people.work()
            clock.let_pass(timedelta(hours=2))
            run_pass(run)
        people.work()
        clock.let_pass(timedelta(seconds=run.campaign.posting.lifetime_seconds))
        collect.collect(run)
        assert hits.uncollected(run.store)
        clock.let_pass(timedelta(seconds=run.campaign.posting.assignment_duration_seconds))
        clock.let_pass(timedelta(hours=1, minutes=1))
        collect.collect(run)
        assert not hits.uncollected(run.store)
