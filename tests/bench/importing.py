"""What it takes to import a large file: time, and memory at its peak.

`python -m tests.bench.importing FOLDER MEGABYTES` writes a made-up batch of that size
into the folder (four workers an item, texts of some 20 KB each) and imports it in a
process of its own.
"""

import csv
import resource
import subprocess
import sys
from pathlib import Path

from piecework.domain.clock import MonotonicClock, SystemClock
from tests.importing.batches import row

_TEXT = "The quick brown fox jumps over the lazy dog while nobody looks. " * 300
_WORKERS = 4


def write(path: Path, megabytes: int) -> int:
    """A batch of about this size; how many rows it has."""
    number = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        first = row(0, "W0", shown={"text": ""}, sent={"stance": "", "note": ""})
        writer = csv.DictWriter(file, list(first), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        while file.tell() < megabytes << 20:
            item, worker = divmod(number, _WORKERS)
            writer.writerow(
                row(
                    number,
                    f"W{worker}-{item % 500}",
                    hit=f"HIT{item}",
                    shown={"text": f"Item {item}"},
                    sent={"stance": ("yes", "no")[number % 2], "note": _TEXT},
                )
            )
            number += 1
    return number


def main() -> None:
    """Write, import in a child, and print what it took."""
    folder, megabytes = Path(sys.argv[1]), int(sys.argv[2])
    batch = folder / "large.csv"
    rows = write(batch, megabytes)
    clock = MonotonicClock(SystemClock(), None)
    began = clock.now()
    command = [
        sys.executable,
        "-c",
        "from piecework.cli.main import main; main()",
        "data",
        "import",
    ]
    subprocess.run([*command, str(batch), "--as", str(folder / "large.toml")], check=True)
    seconds = (clock.now() - began).total_seconds()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"{batch.stat().st_size / 1e6:,.0f} MB, {rows:,} rows: {seconds:,.0f} s, "
        f"peak {peak:,.0f} MB"
    )


if __name__ == "__main__":
    main()
