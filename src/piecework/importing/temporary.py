"""Answers from elsewhere as a campaign that lasts as long as somebody looks at it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.imported import Reading
from piecework.engine.opening import open_to_look
from piecework.hit_templates.tasks import load_task
from piecework.importing.importing import Import, campaign_name, keep
from piecework.importing.readers.recognise import Source
from piecework.importing.understanding import Understanding, understand


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSources:
    """Sources that were read.

    Attributes:
        opened: the campaign whose store holds their answers.
        understood: what they hold.
        unreadable: rows that were kept aside.
    """

    opened: OpenedCampaign
    understood: Understanding
    unreadable: int


@contextmanager
def opened_sources(
    sources: Sequence[Source], reading: Reading, *, task_name: str = ""
) -> Iterator[OpenedSources]:
    """Sources read into a store; all that is written goes away with the block.

    Args:
        sources: what is to be read.
        reading: what is said about their columns.
        task_name: what was asked, of the gallery, if that is said.

    Raises:
        ConfigError: a source cannot be read, or holds no answer.
    """
    task = load_task(task_name) if task_name else None
    understood = understand(sources, reading, task=task)
    with TemporaryDirectory(prefix="piecework-") as folder:
        path = Path(folder) / f"{campaign_name(sources[0].path.stem)}.toml"
        campaign, kept = keep(
            Import(
                path=path,
                campaign=None,
                sources=tuple(sources),
                understood=understood,
            )
        )
        with open_to_look(load_campaign(campaign.path)) as opened:
            yield OpenedSources(
                opened=opened,
                understood=understood,
                unreadable=sum(file.unreadable for file in kept),
            )
