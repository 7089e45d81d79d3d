"""The origin of the answers in files: their task and, if known, their campaign."""

from dataclasses import dataclass

from piecework.campaign.provenance import code_version
from piecework.domain.campaign import Campaign
from piecework.domain.dataset import Publication
from piecework.domain.task import Task
from piecework.postprocess.datasets.facts import DatasetFacts

UNKNOWN_TASK = Task(
    name="answers",
    version=1,
    title="",
    description="",
    keywords=(),
    columns=(),
    items_per_hit=1,
    reward_cents=0,
    assignment_duration_seconds=1,
    fields=(),
    rules=(),
)
"""A task with only a text."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What is known about the origin of answers.

    Attributes:
        task: the task of the answers.
        campaign: the campaign of the answers; None if unknown.
    """

    task: Task
    campaign: Campaign | None = None

    def facts(self, *, name: str) -> DatasetFacts:
        """Return the facts that a dataset of these answers states about itself.

        Args:
            name: of the dataset, if there is no campaign.
        """
        campaign = self.campaign
        return DatasetFacts(
            campaign=campaign.name if campaign else name,
            purpose=campaign.description if campaign else "",
            task=self.task,
            source_hash=campaign.source_hash if campaign else "",
            code_commit=code_version(),
            is_rehearsal=False,
            is_imported=campaign is not None and campaign.imported is not None,
            wanted_per_item="",
            publication=campaign.dataset if campaign else Publication(),
            is_part=True,
        )
