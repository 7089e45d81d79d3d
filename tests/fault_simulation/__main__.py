"""Runs seeds and prints what was injected, step by step, and the verdict.

python -m tests.fault_simulation SEED [SEED...]; FIRST-LAST is all seeds of a range.
"""

import logging
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from tests.fault_simulation.simulation import Simulation
from tests.read_once import read_once


def seeds_of(words: list[str]) -> Iterator[int]:
    """The seeds that the words name.

    >>> list(seeds_of(["7", "10-12"]))
    [7, 10, 11, 12]
    """
    for word in words:
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)


def run(seed: int, *, is_verbose: bool) -> bool:
    """Run a seed; whether all laws held."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="simulation") as folder:
        say = (lambda line: print(line, flush=True)) if is_verbose else (lambda _: None)  # noqa: T201
        simulation = Simulation(Path(folder), seed, say=say)
        try:
            simulation.run()
        except Exception:  # noqa: BLE001 - whatever it is, it is told
            words = traceback.format_exc().strip()
            last = words if is_verbose else words.splitlines()[-1][:400]
            print(f"{seed} BAD {last}", flush=True)  # noqa: T201
            return False
    seconds = time.monotonic() - begun
    print(  # noqa: T201
        f"{seed} good: {simulation.steps} steps, {simulation.deaths} deaths, "
        f"{simulation.network.calls} calls, {seconds:.1f} s",
        flush=True,
    )
    return True


def main() -> None:
    """Run what the command line names; exit code 1 if a law was broken."""
    read_once()
    logging.getLogger().addHandler(logging.NullHandler())
    seeds = [*seeds_of(sys.argv[1:])]
    is_verbose = len(sys.argv[1:]) == len(seeds)
    verdicts = [run(seed, is_verbose=is_verbose) for seed in seeds]
    raise SystemExit(not all(verdicts))


if __name__ == "__main__":
    main()
