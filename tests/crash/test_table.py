"""The page of faults shows everything that the suite runs, without failures."""

from collections.abc import Sequence

import pytest

from tests.crash.faults import FAULTS, Fault
from tests.crash.table import BAD, LETTERS, NEXT, PAGE, SECOND, SYMBOLS, UNMADE
from tests.crash.test_crash import CALLS, RUNS
from tests.crash.test_postgresql import FAULTS as FAULTS_IN_POSTGRESQL
from tests.crash.test_postgresql import RUNS as RUNS_IN_POSTGRESQL

_IN_FILES, _, _REST = PAGE.read_text().partition(SECOND)
_IN_POSTGRESQL, _, _ = _REST.partition(NEXT)

of_each_store = pytest.mark.parametrize(
    ("text", "faults", "runs"),
    [
        (_IN_FILES, FAULTS, len(RUNS)),
        (_IN_POSTGRESQL, FAULTS_IN_POSTGRESQL, len(RUNS_IN_POSTGRESQL)),
    ],
    ids=["file", "postgresql"],
)


def _rows(text: str, first: str) -> list[list[str]]:
    """Return the cells of the table whose header begins like this."""
    lines = text.split(f"| {first} |", 1)[1].split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@of_each_store
def test_every_fault_is_a_column_and_every_call_a_row(
    text: str, faults: Sequence[Fault], runs: int
) -> None:
    """The table was written since the last fault or call was added."""
    names = [(letter, fault.name) for letter, fault in zip(LETTERS, faults, strict=False)]
    assert [tuple(row) for row in _rows(text, " | fault")] == names
    table = _rows(text, "call")
    assert [row[0] for row in table] == [str(call) for call in CALLS]
    assert sum(len(row) - 1 for row in table) == runs


@of_each_store
def test_every_outcome_is_one_that_the_fault_allows(
    text: str, faults: Sequence[Fault], runs: int
) -> None:
    """A death ends by SIGKILL, a failure with exit code 1, and no cell is bad."""
    codes = {symbol: code for code, symbol in SYMBOLS.items()}
    for call, *cells in _rows(text, "call"):
        for fault, cell in zip(faults, cells, strict=True):
            assert cell != BAD, (call, fault.name)
            if cell == UNMADE:
                assert ("lag" in fault.name, call[:8]) == (True, "ListHITs")
                continue
            assert {codes[symbol] for symbol in cell} <= fault.ends, (call, fault.name)
    words = " ".join(text.split())
    assert f" {runs} campaigns; none went wrong" in words
