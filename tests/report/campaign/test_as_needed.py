"""The section on campaigns that ask until labels are sure."""

from dataclasses import replace

from piecework.report.facts import AsNeeded
from piecework.report.model import report_model
from piecework.report.sections import outcomes
from tests.report.campaign import by_hand

ASKED = AsNeeded(most=7, until=0.95, wanted={"i1": 3}, sureness=((2, 0.9), (3, 0.96)))


def test_a_campaign_that_asks_all_items_alike_has_no_such_section() -> None:
    """Two answers each."""
    assert outcomes.as_needed_section(report_model(by_hand.small())) is None


def test_what_is_wanted_is_counted_item_by_item() -> None:
    """Two each, and one more of the first; three of seven at most were taken."""
    model = report_model(replace(by_hand.small(), as_needed=ASKED))
    assert model.wanted == 7
    assert model.answers_each == "2 to 7 answers"
    section = outcomes.as_needed_section(model)
    assert section is not None
    assert "1 of 2 images" in section.lead[0]
    assert "1 image, below that and with fewer than 7" in section.lead[1]
    assert "1 image asked to the end took 3 accepted answers; 7" in section.lead[2]
    assert section.tables[0].rows == (("2", "1", "0", "0.0 %"), ("3", "1", "1", "100.0 %"))


def test_before_anything_is_weighed_it_says_so() -> None:
    """No share of nothing, no saving."""
    nothing = replace(ASKED, wanted={}, sureness=())
    section = outcomes.as_needed_section(report_model(replace(by_hand.small(), as_needed=nothing)))
    assert section is not None
    assert section.lead == ("Nothing is estimated yet.",)
    assert section.tables[0].rows == ()
    assert section.tables[0].empty
