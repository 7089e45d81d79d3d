"""How fast HITs are posted when every call takes a tenth of a second.

The marketplace is a process of its own; its rehearsal's faults make every call slow, or
let only so many calls a second through. Posted with the step that a pass uses, intents
durable on the disk. Run: `make bench`, or `python -m tests.bench.posting 1000`.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from piecework.campaign.assembling import load_campaign
from piecework.domain.clock import SystemClock
from piecework.engine import run_pass
from piecework.engine.opening import MOST_CALLS, open_for_rehearsal
from piecework.store import hits
from tests.bench.targets import Figure

HITS = 1000
LATENCY = 0.1
LIMITS = (20, 50, 100)
CAMPAIGN = """
name = "posting"
description = "Posted, and never worked on."
task = "caption"
batches = 1
answers = 5
reward = "0.05"
budget = "{budget}.00"
hourly_wage = "5.00"
formats = ["csv"]
[items]
file = "items.csv"
[posting]
items_per_hit = 5
"""
_FOR_EVER = 10**9


@dataclass(frozen=True, slots=True)
class Posted:
    """What posting a campaign took."""

    seconds: float
    calls: int
    throttled: int


def main(number: int) -> dict[str, Figure]:
    """Print both tables; return the figures."""
    slow = [{"kind": "slow", "seconds": LATENCY, "times": _FOR_EVER}]
    serial = post(number, at_once=1, faults=slow)
    many = post(number, at_once=MOST_CALLS, faults=slow)
    print(f"| {number} HITs, {LATENCY * 1000:.0f} ms a call | seconds | HITs a second |")
    print("|---|---:|---:|")
    for name, posted in (("one call at a time", serial), (f"{MOST_CALLS} at once", many)):
        rate = number / posted.seconds
        print(f"| {name} | {posted.seconds:.1f} | {rate:.0f} |")
    speed_up = serial.seconds / many.seconds
    print(f"| times as fast | {speed_up:.1f} | |\n")
    print("| limit, calls a second | reached | of the limit | throttled calls |")
    print("|---:|---:|---:|---:|")
    reached_of_limit = 0.0
    for limit in LIMITS:
        limited = [{"kind": "limit", "per_second": limit, "times": _FOR_EVER}, *slow]
        posted = post(min(number, limit * 20), at_once=MOST_CALLS, faults=limited)
        reached = (posted.calls - posted.throttled) / posted.seconds
        reached_of_limit = reached / limit
        print(f"| {limit} | {reached:.1f} | {reached_of_limit:.0%} | {posted.throttled} |")
    return {
        "posting 24 at once, times as fast": Figure(speed_up),
        "posting, share of a limit of 100 calls a second": Figure(reached_of_limit),
    }


def post(number: int, *, at_once: int, faults: list[dict[str, object]]) -> Posted:
    """Post so many HITs on a marketplace of their own."""
    with tempfile.TemporaryDirectory() as name, _marketplace(Path(name)) as endpoint:
        path = Path(name) / "posting.toml"
        path.write_text(CAMPAIGN.format(budget=number))
        rows = (f"p{n},https://example.org/{n}.jpg\n" for n in range(number * 5))
        (path.parent / "items.csv").write_text("image_id,url\n" + "".join(rows))
        campaign = load_campaign(path)
        with open_for_rehearsal(campaign, endpoint, SystemClock()) as opened:
            # As on real work: many at once, and the disk is waited for.
            run = replace(opened, most_calls=at_once, is_rehearsal=False)
            run.store.db.execute("PRAGMA synchronous = FULL")
            _control(endpoint, faults)
            before = _calls(endpoint)
            began = time.perf_counter()
            run_pass.post(run)
            seconds = time.perf_counter() - began
            posted = [hit for hit in hits.load_hits(run.store) if hit.hit_id]
            _control(endpoint, [])
            calls = _calls(endpoint) - before
        if len({hit.hit_id for hit in posted}) != number:
            raise SystemExit(f"{len(posted)} HITs posted, not {number}")
    # One call makes the HIT type and one the qualification type.
    return Posted(seconds, calls, throttled=calls - number - 2)


def _control(endpoint: str, faults: list[dict[str, object]]) -> None:
    httpx.put(f"{endpoint}/rehearsal/faults", json=faults).raise_for_status()


def _calls(endpoint: str) -> int:
    counts = httpx.get(f"{endpoint}/rehearsal/calls").json()
    return sum(counts.get("calls", counts).values())


@contextmanager
def _marketplace(folder: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "piecework.marketplace",
            "--database",
            str(folder / "marketplace.db"),
            "--rehearsal",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        yield next(word for word in line.split() if word.startswith("http"))
    finally:
        process.terminate()
        process.wait(timeout=30)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else HITS)
