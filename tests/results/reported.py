"""What a campaign's report is made of, as tests ask for it."""

from piecework.campaign.opened import CampaignRun
from piecework.report.facts import ReportFacts
from piecework.results.report_facts import report_facts


def reported(run: CampaignRun) -> ReportFacts:
    """All that the report shows of the campaign as it stands."""
    return report_facts(run)
