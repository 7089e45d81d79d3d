"""Run every fault at every call and write `docs/measurements/faults.md`.

The sections after the first one stay as they are.

python -m tests.crash.table
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.crash.campaign import campaign_to_its_end, is_unmade
from tests.crash.disturbed import Call
from tests.crash.faults import BY_NAME, FAULTS
from tests.crash.test_crash import CALLS, RUNS
from tests.crash.world import can_mount

PAGE = Path(__file__).resolve().parents[2] / "docs/measurements/faults.md"
AT_ONCE = 2
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NEXT = "\n## On a full disk\n"
"""Where the part of the page that this module does not write begins."""

BAD = "BAD"
UNMADE = "-"
SYMBOLS = {0: "·", 1: "1", 3: "r", -9: "k"}
HEAD = """# What happens when a process, disk or network fails?

This page shows what happened to test campaigns under faults: killed processes, lost
replies, full disks, wrong clocks, power cuts and restored copies. Read it to see which
failures piecework survives unaided, and which need a command.

## At each call

Each cell is one campaign, run to its end with one fault at one of its {calls} outward
calls. The campaign is small: two batches, a dropped answer, a rejection, two exclusions
and replacements. The parts are real: the test really kills the process or the
marketplace, and really fills the disk.

Afterwards the test reads the marketplace's own books:

- every HIT exists once
- every payment was made once
- every answer was kept
- the ledger equals the books to the cent
- the marketplace's own invariants hold

While the fault lasts, `piecework status` can read the store. A pass that fails prints
the reason and the next command, and exits with code 1.

The table covers {runs} campaigns; {bad} went wrong. `make test` runs a sample of them,
`make test-full` runs all. `python -m tests.crash.table` writes this section; it needs
root to make a small disk.

| cell | meaning |
|---|---|
| `·` | the pass that met the fault succeeded |
| `1` | it exited with code 1 and a message; the next one succeeded (`11`: two failed) |
| `k` | it was killed; the next pass repaired everything |
| `r` | the next pass refused the restored store; after `reconcile` it continued |
| `{unmade}` | this fault prevents the call: a list that lags has fewer pages |
| `{bad_word}` | something was lost, doubled or not reported |

{faults}

{table}
"""


def outcome(call: Call, name: str) -> str:
    """Run one campaign under one fault; return its cell."""
    folder = Path(tempfile.mkdtemp(prefix="faults"))
    try:
        ending = campaign_to_its_end(folder, BY_NAME[name], call)
        if is_unmade(ending, BY_NAME[name], call):
            return UNMADE
        assert ending.disturbed
        assert set(ending.disturbed) <= BY_NAME[name].ends
    except Exception as fault:  # noqa: BLE001 - any exception makes the cell bad
        print(f"{BAD}: {call}, {name}: {fault!r}"[:2000], file=sys.stderr, flush=True)  # noqa: T201
        return BAD
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return "".join(SYMBOLS[code or 0] for code in ending.disturbed)


def page(cells: Mapping[tuple[Call, str], str]) -> str:
    """Return the first part of the page, as Markdown."""
    names = [fault.name for fault in FAULTS]
    letters = LETTERS[: len(names)]
    rows = [[str(call), *(cells[call, name] for name in names)] for call in CALLS]
    return HEAD.format(
        calls=len(CALLS),
        runs=len(cells),
        bad=list(cells.values()).count(BAD) or "none",
        bad_word=BAD,
        unmade=UNMADE,
        faults=as_table(["", "fault"], zip(letters, names, strict=True)),
        table=as_table(["call", *letters], rows),
    )


def as_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Run all campaigns and write the page."""
    if not can_mount():
        raise SystemExit("only root can make a small disk to fill")
    begun, cells = time.monotonic(), {}
    # Two threads that wait for processes can take each other's exit codes.
    with ProcessPoolExecutor(AT_ONCE) as pool:
        cells_of_runs = zip(
            RUNS, pool.map(outcome, *zip(*RUNS, strict=True)), strict=True
        )
        for number, (run, cell) in enumerate(cells_of_runs, start=1):
            cells[run] = cell
            seconds = time.monotonic() - begun
            print(f"{number}/{len(RUNS)} {seconds:.0f} s", *run, cell, flush=True)  # noqa: T201
    _, _, rest = PAGE.read_text().partition(NEXT)
    PAGE.write_text(page(cells) + NEXT + rest)


if __name__ == "__main__":
    main()
