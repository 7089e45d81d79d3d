"""What settling does with each decision, on a real store and marketplace."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import httpx
import pytest

from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import AssignmentId, WorkerId
from piecework.domain.verdicts import REJECTED_WITH, Decision, SubjectKind, Verdict
from piecework.engine import collect
from piecework.engine.requirements import exclusion_types, exclusion_types_left, extendable
from piecework.engine.run_pass import run_pass
from piecework.engine.settle import carry_out_again, settle, settle_workers
from piecework.platforms.mturk import MTurk
from piecework.postprocess.pseudonyms import pseudonym
from piecework.store import (
    assignments,
    campaign_facts,
    decisions,
    hits,
    intents,
    item_totals,
    ledger,
)
from piecework.store.database import open_store, to_text
from piecework.store.intents import Intent
from piecework.store.settlements import (
    DONE,
    ELSEWHERE,
    FORGET,
    FORGOTTEN,
    NOTHING_TO_KEEP_OUT_OF,
    PAID_ALREADY,
    REJECTED_ALREADY,
    forget_key,
)
from tests.as_needed_campaign import Voters
from tests.engine.conftest import Open
from tests.gold_campaign import AGREED, WHY, write_gold
from tests.gold_campaign import TEXT as GOLD

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)
HANDLES = ("ann", "bob", "cat", "dan", "eve", "fay")
HELD = 6 * 60
"""Cents: six assignments of 50, with MTurk's fee of a fifth."""


@pytest.fixture
def collected(at_work: Open, campaign_text: str) -> Iterator[CampaignRun]:
    """Six assignments of one HIT, one of each worker; nothing is decided."""
    text = campaign_text.replace("answers = 2", "answers = 6")
    with at_work(text) as (run, people):
        people.script = tuple((handle, "good") for handle in HANDLES)
        run_pass(run)
        assert people.work() == 6
        collect.collect(run)
        yield replace(run, clock=FixedClock(NOON))


def _assignments(run: CampaignRun) -> list[AssignmentId]:
    return [assignment.assignment_id for assignment in assignments.load_assignments(run.store)]


def _workers(run: CampaignRun) -> list[WorkerId]:
    return [assignment.worker_id for assignment in assignments.load_assignments(run.store)]


def _decide(run: CampaignRun, verdict: Verdict, *subjects: str) -> list[Decision]:
    """Keep a decision about each of these assignments or workers."""
    kind: SubjectKind = "assignment" if verdict in {"approve", "reject"} else "worker"
    made = [
        Decision(
            subject_kind=kind,
            subject_id=subject,
            verdict=verdict,
            decided_by="ada",
            decided_at=NOON,
            because=f"Why {verdict}.",
        )
        for subject in subjects
    ]
    with run.store.db.atomic():
        decisions.overrule(run.store, made)
    return made


def _declare(run: CampaignRun, verdict: Verdict, subject: str) -> None:
    """Leave what a pass leaves that died around this call."""
    intent = Intent(key=f"{verdict}:{subject}", operation=verdict, subject=("assignment", subject))
    with run.store.db.atomic():
        intents.declare(run.store, intent, run.clock)


def _operations(run: CampaignRun) -> list[str]:
    """Of the intents that settling made, in the order in which they were made."""
    rows = run.store.db.execute(
        "SELECT operation FROM intents WHERE operation <> 'publish' ORDER BY rowid"
    )
    return [operation for (operation,) in rows]


def _outcomes(run: CampaignRun) -> dict[str, tuple[str | None, int]]:
    """Outcome and amount of each intent that settling made, by key."""
    rows = run.store.db.execute(
        "SELECT intent_key, outcome, amount_cents FROM intents WHERE operation <> 'publish'"
    )
    return {key: (outcome, cents) for key, outcome, cents in rows}


def _status(run: CampaignRun) -> list[str]:
    """Of each assignment, as the marketplace has it."""
    return [run.platform.assignment_status(name) for name in _assignments(run)]


def _client(run: CampaignRun) -> Any:  # noqa: ANN401 - boto3's
    assert isinstance(run.platform, MTurk)
    return run.platform._client


def _feedback(run: CampaignRun, assignment_id: str) -> str:
    reply = _client(run).get_assignment(AssignmentId=assignment_id)
    return str(reply["Assignment"].get("RequesterFeedback", ""))


def _blocked(run: CampaignRun) -> set[str]:
    blocks = _client(run).list_worker_blocks()["WorkerBlocks"]
    return {block["WorkerId"] for block in blocks}


def _calls(run: CampaignRun) -> dict[str, int]:
    counts: dict[str, int] = httpx.get(f"{run.platform.endpoint}/rehearsal/calls").json()
    return counts


def test_workers_are_paid_before_any_worker_is_turned_away(collected: CampaignRun) -> None:
    """Whatever was decided first: pay, rejections, exclusions, blocks, inclusions."""
    paid, rejected = _assignments(collected)[:2]
    excluded, blocked, included = _workers(collected)[2:5]
    _decide(collected, "exclude", included)
    settle(collected)
    _decide(collected, "include", included)
    _decide(collected, "block", blocked)
    _decide(collected, "exclude", excluded)
    _decide(collected, "reject", rejected)
    _decide(collected, "approve", paid)
    assert settle(collected) == 5
    assert _operations(collected)[1:] == [*("approve", "reject", "exclude", "block", "include")]
    assert settle(collected) == 0


def test_what_was_decided_about_workers_is_settled_by_itself(collected: CampaignRun) -> None:
    """Where only that is asked for, no assignment is approved or rejected."""
    paid, worker = _assignments(collected)[0], _workers(collected)[1]
    _decide(collected, "approve", paid)
    _decide(collected, "exclude", worker)
    assert settle_workers(collected) == 1
    assert _operations(collected) == ["exclude"]
    assert _status(collected)[0] == "Submitted"


class _Together(MTurk):
    """Approves only two assignments at a time."""

    both: Barrier

    def approve(self, assignment_id: AssignmentId, message: str = "") -> None:
        """As ever, when another call is under way."""
        self.both.wait()
        super().approve(assignment_id, message)


def test_calls_are_under_way_at_once(collected: CampaignRun) -> None:
    """As many as the campaign may have, and no more than there are."""
    platform = _Together(collected.platform.endpoint)
    platform.both = Barrier(2, timeout=30)
    _decide(collected, "approve", *_assignments(collected)[:2])
    assert settle(replace(collected, platform=platform, most_calls=2)) == 2


def test_pay_and_refusal_to_pay_are_booked_to_the_cent(collected: CampaignRun) -> None:
    """Of 360 cents held, two rewards and fees are taken, and 60 cents come back."""
    first, second, third, *_ = _assignments(collected)
    _decide(collected, "approve", first, second)
    _decide(collected, "reject", third)
    assert settle(collected) == 3
    assert _status(collected) == ["Approved", "Approved", "Rejected", *["Submitted"] * 3]
    assert ledger.balances(collected.store) == {
        "requester": 60 - HELD,
        "held": 3 * 60,
        "rewards": 2 * 50,
        "fees": 2 * 10,
        "bonuses": 0,
        "compensations": 0,
    }
    assert _outcomes(collected) == {
        f"approve:{first}": (DONE, 60),
        f"approve:{second}": (DONE, 60),
        f"reject:{third}": (DONE, 0),
    }
    assert intents.subjects(collected.store, "reject", outcome=DONE) == [third]
    assert _feedback(collected, third) == "Why reject."
    assert _feedback(collected, first) == ""
    rows = collected.store.db.execute(
        "SELECT DISTINCT intent_key, batch, at FROM ledger "
        "WHERE intent_key NOT LIKE 'publish%' ORDER BY intent_key"
    ).fetchall()
    assert [row[:2] for row in rows] == [
        (f"approve:{name}", 1) for name in sorted([first, second])
    ] + [(f"reject:{third}", 1)]


def test_what_was_approved_elsewhere_is_paid_and_not_rejected(collected: CampaignRun) -> None:
    """The worker has the money and keeps it, whoever hears of it first."""
    first, second, *_ = _assignments(collected)
    _decide(collected, "reject", first, second)
    _declare(collected, "reject", second)
    for name in (first, second):
        collected.platform.approve(name)
    settle(collected)
    assert _outcomes(collected) == {
        f"reject:{first}": (PAID_ALREADY, 0),
        f"reject:{second}": (PAID_ALREADY, 0),
    }
    balances = ledger.balances(collected.store)
    assert (balances["rewards"], balances["fees"]) == (100, 20)
    assert balances["requester"] == -HELD
    assert settle(collected) == 0


def test_items_cost_what_the_ledger_has_spent_on_their_work(collected: CampaignRun) -> None:
    """Rejected work costs nothing, unless its worker was paid before."""
    paid_before, rejected, *good = _assignments(collected)
    _decide(collected, "approve", *good)
    _decide(collected, "reject", paid_before, rejected)
    collected.platform.approve(paid_before)
    settle(collected)
    balances = ledger.balances(collected.store)
    spent = item_totals.spent_by_item(collected.store, 1)
    assert sum(spent.values()) == balances["rewards"] + balances["fees"] == 5 * 60


def test_what_was_rejected_elsewhere_is_rejected_here_with_its_answers(
    collected: CampaignRun,
) -> None:
    """Unpaid work is not used: its kept answers are dropped, and the hold is let go."""
    first, second, *_ = _assignments(collected)
    answers = [f"{name}.{place}" for name in (first, second) for place in (1, 2)]
    made = [
        Decision(
            subject_kind="answer",
            subject_id=answer_id,
            verdict="keep",
            decided_by="ada",
            decided_at=NOON,
            because="",
        )
        for answer_id in answers[:3]
    ]
    decisions.keep_decisions(collected.store, made)
    _decide(collected, "approve", first, second)
    _declare(collected, "approve", second)
    for name in (first, second):
        collected.platform.reject(name, "by hand")
    assert settle(replace(collected, clock=FixedClock(LATER))) == 2
    assert _outcomes(collected) == {
        f"approve:{first}": (f"{REJECTED_ALREADY}: by hand", 60),
        f"approve:{second}": (f"{REJECTED_ALREADY}: by hand", 0),
    }
    assert ledger.balances(collected.store)["held"] == HELD
    because = "it was rejected outside of this campaign: by hand"
    in_force = decisions.load_decisions(collected.store)
    assert {
        (decision.subject_kind, decision.subject_id, decision.verdict, decision.because)
        for decision in in_force
    } == {
        *(("assignment", name, "reject", because) for name in (first, second)),
        *(("answer", name, "drop", f"{REJECTED_WITH}{because}") for name in answers[:3]),
    }
    assert {decision.decided_by for decision in in_force} == {ELSEWHERE}
    assert {decision.decided_at for decision in in_force} == {LATER}
    assert settle(collected) == 2
    balances = ledger.balances(collected.store)
    assert (balances["held"], balances["rewards"]) == (HELD - 120, 0)
    assert settle(collected) == 0


@pytest.mark.parametrize("arrived", [True, False])
def test_a_call_that_a_death_cut_short_is_made_once(
    collected: CampaignRun, *, arrived: bool
) -> None:
    """If it got through it is looked up, and else it is made; both are booked."""
    paid, rejected = _assignments(collected)[:2]
    excluded = _workers(collected)[2]
    _decide(collected, "approve", paid)
    _decide(collected, "reject", rejected)
    _decide(collected, "exclude", excluded)
    type_id = exclusion_types(collected)[0]
    _declare(collected, "approve", paid)
    _declare(collected, "reject", rejected)
    _declare(collected, "exclude", excluded)
    if arrived:
        collected.platform.approve(paid)
        collected.platform.reject(rejected, "Why reject.")
        collected.platform.exclude(excluded, type_id)
    before = _calls(collected)
    assert settle(collected) == 3
    after = _calls(collected)
    for call in ("ApproveAssignment", "RejectAssignment", "AssociateQualificationWithWorker"):
        assert after.get(call, 0) - before.get(call, 0) == (0 if arrived else 1)
    assert {outcome for outcome, _ in _outcomes(collected).values()} == {DONE}
    assert _status(collected)[:2] == ["Approved", "Rejected"]
    assert collected.platform.excluded(type_id) == {excluded}
    assert ledger.balances(collected.store)["held"] == HELD - 120


def test_workers_are_excluded_blocked_and_included_again(collected: CampaignRun) -> None:
    """An inclusion takes back the exclusion, and the block that this campaign made."""
    excluded, blocked, blocked_elsewhere, *_ = _workers(collected)
    type_id = exclusion_types(collected)[0]
    collected.platform.block(blocked_elsewhere, "by another campaign")
    _decide(collected, "exclude", excluded, blocked_elsewhere)
    _decide(collected, "block", blocked)
    assert settle(collected) == 3
    assert collected.platform.excluded(type_id) == {excluded, blocked_elsewhere}
    assert _blocked(collected) == {blocked, blocked_elsewhere}
    blocks = _client(collected).list_worker_blocks()["WorkerBlocks"]
    assert "Why block." in {block["Reason"] for block in blocks}
    _decide(collected, "include", excluded, blocked, blocked_elsewhere)
    assert settle(collected) == 3
    assert collected.platform.excluded(type_id) == set()
    assert _blocked(collected) == {blocked_elsewhere}
    assert {cents for _, cents in _outcomes(collected).values()} == {0}


def test_under_another_name_an_exclusion_also_holds_for_what_had_the_earlier_one(
    collected: CampaignRun,
) -> None:
    """Posted HITs require the earlier type not to exist, and new HITs both."""
    first, second, *_ = _workers(collected)
    _decide(collected, "exclude", first)
    assert settle(collected) == 1
    renamed = replace(collected.campaign, exclusion_name="no birds")
    run = replace(collected, campaign=renamed)
    (before,) = exclusion_types(collected)
    after, *others = exclusion_types(run)
    assert others == [before] != [after]
    _decide(run, "exclude", second)
    assert settle(run) == 1
    assert run.platform.excluded(before) == {first, second}
    assert run.platform.excluded(after) == {second}
    run_pass(run)
    required = [
        {each["QualificationTypeId"] for each in hit["QualificationRequirements"]} & {before, after}
        for hit in _client(run).list_hits()["HITs"]
    ]
    assert [{*each} for each in required] == [{before, after}, {before}]
    _decide(run, "include", first, second)
    assert settle(run) == 2
    assert run.platform.excluded(before) == run.platform.excluded(after) == set()


def test_a_block_or_an_inclusion_that_a_death_cut_short_is_made_again(
    collected: CampaignRun,
) -> None:
    """Twice is once, so nothing is looked up."""
    blocked, included, *_ = _workers(collected)
    _decide(collected, "exclude", included)
    settle(collected)
    _decide(collected, "include", included)
    _decide(collected, "block", blocked)
    _declare(collected, "include", included)
    _declare(collected, "block", blocked)
    assert settle(collected) == 2
    assert _blocked(collected) == {blocked}
    assert collected.platform.excluded(exclusion_types(collected)[0]) == set()
    assert {outcome for outcome, _ in _outcomes(collected).values()} == {DONE}


def test_a_second_exclusion_of_a_worker_is_an_act_of_its_own(collected: CampaignRun) -> None:
    """Its key says that it is the second."""
    worker = _workers(collected)[0]
    verdicts: tuple[Verdict, ...] = ("exclude", "include", "exclude")
    for verdict in verdicts:
        _decide(collected, verdict, worker)
        assert settle(collected) == 1
    assert set(_outcomes(collected)) == {
        f"exclude:{worker}",
        f"include:{worker}",
        f"exclude:{worker}:2",
    }
    assert collected.platform.excluded(exclusion_types(collected)[0]) == {worker}
    assert settle(collected) == 0


def test_without_the_qualification_type_there_is_nothing_to_keep_workers_out_of(
    collected: CampaignRun,
) -> None:
    """It was deleted by hand: whether a call is made or looked up, that is the end."""
    first, second, third, *_ = _workers(collected)
    type_id = exclusion_types(collected)[0]
    _decide(collected, "exclude", third)
    settle(collected)
    _client(collected).delete_qualification_type(QualificationTypeId=type_id)
    _decide(collected, "exclude", first, second)
    _declare(collected, "exclude", second)
    _decide(collected, "include", third)
    assert settle(collected) == 3
    assert _outcomes(collected) == {
        f"exclude:{third}": (DONE, 0),
        f"exclude:{first}": (NOTHING_TO_KEEP_OUT_OF, 0),
        f"exclude:{second}": (NOTHING_TO_KEEP_OUT_OF, 0),
        f"include:{third}": (NOTHING_TO_KEEP_OUT_OF, 0),
    }


@pytest.fixture
def renamed(collected: CampaignRun) -> CampaignRun:
    """The campaign after one worker was excluded and one blocked, under another name since."""
    excluded, blocked, *_ = _workers(collected)
    _decide(collected, "exclude", excluded)
    _decide(collected, "block", blocked)
    assert settle(collected) == 2
    run = replace(collected, campaign=replace(collected.campaign, exclusion_name="no birds"))
    _, before = exclusion_types(run)
    _client(run).delete_qualification_type(QualificationTypeId=before)
    return run


def test_a_deleted_type_of_an_earlier_name_hinders_no_settlement(renamed: CampaignRun) -> None:
    """The current type has the effect, also where a call was cut off; a block ends."""
    excluded, blocked, second, third, *_ = _workers(renamed)
    after = exclusion_types(renamed)[0]
    _decide(renamed, "exclude", second, third)
    _declare(renamed, "exclude", third)
    _decide(renamed, "include", blocked, excluded)
    assert settle(renamed) == 4
    assert renamed.platform.excluded(after) == {second, third}
    assert _blocked(renamed) == set()
    assert {outcome for outcome, _ in _outcomes(renamed).values()} == {DONE}


class _Down(MTurk):
    """Refuses to give a qualification."""

    def exclude(self, *_: object) -> None:
        """Refuse."""
        raise PlatformRefused("not now", code="ServiceFault")


def test_a_deleted_type_is_remembered_until_all_have_the_current_one(renamed: CampaignRun) -> None:
    """A refusal that is not about an unknown worker ends the pass before that."""
    with pytest.raises(PlatformRefused, match="not now"):
        exclusion_types_left(replace(renamed, platform=_Down(renamed.endpoint)))
    current, before = exclusion_types(renamed)
    assert exclusion_types_left(renamed) == (current,) != (before,)
    assert len(renamed.platform.excluded(current)) == 1


def test_a_block_ends_also_if_no_type_is_left(renamed: CampaignRun) -> None:
    """An inclusion takes it back before it finds that the type is gone."""
    _, blocked, *_ = _workers(renamed)
    _client(renamed).delete_qualification_type(QualificationTypeId=exclusion_types(renamed)[0])
    assert exclusion_types_left(renamed) == exclusion_types(renamed)
    _decide(renamed, "include", blocked)
    assert settle(renamed) == 1
    assert _outcomes(renamed)[f"include:{blocked}"] == (NOTHING_TO_KEEP_OUT_OF, 0)
    assert _blocked(renamed) == set()


def test_new_hits_do_without_a_deleted_type_of_an_earlier_name(renamed: CampaignRun) -> None:
    """They keep out whom it kept out; a HIT that requires it gets no more slots."""
    excluded = _workers(renamed)[0]
    after, _ = exclusion_types(renamed)
    (old,) = hits.load_hits(renamed.store)
    assert old.posted_at is not None
    renamed = replace(renamed, clock=FixedClock(old.posted_at + timedelta(minutes=1)))
    assert [hit.hit_id for hit in hits.filled_hits(renamed.store, 1)] == [old.hit_id]
    assert extendable(renamed, 1) == [old]
    run_pass(renamed)
    assert extendable(renamed, 1) == []
    for seconds, may_grow in ((-1, True), (0, False), (1, False)):
        lost_at = old.posted_at + timedelta(seconds=seconds)
        campaign_facts.keep_note(renamed.store, "exclusion_lost_at", to_text(lost_at))
        assert (old in extendable(renamed, 1)) == may_grow
    assert exclusion_types(renamed) == (after,)
    assert excluded in renamed.platform.excluded(after)
    posted = [hit for hit in hits.load_hits(renamed.store) if hit.hit_id != old.hit_id]
    assert posted
    for hit in posted:
        assert hit.extends is None
        reply = _client(renamed).get_hit(HITId=hit.hit_id)["HIT"]
        required = {each["QualificationTypeId"] for each in reply["QualificationRequirements"]}
        assert after in required


def test_what_a_dead_pass_began_for_a_deleted_type_is_ended(collected: CampaignRun) -> None:
    """It had kept out the first of two workers; the third was taken back, and stays free."""
    first, second, free, *_ = _workers(collected)
    _decide(collected, "exclude", first, second, free)
    settle(collected)
    _decide(collected, "include", free)
    settle(collected)
    run = replace(collected, campaign=replace(collected.campaign, exclusion_name="no birds"))
    after, before = exclusion_types(run)
    _client(run).delete_qualification_type(QualificationTypeId=before)
    run.platform.exclude(first, after)
    assert exclusion_types_left(run) == (after,)
    assert run.platform.excluded(after) == {first, second}


class _DecidedMeanwhile(MTurk):
    """Another process decides about an assignment while the first call is made."""

    run: CampaignRun
    subject: str

    def approve(self, assignment_id: AssignmentId, message: str = "") -> None:
        """As ever, and somebody approves what was to be rejected."""
        super().approve(assignment_id, message)
        if assignment_id != self.subject:
            store = open_store(self.run.store.address)
            _decide(replace(self.run, store=store), "approve", self.subject)
            store.close()


def test_what_is_taken_back_meanwhile_is_not_carried_out(collected: CampaignRun) -> None:
    """A pass has read that it is to be rejected; before the call, a person approves."""
    first, second, *_ = _assignments(collected)
    _decide(collected, "approve", first)
    _decide(collected, "reject", second)
    platform = _DecidedMeanwhile(collected.platform.endpoint)
    platform.run, platform.subject = collected, second
    settle(replace(collected, platform=platform))
    assert _status(collected)[:2] == ["Approved", "Submitted"]
    assert settle(collected) == 1
    assert _status(collected)[:2] == ["Approved", "Approved"]


@pytest.mark.parametrize(("number", "more"), [(2, ""), (5, ""), (6, "; and 1 more")])
def test_what_is_refused_is_named_and_holds_nothing_else_up(
    collected: CampaignRun, number: int, more: str
) -> None:
    """Five are named, workers by pseudonym alone, and the next pass tries again."""
    strangers = [WorkerId(f"A{place}STRANGER") for place in range(number)]
    known = _workers(collected)[0]
    _decide(collected, "block", *strangers, known)
    with pytest.raises(PlatformRefused) as refused:
        settle(collected)
    message = str(refused.value)
    assert message.startswith(f"{number} of {number + 1} decisions were refused: ")
    assert message.endswith(more) if more else "more" not in message
    shown = min(number, 5)
    assert message.count("block ") == shown
    assert "STRANGER" not in message
    named = [pseudonym(stranger, collected.pseudonym_key) for stranger in strangers]
    # Once as the subject, once in the marketplace's own words.
    assert sorted(map(message.count, named)) == [0] * (number - shown) + [2] * shown
    assert refused.value.next_step == f"piecework status {collected.campaign.path}"
    assert (refused.value.code, refused.value.kind) == ("InvalidParameterValue", "other")
    assert _blocked(collected) == {known}
    assert decisions.count_unsettled(collected.store) == number


def test_a_refused_payment_is_refused_with_its_assignment_and_kind(
    collected: CampaignRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another requester's keys: nothing is paid, booked or excluded."""
    paid, rejected = _assignments(collected)[:2]
    _decide(collected, "approve", paid)
    _decide(collected, "reject", rejected)
    _decide(collected, "exclude", _workers(collected)[2])
    _decide(collected, "block", "ASTRANGER")
    exclusion_types(collected)[0]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ANOTHER-REQUESTER")
    stranger = replace(collected, platform=MTurk(collected.platform.endpoint))
    with pytest.raises(PlatformRefused) as refused:
        settle(stranger)
    # The first refusal's own code, and not that of the block, which comes later.
    assert (refused.value.code, refused.value.kind) == ("AssignmentDoesNotExist", "other")
    assert f"approve {paid}: " in str(refused.value)
    assert f"; reject {rejected}: " in str(refused.value)
    assert {outcome for outcome, _ in _outcomes(collected).values()} == {
        None,
        NOTHING_TO_KEEP_OUT_OF,
    }
    assert ledger.balances(collected.store)["held"] == HELD
    with pytest.raises(PlatformRefused, match="1 of 3 decisions were refused"):
        settle(collected)
    assert ledger.balances(collected.store)["held"] == HELD - 120


@pytest.mark.parametrize("longest", [1024, 30])
def test_a_worker_reads_the_reason_and_then_the_answer_that_was_known(
    at_work: Open, longest: int
) -> None:
    """Of two who were wrong about gold one is paid, and both read it where it fits."""
    wrong = {**AGREED, "p9": "yynnnnnn"}
    with at_work(GOLD, write=write_gold) as (run, people):
        able = replace(run.capabilities, longest_reason=longest)
        run.platform.capabilities = able
        run_pass(run)
        Voters(people.endpoint, wrong).work()
        collect.collect(run)
        answers = run.answers()
        is_wrong = (answers["item_id"] == "p9") & (answers["value.congruent"] == "congruent")
        paid, rejected = answers[is_wrong]["assignment_id"]
        others = set(_assignments(run)) - {paid, rejected}
        _decide(run, "approve", paid, *sorted(others))
        _decide(run, "reject", rejected)
        settle(run)
        for name, reason in ((paid, ""), (rejected, "Why reject. ")):
            words = _feedback(run, name)
            assert words.startswith(f"{reason}The answer to")
            assert words.endswith("…" if longest == 30 else WHY)
            assert len(words) <= longest
        assert others
        assert {_feedback(run, name) for name in others} == {""}


def test_what_the_marketplace_has_lost_is_settled_without_a_call(collected: CampaignRun) -> None:
    """It was given up, so nothing is paid, booked or looked up for it."""
    lost, looked_for, paid = _assignments(collected)[:3]
    _decide(collected, "approve", lost, looked_for, paid)
    _declare(collected, "approve", looked_for)
    for name in (lost, looked_for):
        forgotten = Intent(key=forget_key(name), operation=FORGET, subject=("assignment", name))
        with collected.store.db.atomic():
            intents.declare(collected.store, forgotten, collected.clock)
    assert settle(collected) == 3
    assert {key: outcome for key, (outcome, _) in _outcomes(collected).items()} == {
        f"approve:{lost}": FORGOTTEN,
        f"approve:{looked_for}": FORGOTTEN,
        f"approve:{paid}": DONE,
        f"forget:{lost}": None,
        f"forget:{looked_for}": None,
    }
    assert _status(collected)[:3] == ["Submitted", "Submitted", "Approved"]
    assert ledger.balances(collected.store)["held"] == HELD - 60
    assert settle(collected) == 0


def test_a_worker_whom_the_marketplace_has_lost_with_their_work_is_given_up(
    collected: CampaignRun,
) -> None:
    """It does not know them any more; whom it never knew is refused as ever."""
    lost = _assignments(collected)[0]
    _decide(collected, "approve", lost)
    given_up = Intent(key=forget_key(lost), operation=FORGET, subject=("assignment", lost))
    with collected.store.db.atomic():
        intents.declare(collected.store, given_up, collected.clock)
        collected.store.db.execute(
            "UPDATE assignments SET worker_id = 'AGONE' WHERE assignment_id = ?", [lost]
        )
    assert settle(collected) == 1
    _decide(collected, "block", "AGONE", "ASTRANGER")
    with pytest.raises(PlatformRefused, match="1 of 2 decisions were refused"):
        settle(collected)
    outcomes = _outcomes(collected)
    assert outcomes["block:AGONE"] == (FORGOTTEN, 0)
    assert outcomes["block:ASTRANGER"] == (None, 0)


def test_what_is_carried_out_again_is_not_booked_again(collected: CampaignRun) -> None:
    """The marketplace lost it, and the ledger has it: the calls are made once more."""
    first, second, *_ = _assignments(collected)
    excluded = _workers(collected)[2]
    settled = [
        *_decide(collected, "approve", first),
        *_decide(collected, "reject", second),
        *_decide(collected, "exclude", excluded),
    ]
    before = ledger.balances(collected.store)
    assert carry_out_again(collected, settled, prefix="again:0") == []
    assert _status(collected)[:2] == ["Approved", "Rejected"]
    assert collected.platform.excluded(exclusion_types(collected)[0]) == {excluded}
    assert ledger.balances(collected.store) == before
    assert {key: outcome for key, (outcome, _) in _outcomes(collected).items()} == {
        f"again:0:approve:{first}": DONE,
        f"again:0:reject:{second}": DONE,
        f"again:0:exclude:{excluded}": DONE,
    }
    assert intents.done(collected.store, "repeat") == set(_outcomes(collected))
    calls = _calls(collected)
    assert carry_out_again(collected, settled, prefix="again:0") == []
    assert _calls(collected) == calls
    # What is refused is told.
    [stranger] = _decide(collected, "block", "ASTRANGER")
    [(act, refusal)] = carry_out_again(collected, [stranger], prefix="again:1")
    assert act.intent.key == "again:1:block:ASTRANGER"
    assert refusal.code == "InvalidParameterValue"


def test_calls_are_made_again_at_once(collected: CampaignRun) -> None:
    """As many as the campaign may have."""
    platform = _Together(collected.platform.endpoint)
    platform.both = Barrier(2, timeout=30)
    settled = _decide(collected, "approve", *_assignments(collected)[:2])
    run = replace(collected, platform=platform, most_calls=2)
    assert carry_out_again(run, settled, prefix="again:0") == []


def test_a_decision_about_a_worker_alone_tells_nothing_and_reads_no_answers(at_work: Open) -> None:
    """Where no assignment is decided, the table of answers is left unread."""
    with at_work(GOLD, write=write_gold) as (run, people):
        run_pass(run)
        Voters(people.endpoint, AGREED).work()
        collect.collect(run)
        _decide(run, "exclude", _workers(run)[0])
        assert settle(run) == 1
        assert run._answers._recent is None
