"""Which runs of Prefect wait for answers: a file each, in the campaign's folder.

A user's program that runs in Prefect is suspended until people have answered
(`piecework.flows.asking`). A pass that finds that it waits no more lets it continue, and
forgets it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from piecework.store.database import parsed_moment, to_text
from piecework.store.files import write_whole_text

_FOLDER = "waiting-runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRun:
    """What a run waits for.

    Attributes:
        keys: of its questions.
        deadline: when it continues without answers; `None`: never.
    """

    keys: Sequence[str]
    deadline: datetime | None


def keep(out: Path, run_id: str, waiting: WaitingRun) -> None:
    """Record what a run waits for, before it is suspended."""
    (out / _FOLDER).mkdir(parents=True, exist_ok=True)
    deadline = None if waiting.deadline is None else to_text(waiting.deadline)
    write_whole_text(
        _file_of(out, run_id), json.dumps({"keys": [*waiting.keys], "deadline": deadline})
    )


def ids(out: Path) -> list[str]:
    """Return the runs that wait, in the order of their ids."""
    return sorted(file.stem for file in (out / _FOLDER).glob("*.json"))


def read(out: Path, run_id: str) -> WaitingRun:
    """Return what a run waits for.

    Raises:
        FileNotFoundError: another pass has let it continue.
    """
    waiting = json.loads(_file_of(out, run_id).read_text())
    return WaitingRun(keys=waiting["keys"], deadline=parsed_moment(waiting["deadline"]))


def forget(out: Path, run_id: str) -> None:
    """Delete the record of a run that continues or has ended."""
    _file_of(out, run_id).unlink(missing_ok=True)


def _file_of(out: Path, run_id: str) -> Path:
    return out / _FOLDER / f"{run_id}.json"
