"""Runs of a user's program that are suspended until people have answered.

Each is a file in the campaign's folder. A pass that finds the answers sure, or the
deadline over, lets the run continue and forgets it.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from piecework.campaign.opened import OpenedCampaign
from piecework.results.export import write_text
from piecework.results.item_labels import are_finished
from piecework.store.columns import from_text, to_text

_FOLDER = "waiting-runs"


def keep(out: Path, run_id: str, keys: Sequence[str], *, deadline: datetime | None) -> None:
    """Record what a run waits for, before it is suspended."""
    (out / _FOLDER).mkdir(parents=True, exist_ok=True)
    waiting = {"keys": [*keys], "deadline": None if deadline is None else to_text(deadline)}
    write_text(_file(out, run_id), json.dumps(waiting))


def run_ids(out: Path) -> list[str]:
    """Return the runs that wait, in the order of their ids."""
    return sorted(file.stem for file in (out / _FOLDER).glob("*.json"))


def may_continue(opened: OpenedCampaign, run_id: str, *, now: datetime) -> bool:
    """Return whether a run's questions are answered, or its time is over."""
    waiting = json.loads(_file(opened.campaign.out, run_id).read_text())
    deadline = waiting["deadline"]
    is_late = deadline is not None and from_text(deadline) <= now
    return is_late or are_finished(opened, waiting["keys"])


def forget(out: Path, run_id: str) -> None:
    """Delete the record of a run that continues or has ended."""
    _file(out, run_id).unlink(missing_ok=True)


def _file(out: Path, run_id: str) -> Path:
    return out / _FOLDER / f"{run_id}.json"
