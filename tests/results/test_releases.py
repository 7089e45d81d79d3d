"""Releases: what changed, forever readable, and damage noticed."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework
from piecework.results import releases
from piecework.results.releases import Change, Release, ReleaseDamaged

AT = datetime(2026, 3, 4, tzinfo=UTC)
Rows = Mapping[str, str]


def make(folder: Path, answers: Rows, items: Rows | None = None) -> Release | None:
    """Write a dataset with these cells by id, and release it."""
    dataset = folder / "dataset"
    dataset.mkdir(exist_ok=True, parents=True)
    for name, key, rows in (("answers", "answer_id", answers), ("items", "item_id", items or {})):
        table = pa.table(
            {
                key: pa.array(list(rows), pa.string()),
                "label": pa.array(rows.values(), pa.string()),
                "flaws": pa.array([[cell, "b"] for cell in rows.values()]),
            }
        )
        pq.write_table(table, dataset / f"{name}.parquet")
    return releases.release(dataset, folder / "releases", campaign="c", at=AT)


def cells(folder: Path, number: int | None = None, table: str = "") -> dict[str, str]:
    """The labels by id, as a release has them."""
    frame = piecework.read_release(folder / "releases", number, table=table)
    return dict(zip(frame.index, frame["label"], strict=True)) if len(frame) else {}


def test_a_release_states_what_was_added_changed_and_withdrawn(tmp_path: Path) -> None:
    """Counted by hand, for each table; and no change is no release."""
    first = make(tmp_path, {"a": "x", "b": "y"}, {"i": "x"})
    assert first is not None
    assert first.tables == {
        "answers": Change(added=2, changed=0, withdrawn=0, rows=2),
        "items": Change(added=1, changed=0, withdrawn=0, rows=1),
    }
    assert make(tmp_path, {"b": "y", "a": "x"}, {"i": "x"}) is None
    second = make(tmp_path, {"b": "z", "c": "x"}, {"i": "x"})
    assert second is not None
    assert second.number == 2
    assert second.tables["answers"] == Change(added=1, changed=1, withdrawn=1, rows=2)
    manifest = json.loads((second.folder / "manifest.json").read_text())
    assert [file["path"] for file in manifest["files"]] == [
        "000002/answers.parquet",
        "000002/answers_withdrawn.parquet",
    ]
    # What comes back is added again, not changed.
    third = make(tmp_path, {"a": "x", "b": "z", "c": "x"}, {"i": "x"})
    assert third is not None
    assert third.tables["answers"] == Change(added=1, changed=0, withdrawn=0, rows=3)


states = st.lists(st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xyz")), max_size=6)


@given(states)
def test_each_release_reads_as_the_dataset_was(
    tmp_path_factory: pytest.TempPathFactory, history: list[dict[str, str]]
) -> None:
    """Whatever follows it; and no byte of it changes."""
    folder = tmp_path_factory.mktemp("releases")
    states: list[dict[str, str]] = []
    bytes_of: dict[Path, bytes] = {}
    for state in history:
        if (made := make(folder, state)) is not None:
            states.append(state)
            bytes_of |= {path: path.read_bytes() for path in made.folder.iterdir()}
    for number, state in enumerate(states, start=1):
        assert cells(folder, number) == state
    assert {path: path.read_bytes() for path in bytes_of} == bytes_of


def test_the_types_of_the_columns_stay(tmp_path: Path) -> None:
    """Tuples for lists and the index of `read_dataset`, over several releases."""
    make(tmp_path, {"a": "x"})
    make(tmp_path, {"a": "x", "b": "y"})
    frame = piecework.read_release(tmp_path / "releases")
    assert frame.index.name == "answer"
    assert frame["flaws"].tolist() == [("x", "b"), ("y", "b")]


def test_an_interrupted_release_is_made_by_the_next_export(tmp_path: Path) -> None:
    """What it left is not read, and goes away."""
    make(tmp_path, {"a": "x"})
    partial = tmp_path / "releases/.000002.partial"
    partial.mkdir()
    (partial / "answers.parquet").write_bytes(b"half")
    assert cells(tmp_path) == {"a": "x"}
    assert make(tmp_path, {"a": "y"}) is not None
    assert cells(tmp_path) == {"a": "y"}
    assert not partial.exists()


def test_damage_is_noticed_by_reader_and_next_release(tmp_path: Path) -> None:
    """A changed file, a lost one, a rewritten manifest: each says which."""
    make(tmp_path, {"a": "x"})
    make(tmp_path, {"a": "x", "b": "y"})
    file = tmp_path / "releases/000001/answers.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + b"?")
    with pytest.raises(ReleaseDamaged, match="changed"):
        cells(tmp_path)
    with pytest.raises(ReleaseDamaged):
        make(tmp_path, {"c": "x"})
    file.unlink()
    with pytest.raises(ReleaseDamaged, match="missing"):
        cells(tmp_path)
    file.write_bytes(whole)
    manifest = tmp_path / "releases/000001/manifest.json"
    manifest.write_text(manifest.read_text().replace('"c"', '"d"'))
    with pytest.raises(ReleaseDamaged, match="000002"):
        cells(tmp_path)
    (tmp_path / "releases/000002/manifest.json").write_text("[]")
    with pytest.raises(ReleaseDamaged, match="000002"):
        cells(tmp_path)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    """No releases, no such number, no such table."""
    with pytest.raises(piecework.ConfigError, match="no releases"):
        piecework.read_release(tmp_path)
    make(tmp_path, {"a": "x"})
    with pytest.raises(piecework.ConfigError, match="it has 1 to 1"):
        cells(tmp_path, 2)
    with pytest.raises(piecework.ConfigError, match="did you mean 'items'"):
        cells(tmp_path, table="item")


def test_a_release_without_any_row_can_be_read(tmp_path: Path) -> None:
    """After the only row was withdrawn."""
    make(tmp_path, {"a": "x"})
    make(tmp_path, {})
    frame = piecework.read_release(tmp_path / "releases")
    assert isinstance(frame, pd.DataFrame)
    assert not len(frame)
