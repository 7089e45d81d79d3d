"""Files into a campaign: understood first, shown, and then written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from piecework.campaign.assembling import assemble
from piecework.campaign.composing.default_policy import default_policy
from piecework.config.campaign_file import parse, parse_text
from piecework.config.utf8 import write_new
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
    """Files that were understood, and the campaign that they are to become.

    Attributes:
        path: of the campaign file.
        campaign: as the file is, if there is one.
        understood: `None` if no files are given, to read anew what is there.
    """

    path: Path
    campaign: Campaign | None
    sources: tuple[Source, ...]
    understood: Understanding | None


def look(
    paths: Sequence[Path], *, into: Path, reading: Reading, task_name: str = ""
) -> Import:
    """Understand files; nothing is written.

    Args:
        paths: of the files.
        into: the campaign file, which may be there already.
        reading: what is said about their columns; the campaign file stands above.
        task_name: what was asked, of the gallery, if that is said.

    Raises:
        ConfigError: a file cannot be read; or the campaign file is of something else.
    """
    campaign = _known(into)
    if campaign is not None:
        reading = campaign.imported or reading
    sources = tuple(recognise(paths, reading))
    task = load_task(task_name) if task_name else None
    if campaign is not None:
        task = campaign.task
    elif not sources:
        raise ConfigError(
            [f"{into}: there is no such campaign, and no file to import is given"]
        )
    understood = understand(sources, reading, task=task) if sources else None
    return Import(path=into, campaign=campaign, sources=sources, understood=understood)


def keep(planned: Import) -> tuple[Campaign, list[ImportedFile]]:
    """Write the campaign file if there is none, and bring the files into its store.

    Raises:
        ConfigError: the campaign file that would be written has faults.
        StoreError: the store is of something else.
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
    """The text of the campaign file."""
    name = campaign_name(path.stem)
    text = imported_text(name, understood, file_name=path.name)
    campaign = assemble(parse_text(path, text))
    return text + policy_text(campaign, default_policy(campaign.task, ()))


def campaign_name(stem: str) -> str:
    """A campaign's name made of a file's.

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
            [f"{path}: is a campaign that collects answers itself"],
            next_step="give the imported answers a campaign of their own: "
            "--as OTHER.toml",
        )
    return campaign
