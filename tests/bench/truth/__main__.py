"""Measures every heuristic on every labelled set; `make truth` runs it.

Writes `qc/truth.json`, from which `python -m tools.heuristics_page` makes the tables
of docs/reference/heuristics.md. With `--kept` the rehearsals are not run again, and
their figures stay as they are.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict

from piecework.qc.registry import HEURISTICS
from piecework.qc.truth import FILE, Figures, measured, table_of
from tests.bench.truth.machine_texts import long_texts, short_texts
from tests.bench.truth.measure import figures_of
from tests.bench.truth.rehearsed import rehearsed_sets
from tests.bench.truth.sets import labelled_sets
from tests.bench.truth.typing_fit import held_out_set

SAMPLES = frozenset({"random_sample"})
"""Drawn by chance: there is nothing to measure."""


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kept", action="store_true")
    all_figures = defaultdict[str, list[Figures]](list)
    for labelled in (*labelled_sets(), held_out_set(), long_texts(), short_texts()):
        for name, figures in figures_of(labelled):
            all_figures[name].append(figures)
    rehearsals = _kept() if parser.parse_args().kept else _rehearsed()
    for name, figures in rehearsals:
        all_figures[name].append(figures)
    held = {
        heuristic.NAME: {
            "version": heuristic.VERSION,
            "figures": [asdict(set_figures) for set_figures in all_figures[heuristic.NAME]],
        }
        for heuristic in HEURISTICS
        if heuristic.NAME not in SAMPLES
    }
    FILE.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    measured.cache_clear()
    for name in held:
        print(f"\n{name}", *table_of(name), sep="\n")


def _kept() -> Iterator[tuple[str, Figures]]:
    for name, (_, figures) in measured().items():
        for set_figures in figures:
            if set_figures.kind == "rehearsed":
                yield name, set_figures


def _rehearsed() -> Iterator[tuple[str, Figures]]:
    """Where something is flagged; of agreement everywhere, for it must wrong no one."""
    for labelled in rehearsed_sets():
        for name, figures in figures_of(labelled):
            if figures.flagged or name == "low_agreement":
                yield name, figures


if __name__ == "__main__":
    main()
