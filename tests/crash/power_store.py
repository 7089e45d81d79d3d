"""Carry out acts on a store; report when each call leaves, and which are recorded.

Run: `python -m tests.crash.power_store STORE SYNCS`, with "yes" or "no" for whether
commits wait for the disk. A line is `left KEY MOMENT` or `closed KEY MOMENT`.
"""

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from piecework.domain.clock import FixedClock
from piecework.store import bound
from piecework.store.database import Store, open_store
from piecework.store.intents import Act, Intent, carry_out

CHUNKS, ACTS = 8, 6
_LONG = "a sentence that is as long as a page. " * 200


def main(path: Path, *, survives_power_cuts: bool) -> None:
    """Run two sessions, so that the log is checkpointed between them."""
    clock = FixedClock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    for session in range(2):
        store = open_store(path, create=True, survives_power_cuts=survives_power_cuts)
        bound.bind(store, "name", "a test")
        for chunk in range(CHUNKS):
            keys = [f"{session}.{chunk}.{number}" for number in range(ACTS)]
            carry_out(store, [_act(store, key) for key in keys], clock=clock, most_calls=3)
            for key in keys:
                _say("closed", key)
        store.close()


def _act(store: Store, key: str) -> Act:
    intent = Intent(key=key, operation="publish", subject=("hit", key), arguments={"text": _LONG})
    return Act(intent=intent, do=_call(key), look=lambda: None, record=_recording(store, key))


def _call(key: str) -> Callable[[], str]:
    def call() -> str:
        _say("left", key)
        return f"outcome of {key}"

    return call


def _recording(store: Store, key: str) -> Callable[[str], None]:
    return lambda outcome: store.db.execute(
        "INSERT INTO stops (stopped_at, undone_at) VALUES (?, ?)", [key, outcome]
    )  # type: ignore[return-value]


def _say(word: str, key: str) -> None:
    print(f"{word} {key} {time.monotonic_ns()}\n", end="", flush=True)  # noqa: T201 - what it is for


if __name__ == "__main__":
    main(Path(sys.argv[1]), survives_power_cuts=sys.argv[2] == "yes")
