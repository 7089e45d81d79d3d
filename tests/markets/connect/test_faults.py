"""Every fault at every kind of call of the bridge, each in a campaign of its own."""

from pathlib import Path

import pytest

from tests.conftest import in_full
from tests.markets.connect.disturbed import BY_NAME, CALLS, FAULTS, campaign_to_its_end

_READS = {"get-account", "list-projects", "get-project", "get-statistics"} | {"list-assignments"}
_HARMLESS_FOR_READS = {"request lost", "reply lost", "500", "429 4 times"} | {
    "done, and 502 with a page",
    "killed, reply unread",
}
"""A read changes nothing, and the client repeats it."""

RUNS = [
    (call, fault.name)
    for call in CALLS
    for fault in FAULTS
    if not (call in _READS and fault.name in _HARMLESS_FOR_READS)
]
_SAMPLE = {
    ("create-project", "reply lost"),
    ("update-status Live", "reply lost"),
    ("approve", "reply lost"),
    ("bonus", "reply lost"),
    ("bonus", "killed, reply unread"),
}


@pytest.mark.parametrize(
    "switch",
    [
        {"shows_status": False},
        {"lists_unfinished": True},
        *in_full(
            {"needs_token": True},
            {"unknown_is_404": True},
            {"bonus_unfinished": True},
            {"begins_again": True},
            {"rejection_opens_place": True},
        ),
    ],
    ids=lambda switch: next(iter(switch)),
)
def test_a_campaign_ends_well_whichever_way_connect_behaves(
    tmp_path: Path, switch: dict[str, bool]
) -> None:
    """Where nothing that was read decides; a reply is lost on the way."""
    lives = campaign_to_its_end(tmp_path, BY_NAME["reply lost"], "approve", **switch)
    assert lives.has_met


@pytest.mark.parametrize(
    ("call", "name"),
    [*sorted(_SAMPLE), *in_full(*[run for run in RUNS if run not in _SAMPLE], weeks=3)],
)
def test_a_fault_doubles_and_loses_nothing(tmp_path: Path, call: str, name: str) -> None:
    """The books of both sides agree at the end, and everybody is paid once."""
    lives = campaign_to_its_end(tmp_path, BY_NAME[name], call)
    assert lives.has_met
