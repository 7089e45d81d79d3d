"""The page of faults shows everything that the suite runs, without failures."""

import re

from tests.crash.faults import FAULTS
from tests.crash.table import BAD, LETTERS, PAGE, SYMBOLS, UNMADE
from tests.crash.test_crash import CALLS, RUNS


def _rows(text: str, first: str) -> list[list[str]]:
    """Return the cells of the table whose header begins like this."""
    lines = text.split(f"| {first} |", 1)[1].split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_fault_is_a_column_and_every_call_a_row() -> None:
    """The table was written since the last fault or call was added."""
    text = PAGE.read_text()
    faults = [
        (letter, fault.name) for letter, fault in zip(LETTERS, FAULTS, strict=False)
    ]
    assert [tuple(row) for row in _rows(text, " | fault")] == faults
    table = _rows(text, "call")
    assert [row[0] for row in table] == [str(call) for call in CALLS]
    assert sum(len(row) - 1 for row in table) == len(RUNS)


def test_every_outcome_is_one_that_the_fault_allows() -> None:
    """A death ends by SIGKILL, a failure with exit code 1, and no cell is bad."""
    text = PAGE.read_text()
    codes = {symbol: code for code, symbol in SYMBOLS.items()}
    for call, *cells in _rows(text, "call"):
        for fault, cell in zip(FAULTS, cells, strict=True):
            assert cell != BAD, (call, fault.name)
            if cell == UNMADE:
                assert ("lag" in fault.name, call[:8]) == (True, "ListHITs")
                continue
            assert {codes[symbol] for symbol in cell} <= fault.ends, (call, fault.name)
    assert re.search(r"\d+ campaigns; none went wrong", " ".join(text.split()))
