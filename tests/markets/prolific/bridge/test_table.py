"""The page of faults shows what the suite runs at Prolific, and nothing went wrong."""

import re

from tests.crash.table import BAD, LETTERS, PAGE, UNMADE
from tests.markets.prolific.bridge.disturbed import FAULTS
from tests.markets.prolific.bridge.table import TITLE, rows_of_table
from tests.markets.prolific.bridge.test_faults import RUNS, STRUCK


def _rows(first: str) -> list[list[str]]:
    """Cells of the rows of the table whose head begins so."""
    return rows_of_table(PAGE.read_text().split(TITLE, 1)[1], first)


def test_every_fault_is_a_column_and_every_kind_of_call_a_row() -> None:
    """`python -m tests.markets.prolific.bridge.table` was run since the last was added."""
    faults = [(letter, fault.name) for letter, fault in zip(LETTERS, FAULTS, strict=False)]
    assert [tuple(row) for row in _rows(" | fault at Prolific")] == faults
    table = _rows("call of the bridge")
    assert [row[0] for row in table] == [str(call) for call in STRUCK]
    run = {
        (row[0], fault.name)
        for row in table
        for fault, cell in zip(FAULTS, row[1:], strict=True)
        if cell != UNMADE
    }
    assert run == {(str(call), name) for call, name in RUNS}


def test_every_death_is_one_and_nothing_is_bad() -> None:
    """A bridge that died says `k`, a restored file `r`; no other has."""
    for call, *cells in _rows("call of the bridge"):
        for fault, cell in zip(FAULTS, cells, strict=True):
            assert cell != BAD, (call, fault.name)
            died = bool(fault.dies) and cell != UNMADE
            assert cell.count("k") == died, (call, fault.name)
            restored = fault.restores and cell != UNMADE
            assert cell.count("r") == restored, (call, fault.name)
    page = " ".join(PAGE.read_text().split())
    assert re.search(r"campaigns at Prolific; none went wrong", page)
