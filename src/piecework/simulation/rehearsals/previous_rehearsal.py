"""The rehearsal before: set aside when what it was made from has changed.

A rehearsal that was killed continues, and a finished one is shown again, only if every
input is as it was: the campaign file, each file that it names, the version of
piecework, who works. Otherwise its files move to a folder, and a new rehearsal begins.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from piecework.campaign.binding import REHEARSAL
from piecework.campaign.provenance import code_version
from piecework.domain.campaign import Campaign
from piecework.domain.store_address import FILE_NAME
from piecework.engine.begun import is_begun, known_store
from piecework.engine.opening import open_to_look
from piecework.engine.progress import read_progress
from piecework.markets.registry import markets
from piecework.results.export import DATASET, REPORT, SUMMARY
from piecework.results.releases import FOLDER as RELEASES
from piecework.simulation.rehearsals.marketplace import MARKET
from piecework.store import archive, bound, campaign_facts, postgres
from piecework.store.lock import only_pass

FOLDER = "previous-rehearsal"
"""The folder of the rehearsal before, in the campaign's folder."""

_UNDER_WAY = f"{FOLDER}.unfinished"
_FILES = (*(DATASET, RELEASES, REPORT, SUMMARY, "items.jsonl", "pictures"), archive.ARCHIVE_FOLDER)


def set_aside_if_changed(campaign: Campaign, crowds: Sequence[str]) -> tuple[str, ...]:
    """Set a rehearsal aside whose inputs have changed.

    Args:
        campaign: as its files are now.
        crowds: the markets whose people work; none for simulated workers.

    Returns:
        What has changed; () if there is no rehearsal, or nothing has changed.

    Raises:
        CampaignBusy: another process works on the campaign.
    """
    out = campaign.out
    if not (campaign.store.url or out.is_dir()):
        return ()
    with only_pass(campaign.store):
        changes = _changes(campaign, crowds)
        if changes:
            _move(campaign, out)
        elif (out / _UNDER_WAY).is_dir() and not (out / FILE_NAME).exists():
            _finish(out)
    return changes


def is_finished(campaign: Campaign) -> bool:
    """Return whether there is a rehearsal of the campaign, and it is finished."""
    if not is_begun(campaign):
        return False
    with open_to_look(campaign) as opened:
        return read_progress(opened).is_finished


def _changes(campaign: Campaign, crowds: Sequence[str]) -> tuple[str, ...]:
    with known_store(campaign) as store:
        if store is None:
            return ()
        known = bound.read(store)
        environment = known.environment or ""
        if known.campaign != campaign.name or not environment.startswith(REHEARSAL):
            return ()  # opening it says what it belongs to
        used = campaign_facts.latest_inputs(store)
    if used is None:
        return ("it was ended before its first pass",)
    changes = used.changes(campaign.inputs.by_code(code_version()))
    began_with = {each.name for each in markets() if (campaign.out / each.files[0]).exists()}
    others = () if began_with == {*crowds} else ("--crowd",)
    return (*changes, *others)


def _move(campaign: Campaign, out: Path) -> None:
    """Move the files of a rehearsal; killed half-way, the next call continues."""
    aside = out / _UNDER_WAY
    aside.mkdir(mode=0o700, exist_ok=True)
    of_markets = (file for each in markets() for file in each.files)
    # The store comes last: while it is there, a killed move is continued.
    databases = (MARKET, *of_markets, FILE_NAME)
    ends = ("-wal", "-shm", "")
    for name in (*_FILES, *(f"{file}{end}" for file in databases for end in ends)):
        if (out / name).exists():
            if (aside / name).is_dir():
                shutil.rmtree(aside / name)
            (out / name).replace(aside / name)
    if campaign.store.url:
        postgres.set_aside(campaign.store)
    _finish(out)


def _finish(out: Path) -> None:
    if (out / FOLDER).is_dir():
        shutil.rmtree(out / FOLDER)
    (out / _UNDER_WAY).rename(out / FOLDER)
