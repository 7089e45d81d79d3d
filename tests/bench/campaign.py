"""What a campaign costs: seconds by stage and by process, peak memory, API calls.

Each size is a whole rehearsal in a process of its own (so that memory is its own), with
the steps that the flows call and no Prefect around them. Passes come as `piecework run`
makes them, waiting for workers in virtual time, so all calls count. `diligent` after a
size is a crowd of honest workers, of whose work little has to be asked again: what is
left is the cost of polling and paying. `rehearsed` after a size is as `piecework
rehearse` does it: workers work until nothing is left for them, so there are few polls;
there, passes of processes of their own are timed as well, in the last batch.
Run: `make bench`, or with sizes: `python -m tests.bench.campaign 60 "39181 rehearsed"`.
"""

import json
import math
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

from tests.bench.targets import Figure

SIZES = ("600", "39181 rehearsed")
DEMO = Path(__file__).resolve().parents[2] / "config/campaigns/demo.toml"
HONEST = """
[rehearsal.crowd]
diligent = 40
"""
CROWD = "workers"
_SIDES = ("workers", "pipeline", "marketplace")
_IDLE = "nothing due"
_PICTURES_OF_ONE_CROWD = 6000
_T = TypeVar("_T")


class Watch:
    """Seconds of this process by stage: of the wall clock, and of its processor."""

    def __init__(self) -> None:
        self.wall: defaultdict[str, float] = defaultdict(float)
        self.processor: defaultdict[str, float] = defaultdict(float)

    def timed(self, stage: str, work: Callable[[], _T]) -> _T:
        """What the work returns."""
        wall, processor = time.perf_counter(), time.process_time()
        done = work()
        self.wall[stage] += time.perf_counter() - wall
        self.processor[stage] += time.process_time() - processor
        return done


def main(sizes: tuple[str, ...]) -> dict[str, Figure]:
    """Print the tables for these sizes; return the figures of the last."""
    results = [_in_a_process(size) for size in sizes]
    for table in results[0]:
        columns = [result[table] for result in results]
        print(f"| {table} | " + " | ".join(sizes) + " |")
        print("|---" + "|---:" * len(sizes) + "|")
        for name in dict.fromkeys(name for column in columns for name in column):
            cells = (_shown(column.get(name, 0)) for column in columns)
            print(f"| {name} | " + " | ".join(cells) + " |")
        print(flush=True)
    last = results[-1]
    processors = [last["ms a picture"][f"{side}: processor"] for side in _SIDES]
    figures = {
        "a rehearsal, s": Figure(last["seconds"]["all"]),
        "a rehearsal, processor ms a picture": Figure(sum(processors)),
        "a rehearsal, MiB": Figure(last["what"]["peak memory, MiB"]),
    }
    if apart := last["seconds of a pass in a process of its own"]:
        idle = [seconds for part, seconds in apart.items() if part.startswith(_IDLE)]
        figures["a pass without work, s"] = Figure(sum(idle))
    return figures


def _shown(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def _in_a_process(size: str) -> dict[str, dict[str, float]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.campaign", "--one", size],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    tables: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return tables


def measure(size: str) -> dict[str, dict[str, float]]:
    """The cost of one rehearsal of so many drawn pictures, as tables."""
    # Imported here: the parent process only prints.
    from piecework.simulation.rehearsals.campaign import prepare  # noqa: PLC0415
    from piecework.simulation.rehearsals.rehearsal import rehearsal_of  # noqa: PLC0415

    watch = Watch()
    is_rehearsed = "rehearsed" in size
    apart: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = _campaign_file(Path(folder), size)
        campaign = watch.timed("read, draw", lambda: prepare(path))
        with rehearsal_of(campaign) as (run, crowd):
            began = run.clock.now()

            def last_batch() -> None:
                if is_rehearsed:
                    apart.update(_passes_apart(run, crowd, path))

            passes, progress = _run(
                run, crowd, watch, polls=not is_rehearsed, last_batch=last_batch
            )
            days = (run.clock.now() - began).total_seconds() / 86_400
            calls = httpx.get(f"{run.endpoint}/rehearsal/calls").json()
            marketplace_mib = _marketplace_mib()
    accepted = progress.submitted - progress.rejected
    calls = dict(sorted(calls.get("calls", calls).items()))
    return {
        "seconds": watch.wall | {"all": sum(watch.wall.values())},
        "ms a picture": {
            name: seconds * 1000 / len(campaign.items) for name, seconds in _shares(watch).items()
        },
        "what": {
            "peak memory, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "peak memory of the marketplace, MiB": marketplace_mib,
            "passes": passes,
            "days, virtual": days,
            "accepted assignments": accepted,
        },
        "API calls": calls | {"per accepted assignment": sum(calls.values()) / accepted},
        "seconds of a pass in a process of its own": apart,
    }


def _shares(watch: Watch) -> dict[str, float]:
    """Seconds of each party; a side waits for the marketplace, or for a processor."""
    # The marketplace is the only child, and has ended, so its use is known.
    market = resource.getrusage(resource.RUSAGE_CHILDREN)
    shares: dict[str, float] = {}
    for side, stages in (("workers", {CROWD}), ("pipeline", watch.wall.keys() - {CROWD})):
        wall = sum(watch.wall[stage] for stage in stages)
        processor = sum(watch.processor[stage] for stage in stages)
        shares |= {
            f"{side}: all": wall,
            f"{side}: processor": processor,
            f"{side}: waiting": wall - processor,
        }
    return shares | {"marketplace: processor": market.ru_utime + market.ru_stime}


def _marketplace_mib() -> float:
    """Peak of the only child; its `ru_maxrss` would be ours, which it began as."""
    child = Path("/proc/thread-self/children").read_text().split()[0]
    status = Path(f"/proc/{child}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _campaign_file(folder: Path, size: str) -> Path:
    """The demo's campaign with so many pictures, and no fewer workers for each.

    HITs live two days. Of 7,800 pictures a batch the demo's 48 workers would do half in
    that time, and most of the campaign would be HITs that are posted again.
    """
    from piecework.simulation.crowd.people import default_crowd  # noqa: PLC0415 - as above

    images, _, crowd = size.partition(" ")
    text = DEMO.read_text().replace("scenes = 60", f"scenes = {images}")
    text = text.replace('"130.00"', f'"{int(images) * 3}.00"')
    times = max(1, math.ceil(int(images) / _PICTURES_OF_ONE_CROWD))
    if crowd == "diligent":
        text += HONEST
    elif times > 1:
        text += "\n[rehearsal.crowd]\n"
        text += "".join(f"{name} = {n * times}\n" for name, n in default_crowd().items())
    path = folder / "bench.toml"
    path.write_text(text)
    return path


_HITS = 10


def _passes_apart(run: Any, crowd: Any, path: Path) -> dict[str, float]:  # noqa: ANN401 - imported late
    """Seconds of passes of other processes: nothing due, and when ten HITs came."""
    from piecework.store import hits  # noqa: PLC0415 - as above

    if len(hits.uncollected(run.store)) < 10 * _HITS:
        return {}  # the last few HITs may never come all at once
    idle, least = _pass_apart(path, run.endpoint), _HITS
    wanted, busy, came = least * run.campaign.posting.assignments, idle, 0
    while came < least:
        before, submitted = len(hits.uncollected(run.store)), 0
        while submitted < wanted:
            submitted += crowd.work_until(hours=0.02).submitted
        busy = _pass_apart(path, run.endpoint)
        came = before - len(hits.uncollected(run.store))
        wanted *= 2  # the more workers there are, the more HITs are begun at once
    return {f"{_IDLE}: {part}": seconds for part, seconds in idle.items()} | {
        f"{came} HITs came: {part}": seconds for part, seconds in busy.items()
    }


def _pass_apart(path: Path, endpoint: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.campaign", "--pass", str(path), endpoint],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return seconds


def one_pass(path: Path, endpoint: str) -> dict[str, float]:
    """Seconds of one pass over a campaign that is being rehearsed elsewhere."""
    began = time.perf_counter()
    from piecework.campaign.assembling import load_campaign  # noqa: PLC0415 - timed
    from piecework.engine.opening import open_for_rehearsal  # noqa: PLC0415
    from piecework.engine.run_pass import run_pass  # noqa: PLC0415
    from piecework.platforms.clocks import VirtualClock  # noqa: PLC0415

    imported = time.perf_counter()
    campaign = load_campaign(path)
    loaded = time.perf_counter()
    with open_for_rehearsal(campaign, endpoint, VirtualClock(endpoint)) as run:
        run_pass(run)
    return {
        "imports": imported - began,
        "reading the campaign": loaded - imported,
        "the pass": time.perf_counter() - loaded,
    }


def _run(
    run: Any,  # noqa: ANN401 - imported late
    crowd: Any,  # noqa: ANN401
    watch: Watch,
    *,
    polls: bool,
    last_batch: Callable[[], None],
) -> tuple[int, Any]:
    """Passes and workers in turn; how many passes, and the progress at the end."""
    from piecework.engine.run_pass import run_pass  # noqa: PLC0415
    from piecework.engine.waits import LEAST_WAIT, next_wait  # noqa: PLC0415
    from piecework.results.whole_pass import write_results  # noqa: PLC0415

    passes, wait, known, is_last = 0, LEAST_WAIT, 0, False
    while True:
        passes += 1
        progress = run_pass(run, call=watch.timed)
        if progress.is_finished:
            break
        if progress.waiting_for == "the next pass":
            continue
        if progress.batch == progress.batches and not is_last:
            is_last = True
            last_batch()
        hours = None
        if polls:
            # As `piecework run` waits.
            left, done = progress.hits_open, progress.hits_posted - progress.hits_open
            wait, known = next_wait(wait, came=done - known, left=left), done
            hours = wait.total_seconds() / 3600
        watch.timed(CROWD, partial(crowd.work_until, hours=hours))
    write_results(run, call=watch.timed)
    return passes, progress


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2])))
    elif sys.argv[1:2] == ["--pass"]:
        print(json.dumps(one_pass(Path(sys.argv[2]), sys.argv[3])))
    else:
        main(tuple(sys.argv[1:]) or SIZES)
