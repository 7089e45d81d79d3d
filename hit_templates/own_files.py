"""Reads the task folder beside a campaign once and completely.

Pages are rendered from what was read and hashed here, even if the files change later.
"""

import hashlib
import re
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.links import about_link, outward_link
from piecework.domain.task import OwnFiles
from piecework.domain.utf8 import not_utf8
from piecework.hit_templates.templates import QUESTION

TASK_FILE = "task.toml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_TEMPLATES = {".j2", ".html", ".css", ".js", ".svg"}
_LARGEST_BYTES = 1_000_000
_SHORT = 8


def is_own(named: str) -> bool:
    """Return whether a campaign file names a folder beside it, not a gallery task.

    >>> is_own("./dog"), is_own("caption")
    (True, False)
    """
    return named.startswith((".", "/"))


def own_name(folder: Path) -> str:
    """Return the name of the task in a folder, which is the folder's name.

    Raises:
        ConfigError: the folder does not exist, holds no task, or has an unsuitable
            name.
    """
    name = folder.resolve().name
    if not folder.is_dir():
        fault = f"{folder}: this folder does not exist"
    elif not (folder / TASK_FILE).is_file():
        fault = f"{folder}: holds no {TASK_FILE}, so it is not a task"
    elif not (folder / QUESTION).is_file():
        fault = f"{folder}: holds no {QUESTION}, the page of the task"
    elif not _NAME.fullmatch(name):
        fault = f"{folder}: the task takes the folder's name, and {name!r} has more "
        fault += "than 40 letters, digits, - and _"
    else:
        return name
    raise ConfigError(
        [f"{fault}."], next_step=f"`piecework new-task {folder}` writes one that runs"
    )


def read_own_files(folder: Path) -> OwnFiles:
    """Read every file in a folder that decides what workers see and answer.

    These are the task file, messages and templates, but not notes, examples and items.

    Raises:
        ConfigError: a file cannot be read as text, is too large for any page, or is a
            link that leads out of the folder.
    """
    paths = [path for path in sorted(folder.iterdir()) if _decides(path)]
    links = [outward_link(path.name, beside=folder) for path in paths]
    if faults := [about_link(link, beside=folder) for link in links if link]:
        raise ConfigError(
            [f"{fault}." for fault in faults],
            next_step=("templates may only read files in their own folder; copy the file there"),
        )
    texts = {path.name: _text(path) for path in paths if path.is_file()}
    digest, digests = hashlib.sha256(), {}
    for name, text in texts.items():
        digests[name] = hashlib.sha256(text.encode()).hexdigest()[:_SHORT]
        for part in (name, text):
            digest.update(hashlib.sha256(part.encode()).digest())
    templates = {name: text for name, text in texts.items() if Path(name).suffix in _TEMPLATES}
    return OwnFiles(
        path=str(folder), digest=digest.hexdigest(), templates=templates, digests=digests
    )


def _decides(path: Path) -> bool:
    is_words = path.name.startswith("messages.") and path.suffix == ".toml"
    return path.name == TASK_FILE or is_words or path.suffix in _TEMPLATES


def _text(path: Path) -> str:
    if path.stat().st_size > _LARGEST_BYTES:
        raise ConfigError([f"{path}: this file is larger than any page can be."])
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as fault:
        raise ConfigError([f"{path}: {not_utf8(fault)}."]) from fault
