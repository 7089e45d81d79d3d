"""Run the cells of docs/library.ipynb and store their output in it.

    python -m tools.notebook

A notebook is JSON and its cells are Python, so no kernel is needed
(docs/internals/decisions/dependencies.md). The output of a cell is the same as in Jupyter: its
printed text, its last expression and its figures.
"""

import ast
import base64
import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

Cell = dict[str, Any]

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/library.ipynb"


def executed(cells: list[Cell], folder: Path) -> Iterator[Cell]:
    """Run cells in one namespace and yield them with their outputs.

    Args:
        cells: the cells of a notebook (format 4.5).
        folder: the folder they run in.
    """
    mpl.use("agg")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        number = 0
        for cell in cells:
            if cell["cell_type"] != "code":
                yield cell
                continue
            number += 1
            outputs = list(_outputs("".join(cell["source"]), namespace, number))
            yield {**cell, "execution_count": number, "outputs": outputs}


def _outputs(source: str, namespace: dict[str, Any], number: int) -> Iterator[Cell]:
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the backend is chosen

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = _run(source, namespace)
    if printed.getvalue():
        text = _lines(printed.getvalue())
        yield {"name": "stdout", "output_type": "stream", "text": text}
    if value is not None:
        shown = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            shown["text/html"] = _lines(value._repr_html_())
        yield {
            "data": shown,
            "execution_count": number,
            "metadata": {},
            "output_type": "execute_result",
        }
    for figure_number in plt.get_fignums():
        png = io.BytesIO()
        figure = plt.figure(figure_number)
        figure.savefig(png, format="png", dpi=100, bbox_inches="tight")
        encoded = base64.b64encode(png.getvalue()).decode()
        shown = {"image/png": [encoded], "text/plain": _lines(repr(figure))}
        yield {"data": shown, "metadata": {}, "output_type": "display_data"}
    plt.close("all")


def _run(source: str, namespace: dict[str, Any]) -> object:
    """Run a cell; return the value of its last line if that is an expression."""
    module = ast.parse(source)
    last = module.body[-1] if module.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(module, "cell", "exec"), namespace)  # noqa: S102 - our own page
        return None
    module.body.pop()
    exec(compile(module, "cell", "exec"), namespace)  # noqa: S102 - our own page
    expression = ast.Expression(last.value)
    return eval(compile(expression, "cell", "eval"), namespace)  # noqa: S307 - as above


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Run the notebook in its folder and rewrite it."""
    notebook = json.loads(PAGE.read_text("utf-8"))
    notebook["cells"] = list(executed(notebook["cells"], PAGE.parent))
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    PAGE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
