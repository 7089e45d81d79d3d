"""What a campaign's report is made of, as tests ask for it."""

from piecework.flows.campaign_run import CampaignRun
from piecework.flows.results.report_facts import report_facts
from piecework.report.facts import ReportFacts


def reported(run: CampaignRun) -> ReportFacts:
    """All that the report shows of the campaign as it stands."""
    return report_facts(run)
