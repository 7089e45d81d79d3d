"""What is asked for again goes to workers who have not answered the same items."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.campaign.dealing import Limits, all_first_rounds, replacements
from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.domain.errors import PlatformRefused, TransientPlatformError
from piecework.domain.ids import HitId, HitKey, ItemId
from piecework.engine import collect, judge, settle
from piecework.engine.opening import open_on_marketplace
from piecework.engine.posted_hits import PUBLISH, publish_key
from piecework.engine.progress import read_progress
from piecework.engine.requirements import (
    UNKNOWN_WORKER,
    apart_from,
    exclusion_types,
    extendable,
    extending,
    keep_out,
)
from piecework.engine.run_pass import run_pass
from piecework.platforms.client import turk_client
from piecework.platforms.clocks import VirtualClock
from piecework.platforms.mturk import MTurk
from piecework.store import assignments, hits, intents, ledger
from piecework.store.intents import Intent
from tests.campaign.campaigns import TODAY, campaign
from tests.crash.people import WITH_A_HALF, People
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import EVENING, books, check_books
from tests.engine.test_publishing import _copy_of

TWICE = (
    "SELECT count(*) - count(DISTINCT worker_id || ' ' || item_id) "
    "FROM answers JOIN assignments USING (assignment_id)"
)


class _Elsewhere(MTurk):
    """A marketplace that cannot keep HITs apart."""

    def keeps_apart(self) -> bool:
        """It cannot."""
        return False


def _evening(run: CampaignRun) -> CampaignRun:
    return replace(run, clock=FixedClock(EVENING))


def _to_the_end(run: CampaignRun, people: People) -> None:
    while not run_pass(run).is_finished:
        people.work()


@given(
    missing=st.dictionaries(st.integers(0, 60).map(lambda n: ItemId(f"i{n}")), st.integers(0, 5)),
    keeps_apart=st.booleans(),
)
def test_extensions_and_hits_ask_for_exactly_what_is_missing(
    missing: dict[ItemId, int],
    keeps_apart: bool,  # noqa: FBT001 - Hypothesis names its arguments
) -> None:
    """Each item as often as it misses answers; where HITs overlap, the rest waits."""
    example = campaign(61, batches=1)
    (before,) = all_first_rounds(example, on=TODAY)
    planned = replacements(
        *(example, 1, 1, missing),
        on=TODAY,
        extendable=[replace(hit, hit_id=HitId(hit.hit_key)) for hit in before],
        limits=Limits(keeps_apart=keeps_apart),
    )
    asked: Counter[ItemId] = Counter()
    shown: Counter[ItemId] = Counter()
    for hit in planned:
        asked.update(dict.fromkeys(hit.item_ids, hit.max_assignments))
        shown.update(hit.item_ids)
    lacking = Counter({item_id: n for item_id, n in missing.items() if n})
    for hit in before:
        whole = min(missing.get(item_id, 0) for item_id in hit.item_ids)
        # Five slots were posted, and nine are the most that the lower fee allows.
        grown = [extension for extension in planned if extension.extends == hit.hit_key]
        assert [extension.max_assignments for extension in grown] == [whole] * (0 < whole < 5)
    if keeps_apart:
        assert asked == lacking
    else:
        assert asked <= lacking
        assert max(shown.values(), default=0) <= 1
    slots = [hit.max_assignments for hit in planned]
    assert slots == sorted(slots)


def test_a_hit_is_extended_only_where_a_slot_costs_the_same() -> None:
    """After the reward was raised, and from ten assignments on, new HITs are posted."""
    example = campaign(5, batches=1)
    ((hit,),) = all_first_rounds(example, on=TODAY)
    missing = dict.fromkeys(hit.item_ids, 1)

    def extended(*changed: Any) -> list[bool]:  # noqa: ANN401 - HITs
        again = replacements(example, 1, 1, missing, on=TODAY, extendable=changed)
        return [bool(planned.extends) for planned in again]

    assert extended(hit) == [True]
    assert extended(replace(hit, reward_cents=90)) == [False]
    assert extended(replace(hit, max_assignments=9)) == [False]
    assert extended(replace(hit, max_assignments=12, fee_cents=40)) == [False]


def test_a_whole_assignment_that_was_lost_costs_one_call(at_work: Open, campaign_text: str) -> None:
    """Bob's answers were dropped: his HIT gets a slot, and it is not for him or ann."""
    with at_work(campaign_text) as (opened, people):
        clock = VirtualClock(opened.platform.endpoint)
        run = replace(opened, clock=clock)
        people.minutes = (1, 1, 1)
        run_pass(run)
        people.work(at_most=2)
        before = _calls(run)
        clock.refresh()
        reached = run_pass(run)
        assert (reached.hits_posted, reached.replaced, reached.hits_open) == (1, 1, 1)
        made = _calls(run) - before
        assert made["CreateAdditionalAssignmentsForHIT"] == 1
        assert not made["CreateHITWithHITType"]
        (hit,) = books(run)["hits"]
        assert hit["max_assignments"] == 3
        check_books(run)
        taken = People(people.endpoint, script=(("ann", "good"), ("bob", "good")))
        assert taken.work() == 0
        assert people.work(at_most=1) == 1
        clock.refresh()
        run_pass(run)
        check_books(run)
        assert run.answers()["round"].tolist() == [0] * 4 + [1] * 2


@pytest.mark.parametrize("platform", [MTurk, _Elsewhere])
@pytest.mark.parametrize("work", ["good", "half"])
def test_whose_work_was_rejected_is_not_offered_its_replacement(
    at_work: Open, campaign_text: str, platform: type[MTurk], work: str
) -> None:
    """Not the slot that is added, nor the HIT that asks for a part: nor by its id.

    Bob pastes and is rejected, but not excluded. Ann's work is good, so his HIT gets a
    slot more; or half of hers is dropped as well, so a HIT of its own is posted beside.
    """
    text = campaign_text.replace(
        'any_of = ["capitals", "same_sentence"]\nthen = "exclude"',
        'any_of = ["text_disagreement"]\nthen = "exclude"',
    ).replace("text_disagreement = false\n", "")
    with at_work(text) as (opened, people):
        people.script = (("ann", work),)
        people.script += (("bob", "paste"),)
        run = replace(_evening(opened), platform=platform(opened.platform.endpoint))
        run_pass(run)
        people.work()
        reached = run_pass(run)
        assert (reached.rejected, reached.excluded) == (1, 0)
        assert reached.hits_open > 0
        hit_ids = [hit["hit_id"] for hit in books(run)["hits"]]
        with _signed_in(people, "cat") as cat:
            group_ids = [group["hit_group_id"] for group in _groups(cat)]
        for name in ("bob", "ann"):
            with _signed_in(people, name) as client:
                assert not [group for group in _groups(client) if group["may_accept"]]
                for group_id, hit_id in product(group_ids, hit_ids):
                    address = f"/worker/groups/{group_id}/accept"
                    reply = client.post(address, data={"hit_id": hit_id})
                    assert reply.status_code == 409
        assert People(people.endpoint, script=(("cat", "good"),)).work() == 1


@contextmanager
def _signed_in(people: People, handle: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=people.endpoint) as client:
        people.sign_in(handle, client)
        client.headers["Accept"] = "application/json"
        yield client


def _groups(client: httpx.Client) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = client.get("/worker/hits").json()["hit_groups"]
    return groups


@pytest.mark.parametrize("platform", [MTurk, _Elsewhere])
def test_no_worker_is_asked_twice_about_an_item(
    at_work: Open, campaign_text: str, platform: type[MTurk]
) -> None:
    """By HITs kept apart, or elsewhere by a qualification; nothing surplus is paid."""
    with at_work(campaign_text) as (opened, people):
        people.script = WITH_A_HALF
        run = replace(_evening(opened), platform=platform(opened.platform.endpoint))
        everybody = ("ann", "bob", "cat", "dan", "eve", "fay")
        while not (reached := run_pass(run)).is_finished:
            before = people.page
            people.work()
            if people.page != before:
                continue
            # The script's next worker is not offered this; then whoever is, takes it.
            others = tuple((name, "good") for name in everybody)
            assert any(People(people.endpoint, script=(visit,)).work() for visit in others)
        assert (reached.missing, reached.surplus) == (0, 0)
        assert run.store.db.execute(TWICE).fetchone() == (0,)
        check_books(run)
        assert ledger.balances(run.store)["held"] == 0


def test_a_hit_that_was_deleted_is_replaced_by_another(at_work: Open, campaign_text: str) -> None:
    """It cannot be extended any more: nothing is held for it, another one is posted."""
    with at_work(campaign_text) as (opened, people):
        run = _evening(opened)
        run_pass(run)
        people.work(at_most=2)
        (hit,) = hits.load_hits(run.store)
        deaf = replace(run, platform=_Deleting(run.platform.endpoint))
        run_pass(deaf)
        assert len(hits.unposted(run.store)) == 0
        check_books(run)
        again = run_pass(run)
        assert (again.hits_posted, again.hits_open) == (2, 1)
        assert {hit_row["hit_id"] for hit_row in books(run)["hits"]} > {hit.hit_id}
        people.page = 2
        _to_the_end(run, people)
        assert read_progress(run).missing == 0
        check_books(run)


class _Deleting(MTurk):
    """Somebody deletes each HIT just before it is extended."""

    def extend(self, hit_id: HitId, *, more: int, slots: int, token: str) -> None:
        """Delete, then try."""
        self._client.delete_hit(HITId=hit_id)
        super().extend(hit_id, more=more, slots=slots, token=token)


def test_a_store_from_a_copy_adds_no_slots_twice(
    at_work: Open, campaign_text: str, tmp_path: Path
) -> None:
    """The slots are there, so the copy takes them for its own and makes no call.

    Of two HITs the older one was extended, so the newest of the list does not show it.
    """
    text = campaign_text.replace("batches = 2", "batches = 1")
    with at_work(text) as (opened, people):
        people.script = (("ann", "good"), ("ann", "good"), ("bob", "shout"))
        people.script += (("cat", "good"),)
        run = replace(_evening(opened), most_calls=1)
        run_pass(run)
        assert people.work() == 4
        for step in (collect.collect, judge.assess, judge.decide, settle.settle):
            step(run)
        older = replace(run.campaign, out=_copy_of(run, tmp_path / "copy"))
        run_pass(run)
        before = _calls(run)
        # Two days later no token is remembered.
        httpx.put(f"{run.endpoint}/rehearsal/clock", json={"now": "2026-01-07T09:00:00+00:00"})
        # As where a marketplace has no marks by which a copy is recognised.
        with open_on_marketplace(
            older, run.platform.endpoint, live=False, allow_restored=True
        ) as later:
            copy = _evening(later)
            run_pass(copy)
            slots = [hit.max_assignments for hit in hits.load_hits(copy.store)]
            assert slots == [3, 2, 1]  # two HITs, and the extension of the first
            check_books(copy)
        assert not (_calls(run) - before)["CreateAdditionalAssignmentsForHIT"]


def test_no_slot_is_added_for_workers_who_can_no_longer_be_kept_out(
    at_work: Open, campaign_text: str
) -> None:
    """The exclusion's qualification type was deleted, and bob is excluded.

    Dan's answers to the other HIT are dropped, too. A slot more of it would be bob's.
    """
    text = campaign_text.replace("batches = 2", "batches = 1")
    with at_work(text) as (opened, people):
        run = _evening(opened)
        people.script = (("ann", "good"), ("bob", "shout"))
        people.script += (("cat", "good"), ("dan", "shout"))
        run_pass(run)
        client = turk_client(run.endpoint, access_key=None, secret_key=None)
        client.delete_qualification_type(QualificationTypeId=exclusion_types(run)[0])
        assert people.work() == 4
        with pytest.raises(PlatformRefused, match="can post no more HITs"):
            run_pass(run)
        assert [hit["max_assignments"] for hit in books(run)["hits"]] == [2, 2]
        assert not [hit for hit in hits.load_hits(run.store) if hit.extends]
        with _signed_in(people, "bob") as bob:
            assert not [group for group in _groups(bob) if group["may_accept"]]


@pytest.mark.parametrize(("hours", "is_extended"), [(83, True), (85, False)])
def test_a_hit_is_extended_in_the_first_half_of_its_life(
    at_work: Open, campaign_text: str, hours: int, *, is_extended: bool
) -> None:
    """Of 168 hours: later, a new HIT finds more workers than a slot of an old one."""
    with at_work(campaign_text) as (opened, people):
        run = _evening(opened)
        run_pass(run)
        people.work(at_most=2)
        later = replace(run, clock=FixedClock(EVENING + timedelta(hours=hours)))
        run_pass(later)
        (first, again) = hits.load_hits(run.store)
        assert (again.extends == first.hit_key) == is_extended


@pytest.mark.parametrize("platform", [MTurk, _Elsewhere])
@pytest.mark.parametrize("was_begun", [False, True])
@pytest.mark.parametrize(("hours", "is_extended"), [(83, True), (85, False)])
def test_slots_that_a_cap_puts_off_until_their_hit_is_old_become_a_hit(
    at_work: Open,
    campaign_text: str,
    platform: type[MTurk],
    hours: int,
    *,
    was_begun: bool,
    is_extended: bool,
) -> None:
    """The new HIT belongs to the last round: no answer is lost, no worker answers twice."""
    capped = campaign_text.replace('"20.00"', '{ total = "20.00", day = "1.20" }')
    text = capped.replace("[posting]", "[posting]\nmax_rounds = 1").replace("batches = 2", "")
    with at_work(text, pictures=2) as (opened, people):
        run = replace(_evening(opened), platform=platform(opened.platform.endpoint))
        run_pass(run)
        assert people.work(at_most=2) == 2
        assert run_pass(run).stopped_by == "budget.day"
        first, slots = hits.load_hits(run.store)
        assert slots.extends == first.hit_key
        if was_begun:
            with run.store.db.atomic():
                begun = Intent(
                    key=publish_key(slots),
                    operation=PUBLISH,
                    subject=("hit", slots.hit_key),
                    amount_cents=slots.cost_cents,
                )
                intents.declare(run.store, begun, run.clock)
        later = replace(run, clock=FixedClock(EVENING + timedelta(hours=hours)))
        reached = run_pass(later)
        assert (reached.waiting_for, reached.hits_open) == ("workers", 1)
        _, again = hits.load_hits(run.store)
        assert (again.extends == first.hit_key) == is_extended
        assert (again.round, again.max_assignments, again.item_ids) == (1, 1, first.item_ids)
        assert not intents.begun(run.store, PUBLISH)
        check_books(run)
        for name, is_offered in (("ann", False), ("bob", False), ("cat", True)):
            with _signed_in(people, name) as client:
                offered = [group for group in _groups(client) if group["may_accept"]]
                assert bool(offered) == is_offered
        _to_the_end(later, people)
        assert read_progress(later).missing == 0
        check_books(run)


@pytest.mark.parametrize("cap", ["budget_cents", "batch_budget_cents"])
def test_what_was_planned_before_a_cap_was_lowered_ends_with_it(
    at_work: Open, campaign_text: str, cap: str
) -> None:
    """As at each cap: no pass fails, answers are missing, and a higher cap buys them."""
    text = campaign_text.replace('"20.00"', '{ total = "20.00", batch = "9.00", day = "1.20" }')
    with at_work(text.replace("batches = 2", ""), pictures=2) as (opened, people):
        run = _evening(opened)
        run_pass(run)
        assert people.work(at_most=2) == 2
        assert run_pass(run).stopped_by == "budget.day"
        assert [bool(hit.hit_id) for hit in hits.load_hits(run.store)] == [True, False]
        lowered = replace(run.campaign.rewards, **{cap: 110})  # type: ignore[arg-type] # names
        tomorrow = FixedClock(EVENING + timedelta(hours=12))
        low = replace(run, campaign=replace(run.campaign, rewards=lowered), clock=tomorrow)
        for _ in range(2):
            reached = run_pass(low)
            assert reached.waiting_for == "nobody"
            assert reached.stopped_by == {"budget_cents": "budget"}.get(cap, "budget.batch")
            assert reached.missing == 2
            check_books(low)
        high = replace(run, clock=tomorrow)
        assert run_pass(high).waiting_for == "workers"
        _to_the_end(high, people)
        assert read_progress(high).missing == 0
        check_books(high)


@pytest.mark.parametrize("cap", ["budget_cents", "batch_budget_cents"])
def test_a_cap_that_was_lowered_below_the_plain_cost_ends_a_batch_and_fails_no_pass(
    at_work: Open, campaign_text: str, cap: str
) -> None:
    """Two HITs cost 2.40, and three of four assignments were rejected; 70 cents are left."""
    text = campaign_text.replace('"20.00"', '{ total = "20.00", batch = "9.00" }')
    with at_work(text.replace("batches = 2", "")) as (run, people):
        people.script = (("ann", "good"), ("dan", "paste"), ("gus", "paste"), ("hal", "paste"))
        run_pass(run)
        assert people.work() == 4
        lowered = replace(run.campaign.rewards, **{cap: 130})  # type: ignore[arg-type] # names
        low = replace(run, campaign=replace(run.campaign, rewards=lowered))
        reached = run_pass(low)
        assert reached.stopped_by == {"budget_cents": "budget"}.get(cap, "budget.batch")
        assert (reached.waiting_for, reached.missing) == ("nobody", 6)
        assert run_pass(run).waiting_for == "workers"


def test_slots_that_were_put_off_and_are_there_are_not_asked_for_in_a_hit(
    at_work: Open, campaign_text: str
) -> None:
    """A newer copy of the store has added them."""
    text = campaign_text.replace('"20.00"', '{ total = "20.00", day = "1.20" }')
    with at_work(text) as (opened, people):
        run = _evening(opened)
        run_pass(run)
        people.work(at_most=2)
        run_pass(run)
        first, slots = hits.load_hits(run.store)
        hit_id, token = HitId(str(first.hit_id)), publish_key(slots)
        run.platform.extend(hit_id, more=1, slots=3, token=token)
        run_pass(replace(run, clock=FixedClock(EVENING + timedelta(hours=85))))
        assert [hit.hit_key for hit in hits.load_hits(run.store)] == [first.hit_key, slots.hit_key]
        check_books(run)


def test_a_hit_that_has_slots_enough_gets_no_more(at_work: Open, campaign_text: str) -> None:
    """Two and one are wanted: with three or four of them no call is made.

    A HIT with several assignments excludes no worker, and neither does a HIT of the first round.
    """
    with at_work(campaign_text) as (opened, _):
        run = replace(opened, platform=_Elsewhere(opened.platform.endpoint))
        run_pass(run)
        (hit,) = hits.load_hits(run.store)
        more = replace(
            hit,
            hit_key=HitKey("more"),
            hit_id=None,
            round=1,
            max_assignments=1,
            extends=hit.hit_key,
        )
        for slots, has_called in ((4, False), (3, False), (2, True), (None, True)):
            before = _calls(run)
            token = f"slots-{slots}"
            assert extending(run, hit, more, slots=slots, token=token)() == hit.hit_id
            made = (_calls(run) - before)["CreateAdditionalAssignmentsForHIT"]
            assert bool(made) == has_called
        assert keep_out(run, hit) is keep_out(run, more) is None
        assert apart_from(opened, hit) == []


@pytest.mark.parametrize("platform", [MTurk, _Elsewhere])
def test_a_hit_whose_items_are_in_another_is_extended_only_if_they_are_kept_apart(
    at_work: Open, campaign_text: str, platform: type[MTurk]
) -> None:
    """Elsewhere, workers of the other HIT could take the slot.

    Half of ann's work was dropped, and a HIT of its own asks eve for it. Only those who
    answered are kept out of that HIT: cat and dan are not.
    """
    with at_work(campaign_text) as (opened, people):
        people.script = (("ann", "half"), ("bob", "good"), ("eve", "shout"))
        run = replace(_evening(opened), platform=platform(opened.platform.endpoint))
        run_pass(run)
        people.work(at_most=2)
        run_pass(run)
        (first, part) = hits.load_hits(run.store)
        assert (part.extends, len(part.item_ids)) == (None, 1)
        for name, is_offered in (("ann", False), ("bob", False), ("cat", True)):
            with _signed_in(people, name) as client:
                offered = [group for group in _groups(client) if group["may_accept"]]
                assert bool(offered) == is_offered
        assert people.work(at_most=1) == 1
        for step in (collect.collect, judge.assess, judge.decide, settle.settle):
            step(run)
        keys = [hit.hit_key for hit in extendable(run, 1)]
        both = [first.hit_key, part.hit_key]
        assert keys == (both if platform is MTurk else [])
        # A longer lifetime in the campaign file is for new HITs.
        posting = run.campaign.posting
        longer = replace(posting, lifetime_seconds=9 * posting.lifetime_seconds)
        later = EVENING + timedelta(seconds=posting.lifetime_seconds / 2)
        changed = replace(run.campaign, posting=longer)
        assert extendable(replace(run, campaign=changed, clock=FixedClock(later)), 1) == []


class _Failing(_Elsewhere):
    """Refuses to give a qualification, with the fault that a test sets."""

    fault: Exception

    def exclude(self, *_: object) -> None:
        """Fail."""
        raise self.fault


@pytest.mark.parametrize(
    "fault",
    [
        TransientPlatformError("the reply was lost"),
        PlatformRefused("no such worker", code=UNKNOWN_WORKER),
    ],
)
def test_workers_are_kept_out_again_by_the_pass_after_one_that_failed(
    at_work: Open, campaign_text: str, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """All who answered: the qualification counts as made once they have it."""
    monkeypatch.setattr(_Failing, "fault", fault, raising=False)
    with at_work(campaign_text) as (opened, people):
        run = replace(opened, platform=_Elsewhere(opened.platform.endpoint))
        run_pass(run)
        people.work(at_most=2)
        collect.collect(run)
        (first,) = hits.load_hits(run.store)
        again = replace(first, hit_key=HitKey("again"), round=1)
        with pytest.raises(type(fault)):
            keep_out(replace(run, platform=_Failing(run.endpoint)), again)
        held = keep_out(run, again)
        assert held is not None
        workers = {each.worker_id for each in assignments.load_assignments(run.store)}
        assert {*run.platform.excluded(held)} == workers
        assert len(workers) == 2


def _calls(run: CampaignRun) -> Counter[str]:
    reply = httpx.get(f"{run.endpoint}/rehearsal/calls").json()
    return Counter(reply.get("calls", reply))
