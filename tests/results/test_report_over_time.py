"""The report of a campaign that grows: days, rows that wait, and each batch."""

from pathlib import Path

from piecework.report.model import report_model
from piecework.report.sections import timeline
from piecework.results.report_facts import report_facts
from tests.growing_campaign import growing, names


def test_days_and_batches_are_counted_as_they_came(tmp_path: Path) -> None:
    """Four rows on the first day; five on the third, and three more that wait."""
    with growing(tmp_path, names(1, 4)) as campaign:
        assert campaign.finish().waiting_for == "new rows"
        campaign.move(days=2)
        campaign.append(*names(5, 9))
        campaign.finish()
        campaign.append(*names(10, 12))
        campaign.advance()
        model = report_model(report_facts(campaign.run))
        section = timeline.growth_section(model)
        assert section is not None
        (table,) = section.tables
        # Two items to a HIT at 50 cents, 10 of them a fee: 2 and 3 HITs of 60 cents.
        assert [[*row][2:6] for row in table.rows] == [
            ["4", "4", "0.0 %", "$1.20"],
            ["5", "5", "0.0 %", "$1.80"],
        ]
        assert section.lead == ("12 rows arrived in 3 days; 9 were posted, 3 wait.",)
        answers, waiting = section.figures
        assert answers.note == "One column for each day; at most 5 answers."
        assert "at most 3" in waiting.note
        assert timeline.timeline_section(model) is not None


def test_a_campaign_that_is_whole_has_no_such_section(tmp_path: Path) -> None:
    """Nor has one that grows, before its first row came."""
    with growing(tmp_path, []) as campaign:
        campaign.advance()
        assert timeline.growth_section(report_model(report_facts(campaign.run))) is None
