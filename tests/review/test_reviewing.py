"""What a reviewer decides, takes back and meets, on a real store and marketplace."""

import csv
import io
from dataclasses import replace

import pytest

from piecework.campaign.opened import CampaignRun
from piecework.domain.crowds import Crowds
from piecework.domain.errors import ConfigError
from piecework.engine.run_pass import run_pass
from piecework.engine.settle import settle
from piecework.engine.snapshot import Reader
from piecework.results.answers_shown import Work
from piecework.review.model.deciding import waiting_for_people
from piecework.review.model.decisions_csv import read_decisions, waiting_csv
from piecework.review.model.reviewing import (
    ActName,
    DecidedMeanwhile,
    Group,
    View,
    carry_out,
    group_of,
    plan,
    state_of,
    undo,
)
from piecework.review.model.waiting import second_opinions
from piecework.store import campaign_facts, decisions, intents, reviews


def _rows(run: CampaignRun) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(waiting_csv(run)[0].decode())))


def _read(run: CampaignRun, rows: list[dict[str, str]]) -> int:
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return read_decisions(run, out.getvalue(), decided_by="ada", name="d.csv")


def test_each_row_says_what_speaks_against_it_and_what_it_costs(waiting: CampaignRun) -> None:
    """An assignment has the evidence of its answers, and the money of its verdict."""
    rows = {row["subject_kind"]: row for row in _rows(waiting)}
    assert rows["assignment"]["evidence"].count("item p") == 2
    assert ": Mostly capitals: " in rows["assignment"]["evidence"]
    # A reward of 50 cents and MTurk's fee of a fifth.
    assert rows["assignment"]["money"] == "$0.60 paid, fees included."
    assert rows["answer"]["money"] == (
        "1 answer set aside, and paid unless rejected. 1 answer asked for again."
    )
    assert rows["worker"]["money"] == "1 worker offered no later HIT of this campaign."


def test_an_assignment_is_approved_with_the_last_of_its_answers(waiting: CampaignRun) -> None:
    """After the first it goes on waiting; with the second it is paid."""
    rows = _rows(waiting)
    answers = [row for row in rows if row["subject_kind"] == "answer"]
    for row, left in zip(answers, (3, 1), strict=True):
        assert _read(waiting, [{**row, "verdict": "drop"}]) == 1
        assert waiting_csv(waiting)[1] == left
    reached = run_pass(waiting)
    assert (reached.dropped, reached.rewards_cents) == (2, 100)


def test_a_rejection_that_is_proposed_waits_until_somebody_says_it(waiting: CampaignRun) -> None:
    """Dropped answers alone neither pay nor refuse to; one that is kept pays."""
    rows = _rows(waiting)
    answers = [row for row in rows if row["subject_kind"] == "answer"]
    with waiting.store.db.atomic():
        waiting.store.db.execute(
            "UPDATE proposals SET verdict = 'reject' WHERE subject_kind = 'assignment'"
        )
    _read(waiting, [{**answers[0], "verdict": "drop"}])
    _read(waiting, [{**answers[1], "verdict": "drop"}])
    assert [row["subject_kind"] for row in _rows(waiting)] == ["assignment", "worker"]


class _Desk:
    """A reviewer at a campaign."""

    def __init__(self, run: CampaignRun, name: str) -> None:
        self.run, self.name, self.work = run, name, Work(run)

    def group(self, view: View = "answer", place: int = 0) -> Group:
        """One of bob's answers, or what it is part of."""
        waits = [
            subject for subject in waiting_for_people(self.run) if subject.subject_kind == "answer"
        ]
        (number,) = self.work.rows("answer", waits[place].subject_id)
        key = {
            "answer": self.work.answer_id(number),
            "assignment": self.work.assignment_id(number),
            "worker": self.work.pseudonym_of(number),
            "item": self.work.item_id(number),
        }[view]
        group = group_of(self.work, view, key)
        assert group is not None
        return group

    def act(self, group: Group, act: ActName, because: str = "", *, seen: str = "") -> int:
        """Act on what is seen now, or was seen then."""
        seen = seen or state_of(group)
        number = carry_out(group, act, because=because, by=self.name, seen=seen)
        assert number is not None
        return number


def test_an_act_is_undone_until_a_pass_follows_it(waiting: CampaignRun) -> None:
    """Undone, all waits as before; paid, it is too late, and the money is told."""
    ada = _Desk(waiting, "ada")
    before = waiting_csv(waiting)[0]
    whole = ada.group("assignment")
    planned = plan(whole, "reject", because="Shouted.", by="ada")
    assert planned.follows.sentences(waiting) == [
        "$0.50 not paid.",
        "2 answers set aside.",
        "2 answers asked for again.",
    ]
    at_market = replace(waiting.campaign, crowds=Crowds(cheapest=("prolific",)))
    assert planned.follows.sentences(replace(waiting, campaign=at_market))[0] == (
        "$0.50 not paid, unless its market pays a visit as a whole and another HIT of it is "
        "approved."
    )
    ada.act(whole, "reject", "Shouted.")
    assert waiting_csv(waiting)[1] == 1
    assert {decision.verdict for decision in undo(waiting, by="ada")} == {"reject", "drop"}
    assert waiting_csv(waiting)[0] == before
    ada.act(whole, "keep")
    reached = run_pass(waiting)
    assert (reached.accepted, reached.rewards_cents) == (4, 100)
    with pytest.raises(ConfigError, match="carried it out"):
        undo(waiting, by="ada")


def test_what_is_dropped_is_asked_again_only_while_a_round_is_left(waiting: CampaignRun) -> None:
    """A campaign that was stopped and continued has one round more."""
    none_left = replace(waiting.campaign.posting, max_rounds=0)
    run = replace(waiting, campaign=replace(waiting.campaign, posting=none_left))

    def asked_again() -> int:
        whole = _Desk(run, "ada").group("assignment")
        return plan(whole, "reject", because="Shouted.", by="ada").follows.asked_again

    assert asked_again() == 0
    campaign_facts.record_stop(run.store, at=run.clock.now())
    assert asked_again() == 0
    campaign_facts.undo_stop(run.store, at=run.clock.now())
    assert asked_again() == 2


def test_an_answer_gets_one_second_opinion_of_another_person(waiting: CampaignRun) -> None:
    """Not the first reviewer's, and no third."""
    ada = _Desk(waiting, "ada")
    reviewed = ada.group()
    ada.act(reviewed, "keep")
    assert second_opinions(waiting, share=1.0, by="ada") == ()
    assert second_opinions(waiting, share=1.0, by="grace") == (reviewed.key,)
    (first,) = (each for each in decisions.all_by_people(waiting.store) if each.decided_by == "ada")
    with waiting.store.db.atomic():
        reviews.add_second_opinions(waiting.store, [replace(first, decided_by="grace")])
    for name in ("ada", "grace", "kay"):
        assert second_opinions(waiting, share=1.0, by=name) == ()


def test_what_is_taken_back_while_a_pass_is_under_way_is_not_carried_out(
    waiting: CampaignRun,
) -> None:
    """After a pass has looked and before it acts, the reviewer undoes the rejection."""
    ada = _Desk(waiting, "ada")
    ada.act(ada.group("assignment"), "reject", "Shouted.")
    due = settle.due(Reader(waiting))
    assert [each.decision.verdict for same in due for each in same] == ["reject"]
    undo(waiting, by="ada")
    settle.act(waiting, due)
    assert not intents.done(waiting.store, "reject")
    assert waiting_csv(waiting)[1] == 4


def test_two_people_at_once_never_overwrite_each_other(waiting: CampaignRun) -> None:
    """Grace keeps an answer; ada's older rejection of the whole does not drop it."""
    ada, grace = _Desk(waiting, "ada"), _Desk(waiting, "grace")
    whole, answer_group = ada.group("assignment"), grace.group()
    seen = state_of(whole)
    grace.act(answer_group, "keep")
    with pytest.raises(DecidedMeanwhile) as met:
        ada.act(whole, "reject", "Shouted.", seen=seen)
    assert [(m.verdict, m.decided_by) for m, _ in met.value.decisions] == [("keep", "grace")]
    with pytest.raises(DecidedMeanwhile):
        ada.act(answer_group, "drop", "Shouted.")
    with pytest.raises(ConfigError, match="nothing to undo"):
        undo(waiting, by="ada")
    # Having seen it, ada may say that the other one is dropped.
    ada.act(ada.group(), "drop")
    assert waiting_csv(waiting)[1] == 1


def test_what_follows_from_two_people_is_not_undone_by_one(waiting: CampaignRun) -> None:
    """With grace's the assignment is approved; ada's undo would leave nobody's word."""
    ada, grace = _Desk(waiting, "ada"), _Desk(waiting, "grace")
    first, second = ada.group(place=0), ada.group(place=1)
    ada.act(first, "keep")
    grace.act(second, "drop", "Shouted.")
    assert waiting_csv(waiting)[1] == 1  # the worker alone
    with pytest.raises(ConfigError, match=r"grace has decided the rest .* undo that first"):
        undo(waiting, by="ada")
    undo(waiting, by="grace")
    undo(waiting, by="ada")
    assert waiting_csv(waiting)[1] == 4


def test_a_file_does_not_drop_what_somebody_kept_meanwhile(waiting: CampaignRun) -> None:
    """Written before grace kept an answer, the file rejects its assignment."""
    rows = [row for row in _rows(waiting) if row["subject_kind"] == "assignment"]
    grace = _Desk(waiting, "grace")
    kept = grace.group()
    grace.act(kept, "keep")
    rejection = {**rows[0], "verdict": "reject", "because": "Shouted."}
    with pytest.raises(ConfigError, match=r"d\.csv: line 2: grace has kept"):
        _read(waiting, [rejection])
    assert decisions.by_people(waiting.store, "answer") == {("answer", kept.key): "keep"}
    assert _read(waiting, [{**rows[0], "verdict": "approve"}]) == 1


def test_what_was_decided_while_a_pass_judged_does_not_wait_again(waiting: CampaignRun) -> None:
    """The pass has read what waits, ada decides, and the pass proposes what it read."""
    proposals = waiting_for_people(waiting)
    ada = _Desk(waiting, "ada")
    worker = ada.group("worker")
    ada.act(ada.group("assignment"), "keep")
    ada.act(worker, "stay")
    with waiting.store.db.atomic():
        decisions.keep_proposals(waiting.store, proposals)
    assert waiting_csv(waiting)[1] == 0


def test_of_an_item_only_its_answers_are_decided(waiting: CampaignRun) -> None:
    """An assignment has answers about other items, which nobody looks at here."""
    ada = _Desk(waiting, "ada")
    item = ada.group("item")
    for act in ("approve", "reject", "exclude"):
        with pytest.raises(DecidedMeanwhile):
            ada.act(item, act, "So.")
    ada.act(item, "drop")
    assert waiting_csv(waiting)[1] == 3


def test_a_worker_is_excluded_whether_or_not_a_rule_speaks_of_it(waiting: CampaignRun) -> None:
    """Ann, whom nothing speaks against, goes by a person's word, and comes back."""
    ada = _Desk(waiting, "ada")
    ann = next(
        name
        for name in map(ada.work.pseudonym_of, range(len(ada.work.table)))
        if name != ada.group("worker").key
    )
    group = group_of(ada.work, "worker", ann)
    assert group is not None
    ada.act(group, "exclude", "Asked to leave.")
    with pytest.raises(DecidedMeanwhile):
        ada.act(group, "exclude", "Again.")
    settle(waiting)
    assert intents.done(waiting.store, "exclude")
    with pytest.raises(ConfigError, match="carried it out"):
        undo(waiting, by="ada")


def test_a_reason_that_the_platform_refuses_is_refused_here(waiting: CampaignRun) -> None:
    """Too long, on two lines, or missing; and nothing is stored."""
    ada = _Desk(waiting, "ada")
    for because, words in (("x" * 1025, "1024"), ("a\nb", "one line"), ("", "needs a")):
        with pytest.raises(ConfigError, match=words):
            ada.act(ada.group("assignment"), "reject", because)
    assert waiting_csv(waiting)[1] == 4
