"""Whatever goes wrong at a call of the bridge, nobody is paid twice or not at all.

A whole campaign is run under each fault at each kind of call; a sample of these runs is
tried each time, all of them in the long form.
"""

from pathlib import Path

import pytest

from tests.markets.prolific.bridge.disturbed import BY_NAME, FAULTS, Call
from tests.markets.prolific.bridge.long_campaign import campaign_to_its_end

# The last call of each kind in the campaign that nothing disturbs; counted below.
LAST = {
    "add-to-participant-group": 5,
    "bulk-approve-submissions": 2,
    "bulk-message-participants": 2,
    "calculate-study-cost": 8,
    "count-study-submissions-by-status": 68,
    "create-bonus-payments": 2,
    "create-participant-group": 5,
    "create-study": 4,
    "delete-study": 1,
    "get-filters": 1,
    "get-participant-group-participants": 5,
    "get-participant-groups": 5,
    "get-project-studies": 7,
    "get-study": 75,
    "get-submission": 9,
    "get-submissions": 19,
    "get-workspace-balance": 5,
    "pay-bonus-payments": 2,
    "publish-study PUBLISH": 3,
    "publish-study STOP": 1,
    "remove-from-participant-group": 1,
    "request-submission-return": 4,
    "send-message": 3,
    "transition-submission COMPLETE": 2,
    "transition-submission REJECT": 3,
    "transition-submission UNREJECT": 1,
    "update-study": 2,
}
_READS = ("get-", "count-", "calculate-")
# A read changes nothing and the client makes it again, as tests of the client show. So
# the bridge can notice no more than these of one.
_OF_READS = (
    "killed before the call",
    "6 replies lost",
    "lists lag by 1 h",
    "restored from an older copy",
)
# What is read often is struck at its second call, amid all that goes on.
STRUCK = tuple(
    Call(name, min(nth, 2) if name.startswith(_READS) else nth) for name, nth in LAST.items()
)
RUNS = tuple(
    (call, fault.name)
    for fault in FAULTS
    for call in STRUCK
    if fault.name in _OF_READS or not call.name.startswith(_READS)
)
_SPENDING = [
    call
    for call in STRUCK
    if call.name
    in (
        "create-study",
        "pay-bonus-payments",
        "publish-study PUBLISH",
        "transition-submission UNREJECT",
        "update-study",
    )
]
# Every fourth fault once, at calls that spend; and a copy that is brought back.
SAMPLE = (
    *(
        (_SPENDING[number % len(_SPENDING)], fault.name)
        for number, fault in enumerate(FAULTS[1::4])
    ),
    (Call("pay-bonus-payments", LAST["pay-bonus-payments"]), FAULTS[-1].name),
)


def _run(folder: Path, call: Call, name: str) -> None:
    lives = campaign_to_its_end(folder, BY_NAME[name], call)
    assert lives.has_met
    assert lives.deaths == bool(BY_NAME[name].dies)
    assert lives.restores == bool(BY_NAME[name].restores)


def test_an_undisturbed_campaign_makes_the_calls_that_are_disturbed(tmp_path: Path) -> None:
    """The suite reaches each kind of call: its list is the campaign's own."""
    lives = campaign_to_its_end(tmp_path)
    assert set(lives.calls) == set(LAST)
    changing = {name for name in LAST if not name.startswith(_READS)}
    assert {name: lives.calls[name] for name in changing} == {name: LAST[name] for name in changing}
    assert not lives.failures


@pytest.mark.full
def test_where_no_rejection_can_be_taken_back_a_bonus_pays(tmp_path: Path) -> None:
    """The same campaign, at a Prolific without UNREJECT."""
    campaign_to_its_end(tmp_path, switches={"unreject": False})


@pytest.mark.parametrize(
    "switches",
    [
        pytest.param({"settling_seconds": 3600, "publishing_seconds": 0}, marks=pytest.mark.full),
        {"stop_awaits_review": True, "publishes_at_once": True, "errors": "bare"},
        {"rejection_pauses": True},
    ],
    ids=str,
)
def test_where_prolific_takes_its_time_or_is_as_others_saw_it(
    tmp_path: Path, switches: dict[str, object]
) -> None:
    """What is not documented may be either way."""
    campaign_to_its_end(tmp_path, switches=switches)


@pytest.mark.parametrize(("call", "fault"), SAMPLE, ids=str)
def test_no_fault_at_a_sampled_call_loses_or_doubles_anything(
    tmp_path: Path, call: Call, fault: str
) -> None:
    """All books agree in the end, to the penny."""
    _run(tmp_path, call, fault)


@pytest.mark.full(weeks=5)
@pytest.mark.parametrize(("call", "fault"), [run for run in RUNS if run not in SAMPLE], ids=str)
def test_no_fault_at_any_call_loses_or_doubles_anything(
    tmp_path: Path, call: Call, fault: str
) -> None:
    """The same, at all the other calls."""
    _run(tmp_path, call, fault)
