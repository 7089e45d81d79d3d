"""Writes a small runnable task of each kind for `piecework init --new-task`.

Each kind is a folder in `_starters/` with the task's files, items, and a campaign file
that names the task by its folder.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from piecework.domain.errors import ConfigError
from piecework.hit_templates.messages import FOLDER

StarterKind = Literal["text", "choice", "choices", "scale"]
"""The answer to give about an item: a sentence, an option, several, or a rating."""

STARTER_KINDS: tuple[StarterKind, ...] = get_args(StarterKind)

_NAME = "NAME"
_ALLOWED = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_BESIDE = {"campaign.toml": f"{_NAME}.toml", "items.csv": f"{_NAME}.csv"}
"""The files beside the task's folder, with their names."""


def starter_files(kind: StarterKind, name: str) -> Mapping[str, str]:
    """Return texts by path, relative to the campaign's folder.

    Args:
        kind: the task's kind.
        name: the name of the task, its folder and its campaign.
    """
    files = sorted((FOLDER / "_starters" / kind).iterdir())
    return {
        _BESIDE.get(path.name, f"{_NAME}/{path.name}").replace(_NAME, name): (
            path.read_text("utf-8").replace(_NAME, name)
        )
        for path in files
    }


def write_starter(path: Path, kind: StarterKind) -> Path:
    """Write the task into the folder `path`; the campaign file beside it.

    Raises:
        ConfigError: a campaign cannot have this name, or a file already exists.
    """
    if not _ALLOWED.fullmatch(path.name):
        allowed = "small letters, digits, - and _, at most 40"
        raise ConfigError([f"{path}: {path.name!r} is not a valid name; {allowed}"])
    files = {path.parent / name: text for name, text in starter_files(kind, path.name).items()}
    there = [str(file) for file in (path, *files) if file.exists()]
    if there:
        raise ConfigError(
            [f"{there[0]}: already exists; no file was written"], next_step="choose another name"
        )
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path.parent / f"{path.name}.toml"
