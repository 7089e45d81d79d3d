"""Where imported answers come from, and what was decided there beside what is here."""

from dataclasses import replace

import pandas as pd

from report.facts import ImportedFacts, ImportedSource
from report.model import report_model
from report.sections import imported
from tests.report.campaign import by_hand

FILE = ImportedSource(
    name="<b>batch.csv",
    format_name="MTurk batch results (CSV)",
    assignments=4,
    known=1,
    not_sent=2,
    unreadable=3,
)


def _facts() -> ImportedFacts:
    answers = by_hand.small().answers
    said = pd.Series("Approved", index=answers.index, dtype="str")
    said["A1.1"] = "Rejected"
    return ImportedFacts(
        files=(FILE,),
        outcomes=said,
        unnamed_workers=1,
        wages_cents_per_hour=pd.Series({"w": 725.0}),
    )


def test_files_and_outcomes_are_told_beside_what_was_decided_here() -> None:
    """Four of eleven answers were dropped here, by hand; one was rejected there."""
    facts = replace(by_hand.small(), imported=_facts())
    section = imported.build(report_model(facts))
    assert section is not None
    files, outcomes = section.tables
    assert files.rows[0][2:] == ("4", "1", "2", "3")
    rows = {row[0]: row[1:] for row in outcomes.rows}
    assert rows["Approved"][0] == "10"
    assert rows["Rejected"][0] == "1"
    assert "half of 1 worker earned $7.25 an hour" in " ".join(section.lead)
    assert "are not named" in " ".join(section.lead)


def test_a_campaign_that_collected_its_answers_has_no_such_section() -> None:
    """There is nothing to say."""
    assert imported.build(report_model(by_hand.small())) is None
