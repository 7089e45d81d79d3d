"""A fault at any call of a campaign neither loses work nor repeats it.

For every outward call of a small campaign (two batches with a dropped answer, a
rejection, two exclusions and replacements) and every fault of `tests.crash.faults`, the
campaign runs to its end, and the marketplace's own books are checked. A sample of these
runs is tested each time, all of them in the long form.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import in_full
from tests.crash.campaign import campaign_to_its_end, is_unmade
from tests.crash.disturbed import Call
from tests.crash.faults import BY_NAME, FAULTS
from tests.crash.world import can_mount

# One pass opens the campaign; after each round of work one pass collects, settles and
# posts. The first test below counts the calls.
OPERATIONS = {
    "CreateQualificationType": 1,
    "CreateHITType": 1,
    "ListHITs": 7,
    "CreateHITWithHITType": 3,
    "CreateAdditionalAssignmentsForHIT": 2,
    "ListReviewableHITs": 4,
    "ListAssignmentsForHIT": 4,
    "ApproveAssignment": 6,
    "RejectAssignment": 1,
    "AssociateQualificationWithWorker": 3,
    "GetAssignment": 5,
}
CALLS = tuple(
    Call(operation, nth) for operation, times in OPERATIONS.items() for nth in range(1, times + 1)
)
RUNS = tuple((call, fault.name) for fault in FAULTS for call in CALLS)
SPENDING = (
    "CreateHITWithHITType",
    "CreateAdditionalAssignmentsForHIT",
    "ApproveAssignment",
    "RejectAssignment",
    "AssociateQualificationWithWorker",
)
DEATHS = [fault for fault in FAULTS if fault.kind == "death" and not fault.script]
OTHERS = (
    "killed, and lists lag by 1 h",
    "reply lost",
    "all replies lost",
    "500 twice",
    "disk full",
    "store locked",
    "clock an hour back",
    "marketplace killed after the reply",
)
# The process dies at the last call of each operation that posts, pays or excludes.
# These calls meet other faults, at least one of each kind.
LAST = [Call(operation, OPERATIONS[operation]) for operation in SPENDING]
SAMPLE = sorted(
    {
        *((call, DEATHS[number].name) for number, call in enumerate(LAST)),
        *((LAST[number % 4], name) for number, name in enumerate(OTHERS)),
    },
    key=str,
)


def test_an_undisturbed_campaign_makes_the_calls_that_are_disturbed(tmp_path: Path) -> None:
    """The suite covers every call: its list equals the campaign's calls."""
    ending = campaign_to_its_end(tmp_path)
    assert Counter(call.operation for call in ending.calls) == OPERATIONS


def _run(folder: Path, call: Call, name: str) -> None:
    fault = BY_NAME[name]
    if fault.world == "disk full" and not can_mount():
        pytest.skip("only root can make a small disk to fill")
    ending = campaign_to_its_end(folder, fault, call)
    assert ending.disturbed or is_unmade(ending, fault, call)
    assert set(ending.disturbed) <= fault.ends


@pytest.mark.parametrize(("call", "fault"), [*SAMPLE[::2], *in_full(*SAMPLE[1::2])], ids=str)
def test_no_fault_at_a_sampled_call_loses_or_doubles_anything(
    tmp_path: Path, call: Call, fault: str
) -> None:
    """Each HIT exists once, each worker is paid once; the ledger equals the books."""
    _run(tmp_path, call, fault)


@pytest.mark.full(weeks=8)
@pytest.mark.parametrize(("call", "fault"), [run for run in RUNS if run not in SAMPLE], ids=str)
def test_no_fault_at_any_call_loses_or_doubles_anything(
    tmp_path: Path, call: Call, fault: str
) -> None:
    """The same, for all the other calls and faults."""
    _run(tmp_path, call, fault)
