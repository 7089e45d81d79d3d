"""What judging and cleaning captions in parts costs, in one process and in two.

Captions are drawn into Parquet files first (`tests.bench.many_captions`). Memory is the
sum of all processes' resident pages, looked at every half second, so that pages they
share count for each. Where the time goes is said meanwhile, step by step, by the clock.
Run: `python -m tests.bench.partitions ROWS [FOLDER] [--one "cleaning 2"]`.
"""

import argparse
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from piecework.hit_templates.tasks import load_task
from piecework.results.large.assessing import assess_in_parts
from piecework.results.large.cleaning import clean_files
from piecework.results.large.work_folder import LOCAL, here, on_dask
from tests.bench.many_captions import write
from tests.bench.targets import Figure

ROWS_OF_A_FILE = 125_000
_MIB = 2**20


def main(rows: int, folder: Path, only: str) -> dict[str, Figure]:
    """Print the table, or the line that `only` names; return the figures."""
    files = folder / f"captions-{rows}"
    if not files.exists():
        write(files, rows, max(1, rows // ROWS_OF_A_FILE))
    print(f"load of the machine before: {psutil.getloadavg()[0]:.1f}")
    print("| work | processes | seconds | processor seconds | peak MiB |")
    print("|---|---:|---:|---:|---:|")
    figures: dict[str, Figure] = {}
    alone = 0.0
    judge = partial(assess_in_parts, key=b"key", task=load_task("caption"), settings={})
    for name, row, work in (
        ("heuristics", "judging", judge),
        ("cleaning", "cleaning", clean_files),
    ):
        for processes in (1, 2):
            if only not in {"", f"{name} {processes}"}:
                continue
            with (
                TemporaryDirectory(dir=folder) as into,
                _measured() as measured,
                nullcontext(here(_say))
                if processes == 1
                else on_dask(LOCAL, _say, processes=processes) as run_parts,
            ):
                work([files], run_parts, into=Path(into) / "out")
                seconds, processor = measured.seconds(), measured.processor()
            took = f"{seconds:.0f} | {processor:.0f} | {measured.peak:.0f}"
            print(f"| {name}, {rows:,} | {processes} | {took} |", flush=True)
            if processes == 1:
                alone = seconds
            else:
                figures |= {
                    f"{row} in two processes, rows a second": Figure(rows / seconds),
                    f"{row} in two processes, times as fast": Figure(alone / seconds),
                    f"{row} in two processes, MiB": Figure(measured.peak),
                }
    return figures


class _Measured:
    """What this process and its children took since it was made."""

    def __init__(self) -> None:
        self._started, self.peak = time.monotonic(), 0.0
        self._before = self._used()

    def seconds(self) -> float:
        return time.monotonic() - self._started

    def processor(self) -> float:
        return self._used() - self._before

    def look(self) -> None:
        sizes = [process.memory_info().rss for process in _processes()]
        self.peak = max(self.peak, sum(sizes) / _MIB)

    def _used(self) -> float:
        times = [process.cpu_times() for process in _processes()]
        return float(sum(of_process.user + of_process.system for of_process in times))


@contextmanager
def _measured() -> Iterator[_Measured]:
    measured, ended = _Measured(), threading.Event()

    def watch() -> None:
        while not ended.wait(0.5):
            with suppress(psutil.Error):  # a process may end while it is looked at
                measured.look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield measured
    finally:
        ended.set()
        watcher.join()


def _processes() -> list[psutil.Process]:
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def _say(step: str, done: int, of: int) -> None:
    if done in {0, of}:
        at = f"{time.monotonic():.1f}"
        print(f"{at} {step}: {done} of {of} parts", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("out/bench"))
    parser.add_argument("--one", default="", help='for example "heuristics 2"')
    return parser.parse_args()


if __name__ == "__main__":
    asked = _arguments()
    main(asked.rows, asked.folder, asked.one)
