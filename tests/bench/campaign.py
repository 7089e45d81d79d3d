"""What a campaign costs: seconds by stage, peak memory, API calls.

Each size is a whole rehearsal in a process of its own (so that memory is its own), with
the steps that the flows call and no Prefect around them. Run: `make bench`, or with
sizes: `python -m tests.bench.campaign 60 600`.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx

SIZES = (60, 600, 6000)
DEMO = Path(__file__).resolve().parents[2] / "config/campaigns/demo.toml"
_T = TypeVar("_T")


def main(sizes: tuple[int, ...]) -> None:
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


def _in_a_process(size: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.campaign", "--one", str(size)],
        check=True,
        capture_output=True,
        text=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(size: int) -> dict[str, object]:
    """One rehearsal of so many drawn pictures; its cost."""
    # Imported here: the parent process only prints.
    from flows.rehearse import prepare, rehearsal_world  # noqa: PLC0415
    from flows.steps import (  # noqa: PLC0415
        assess,
        clean,
        collect,
        decide,
        export,
        launch,
        settle,
    )
    from flows.steps.progress import progress  # noqa: PLC0415

    seconds: defaultdict[str, float] = defaultdict(float)

    def timed(stage: str, work: Callable[[], _T]) -> _T:
        began = time.perf_counter()
        done = work()
        seconds[stage] += time.perf_counter() - began
        return done

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.toml"
        text = DEMO.read_text().replace("scenes = 60", f"scenes = {size}")
        text = text.replace('"130.00"', f'"{size * 3}.00"')
        path.write_text(text.replace("../../out/demo", "out"))
        campaign = timed("read, draw", lambda: prepare(path))
        passes = 0
        with rehearsal_world(campaign) as (place, crowd):
            while True:
                passes += 1
                timed("collect", lambda: collect.collect(place))
                timed("assess", lambda: assess.assess(place))
                timed("decide", lambda: decide.decide(place))
                timed("settle", lambda: settle.settle(place))
                timed("launch", lambda: launch.launch(place))
                reached = timed("progress", lambda: progress(place))
                if reached.is_finished:
                    break
                timed("workers", crowd.work_until)
            timed("clean", lambda: clean.clean(place))
            timed("export", lambda: export.export(place))
            calls = httpx.get(f"{place.platform.endpoint}/rehearsal/calls").json()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "images": size,
        "seconds": seconds,
        "peak_mib": peak,
        "passes": passes,
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
        print(json.dumps(measure(int(sys.argv[2]))))
    else:
        main(tuple(int(word) for word in sys.argv[1:]) or SIZES)
