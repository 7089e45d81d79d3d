"""The file of rows that programs ask about keeps what it has, and gets each row once."""

import json
from pathlib import Path

import pytest

from piecework.config.asked_rows import append_new
from piecework.config.sources import TableFile


@pytest.mark.parametrize("start", ["", '{"task": "a", "url": "first"}\n'])
@pytest.mark.parametrize("last", ['{"task": "b", "url": "last é"}', '{"task": "c", "url": [1]}'])
def test_a_last_line_is_removed_only_if_it_is_half_written(
    start: str, last: str, tmp_path: Path
) -> None:
    """Another program may end its file without a newline; half an object is never valid."""
    source = TableFile(path=tmp_path / "asked.jsonl", columns=("task", "url"))
    new = source.row("new", {"task": "new", "url": "new"})
    added = json.dumps(new.cells) + "\n"
    whole = last.encode()
    source.path.write_bytes(start.encode() + whole)
    assert append_new(source, [new]) == 1
    assert source.path.read_text() == f"{start}{last}\n{added}"
    for size in range(1, len(whole)):
        source.path.write_bytes(start.encode() + whole[:size])
        assert append_new(source, [new]) == 1
        assert source.path.read_text() == f"{start}{added}"


def test_a_row_of_the_last_line_is_not_asked_again(tmp_path: Path) -> None:
    """It counts as asked, although its newline was missing."""
    source = TableFile(path=tmp_path / "asked.jsonl", columns=("task", "url"))
    row = source.row("new", {"task": "new", "url": "new"})
    source.path.write_text(json.dumps(row.cells))
    assert append_new(source, [row]) == 0
    assert source.path.read_text() == json.dumps(row.cells) + "\n"
