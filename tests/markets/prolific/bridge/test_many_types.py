"""Many small HIT types: Prolific's limits are waited for, and each study appears."""

from typing import Any

import pytest

from tests.markets.prolific.bridge.disturbed import BY_NAME, Call, Lives
from tests.markets.prolific.bridge.town import Town

TYPES = 6


def _post(town: Town) -> None:
    for number in range(TYPES):
        town.post(hits=2, Title=f"Pictures {number}")


def _throttle(town: Town, **fault: Any) -> None:  # noqa: ANN401 - fields of a fault
    town.researcher.control("PUT", "/faults", [{"kind": "throttle", **fault}])


def _calls(town: Town, name: str) -> int:
    return int(town.researcher.control("GET", "/calls").get(name, 0))


def _statuses(town: Town) -> list[str]:
    return [study["status"] for study in town.studies()]


@pytest.mark.parametrize("operation", ["create-study", "publish-study"])
def test_no_study_is_tried_while_prolific_asks_to_wait(town: Town, operation: str) -> None:
    """Then all are published, each once; what waits says so."""
    _throttle(town, operation=operation, call=3, times=2, seconds=2)
    _post(town)
    town.settle()
    assert _calls(town, operation) == 3
    assert _statuses(town).count("ACTIVE") == 2
    troubles = [row["trouble"] for row in town.rows("SELECT trouble FROM studies")]
    assert sum("waits for its turn" in each for each in troubles) == TYPES - 2
    town.settle()
    assert _calls(town, operation) == 3
    for _ in range(2):  # It is refused a second time.
        town.wait(seconds=3)
        town.settle()
    assert _statuses(town) == ["ACTIVE"] * TYPES
    # Six that were done, and two that were refused.
    assert _calls(town, operation) == TYPES + 2
    assert {row["trouble"] for row in town.rows("SELECT trouble FROM studies")} == {""}
    town.check_books()


def test_without_a_time_the_next_step_tries_again(town: Town) -> None:
    """A step makes one call that is refused, and no more."""
    _throttle(town, operation="create-study", times=4)
    _post(town)
    for number in range(1, 5):
        town.settle()
        assert _calls(town, "create-study") == number
    town.settle()
    assert _statuses(town) == ["ACTIVE"] * TYPES


@pytest.mark.parametrize(
    ("fault", "seconds"), [("killed before the call", 0), ("killed, reply unread", 3600)]
)
def test_a_bridge_that_dies_while_studies_wait_publishes_each_once(
    town: Town, fault: str, seconds: int
) -> None:
    """The next one knows nothing of the wait, and asks Prolific."""
    _throttle(town, operation="publish-study", call=2, seconds=seconds)
    _post(town)
    lives = Lives(town, BY_NAME[fault], Call("publish-study PUBLISH", 2))
    lives.settle()
    lives.close()
    assert lives.deaths == 1
    assert _statuses(town) == ["ACTIVE"] * TYPES
    names = [study["internal_name"] for study in town.studies()]
    assert len(set(names)) == TYPES
    town.check_books()
