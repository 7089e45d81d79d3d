"""As many answers as needed, on a real marketplace: who is asked again, and who not."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import AsNeeded
from piecework.domain.errors import ConfigError
from piecework.engine import judge as weighing
from piecework.engine.next_action import next_action
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import run_pass
from piecework.engine.snapshot import take_snapshot
from piecework.postprocess.aggregates import item_aggregates
from piecework.report.model import report_model
from piecework.report.page import render_report
from piecework.report.sections import outcomes
from piecework.results.report_facts import report_facts
from piecework.results.table import answers_table
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store import item_totals
from tests.as_needed_campaign import ANSWERS, AS_NEEDED, Voters, write_as_needed
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import check_books

CAMPAIGNS = Path(__file__).resolve().parents[2] / "config/campaigns"


@dataclass(frozen=True)
class _Work:
    run: CampaignRun
    voters: Voters

    def to_the_end(self) -> int:
        """Passes and votes until nothing is open; how many passes."""
        for number in range(1, 20):
            waiting_for = run_pass(self.run).waiting_for
            if waiting_for == "nobody":
                return number
            if waiting_for == "workers":
                self.voters.work()
        raise AssertionError("twenty passes were not enough")


@contextmanager
def _opened(at_work: Open, text: str = AS_NEEDED) -> Iterator[_Work]:
    with at_work(text, write=write_as_needed) as (run, people):
        yield _Work(run, Voters(people.endpoint))


def _answers(run: CampaignRun) -> dict[str, int]:
    return dict(run.store.db.execute("SELECT item_id, count(*) FROM answers GROUP BY item_id"))


def test_plain_items_stop_at_the_least_and_disputed_ones_go_on(at_work: Open) -> None:
    """Two pairs are asked about twice, two until no more may be asked."""
    with _opened(at_work) as work:
        work.to_the_end()
        run = work.run
        assert _answers(run) == ANSWERS
        progress = read_progress(run)
        assert (progress.accepted, progress.missing, progress.surplus) == (12, 0, 0)
        assert (progress.unsure, progress.stopped_by) == (0, "")
        check_books(run)
        rows = run.store.db.execute("SELECT item_id, probability >= 0.86 FROM items")
        assert dict(rows) == {"p1": 1, "p2": 1, "p3": 1, "p4": 0}
        assert not item_totals.to_weigh(run.store, run.campaign.posting)
        _check_report(run)


def _check_report(run: CampaignRun) -> None:
    """Twelve answers instead of sixteen, and one label that is not sure."""
    facts = report_facts(run)
    model = report_model(facts)
    assert (model.wanted, model.complete_items) == (12, 4)
    section = outcomes.as_needed_section(model)
    assert section is not None
    lead = " ".join(section.lead)
    assert "Each item gets 2 answers" in lead
    assert "3 of 4 items" in lead
    assert "4 items asked to the end took 12 accepted answers" in lead
    assert "4 for each would have been 16: 25.0 % saved" in lead
    assert "Not asked" not in lead
    (table,) = section.tables
    assert table.rows == (("2", "2", "2", "100.0 %"), ("4", "2", "1", "50.0 %"))
    assert "2 to 4 answers about each of 4 items" in render_report(facts)


def test_what_is_asked_again_is_announced_with_its_reason(at_work: Open) -> None:
    """Between two rounds `status` reads the plan that the next pass carries out."""
    with _opened(at_work) as work:
        run_pass(work.run)
        work.voters.work()
        run_pass(work.run)
        progress = read_progress(work.run)
        assert (progress.missing, progress.unsure) == (2, 2)
        assert progress.waiting_for == "workers"
        # A pass that died after weighing leaves a plan that says why.
        work.run.store.db.execute("DELETE FROM hits WHERE round = 1")
        action = next_action(
            take_snapshot(work.run), work.run.campaign, today=work.run.clock.now().date()
        )
        for fact in (
            "batch 1 is due to be posted again, in round 1",
            "2 items are not sure to 0.86",
            "4 answers",
        ):
            assert fact in action.reason


def test_the_cap_ends_what_is_not_sure(at_work: Open) -> None:
    """$2.40 pay for the first round and no more; that two are not sure is said.

    Two HITs twice are four assignments of 60 cents, fees included.
    """
    text = AS_NEEDED.replace('"20.00"', '"2.40"')
    with _opened(at_work, text) as work:
        work.to_the_end()
        progress = read_progress(work.run)
        assert progress.spent_cents == 240
        assert (progress.missing, progress.unsure) == (2, 2)
        assert (progress.cap_reached, progress.stopped_by) == (True, "budget")
        section = outcomes.as_needed_section(report_model(report_facts(work.run)))
    assert section is not None
    _, early, saved = section.lead
    assert early.startswith("Not asked to the end: 2 items, below that and")
    # What no money was left for is not saved.
    assert "2 items asked to the end took 4 accepted answers; 4 for each" in saved


def _drop(run: CampaignRun, answer_id: str) -> None:
    """A person drops an answer that was accepted."""
    run.store.db.execute(
        "INSERT INTO decisions (subject_kind, subject_id, verdict, decided_by, "
        "decided_at, because) VALUES ('answer', ?, 'drop', 'ada', ?, 'by hand')",
        [answer_id, "2026-01-07T09:00:00.000000+00:00"],
    )


@pytest.mark.full
def test_who_is_rejected_later_leaves_items_that_are_asked_again(at_work: Open) -> None:
    """Of a label that was sure by two, one answer is left: another one is bought."""
    with _opened(at_work) as work:
        work.to_the_end()
        run = work.run
        (lost,) = run.store.db.execute(
            "SELECT answer_id FROM answers WHERE item_id = 'p1' LIMIT 1"
        ).fetchone()
        _drop(run, lost)
        progress = read_progress(run)
        assert (progress.accepted, progress.missing) == (11, 1)
        for _ in range(3):
            run_pass(run)
            work.voters.work()
        progress = read_progress(run)
        assert (progress.accepted, progress.missing) == (12, 0)
        assert _answers(run) == {**ANSWERS, "p1": 3}
        assert not item_totals.to_weigh(run.store, run.campaign.posting)
        check_books(run)


@pytest.mark.full
def test_an_answer_that_is_dropped_later_makes_its_label_be_weighed_anew(at_work: Open) -> None:
    """What was sure by an answer that counts no more is not sure by it."""
    with _opened(at_work) as work:
        work.to_the_end()
        run = work.run
        rows = run.store.db.execute(
            "SELECT answer_id FROM answers WHERE item_id = 'p3' ORDER BY answer_id"
        ).fetchall()
        _drop(run, rows[0][0])
        posting = run.campaign.posting
        assert item_totals.to_weigh(run.store, posting) == {"p3": 3}
        assert take_snapshot(run).unweighed == 1
        weighing.weigh(run)
        assert not item_totals.to_weigh(run.store, posting)


def test_the_campaign_file_says_least_most_and_until(tmp_path: Path) -> None:
    """Four of them may be more than two, so a batch has two rounds more."""
    posting = load_campaign(write_as_needed(tmp_path)).posting
    assert (posting.assignments, posting.most, posting.rounds) == (2, 4, 3)
    assert posting.as_needed == AsNeeded(most=4, until=0.86)


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ("{ least = 3, most = 7, until = 0.96 }", "until: Input should be less than or"),
        ("{ least = 3, most = 3 }", "most must be more than least"),
        ("{ least = 3, most = 7, untl = 0.9 }", "no such key; did you mean 'until'?"),
        ("{ most = 7 }", "answers.least: is missing"),
        ("0", "answers: Input should be greater than or equal to 1"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(tmp_path: Path, asked: str, fault: str) -> None:
    """One fault, about what was meant; more than 0.95 would ask for answers without end."""
    text = AS_NEEDED.replace("{ least = 2, most = 4, until = 0.86 }", asked)
    with pytest.raises(ConfigError) as refused:
        load_campaign(write_as_needed(tmp_path, text))
    (message,) = refused.value.faults
    assert "crash.toml:6: " in message
    assert fault in message


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ("caption", "caption has no such field"),
        ("severity_en", "severity has no such field"),
        ("pairwise", "pairwise has no such field"),
        ("correction", "correction also asks for correction"),
    ],
)
def test_tasks_without_one_right_option_are_refused(task: str, why: str) -> None:
    """Texts, opinions and several ticks have no label that could be sure."""
    folder = Path(__file__).resolve().parents[2] / "config/campaigns"
    name = {"caption": "demo"}.get(task, task)
    text = (folder / f"{name}.toml").read_text()
    line = next(text_line for text_line in text.splitlines() if text_line.startswith("answers = "))
    changed = text.replace(line, "answers = { least = 3, most = 7 }")
    path = folder / f".{name}_as_needed.toml"
    path.write_text(changed)
    try:
        with pytest.raises(ConfigError) as refused:
            load_campaign(path)
    finally:
        path.unlink()
    (message,) = [fault for fault in refused.value.faults if "answers" in fault]
    assert why in message


@pytest.mark.full
def test_the_campaign_that_comes_with_it_asks_by_need(tmp_path: Path) -> None:
    """Simulated workers in virtual time: few answers where all agree, more elsewhere.

    No item has more than seven, the budget holds, and labels are right as often as
    they say.
    """
    campaign = replace(prepare(CAMPAIGNS / "as_needed.toml"), out=tmp_path / "out")
    with rehearsal_of(campaign) as (run, crowd):
        work_through(run, crowd)
        progress = read_progress(run)
        rows = run.store.db.execute("SELECT item_id, workers, probability FROM items").fetchall()
        kept = run.store.db.execute(
            "SELECT item_id, json_extract(fields, '$.values.congruent') FROM answers "
            "WHERE verdict = 'keep'"
        ).fetchall()
        table = aggregates_of(run)
    assert progress.missing == 0
    assert progress.spent_cents <= campaign.rewards.budget_cents
    by_item: dict[str, set[str]] = {}
    for item_id, value in kept:
        by_item.setdefault(item_id, set()).add(value)
    numbers = {item_id: workers for item_id, workers, _ in rows}
    assert set(numbers.values()) <= set(range(3, 8))
    plain = [numbers[item] for item, values in by_item.items() if len(values) == 1]
    disputed = [numbers[item] for item, values in by_item.items() if len(values) == 2]
    assert fmean(plain) < fmean(disputed)
    assert all(workers == 7 or sure >= 0.95 for _, workers, sure in rows)
    truth = {str(i.item_id): i.columns["truth.congruent"] for i in campaign.items}
    right = fmean(truth[item] == label for item, label in table.items())
    assert right >= 0.9


def aggregates_of(run: CampaignRun) -> dict[str, str]:
    """The likeliest label of each item, as the dataset has it."""
    task = run.campaign.task
    ids = [str(item.item_id) for item in run.campaign.items]
    made = item_aggregates(answers_table(run), ids, task.fields, task.aggregates)
    return {str(item): str(label) for item, label in made["congruent_likeliest"].items()}


MARKED = """
name = "marked"
description = "Names in sentences."
task = "tag"
question = "Mark each name."
options = ["Person", "Place"]
items = "sentences.csv"
batches = 1
answers = { least = 2, most = 4, until = 0.9 }
reward = "0.50"
budget = "50.00"
hourly_wage = "5.00"
[posting]
items_per_hit = 1
[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["rule_violation"]
then = "drop"
because = "Not what the page asks for."
"""


def test_marks_are_asked_for_until_they_agree(tmp_path: Path) -> None:
    """A merge of as many other workers would agree with an item's by .9, or it has four answers."""
    sentences = [f"s{n},Ann Lee of Bonn met Carl number {n} in Paris today" for n in range(12)]
    (tmp_path / "sentences.csv").write_text("\n".join(["item_id,text", *sentences, ""]))
    (tmp_path / "marked.toml").write_text(MARKED)
    campaign = prepare(tmp_path / "marked.toml")
    with rehearsal_of(campaign) as (run, crowd):
        work_through(run, crowd)
        rows = run.store.db.execute("SELECT item_id, workers, probability FROM items").fetchall()
        section = outcomes.as_needed_section(report_model(report_facts(run)))
        task = run.campaign.task
        ids = [item_id for item_id, *_ in rows]
        made = item_aggregates(answers_table(run), ids, task.fields, task.aggregates)
    assert {2, 4} <= {workers for _, workers, _ in rows} <= {2, 3, 4}
    for item_id, workers, sure in rows:
        assert workers == 4 or sure >= 0.9
        alike = made["answer_agreement"][item_id]
        assert sure == pytest.approx(workers * alike / (1 + (workers - 1) * alike), abs=1e-3)
    assert section is not None
    assert "while the agreement that its merged answer would have" in section.lead[0]
