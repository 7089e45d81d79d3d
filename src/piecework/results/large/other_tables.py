"""Tables of other tools: the first step of the work makes files of answers from them.

These files are in the work folder. So an interrupted command continues behind this step, and
nothing is left elsewhere if its process is killed.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from piecework.campaign.provenance import code_version
from piecework.domain.errors import ConfigError
from piecework.results.large.answer_files import Origin, states
from piecework.results.large.work_folder import WorkFolder

_Known = TypeVar("_Known")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeAnswers:
    """What is known about the answers in tables.

    Attributes:
        origin: their task, with settings and items.
        remarks: how the tables were read, in sentences.
    """

    origin: Origin
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables(Generic[_Known]):
    """Tables of other tools, and how answers are made from them.

    Attributes:
        paths: files, or folders of a tool.
        read_as: all that decides how they are read; JSON.
        write: writes Parquet files of answers to an empty folder, and returns what is known
            about them.
    """

    paths: Sequence[Path]
    read_as: Mapping[str, object]
    write: Callable[[Path], _Known]

    @property
    def inputs(self) -> Mapping[str, object]:
        """What the answers depend on; JSON."""
        return {"tables": states(self.paths), "code": code_version(), "read_as": {**self.read_as}}

    def make_answers(self, folder: WorkFolder) -> tuple[Path, _Known]:
        """Make the answers, unless an interrupted run made them.

        Returns:
            The folder with the files of answers, and what is known about them.

        Raises:
            ConfigError: a table cannot be read; then the work folder is deleted.
        """
        answers = folder.at("answers")
        if not folder.at("made").exists():
            shutil.rmtree(answers, ignore_errors=True)  # a run may have been cut off in it
            answers.mkdir()
        try:
            folder.keep("made", partial(self.write, answers))
        except ConfigError:
            shutil.rmtree(folder.path)
            raise
        return answers, folder.kept("made")
