"""What `piecework new-task` writes: a small task of each kind that runs at once.

Every kind is a folder of `_starters/`: the task's files, and beside them items and a
campaign file that names the task by its folder.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from piecework.hit_templates.messages import FOLDER

StarterKind = Literal["text", "choice", "choices", "scale"]
"""What is asked about an item: a sentence, an option, several, a place on a scale."""

STARTER_KINDS: tuple[StarterKind, ...] = get_args(StarterKind)

_NAME = "NAME"
_BESIDE = {"campaign.toml": f"{_NAME}.toml", "items.csv": f"{_NAME}.csv"}
"""What stands beside the task's folder, and under which name."""


def starter_files(kind: StarterKind, name: str) -> Mapping[str, str]:
    """Texts by path, relative to where the campaign shall be.

    Args:
        kind: of the task.
        name: of the task, its folder and its campaign.
    """
    files = sorted((FOLDER / "_starters" / kind).iterdir())
    return {
        _BESIDE.get(path.name, f"{_NAME}/{path.name}").replace(_NAME, name): (
            path.read_text("utf-8").replace(_NAME, name)
        )
        for path in files
    }
