"""Run every fault at every call and write `docs/internals/measurements/faults.md`.

The sections after the first two stay as they are. With `postgresql` the campaigns have
their stores in a PostgreSQL server of this machine, and the second section is written.

python -m tests.crash.table
python -m tests.crash.table postgresql
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.crash.campaign import campaign_to_its_end, is_unmade
from tests.crash.disturbed import Call
from tests.crash.faults import FAULTS, Fault
from tests.crash.test_crash import CALLS, RUNS
from tests.crash.test_postgresql import FAULTS as FAULTS_IN_POSTGRESQL
from tests.crash.test_postgresql import RUNS as RUNS_IN_POSTGRESQL
from tests.crash.world import can_mount
from tests.postgres_server import installed_initdb, new_database, running_postgres

PAGE = Path(__file__).resolve().parents[2] / "docs/internals/measurements/faults.md"
AT_ONCE = 2
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SECOND = "\n## At each call, with stores in PostgreSQL\n"
NEXT = "\n## Over a hundred days of a source that grows\n"
"""Where the part of the page that this module does not write begins."""

_BY_NAME = {fault.name: fault for fault in (*FAULTS, *FAULTS_IN_POSTGRESQL)}

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
`make test-full` a quarter, another one each week (`tests/crash/test_crash.py`).
`python -m tests.crash.table` writes this section; it needs root to make a small disk.

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
IN_POSTGRESQL = """
The same campaigns and laws, with the store in a PostgreSQL server of the same machine.
Its server runs on while the pass dies. Faults of the marketplace and of clocks do not
concern the store, so they were not run again. The table covers {runs} campaigns; {bad}
went wrong. `make test` runs a sample of them, `make test-full` a quarter, another one
each week (`tests/crash/test_postgresql.py`). `python -m tests.crash.table postgresql`
writes this section.

{faults}

{table}
"""


def outcome(call: Call, name: str, url: str = "") -> str:
    """Run one campaign under one fault; return its cell."""
    folder = Path(tempfile.mkdtemp(prefix="faults"))
    fault_at_call = _BY_NAME[name]
    try:
        # A campaign's faults must not meet the sessions of the one beside it.
        own_url = new_database(url) if url else ""
        ending = campaign_to_its_end(folder, fault_at_call, call, url=own_url)
        if is_unmade(ending, fault_at_call, call):
            return UNMADE
        assert ending.disturbed
        assert set(ending.disturbed) <= fault_at_call.ends
    except Exception as fault:  # noqa: BLE001 - any exception makes the cell bad
        print(f"{BAD}: {call}, {name}: {fault!r}"[:2000], file=sys.stderr, flush=True)  # noqa: T201
        return BAD
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return "".join(SYMBOLS[code or 0] for code in ending.disturbed)


def page(cells: Mapping[tuple[Call, str], str]) -> str:
    """Return the first part of the page, as Markdown."""
    return HEAD.format(calls=len(CALLS), bad_word=BAD, unmade=UNMADE, **_filled(cells, FAULTS))


def section(cells: Mapping[tuple[Call, str], str]) -> str:
    """Return the section about stores in PostgreSQL, without its heading."""
    return IN_POSTGRESQL.format(**_filled(cells, FAULTS_IN_POSTGRESQL))


def _filled(cells: Mapping[tuple[Call, str], str], faults: Sequence[Fault]) -> dict[str, object]:
    names = [fault.name for fault in faults]
    letters = LETTERS[: len(names)]
    rows = [[str(call), *(cells[call, name] for name in names)] for call in CALLS]
    return {
        "runs": len(cells),
        "bad": list(cells.values()).count(BAD) or "none",
        "faults": as_table(["", "fault"], zip(letters, names, strict=True)),
        "table": as_table(["call", *letters], rows),
    }


def as_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def in_files() -> None:
    """Run all campaigns with stores in files, and write the first section."""
    if not can_mount():
        raise SystemExit("only root can make a small disk to fill")
    cells = _cells(RUNS)
    _, _, rest = PAGE.read_text().partition(SECOND)
    PAGE.write_text(page(cells) + SECOND + rest)


def in_postgresql() -> None:
    """Run all campaigns with stores in PostgreSQL, and write the second section."""
    initdb = installed_initdb()
    if initdb is None:
        raise SystemExit("PostgreSQL is not installed")
    with running_postgres(initdb) as url:
        cells = _cells(RUNS_IN_POSTGRESQL, url)
    before, _, rest = PAGE.read_text().partition(NEXT)
    before, _, _ = before.partition(SECOND)
    PAGE.write_text(before + SECOND + section(cells) + NEXT + rest)


def _cells(runs: Sequence[tuple[Call, str]], url: str = "") -> dict[tuple[Call, str], str]:
    begun, cells = time.monotonic(), {}
    # Two threads that wait for processes can take each other's exit codes.
    with ProcessPoolExecutor(AT_ONCE) as pool:
        outcomes = pool.map(partial(outcome, url=url), *zip(*runs, strict=True))
        for number, (run, cell) in enumerate(zip(runs, outcomes, strict=True), start=1):
            cells[run] = cell
            seconds = time.monotonic() - begun
            print(f"{number}/{len(runs)} {seconds:.0f} s", *run, cell, flush=True)  # noqa: T201
    return cells


if __name__ == "__main__":
    in_postgresql() if "postgresql" in sys.argv else in_files()
