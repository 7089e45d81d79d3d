"""docs/library.ipynb shows what its cells do."""

import json
from pathlib import Path
from typing import Any

from tools.notebook import PAGE, executed

Cell = dict[str, Any]


def _texts(cell: Cell) -> list[object]:
    """What a cell shows but pictures, whose bytes depend on fonts."""
    outputs = cell.get("outputs", [])
    return [output.get("text") or _without_pictures(output) for output in outputs]


def _without_pictures(output: Cell) -> dict[str, object]:
    shown = output["data"].items()
    return {kind: "" if kind == "image/png" else text for kind, text in shown}


def test_the_notebook_shows_what_its_cells_do(examples: Path) -> None:
    """Every cell runs, and shows the numbers, tables and plots that are written."""
    folder = examples / "docs"
    folder.mkdir()
    cells = json.loads(PAGE.read_text("utf-8"))["cells"]
    again = list(executed(cells, folder))
    assert [_texts(cell) for cell in again] == [_texts(cell) for cell in cells]
    kinds = [kind for cell in cells for kind in _kinds(cell)]
    assert kinds.count("image/png") == 2
    assert [cell["cell_type"] for cell in cells].count("code") == 10


def _kinds(cell: Cell) -> list[str]:
    return [
        kind for output in cell.get("outputs", []) for kind in output.get("data", {})
    ]
