"""All measurements of cost in a single run, and a table of their targets at its end.

Each module measures in a process of its own, so that memory is its own, and prints its own
tables. Run: `make bench`, or some of it: `python -m tests.bench heuristics labels`.
"""

import statistics
import sys
import traceback
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tests.bench.targets import Figure, lines, measured

ARGUMENTS: Mapping[str, tuple[object, ...]] = {
    "campaign": (("600", "39181 rehearsed"),),
    "posting": (1000,),
    "marketplace": ((1_000, 10_000, 200_000),),
    "heuristics": (39_181,),
    "results": (195_905,),
    "comparing": (39_181,),
    "labels": (89_800,),
    "partitions": (1_000_000, Path("out/bench"), ""),
}
"""By module, in which sizes it measures."""


def run_all(modules: list[str]) -> bool:
    """Measure, print the table, and return whether all modules ran to their end."""
    figures: dict[str, Figure] = {}
    loops: list[float] = []
    skipped: dict[str, str] = {}
    has_failed = False
    for module in modules:
        print(f"\n## {module}\n", flush=True)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            work = apart.submit(partial(measured, module, *ARGUMENTS[module]))
            if error := work.exception():
                # The others' hours of work are not lost.
                skipped[module], has_failed = f"it failed with {error!r}", True
                print("".join(traceback.format_exception(error)), file=sys.stderr)
                continue
            of_module, loop = work.result()
        figures |= of_module
        loops.append(loop)
        if not of_module:
            skipped[module] = "it has no data here (above)"
    print("\n## Targets\n")
    print(*lines(figures, statistics.median(loops or [0.0]), skipped), sep="\n")
    return not has_failed


if __name__ == "__main__":
    modules = sys.argv[1:] or [*ARGUMENTS]
    if unknown := ", ".join(sorted({*modules} - {*ARGUMENTS})):
        sys.exit(f"no module measures {unknown}; there are {', '.join(ARGUMENTS)}")
    sys.exit(not run_all(modules))
