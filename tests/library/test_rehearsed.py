"""What is shown on one campaign that was rehearsed: the page's examples, the notebook.

All in one file, so that few test processes rehearse it.
"""

import doctest
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import piecework
from tests.conftest import ROOT
from tools.notebook import PAGE, executed

Cell = dict[str, Any]

_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example campaigns as `piecework init --examples` copies them; one was rehearsed.

    The page and the notebook rehearse it again, which only reads it.
    """
    folder = tmp_path_factory.mktemp("examples")
    campaigns = folder / "config/campaigns"
    ignored = shutil.ignore_patterns("out")  # of a clone whose examples were rehearsed
    shutil.copytree(ROOT / "config/campaigns", campaigns, ignore=ignored)
    piecework.rehearse(campaigns / "congruency.toml")
    return folder


@pytest.mark.full
def test_the_examples_of_the_page_are_true(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks in their order, in one namespace, where the examples were copied."""
    monkeypatch.chdir(examples)
    page = (ROOT / "docs/reference/library.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "library.md", None, 0)
    printed: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=_OPTIONS)
    # The page sets these for its readers; they go back to what they were.
    with pd.option_context("display.width", 100, "display.max_columns", 12):
        results = runner.run(test, out=printed.append)
    assert results.attempted > len(blocks)
    assert not results.failed, "".join(printed)


def test_the_notebook_shows_what_its_cells_do(examples: Path) -> None:
    """Every cell runs, and shows the numbers, tables and plots that are written."""
    folder = examples / "docs/reference"
    folder.mkdir(parents=True)
    cells = json.loads(PAGE.read_text("utf-8"))["cells"]
    again = list(executed(cells, folder))
    assert [_texts(cell) for cell in again] == [_texts(cell) for cell in cells]
    kinds = [kind for cell in cells for kind in _kinds(cell)]
    assert kinds.count("image/png") == 2
    assert [cell["cell_type"] for cell in cells].count("code") == 10


def _texts(cell: Cell) -> list[object]:
    """What a cell shows but pictures, whose bytes depend on fonts."""
    outputs = cell.get("outputs", [])
    return [output.get("text") or _without_pictures(output) for output in outputs]


def _without_pictures(output: Cell) -> dict[str, object]:
    shown = output["data"].items()
    return {kind: "" if kind == "image/png" else text for kind, text in shown}


def _kinds(cell: Cell) -> list[str]:
    return [kind for output in cell.get("outputs", []) for kind in output.get("data", {})]


def test_a_dataset_is_the_same_from_parquet_and_from_csv(examples: Path, tmp_path: Path) -> None:
    """Cells, dtypes and index of each table."""
    source = examples / "config/campaigns/out/congruency/rehearsals/1/dataset"
    for path in source.glob("*.[cm]*"):
        shutil.copy(path, tmp_path)
    shutil.copy(source / "croissant.json", tmp_path)
    with_parquet = piecework.read_dataset(source)
    with_csv = piecework.read_dataset(tmp_path)
    assert with_csv.tables.keys() == with_parquet.tables.keys()
    assert len(with_csv.answers)
    for name, table in with_parquet.tables.items():
        pd.testing.assert_frame_equal(table, with_csv.tables[name])
    assert with_csv.facts["name"] == "congruency"


@pytest.mark.full
def test_a_rehearsal_tells_where_its_results_are(examples: Path) -> None:
    """Again over the finished store: the same figures, and no call in between."""
    seen: list[piecework.Progress] = []
    path = examples / "config/campaigns/congruency.toml"
    rehearsal = piecework.rehearse(path, on_progress=seen.append)
    assert (
        rehearsal.dataset
        == (examples / "config/campaigns/out/congruency/rehearsals/1/dataset").resolve()
    )
    assert rehearsal.report.is_file()
    assert rehearsal.progress.is_finished
    assert rehearsal.virtual_hours > 0.5
    assert not seen
    answers = piecework.read_dataset(rehearsal.dataset).answers
    assert len(answers) == rehearsal.progress.accepted
