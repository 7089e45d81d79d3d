"""Symbolic links in what somebody sent: none may stand for a file elsewhere.

A folder with a campaign or a task comes from anybody. A link in it would put a file of
this machine, which nobody named, before workers.
"""

import os
from pathlib import Path

NUL = "\0"
"""No path has it, and most functions of paths end with a traceback over it."""


def outward_link(named: str, *, beside: Path) -> Path | None:
    """The first link on the way from a folder to a path that leads out of the folder.

    An absolute path names its file itself, so what is on its way is not looked at.

    Args:
        named: the path, as it was written; without a NUL.
        beside: the folder where a relative path begins.
    """
    if Path(named).is_absolute():
        return None
    base = os.path.realpath(beside)
    at = Path(base)
    for part in Path(named).parts:
        at = at.parent if part == ".." else at / part
        if at.is_symlink() and not Path(os.path.realpath(at)).is_relative_to(base):
            return at
    return None


def about_link(link: Path, *, beside: Path) -> str:
    """A clause about a link that leads out of a folder."""
    real = os.path.realpath(link)
    return f"{link} is a link that leads out of {beside}, to {real}"
