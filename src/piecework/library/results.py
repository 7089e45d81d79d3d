"""Results of other tools, read into one frame of answers."""

import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import pandas as pd

from piecework.config.imported_file import read_reading
from piecework.domain.counts import plural
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.importing.readers.recognise import recognise
from piecework.importing.temporary import opened_sources
from piecework.library.answers import answers_of


def read_results(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    columns: str | PathLike[str] | None = None,
    task: str = "",
) -> pd.DataFrame:
    """The answers of files that another tool wrote, together.

    Formats are recognised by content: MTurk's CSV and JSON, AMTI, Simple-AMT, Mephisto,
    Potato, Prolific's export with the answers that it belongs to, Parquet, and tables
    whose columns are stated (docs/how-to/importing.md). Ids of workers are those of the
    files. Rows that cannot be read are left out, with a `UserWarning`.

    Args:
        files: a file, several, or a folder that a tool made.
        columns: a TOML file that says which column is what, for tables of no tool.
        task: a task of the gallery, if that was asked; else it is guessed.

    Returns:
        A row an answer, index `answer` (str). Columns `task`, `worker`, `assignment`,
        `hit` (str), `position` (int64, from 1), `accepted_at`, `submitted_at`
        (datetimes in UTC), `seconds` (that the task was on screen), `pastes`,
        `keystrokes`, `focus_losses` (float64, NaN where not known), `outcome` (in the
        tool's word); a column for each thing that was asked (`hit.<name>`: once for
        all tasks of an assignment); `gold.<name>` and `item.<name>` of the task.

    Raises:
        ConfigError: a file cannot be read, or is of no format that is known.
    """
    several = [files] if isinstance(files, str | PathLike) else [*files]
    if not several:
        raise ConfigError(["files: there is none; name at least one"])
    reading = Reading() if columns is None else read_reading(Path(columns))
    sources = recognise([Path(file) for file in several], reading)
    with opened_sources(sources, reading, task_name=task) as sources_read:
        if sources_read.unreadable:
            faults = [
                f for file in sources_read.understood.files for f in file.first_faults
            ]
            first = f"; the first: line {faults[0].line}: {faults[0].fault}"
            warnings.warn(
                f"{plural(sources_read.unreadable, 'row')} could not be read and left "
                f"out{first if faults else ''}",
                stacklevel=2,
            )
        return answers_of(sources_read.opened)
