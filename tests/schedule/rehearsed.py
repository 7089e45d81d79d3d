"""A campaign that only a schedule drives: the crowd is a process, so are the passes."""

import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.schedule.prefect_apart import PrefectApart

ROOT = Path(__file__).resolve().parents[2]
_PIECEWORK = Path(sys.executable).with_name("piecework")

CAMPAIGN = """
name = "days"
description = "Drawn pictures, driven by a schedule."
task = "caption"
batches = {batches}
budget = "2000.00"
hourly_wage = "10.00"
[items]
scenes = {pictures}
[requirements]
approved_hits_above = 500
countries = ["US"]
[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["rule_violation", "capitals", "quality_words", "same_sentence"]
then = "drop"
because = "Not what the page asks for."
[[decisions.rule]]
on = "worker"
any_of = ["capitals", "quality_words", "same_sentence"]
share = 0.4
then = "exclude"
because = "Two in five answers were not what the page asks for."
[rehearsal]
seed = 5
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a campaign ended, and what Prefect says of the way.

    Attributes:
        files: dataset and report, by name.
        states: of the flow runs.
        seconds: from the first start to the crowd's end.
    """

    files: dict[str, bytes]
    states: list[str]
    seconds: float


def driven_by_a_schedule(
    folder: Path,
    prefect: PrefectApart,
    *,
    pictures: int,
    batches: int,
    every_seconds: int,
    patience: float,
    disturb: Callable[[int], None] | None = None,
) -> Ended:
    """Deploy, start the crowd, and wait until it says that nothing is left.

    Args:
        folder: for the campaign; made here.
        prefect: server and worker are started here.
        pictures: how many to draw.
        batches: in how many parts.
        every_seconds: the schedule's interval.
        patience: seconds until the test gives up.
        disturb: called often, with how many HITs are posted so far.
    """
    folder.mkdir()
    campaign = folder / "days.toml"
    campaign.write_text(CAMPAIGN.format(pictures=pictures, batches=batches))
    began = time.monotonic()
    crowd = subprocess.Popen(
        [_PIECEWORK, "market", "serve", "--simulate", campaign, "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        assert crowd.stdout is not None
        link = re.search(r"http://\S+", crowd.stdout.readline())
        assert link is not None
        campaign.with_suffix(".deployment.toml").write_text(
            f'endpoint = "{link.group()}"\nrehearsal = true\n'
        )
        prefect.server()
        prefect.deploy(every_seconds=every_seconds, campaign=str(campaign))
        prefect.worker()
        while crowd.poll() is None:
            assert time.monotonic() - began < patience, prefect.log_tail("worker")
            if disturb is not None:
                disturb(_posted(folder / "out/days/rehearsals/1/marketplace.db"))
            time.sleep(0.2 if disturb is None else 0.02)
        seconds = time.monotonic() - began
    finally:
        if crowd.poll() is None:
            crowd.kill()
        crowd.communicate(timeout=30)
    assert crowd.returncode == 0
    made = [
        *(folder / "out/days/rehearsals/1/dataset").iterdir(),
        folder / "out/days/rehearsals/1/report.html",
    ]
    return Ended(
        files={path.name: path.read_bytes() for path in made},
        states=prefect.states(),
        seconds=seconds,
    )


def _posted(database: Path) -> int:
    with sqlite3.connect(database) as books:
        return int(books.execute("SELECT count(*) FROM hits").fetchone()[0])
