"""Messages reach the participants they are for, once, on Prolific."""

import pytest

from piecework.markets.prolific.bridge import bridge
from tests.markets.prolific.bridge.test_pay import decide
from tests.markets.prolific.bridge.town import Town


def test_a_text_to_many_goes_out_in_several_calls(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several calls of a requester make one text to more than fit into one of ours."""
    monkeypatch.setattr(bridge, "_MOST_AT_ONCE", 2)
    town.post(hits=2, assignments=3)
    town.settle()
    people = [town.visitor() for _ in range(3)]
    study = town.study()
    for person in people:
        person.work(study)
        decide(town, person, "approve", 0, 1)  # Else nobody may be written to.
    for person in people:
        town.requester.notify_workers(
            Subject="Hello", MessageText="Thank you.", WorkerIds=[person.worker_id]
        )
    town.settle()
    for person in people:
        got = [each["body"] for each in person.ask("GET", "/messages")["results"]]
        assert got == ["Hello\n\nThank you."]
    calls = town.researcher.control("GET", "/calls")
    assert (calls["bulk-message-participants"], calls["send-message"]) == (1, 1)
