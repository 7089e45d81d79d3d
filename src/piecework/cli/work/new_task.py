"""Writes the files of a new task, and none over another."""

import re
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.hit_templates.starters import StarterKind, starter_files

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def write_starter(path: Path, kind: StarterKind) -> Path:
    """Write the task into the folder `path`; the campaign file beside it.

    Raises:
        ConfigError: the name is none for a campaign, or a file is there already.
    """
    if not _NAME.fullmatch(path.name):
        allowed = "small letters, digits, - and _, at most 40"
        raise ConfigError([f"{path}: {path.name!r} is no name; {allowed}"])
    files = {
        path.parent / name: text
        for name, text in starter_files(kind, path.name).items()
    }
    there = [str(file) for file in (path, *files) if file.exists()]
    if there:
        raise ConfigError(
            [f"{there[0]}: is there already, and nothing is written over it"],
            next_step="choose another name",
        )
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path.parent / f"{path.name}.toml"
