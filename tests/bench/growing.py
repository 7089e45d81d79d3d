"""A pass over a source of a million rows that were dealt before, with a hundred new.

`python -m tests.bench.growing answers` measures passes that judge ten new answers after
2 or 100 batches of a thousand, with and without an archive.

Batches are settled by SQL (`settle_all`), because people would need days. Each pass is
a process of its own. Run: `python -m tests.bench.growing`, with fewer rows if wanted.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from piecework.campaign.assembling import load_campaign
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.run_pass import run_pass
from piecework.engine.take_in import take_in
from piecework.platforms.clocks import VirtualClock
from piecework.results.whole_pass import archive_settled
from tests.growing_campaign import TEXT, growing, names, row, settle_all

ROWS = 1_000_000
NEW = 100
SIZE = 1_000


def main(rows: int) -> None:
    """Print what it takes to take in all rows, and passes with few new ones."""
    text = TEXT.replace("batch = 4", f"batch = {NEW}")
    text = text.replace('"900.00"', '"9000000.00"')
    with tempfile.TemporaryDirectory() as folder, growing(Path(folder), [], text) as at:
        with at.items.open("a") as file:
            file.writelines(row(f"r{number:07}") for number in range(rows))
        begun = time.perf_counter()
        assert take_in(at.run) == rows
        print(f"{rows:,} rows taken in: {time.perf_counter() - begun:.1f} s")
        settle_all(at.run, size=SIZE)
        endpoint = at.run.platform.endpoint
        print(f"no new row: {_pass_apart(at.path, endpoint)}")
        for first in (1, NEW + 1):
            at.append(*names(first, first + NEW - 1))
            print(f"{NEW} new rows: {_pass_apart(at.path, endpoint)}")


def answers() -> None:
    """Print what a pass takes that collects and judges ten answers."""
    for batches, archives in ((2, False), (100, False), (2, True), (100, True)):
        text = TEXT.replace("batch = 4", "batch = 10")
        text = text.replace('"900.00"', '"9000000.00"')
        with (
            tempfile.TemporaryDirectory() as folder,
            growing(Path(folder), names(1, batches * SIZE), text) as at,
        ):
            take_in(at.run)
            settle_all(at.run, size=SIZE)
            words = "no archive"
            if archives:
                begun = time.perf_counter()
                done = archive_settled(at.run, keep=1, compacts=True)
                words = (
                    f"archived in {time.perf_counter() - begun:.1f} s, "
                    f"{done.bytes_before / 1e6:.0f} to {done.bytes_after / 1e6:.0f} MB"
                )
            seconds = []
            for turn in range(3):
                at.append(*(f"new{turn}_{number}" for number in range(10)))
                at.advance()
                assert at.people.work() == 5
                begun = time.perf_counter()
                at.advance()
                seconds.append(f"{time.perf_counter() - begun:.2f}")
            print(f"{batches} batches, {words}: {', '.join(seconds)} s")


def _pass_apart(path: Path, endpoint: str) -> str:
    """Make a pass in a process of its own; return its time and memory in words."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, path, endpoint],
        check=True,
        capture_output=True,
        text=True,
    )
    return f"{time.perf_counter() - begun:.1f} s, {done.stdout.strip()}"


def make_pass(path: Path, endpoint: str) -> None:
    """Make a pass; print its largest memory."""
    clock = VirtualClock(endpoint)
    with open_for_rehearsal(load_campaign(path), endpoint, clock) as run:
        posted = run_pass(run).hits_posted
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{kilobytes / 1024:.0f} MiB ({posted:,} HITs)")


if __name__ == "__main__":
    if sys.argv[1:] == ["answers"]:
        answers()
    elif len(sys.argv) > 2:
        make_pass(Path(sys.argv[1]), sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
