"""A test gates the HITs: simulated workers take it, and who fails never works."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import ConfigError, PlatformRefused
from piecework.domain.hit import PostableTest
from piecework.domain.qualifications import QualificationTest
from piecework.engine.requirements import is_test_posted, keep_test_scores, requirements_of_test
from piecework.engine.run_pass import run_pass
from piecework.hit_templates.qualification import answer_key, question_form
from piecework.platforms.mturk import MTurk
from piecework.report.page import render_report
from piecework.report.sections.workers import BeforeWork
from piecework.simulation.crowd.crowd import Crowd
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of
from piecework.store import assignments, campaign_facts, ledger, workers
from tests.results.reported import reported

CAMPAIGNS = Path(__file__).resolve().parents[2] / "config" / "campaigns"
CAMPAIGN = """
name = "gated"
description = "Captions by people who passed a test."
task = "hodosh_caption"
answers = 2
budget = "20"
hourly_wage = "0"
qualification = "english.toml"
[items]
file = "items.csv"
scenes = 120
[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["rule_violation"]
then = "drop"
because = "It breaks a rule of the page."
[rehearsal]
seed = 11
crowd = { diligent = 3, guesser = 2, first_clicker = 2 }
"""


TEST = """
task = "hodosh_qualification"
items = "questions.csv"
name = "English"
correct_at_least = { spelling = 12, grammar = 12, judging = 8 }
retry_hours = 1
"""


def written(folder: Path, text: str = CAMPAIGN, test: str = TEST) -> Path:
    """The campaign's files, with three images and the forty questions."""
    path = folder / "gated.toml"
    path.write_text(text)
    (folder / "english.toml").write_text(test)
    rows = (CAMPAIGNS / "hodosh_caption.csv").read_text().splitlines()
    (folder / "items.csv").write_text("\n".join(rows[:4]) + "\n")
    questions = (CAMPAIGNS / "hodosh_qualification.csv").read_text()
    (folder / "questions.csv").write_text(questions)
    return path


@contextmanager
def finished(path: Path) -> Iterator[tuple[CampaignRun, Crowd]]:
    """A rehearsal that has run to its end, and its crowd."""
    with rehearsal_of(prepare(path)) as (run, crowd):
        for _ in range(6):
            if run_pass(run).is_finished:
                break
            crowd.work_until()
        assert run_pass(run).is_finished
        yield run, crowd


def test_who_fails_the_test_never_works(tmp_path: Path) -> None:
    """Whoever reads passes, who does not fails, and only the first have work."""
    with finished(written(tmp_path, CAMPAIGN)) as (run, crowd):
        traits = crowd.traits_by_worker()
        passed_by_trait = {
            (traits[worker_id], score >= 32)
            for worker_id, score in workers.load_scores(run.store).items()
        }
        assert passed_by_trait == {("diligent", True), ("guesser", False), ("first_clicker", False)}
        worked = {
            traits[assignment.worker_id] for assignment in assignments.load_assignments(run.store)
        }
        assert worked == {"diligent"}
        facts = reported(run)
        before_work = facts.of(BeforeWork)
        assert before_work is not None
        assert before_work.test.least_passing == 32
        report = render_report(facts)
        taken = [score for score, _ in before_work.scores]
        passed = sum(score >= 32 for score in taken)
        assert (min(taken), max(taken) <= 40) == (0, True)
        assert f"{len(taken)} workers took the test, and {passed} of {len(taken)}" in (report)
        pictures_are_there(run)
        made_again(run)


def test_after_its_type_was_deleted_what_came_is_collected_and_paid(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody can take the test any more, and a pass says so only once it has HITs to post."""
    with rehearsal_of(prepare(written(tmp_path))) as (run, crowd):
        run_pass(run)
        crowd.work_until()
        assert isinstance(run.platform, MTurk)
        [type_id] = campaign_facts.platform_types(run.store, "test").values()
        run.platform._client.delete_qualification_type(QualificationTypeId=type_id)
        with suppress(PlatformRefused):
            run_pass(run, poll_open_hits=True)
        assert "somebody deleted the type of the campaign's test" in caplog.text
        assert len(assignments.load_assignments(run.store)) == 2
        assert ledger.balances(run.store)["rewards"] > 0
        campaign_facts.record_stop(run.store, at=run.clock.now())
        run_pass(run)
        assert run_pass(run).waiting_for == "nobody"


def test_new_hits_require_the_test_as_the_file_has_it_now(tmp_path: Path) -> None:
    """A lower pass mark needs another name, another type and another key; scores stay."""
    text = CAMPAIGN.replace("answers = 2", "answers = 2\nbatches = 3")
    with rehearsal_of(prepare(written(tmp_path, text))) as (run, crowd):
        assert not is_test_posted(run)
        run_pass(run)
        assert is_test_posted(run)
        assert not is_test_posted(replace(run, campaign=replace(run.campaign, qualification=None)))
        crowd.work_until()
        [before] = requirements_of_test(run)
        assert requirements_of_test(run) == (before,)
        assert run.campaign.qualification is not None
        marks = {"spelling": 12, "grammar": 12, "judging": 7}
        easier = replace(run.campaign.qualification, correct_at_least=marks)

        def changed(test: QualificationTest) -> CampaignRun:
            return replace(run, campaign=replace(run.campaign, qualification=test))

        with pytest.raises(PlatformRefused, match="exists with another test"):
            run_pass(changed(easier))
        scores = workers.load_scores(run.store)
        assert max(scores.values()) >= 32
        plainer = replace(easier, name="Plainer English", duration_seconds=1800)
        run_pass(changed(plainer))
        [after] = requirements_of_test(changed(plainer))
        assert after.integer_values == (31,)
        made = run.platform._client.get_qualification_type(
            QualificationTypeId=after.qualification_type_id
        )["QualificationType"]
        assert (made["TestDurationInSeconds"], made["RetryDelayInSeconds"]) == (1800, 3600)
        assert after.qualification_type_id != before.qualification_type_id
        required = [
            {each["QualificationTypeId"]: each["ActionsGuarded"] for each in wanted}
            for hit in run.platform._client.list_hits()["HITs"]
            if (wanted := hit["QualificationRequirements"])
        ]
        # Workers may look at a HIT before they take the test.
        assert required[0][after.qualification_type_id] == "Accept"
        assert [after.qualification_type_id in each for each in required] == [True, False]
        assert [before.qualification_type_id in each for each in required] == [False, True]
        # Nobody has taken the new test, and who passed the earlier one still did.
        run_pass(changed(replace(easier, name="Plainer English")))
        assert workers.load_scores(run.store) == scores
        assert requirements_of_test(run) == (before,)
        # Of two tests the better score counts, whichever was taken first.
        best = max(scores, key=scores.__getitem__)
        for score in (1, scores[best] + 1):
            run.platform._client.associate_qualification_with_worker(
                QualificationTypeId=after.qualification_type_id, WorkerId=best, IntegerValue=score
            )
            keep_test_scores(run)
            assert workers.load_scores(run.store)[best] == max(score, scores[best])
        # Without the earlier type, the scores of the other test are still read.
        turk = run.platform._client
        turk.delete_qualification_type(QualificationTypeId=before.qualification_type_id)
        turk.associate_qualification_with_worker(
            QualificationTypeId=after.qualification_type_id, WorkerId=best, IntegerValue=score + 1
        )
        keep_test_scores(run)
        assert workers.load_scores(run.store)[best] == score + 1


def pictures_are_there(run: CampaignRun) -> None:
    """Each of the ten pictures is served where the posted test says."""
    test = run.campaign.qualification
    assert test is not None
    form = question_form(test, site=run.platform.endpoint)
    urls = re.findall(r"<DataURL>(.*?)</DataURL>", form)
    assert len(urls) == 10
    for url in urls:
        reply = httpx.get(url)
        assert reply.status_code == 200, url
        assert reply.headers["content-type"].startswith("image/")


def made_again(run: CampaignRun) -> None:
    """The same test is found by its name, also if the site has another address."""
    test = run.campaign.qualification
    assert test is not None
    again = PostableTest(
        name=test.name,
        description="again",
        question_form=question_form(test, site="http://127.0.0.1:1"),
        answer_key=answer_key(test),
        duration_seconds=test.duration_seconds,
        retry_seconds=test.retry_seconds,
    )
    [kept] = campaign_facts.platform_types(run.store, "test").values()
    assert run.platform.qualification(again) == kept
    easier = replace(test, correct_at_least={**test.correct_at_least, "judging": 7})
    with pytest.raises(PlatformRefused, match="exists with another test"):
        run.platform.qualification(replace(again, answer_key=answer_key(easier)))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("retry_hours = 1", "retry_hours = -1", "english.toml:6: retry_hours: "),
        ("retry_hours = 1", "hours = 1", "english.toml:6: hours: no such key"),
        ("spelling = 12,", "spelling = 0,", "correct_at_least.spelling: "),
        ("spelling = 12,", "", "the section 'spelling' is missing"),
        ('task = "hodosh_qualification"', 'task = "congruency"', "no column pair_id"),
        ('"questions.csv"', '"lost.csv"', "lost.csv: the items file cannot be read"),
    ],
)
def test_a_test_that_cannot_be_is_told_before_anything_is_posted(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    """In a sentence that says where."""
    path = written(tmp_path, test=TEST.replace(before, after))
    with pytest.raises(ConfigError) as caught:
        load_campaign(path)
    assert message in "\n".join(caught.value.faults)
