"""Rehearsals of items of which nobody has said what is true."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from piecework.results.export import export
from piecework.results.table import answers_table
from piecework.simulation.pictures.scenes import imagined_scenes
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through

OWN_PICTURES = """
name = "own"
description = "Pictures of one's own."
task = "{task}"
answers = 3
reward = "0.50"
budget = "90.00"
hourly_wage = "5.00"
formats = ["csv"]
[items]
file = "items.csv"
[posting]
max_rounds = 1
[rehearsal.crowd]
diligent = 5
"""


def _written(folder: Path, task: str, rows: list[dict[str, str]]) -> Path:
    with (folder / "items.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    path = folder / "own.toml"
    path.write_text(OWN_PICTURES.format(task=task))
    return path


def _pictures(count: int) -> list[dict[str, str]]:
    return [
        {"image_id": f"holiday {n}", "url": f"https://example.org/{n}.jpg"} for n in range(count)
    ]


@pytest.mark.full
def test_captions_of_own_pictures_are_rehearsed_and_called_drawn(tmp_path: Path) -> None:
    """Workers write about the same imagined thing; report and dataset say so."""
    path = _written(tmp_path, "caption", _pictures(4))
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        table = answers_table(run)
        report = export(run)
    assert len(table) >= 12
    assert table["problems"].map(len).sum() == 0
    texts = table["value.caption"]
    assert texts.nunique() > 6
    # Captions of one picture share more words than captions of two.
    words = texts.str.lower().str.findall(r"[a-z]{4,}").map(set)
    alike = [
        (len(words[a] & words[b]), table["item_id"][a] == table["item_id"][b])
        for a in table.index
        for b in table.index
        if a < b
    ]
    of_one = [shared for shared, same in alike if same]
    of_two = [shared for shared, same in alike if not same]
    assert sum(of_one) / len(of_one) > 2 * sum(of_two) / len(of_two)
    assert "answered at random" in report.read_text()
    card = (report.parent / "dataset/README.md").read_text()
    assert "at random" in card


def test_an_imagined_scene_depends_on_the_item_and_the_seed_alone() -> None:
    """More items, or another order, change none."""
    (imagined,) = imagined_scenes(1, ["b"])  # type: ignore[list-item]
    more = imagined_scenes(1, ["a", "b", "c"])  # type: ignore[list-item]
    (other,) = imagined_scenes(2, ["b"])  # type: ignore[list-item]
    assert more[1] == imagined
    assert len({(scene.place, scene.things) for scene in (*more, other)}) == 4


@pytest.mark.full
def test_judgements_of_own_items_are_rehearsed(tmp_path: Path) -> None:
    """The gallery's task draws what is right where no column truth.<field> is."""
    rows = [
        {"pair_id": f"p{n}", "url": "https://example.org/1.jpg", "description": f"d{n}"}
        for n in range(12)
    ]
    path = _written(tmp_path, "congruency", rows)
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        export(run)
    items = pd.read_csv(tmp_path / "out/own/dataset/items.csv")
    assert set(items["congruent"]) == {"congruent", "incongruent"}
    assert items["congruent_share"].mean() > 0.8


@pytest.mark.full
def test_corrections_of_own_texts_are_rehearsed(tmp_path: Path) -> None:
    """The drawn correction replaces one word, or none if nothing is to be corrected."""
    rows = [
        {
            "correction_id": f"c{n}",
            "url": "https://example.org/1.jpg",
            "description": "A red dog on a green bank.",
            "error": "color",
        }
        for n in range(12)
    ]
    path = _written(tmp_path, "correction", rows)
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        export(run)
    items = pd.read_csv(tmp_path / "out/own/dataset/items.csv")
    assert set(items["outcome"]) > {"corrected"}
    for row in items.to_dict("records"):
        before = ["A", "red", "dog", "on", "a", "green", "bank."]
        after = str(row["correction"]).split()
        changed = sum(old != new for old, new in zip(before, after, strict=True))
        assert changed == (row["outcome"] == "corrected"), row
