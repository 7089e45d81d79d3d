"""Items files that are none: a pipe, and lines without an end."""

import os
from pathlib import Path

import pytest

from config.items_file import read_items
from domain.errors import ConfigError

COLUMNS = ("image_id", "url")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody writes into it, so reading would never end."""
    pipe = tmp_path / "items.csv"
    os.mkfifo(pipe)
    with pytest.raises(ConfigError, match="is no file"):
        read_items(pipe, COLUMNS, pictures=None)


@pytest.mark.parametrize("name", ["items.jsonl", "items.csv"])
def test_a_line_of_twenty_megabytes_is_said_in_one_of_eighty(
    tmp_path: Path, name: str
) -> None:
    """Neither read as an item nor repeated in the fault."""
    long = "x" * 20_000_000
    path = tmp_path / name
    path.write_text(
        f'{{"image_id": "a", "url": "https://e.org/{long}"}}\n'
        if name.endswith("jsonl")
        else f"image_id,url\na,https://e.org/{long}\n"
    )
    with pytest.raises(ConfigError) as fault:
        read_items(path, COLUMNS, pictures=None)
    assert len(str(fault.value)) < len(str(path)) + 120
