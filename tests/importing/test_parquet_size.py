"""Parquet files of a megabyte that unpack to gigabytes are refused in a sentence."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from piecework.domain.errors import ConfigError
from piecework.importing.readers.recognise import recognise
from tests.conftest import in_full

_ROOM = 3 << 30
"""Of addresses: libraries take half of it, and any of the files would take more."""

_READ = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({_ROOM}, {_ROOM}))
from pathlib import Path
from piecework.domain.errors import ConfigError
from piecework.importing.readers.recognise import recognise
(source,) = recognise([Path(sys.argv[1])])
try:
    for row in source.rows():
        pass
except ConfigError as fault:
    print(*fault.faults)
"""


def table(rows: int, caption: pa.Array) -> pa.Table:
    """Answers of one worker, all with these captions."""
    return pa.table(
        {
            "answer_id": pa.array([f"A{n}.1" for n in range(rows)]),
            "item_id": pa.array(["i"] * rows),
            "worker": pa.array(["w"] * rows),
            "caption": caption,
        }
    )


def shared(path: Path) -> None:
    """One text of a megabyte, which ten thousand rows point to."""
    indices = pa.array([0] * 10_000, pa.int32())
    text = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 1_000_000]))
    pq.write_table(table(10_000, text), path, compression="zstd")


def shared_in_lists(path: Path) -> None:
    """The same, ten thousand times in one list."""
    indices = pa.array([0] * 10_000, pa.int32())
    text = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 1_000_000]))
    lists = pa.ListArray.from_arrays(pa.array([0, 10_000], pa.int32()), text)
    pq.write_table(table(1, lists), path, compression="zstd")


def packed(path: Path) -> None:
    """Long texts, each written out, and packed well."""
    rows = table(500, pa.array(["x" * 100_000] * 500))
    with pq.ParquetWriter(path, rows.schema, compression="zstd", use_dictionary=False) as file:
        for _ in range(30):
            file.write_table(rows)


def nothings(path: Path) -> None:
    """A list of 140 million missing numbers."""
    inside = pa.nulls(140_000_000, pa.int8())
    lists = pa.ListArray.from_arrays(pa.array([0, len(inside)], pa.int32()), inside)
    pq.write_table(table(1, lists), path, compression="zstd")


@pytest.mark.parametrize("write", [shared, shared_in_lists, *in_full(packed, nothings)])
def test_a_file_that_unpacks_to_gigabytes_is_refused(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    """In a process that has no room for it, and no traceback."""
    path = tmp_path / "bomb.parquet"
    write(path)
    assert path.stat().st_size < 2_500_000
    read = subprocess.run(
        [sys.executable, "-c", _READ, str(path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert read.stderr == ""
    assert read.stdout.startswith(f"{path}: has ")
    assert "would unpack to" in read.stdout


def test_a_plain_file_is_read_as_before(tmp_path: Path) -> None:
    """Texts that rows share, missing ones, and lists."""
    path = tmp_path / "answers.parquet"
    flaws = pa.array([["blur", "dark"], [], ["blur"], None])
    captions = pa.array(["a dog", None, "a dog", "x" * 100_000])
    pq.write_table(table(4, captions).append_column("flaws", flaws), path)
    (source,) = recognise([path])
    sent = [row.parts[0][1] for row in source.rows()]  # type: ignore[union-attr]
    assert [fields["caption"][:5] for fields in sent] == ["a dog", "", "a dog", "xxxxx"]
    assert [fields["flaws"] for fields in sent] == ["blur|dark", "", "blur", ""]


def test_a_damaged_page_is_a_sentence(tmp_path: Path) -> None:
    """Its foot is whole, so it shows when rows are read."""
    path = tmp_path / "answers.parquet"
    pq.write_table(table(4, pa.array(["a dog"] * 4)), path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)
    (source,) = recognise([path])
    with pytest.raises(ConfigError, match="not valid Parquet"):
        list(source.rows())
