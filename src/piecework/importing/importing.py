"""Import files into a campaign: first understand and show them, then write."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from piecework.campaign.assembling import assemble
from piecework.campaign.composing.default_policy import default_policy
from piecework.config.campaign_file import parse, parse_text
from piecework.config.user_files import write_new
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.hit_templates.tasks import load_task
from piecework.importing.imported_text import imported_text, policy_text
from piecework.importing.keeping import keep_files
from piecework.importing.readers.recognise import Source, recognise
from piecework.importing.understanding import Understanding, understand
from piecework.store.imports import ImportedFile

_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """Files that were understood, and the campaign to import them into.

    Attributes:
        path: the campaign file.
        campaign: the campaign in the file, if it exists.
        understood: `None` if no files are given, to reread the stored ones.
    """

    path: Path
    campaign: Campaign | None
    sources: tuple[Source, ...]
    understood: Understanding | None


def look(paths: Sequence[Path], *, into: Path, reading: Reading, task_name: str = "") -> Import:
    """Understand files, without writing anything.

    Args:
        paths: the files.
        into: the campaign file, which may exist.
        reading: what is known about their columns; the campaign file takes precedence.
        task_name: a task of the gallery, if known.

    Raises:
        ConfigError: a file cannot be read, or the campaign is not an imported one.
    """
    campaign = _known(into)
    if campaign is not None:
        reading = campaign.imported or reading
    sources = tuple(recognise(paths, reading))
    task = load_task(task_name) if task_name else None
    if campaign is not None:
        task = campaign.task
    elif not sources:
        raise ConfigError([f"{into}: there is no such campaign, and no files to import were given"])
    understood = understand(sources, reading, task=task) if sources else None
    return Import(path=into, campaign=campaign, sources=sources, understood=understood)


def keep(planned: Import) -> tuple[Campaign, list[ImportedFile]]:
    """Write the campaign file if there is none, and import the files into its store.

    Raises:
        ConfigError: the campaign file to write has faults.
        StoreError: the store belongs to something else.
    """
    campaign = planned.campaign
    if campaign is None:
        assert planned.understood is not None  # noqa: S101 - there are files then
        text = compose(planned.path, planned.understood)
        planned.path.parent.mkdir(parents=True, exist_ok=True)
        write_new(planned.path, text)
        campaign = assemble(parse(planned.path))
    return campaign, keep_files(campaign, planned.sources)


def compose(path: Path, understood: Understanding) -> str:
    """Return the text of the campaign file."""
    name = campaign_name(path.stem)
    text = imported_text(name, understood, file_name=path.name)
    campaign = assemble(parse_text(path, text))
    return text + policy_text(campaign, default_policy(campaign.task, ()))


def campaign_name(stem: str) -> str:
    """Return a campaign name made from a file name.

    >>> campaign_name("Batch 12 (new)")
    'batch-12-new'
    """
    name = re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-_")
    return name[:_LONGEST_NAME] or "imported"


def _known(path: Path) -> Campaign | None:
    if not path.exists():
        return None
    campaign = assemble(parse(path))
    if campaign.imported is None:
        raise ConfigError(
            [f"{path}: is a campaign that collects its own answers"],
            next_step="import the answers into a separate campaign: --as OTHER.toml",
        )
    return campaign
