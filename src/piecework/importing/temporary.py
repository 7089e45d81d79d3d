"""Open answers from other tools as a temporary campaign."""

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
    """Sources read into a temporary campaign.

    Attributes:
        opened: the campaign with a store of their answers.
        understood: their content.
        unreadable: rows that were set aside.
    """

    opened: OpenedCampaign
    understood: Understanding
    unreadable: int


@contextmanager
def opened_sources(
    sources: Sequence[Source], reading: Reading, *, task_name: str = ""
) -> Iterator[OpenedSources]:
    """Read sources into a temporary store, deleted at the end of the block.

    Args:
        sources: the sources.
        reading: what is known about their columns.
        task_name: a task of the gallery, if known.

    Raises:
        ConfigError: a source cannot be read, or contains no answers.
    """
    task = load_task(task_name) if task_name else None
    understood = understand(sources, reading, task=task)
    with TemporaryDirectory(prefix="piecework-") as folder:
        path = Path(folder) / f"{campaign_name(sources[0].path.stem)}.toml"
        campaign, kept = keep(
            Import(path=path, campaign=None, sources=tuple(sources), understood=understood)
        )
        with open_to_look(load_campaign(campaign.path)) as opened:
            yield OpenedSources(
                opened=opened,
                understood=understood,
                unreadable=sum(file.unreadable for file in kept),
            )
