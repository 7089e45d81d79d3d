"""Reads results of other tools into one DataFrame of answers."""

import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import pandas as pd

from piecework.config.named_files import read_reading
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.text import plural
from piecework.importing.readers.recognise import recognise
from piecework.importing.temporary import opened_sources
from piecework.library.answers import answers_of


def read_results(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    columns: str | PathLike[str] | None = None,
    task: str = "",
) -> pd.DataFrame:
    """Read the answers of files that another tool wrote, together.

    Formats are recognised by content: MTurk's CSV and JSON, AMTI, Simple-AMT, Mephisto,
    Potato, Prolific's export with the answers that it belongs to, Parquet, and tables
    with stated columns (docs/how-to/importing.md). Worker ids are those of the files.
    Rows that cannot be read are left out, with a `UserWarning`.

    Args:
        files: a file, several files, or a folder that a tool wrote.
        columns: a TOML file that maps the columns of tables in an unknown format.
        task: the task in the gallery that was asked; default: guessed.

    Returns:
        One row per answer, index `answer` (str). Columns `task`, `worker`,
        `assignment`, `hit` (str), `position` (int64, from 1), `accepted_at`,
        `submitted_at` (datetimes in UTC), `seconds` (that the task was on screen),
        `pastes`, `keystrokes`, `focus_losses` (float64, NaN if not known), `outcome`
        (the tool's word); a column for each field that was asked (`hit.<name>`: once
        for all tasks of an assignment); `gold.<name>` and `item.<name>` of the task.

    Raises:
        ConfigError: a file cannot be read, or its format is not known.
    """
    several = [files] if isinstance(files, str | PathLike) else [*files]
    if not several:
        raise ConfigError(["files: is empty; name at least one file"])
    reading = Reading() if columns is None else read_reading(Path(columns))
    sources = recognise([Path(file) for file in several], reading)
    with opened_sources(sources, reading, task_name=task) as sources_read:
        if sources_read.unreadable:
            faults = [f for file in sources_read.understood.files for f in file.first_faults]
            first = f"; the first: line {faults[0].line}: {faults[0].fault}"
            warnings.warn(
                f"{plural(sources_read.unreadable, 'row')} could not be read and left "
                f"out{first if faults else ''}",
                stacklevel=2,
            )
        return answers_of(sources_read.opened)
