"""The answers of other tools keep their columns, whatever these are called."""

from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import in_full
from tests.importing.batches import row, write
from tests.importing.test_importing import done

NAMES = (
    *("width", "file_name", "is_rejected", "mood", "mood_share", "typing", "pastes"),
    *("keystrokes", "shown_ms", "色", "形", "q1.a", "q1_a", "input_x", "sent_x", "split"),
    *("answers", "problems", "item", "order", "edits", "batch", "outcome_elsewhere"),
)


def exported(tmp_path: Path, names: tuple[str, ...]) -> tuple[str, pd.DataFrame]:
    """What importing prints, and the answers of the dataset."""
    rows = [
        row(
            number,
            f"W{number % 4}",
            hit=f"HIT{number // 4}",
            shown={"x": f"picture {number // 4}"},
            sent={name: f"{name} {number % 2}" for name in names},
        )
        for number in range(8)
    ]
    batch, campaign = write(tmp_path / "batch.csv", rows), tmp_path / "b.toml"
    printed = done("data", "import", batch, "--as", campaign)
    done("data", "assess", campaign)
    done("export", campaign)
    tables = [
        pd.read_csv(tmp_path / f"out/b/dataset/{name}.csv", dtype=str)
        for name in ("answers", "set_aside")
    ]
    assert pd.read_csv(tmp_path / "out/b/dataset/items.csv").columns.is_unique
    return printed, pd.concat(tables)


def _alike(number: int) -> tuple[str, ...]:
    return tuple(f"q{'.' * n}" for n in range(number))


@pytest.mark.parametrize("names", [NAMES, *in_full((_alike(12),), (_alike(200),))])
def test_each_answer_has_a_column_of_its_own(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Fixed and derived columns keep their names; what is renamed is printed."""
    printed, table = exported(tmp_path, names)
    for name in names:
        column = next(column for column in table if set(table[column]) == {
            f"{name} 0", f"{name} 1"})  # fmt: skip
        if column != name and len(names) < 50:
            assert f"{column} holds the answers {name!r}" in printed
    card = (tmp_path / "out/b/dataset/README.md").read_text()
    assert all(f"| {name} |" in card for name in names)
