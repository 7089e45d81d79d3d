"""Run every fault at every kind of call and write the table of outcomes.

`python -m tests.markets.prolific.bridge.table` writes the last part of
`docs/internals/measurements/faults.md`. With names of faults or calls it runs only those and
keeps the other cells of the page.
"""

import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.crash.table import AT_ONCE, BAD, LETTERS, PAGE, UNMADE, as_table
from tests.markets.prolific.bridge.disturbed import BY_NAME, FAULTS, Call
from tests.markets.prolific.bridge.long_campaign import campaign_to_its_end
from tests.markets.prolific.bridge.test_faults import RUNS, STRUCK

TITLE = "## At Prolific"
SECTION = """{title}

Each cell is a whole campaign at the offline Prolific, in virtual time, with one fault
at one call of the bridge. Marketplace and Prolific each have their own address. A row
is the last call of its kind in the campaign.

The campaign uses everything that the bridge can do: changing groups, drafts,
publishing, more places, stopping, an abandoned draft, approving, asking for returns,
rejecting, taking a rejection back, completing a forgotten submission, paying
participants who found no work, bonuses and messages.

Afterwards the test reads the books of both sides:

- no study was published twice
- each approved assignment and each bonus was paid once
- no message was sent twice
- each answer has its submission, and each paid submission its answers
- both sides charged the same to the penny
- the bridge has nothing left to do

The table covers {runs} campaigns at Prolific; {bad} went wrong. `make test` runs a
sample of them, `make test-full` a fifth, another one each week
(`tests/markets/prolific/bridge/test_faults.py`); some runs really kill the process.
`python -m tests.markets.prolific.bridge.table` writes this section.

| cell | meaning |
|---|---|
| `·` | at most, a step noticed a repeated call |
| `1` | a step failed in part and reported it (`2`: two did); the next one repaired it |
| `k` | the process died; the next one repaired everything |
| `r` | the file was restored from a copy; a person said what only Prolific knew |
| `{unmade}` | not run: a read changes nothing, and the client repeats it |
| `{bad_word}` | something was lost or doubled, or did not end |

{faults}

{table}
"""


def outcome(run: tuple[Call, str]) -> str:
    """Run one campaign under one fault; return its cell."""
    call, name = run
    with tempfile.TemporaryDirectory(prefix="bridge") as folder:
        try:
            lives = campaign_to_its_end(Path(folder), BY_NAME[name], call)
            assert lives.has_met
        except Exception as fault:  # noqa: BLE001 - any exception makes the cell bad
            print(f"{BAD}: {call}, {name}: {fault!r}"[:2000], file=sys.stderr)  # noqa: T201
            return BAD
    ended = "k" * lives.deaths + "r" * lives.restores
    return ended + (str(lives.failures) if lives.failures else "") or "·"


def section(cells: Mapping[tuple[Call, str], str]) -> str:
    """Return the last part of the page, as Markdown."""
    names = [fault.name for fault in FAULTS]
    letters = LETTERS[: len(names)]
    rows = [[str(call), *(cells.get((call, name), UNMADE) for name in names)] for call in STRUCK]
    return SECTION.format(
        title=TITLE,
        runs=len(cells),
        bad=list(cells.values()).count(BAD) or "none",
        bad_word=BAD,
        unmade=UNMADE,
        faults=as_table(["", "fault at Prolific"], zip(letters, names, strict=True)),
        table=as_table(["call of the bridge", *letters], rows),
    )


def run_all(runs: Iterable[tuple[Call, str]]) -> dict[tuple[Call, str], str]:
    """Run these campaigns and return their cells."""
    begun, cells, runs = time.monotonic(), dict[tuple[Call, str], str](), list(runs)
    with ProcessPoolExecutor(AT_ONCE) as pool:
        for run, cell in zip(runs, pool.map(outcome, runs), strict=True):
            cells[run] = cell
            seconds = time.monotonic() - begun
            print(f"{len(cells)}/{len(runs)} {seconds:.0f} s", *run, cell, flush=True)  # noqa: T201
    return cells


def cells_of_page() -> dict[tuple[Call, str], str]:
    """Return the cells on the page for runs that still exist."""
    page = PAGE.read_text().split(TITLE, 1)[1]
    names = dict(rows_of_table(page, " | fault at Prolific"))
    [letters, *rows] = rows_of_table(page, "call of the bridge", has_head=True)
    cells = {
        (row[0], names[letter]): cell
        for row in rows
        for letter, cell in zip(letters[1:], row[1:], strict=True)
    }
    return {
        (call, name): cells[str(call), name] for call, name in RUNS if (str(call), name) in cells
    }


def rows_of_table(page: str, first: str, *, has_head: bool = False) -> list[list[str]]:
    """Return the cells of the table with a head that begins with `first`."""
    lines = page.split(f"| {first} |", 1)[1].split("\n\n", 1)[0].splitlines()
    head = [f"{first} | {lines[0]}"] if has_head else []
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in (*head, *lines[2:])]


def main(wanted: Collection[str]) -> None:
    """Run all campaigns, or the wanted ones, and write the last part of the page."""
    kept = cells_of_page() if wanted else {}
    runs = [
        (call, name) for call, name in RUNS if not wanted or call.name in wanted or name in wanted
    ]
    cells = kept | run_all(runs)
    before = PAGE.read_text().split(TITLE, 1)[0].rstrip()
    PAGE.write_text(f"{before}\n\n{section(cells)}")


if __name__ == "__main__":
    main(sys.argv[1:])
