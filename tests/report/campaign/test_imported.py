"""Where imported answers come from, and what was decided there beside what is here."""

from dataclasses import replace

import pandas as pd
import pytest

from piecework.domain.imported import ImportedFile
from piecework.report.facts import ImportedFacts
from piecework.report.model import report_model
from piecework.report.page import render_report
from piecework.report.sections import (
    flags,
    other_sources,
    outcomes,
    overview,
    provenance,
    summary,
    timeline,
)
from tests.report.campaign import by_hand

FILE = ImportedFile(
    file="<b>batch.csv",
    sha256="5d41" * 16,
    format_name="MTurk batch results (CSV)",
    assignments=4,
    known=1,
    not_sent=2,
    unreadable=3,
)


def _facts() -> ImportedFacts:
    answers = by_hand.small().answers
    outcomes = pd.Series("Approved", index=answers.index, dtype="str")
    outcomes["A1.1"] = "Rejected"
    return ImportedFacts(
        files=(FILE,),
        outcomes=outcomes,
        has_times=True,
        unnamed_workers=1,
        wages_cents_per_hour=pd.Series({"w": 725.0}),
    )


def test_files_and_outcomes_are_told_beside_what_was_decided_here() -> None:
    """Four of eleven answers were dropped here, by hand; one was rejected there."""
    facts = replace(by_hand.small(), imported=_facts())
    section = other_sources.imported_section(report_model(facts))
    assert section is not None
    files, outcomes = section.tables
    assert files.rows[0][2:] == ("4", "1", "2", "3")
    rows = {row[0]: row[1:] for row in outcomes.rows}
    assert rows["Approved"][0] == "10"
    assert rows["Rejected"][0] == "1"
    assert "half of 1 worker earned $7.25/h or more" in " ".join(section.lead)
    assert "The files name no worker for 1 assignment" in " ".join(section.lead)


def test_a_campaign_that_collected_its_answers_has_no_such_section() -> None:
    """There is nothing to say."""
    assert other_sources.imported_section(report_model(by_hand.small())) is None


def test_what_waits_is_counted_and_its_flags_are_told() -> None:
    """A flagged answer that nobody has decided is neither dropped nor forgotten."""
    small, imported_facts = by_hand.small(), _facts()
    extra = small.answers.iloc[[0]].assign(assignment_id="A9", worker="w9")
    extra = extra.set_axis(pd.Index(["A9.1"], name=extra.index.name))
    finding = small.findings.iloc[[0]].assign(subject_kind="answer", subject_id="A9.1", flag=True)
    facts = replace(
        small,
        findings=pd.concat([small.findings, finding]),
        waiting=extra,
        imported=replace(
            imported_facts,
            outcomes=pd.concat([imported_facts.outcomes, pd.Series({"A9.1": "Late"})]),
        ),
    )
    model = report_model(facts)
    section = other_sources.imported_section(model)
    assert section is not None
    rows = {row[0]: row[1:] for row in section.tables[1].rows}
    assert rows["Late"] == ("1", "1 of 1 (100.0 %)", "0 of 1 (0.0 %)", "1")
    assert rows["Approved"][-1] == "0"
    assert model.waiting == 1
    shown = outcomes.funnel_section(model)
    assert "11 of 12 imported answers" in shown.lead[0]
    assert "imported: 12; decided: 11" in outcomes.funnel_figure(model).svg
    flagged = flags.flags_section(model)
    assert "flagged 5 of 12 answers (41.7 %)" in flagged.lead[0]
    assert "This includes 1 answer not decided yet" in flagged.lead[0]
    coverage = {str(row[0]): row[1:] for row in flagged.tables[0].rows}
    (pasted,) = (row for name, row in coverage.items() if "'pasted'" in name)
    assert pasted[:2] == ("answers: 4 of 12 (33.3 %)", "4")
    page = render_report(facts)
    assert "12 answers by" in page
    assert "1 waits for a person" in page
    assert "; 12 imported" in page


def test_what_waits_in_a_campaign_of_ones_own_is_counted_too() -> None:
    """Books count it on both sides, and a figure of the decided is called that."""
    small = by_hand.small()
    is_open = small.answers["assignment_id"] == "A4"
    facts = replace(small, answers=small.answers[~is_open], waiting=small.answers[is_open])
    model = report_model(facts)
    assert all(check.agrees for check in provenance.checks(model)[:2])
    shown = outcomes.funnel_section(model)
    assert "11 answers came back (2 not decided yet)" in shown.lead[0]
    assert "decided: 9" in outcomes.funnel_figure(model).svg
    when = timeline.pace_figure(model)
    assert when is not None
    assert "11 answers submitted" in when.svg
    alone = replace(facts, answers=small.answers.iloc[:0], waiting=small.answers, shown_items=())
    page = render_report(alone)
    assert "Nothing yet" not in page
    assert "No answer is decided yet." in page
    assert "Every answer that came counts" not in page


@pytest.mark.full
def test_whom_no_file_names_is_not_counted_as_a_worker() -> None:
    """Four assignments: of one, then of all four, no file says whose they are."""
    small = replace(by_hand.small(is_rehearsal=False), money=None)
    facts = replace(small, imported=_facts())
    some = report_model(facts)
    assert some.workers == "3 workers, and others whom no file names"
    assert "3 workers, and others whom no file names took part" in render_report(facts)
    imported_facts = replace(facts, imported=replace(_facts(), unnamed_workers=4))
    page = render_report(imported_facts)
    assert "by workers whom no file names" in page
    assert "Each of 4 assignments counts as a different person" in page
    assert "The workers</h3>" not in page
    assert "4 workers" not in page


def test_nothing_is_said_of_pay_that_was_another_tools() -> None:
    """Nor of posting: what became of answers there is not known."""
    page = render_report(replace(by_hand.small(), money=None, imported=_facts()))
    assert "1 the worker&#39;s second about the same item" in page
    for words in (
        "paid for",
        "Paid for",
        "than were wanted",
        "see no later",
        "posted together",
        "wanted<",
    ):
        assert words not in page, words


@pytest.mark.full
def test_nothing_is_said_of_times_that_no_file_says() -> None:
    """The moment of the import is not when the work was done."""
    facts = by_hand.small()
    imported = replace(_facts(), has_times=False)
    page = render_report(replace(facts, imported=imported))
    assert "Times unknown" in page
    assert "When it happened" not in page
    origin = provenance.provenance_section(report_model(replace(facts, imported=imported))).tables[
        0
    ]
    assert ("Time span (UTC)", "unknown") in origin.rows
    known = timeline.timeline_section(report_model(replace(facts, imported=_facts())))
    assert known is not None
    assert not known.tables
    pace = timeline.pace_figure(report_model(replace(facts, imported=_facts())))
    assert pace is not None


def test_rejections_and_feedback_elsewhere_come_first() -> None:
    """One of eleven was rejected there, unflagged here; four others are flagged."""
    facts = by_hand.small(is_rehearsal=False)
    feedback = pd.Series("", index=facts.answers.index)
    feedback["A1.1"] = "You left the box <empty>."
    there = replace(_facts(), feedback=feedback)
    question, *_ = overview.questions(report_model(replace(facts, imported=there)))
    assert "1 of 11 answers (9.1 %)" in question.answer
    assert "0 of 1 (0.0 %)" in question.answer
    assert "4 of 10 (40.0 %)" in question.answer
    (point,) = question.points
    assert "You left the box <empty>." in point
    page = render_report(replace(facts, imported=there))
    assert page.index("box &lt;empty&gt;") < page.index("What was asked")


def test_nothing_rejected_elsewhere_is_no_question() -> None:
    """Approvals without a word leave the top of the page to the campaign."""
    facts = replace(by_hand.small(), imported=_facts())
    outcomes = _facts().outcomes.mask(lambda outcome: outcome == "Rejected", "")
    approved = replace(facts, imported=replace(_facts(), outcomes=outcomes))
    first, *_ = overview.questions(report_model(approved))
    assert first.name == "What was asked"


def test_rejections_elsewhere_are_not_called_fine() -> None:
    """Nothing is rejected here, but the requester had rejected one."""
    small = by_hand.small(is_rehearsal=False)
    kept = small.decisions[~small.decisions["verdict"].isin(["reject", "block"])]
    facts = replace(small, decisions=kept, imported=_facts())
    notes = {note.text: note.level for note in summary.summary_notes(report_model(facts))}
    (level,) = (level for text, level in notes.items() if "1 of 11 answers" in text)
    assert level == "watch"
