"""The same laws with a store in PostgreSQL: no fault loses work or repeats it."""

from pathlib import Path

import pytest

from tests.conftest import in_full
from tests.crash.campaign import campaign_to_its_end
from tests.crash.disturbed import Call
from tests.crash.faults import BY_NAME, EITHER, Fault
from tests.crash.test_crash import CALLS, DEATHS, LAST, OPERATIONS

DROPPED = Fault(name="connection dropped", kind="world", world="connection dropped", ends=EITHER)
DROPPED_LATE = Fault(
    name="connection dropped before the record",
    kind="world",
    where="after-call",
    world="connection dropped",
    ends=EITHER,
)
FAULTS = (*DEATHS, BY_NAME["reply lost"], DROPPED, DROPPED_LATE)
# The process dies at other moments of calls that post, pay and exclude.
SAMPLE = (
    (LAST[0], "killed, reply unread"),
    (LAST[2], "killed while it is recorded"),
    (LAST[4], "killed just after"),
    (LAST[2], "connection dropped"),
    (LAST[0], "connection dropped before the record"),
)
RUNS = tuple((call, fault.name) for fault in FAULTS for call in CALLS)
_BY_NAME = {fault.name: fault for fault in FAULTS}


@pytest.mark.parametrize(
    ("call", "fault"),
    [SAMPLE[1], SAMPLE[4], *in_full(*(run for run in RUNS if run not in SAMPLE[1::3]), weeks=8)],
    ids=str,
)
def test_no_fault_at_a_call_loses_or_doubles_anything(
    tmp_path: Path, postgres_url: str, call: Call, fault: str
) -> None:
    """Each HIT exists once, each worker is paid once; the ledger equals the books."""
    ending = campaign_to_its_end(tmp_path, _BY_NAME[fault], call, url=postgres_url)
    assert ending.disturbed
    assert set(ending.disturbed) <= _BY_NAME[fault].ends
    assert set(OPERATIONS) <= {made.operation for made in ending.calls}
