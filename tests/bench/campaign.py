"""What a campaign costs: seconds by stage, peak memory, API calls.

Each size is a whole rehearsal in a process of its own (so that memory is its own), with
the steps that the flows call and no Prefect around them. Passes come as `piecework run`
makes them, waiting for workers in virtual time, so all calls count. `diligent` after a
size is a crowd of honest workers, of whose work little has to be asked again: what is
left is the cost of polling and paying. Run: `make bench`, or with sizes: `python -m
tests.bench.campaign 60 "600 diligent"`.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import httpx

SIZES = ("60", "600", "600 diligent", "6000")
DEMO = Path(__file__).resolve().parents[2] / "config/campaigns/demo.toml"
HONEST = """
[rehearsal.crowd]
diligent = 40
"""
_T = TypeVar("_T")


def main(sizes: tuple[str, ...]) -> None:
    """Print the tables for these sizes."""
    results = [_in_a_process(size) for size in sizes]
    stages = list(results[0]["seconds"])
    _table(
        ["images", *(f"{one['images']}" for one in results)],
        [
            *(
                [f"{stage}, s", *(f"{one['seconds'][stage]:.1f}" for one in results)]
                for stage in stages
            ),
            ["all, s", *(f"{sum(one['seconds'].values()):.1f}" for one in results)],
            ["peak memory, MiB", *(f"{one['peak_mib']:.0f}" for one in results)],
            ["passes", *(f"{one['passes']}" for one in results)],
            ["days, virtual", *(f"{one['days']:.1f}" for one in results)],
            ["accepted assignments", *(f"{one['accepted']}" for one in results)],
        ],
    )
    operations = sorted({name for one in results for name in one["calls"]})
    _table(
        ["API calls", *(f"{one['images']}" for one in results)],
        [
            *(
                [name, *(f"{one['calls'].get(name, 0)}" for one in results)]
                for name in operations
            ),
            [
                "per accepted assignment",
                *(
                    f"{sum(one['calls'].values()) / one['accepted']:.2f}"
                    for one in results
                ),
            ],
        ],
    )


def _in_a_process(size: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.campaign", "--one", size],
        check=True,
        capture_output=True,
        text=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(size: str) -> dict[str, object]:
    """One rehearsal of so many drawn pictures; its cost."""
    images, _, is_honest = size.partition(" ")
    # Imported here: the parent process only prints.
    from flows.rehearse import prepare, rehearsal_world  # noqa: PLC0415
    from flows.results import clean, export  # noqa: PLC0415
    from flows.steps import (  # noqa: PLC0415
        assess,
        collect,
        decide,
        launch,
        settle,
    )
    from flows.steps.progress import progress  # noqa: PLC0415
    from store.polls import LEAST, next_wait  # noqa: PLC0415

    seconds: defaultdict[str, float] = defaultdict(float)

    def timed(stage: str, work: Callable[[], _T]) -> _T:
        began = time.perf_counter()
        done = work()
        seconds[stage] += time.perf_counter() - began
        return done

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.toml"
        text = DEMO.read_text().replace("scenes = 60", f"scenes = {images}")
        text = text.replace('"130.00"', f'"{int(images) * 3}.00"')
        text += HONEST if is_honest else ""
        path.write_text(text.replace("../../out/demo", "out"))
        campaign = timed("read, draw", lambda: prepare(path))
        passes, wait, known, is_due = 0, LEAST, 0, True
        with rehearsal_world(campaign) as (place, crowd):
            began = place.clock.now()
            while True:
                passes += 1
                if timed("collect", lambda: collect.collect(place)) or is_due:
                    timed("assess", lambda: assess.assess(place))
                    timed("decide", lambda: decide.decide(place))
                    timed("settle", lambda: settle.settle(place))
                    timed("launch", lambda: launch.launch(place))
                reached = timed("progress", lambda: progress(place))
                if reached.is_finished:
                    break
                if is_due := reached.waiting_for == "the next pass":
                    continue
                # As `piecework run` waits.
                left, done = reached.hits_open, reached.hits_posted - reached.hits_open
                wait, known = next_wait(wait, came=done - known, left=left), done
                shift = partial(crowd.work_until, hours=wait.total_seconds() / 3600)
                timed("workers", shift)
            days = (place.clock.now() - began).total_seconds() / 86_400
            timed("clean", lambda: clean.clean(place))
            timed("export", lambda: export.export(place))
            calls = httpx.get(f"{place.platform.endpoint}/rehearsal/calls").json()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "images": size,
        "seconds": seconds,
        "peak_mib": peak,
        "passes": passes,
        "days": days,
        "calls": calls.get("calls", calls),
        "accepted": reached.submitted - reached.rejected,
    }


def _table(head: list[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|---" + "|---:" * (len(head) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(tuple(sys.argv[1:]) or SIZES)
