"""Runs every fault at every kind of call and writes what came of it.

python -m tests.prolific.bridge.table writes the last part of
`docs/measurements/faults.md`. With names of faults or calls it runs those alone; other
cells stay as the page has them.
"""

import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.crash.table import AT_ONCE, BAD, LETTERS, PAGE, UNMADE, as_table
from tests.prolific.bridge.disturbed import BY_NAME, FAULTS, Call
from tests.prolific.bridge.long_campaign import campaign_to_its_end
from tests.prolific.bridge.test_faults import RUNS, STRUCK

TITLE = "## At Prolific"
SECTION = """{title}

What becomes of a campaign at the offline Prolific when something goes wrong at a call
of the bridge. The campaign makes it use all that it has: groups that change, drafts,
publishing, more places, stopping, a draft given up, approving, asking for returns,
rejecting, taking a rejection back, ending what a participant forgot to end, paying who
found no work, bonuses, messages. Each cell is a whole campaign in virtual time,
marketplace and Prolific each behind its own address. After each, both books are read:
no study was published twice,
each approved assignment and each bonus was paid once, no message came twice, no answer
is without its submission and none of the paid submissions without its answers, both
took the same to the penny, and the bridge has nothing left to do. A row is the last
call of its kind in the campaign.

`python -m tests.prolific.bridge.table` writes this part. The table is of {runs}
campaigns at Prolific; {bad} went wrong. `make test` runs a sample of them, `make
test-full` all; in some of its runs the process is really killed.

| cell | meaning |
|---|---|
| `·` | no step noticed more than a call that was made again |
| `1` | a step failed in part and said so (`2`: two did); the next put it right |
| `k` | the process died; the next one put everything right |
| `r` | the file was brought back from a copy; a person said what only Prolific knew |
| `{unmade}` | not run: a read changes nothing, and the client makes it again |
| `{bad_word}` | something was lost or doubled, or did not come to an end |

{faults}

{table}
"""


def outcome(run: tuple[Call, str]) -> str:
    """Run one campaign under one fault; what the cell says."""
    call, name = run
    with tempfile.TemporaryDirectory(prefix="bridge") as folder:
        try:
            lives = campaign_to_its_end(Path(folder), BY_NAME[name], call)
            assert lives.has_met
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is bad, and told
            print(f"{BAD}: {call}, {name}: {fault!r}"[:2000], file=sys.stderr)  # noqa: T201
            return BAD
    ended = "k" * lives.deaths + "r" * lives.restores
    return ended + (str(lives.failures) if lives.failures else "") or "·"


def section(cells: Mapping[tuple[Call, str], str]) -> str:
    """The part of the page, as Markdown."""
    names = [fault.name for fault in FAULTS]
    letters = LETTERS[: len(names)]
    rows = [
        [str(call), *(cells.get((call, name), UNMADE) for name in names)]
        for call in STRUCK
    ]
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
    """The cells of these runs."""
    begun, cells, runs = time.monotonic(), dict[tuple[Call, str], str](), list(runs)
    with ProcessPoolExecutor(AT_ONCE) as pool:
        for run, cell in zip(runs, pool.map(outcome, runs), strict=True):
            cells[run] = cell
            seconds = time.monotonic() - begun
            print(f"{len(cells)}/{len(runs)} {seconds:.0f} s", *run, cell, flush=True)  # noqa: T201
    return cells


def cells_of_page() -> dict[tuple[Call, str], str]:
    """The cells that the page has of runs that are still made."""
    page = PAGE.read_text().split(TITLE, 1)[1]
    names = dict(rows_of_table(page, " | fault at Prolific"))
    [letters, *rows] = rows_of_table(page, "call of the bridge", has_head=True)
    cells = {
        (row[0], names[letter]): cell
        for row in rows
        for letter, cell in zip(letters[1:], row[1:], strict=True)
    }
    return {
        (call, name): cells[str(call), name]
        for call, name in RUNS
        if (str(call), name) in cells
    }


def rows_of_table(page: str, first: str, *, has_head: bool = False) -> list[list[str]]:
    """Cells of the rows of the table whose head begins so."""
    lines = page.split(f"| {first} |", 1)[1].split("\n\n", 1)[0].splitlines()
    head = [f"{first} | {lines[0]}"] if has_head else []
    return [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in (*head, *lines[2:])
    ]


def main(wanted: Collection[str]) -> None:
    """Run all, or what is wanted, and write the part of the page."""
    kept = cells_of_page() if wanted else {}
    runs = [
        (call, name)
        for call, name in RUNS
        if not wanted or call.name in wanted or name in wanted
    ]
    cells = kept | run_all(runs)
    before = PAGE.read_text().split(TITLE, 1)[0].rstrip()
    PAGE.write_text(f"{before}\n\n{section(cells)}")


if __name__ == "__main__":
    main(sys.argv[1:])
