"""A schedule on a real Prefect server drives campaigns to their end, unwatched.

Server, worker, marketplace with its crowd, and every pass are processes of their own.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.schedule.prefect_apart import PrefectApart, prefect_apart
from tests.schedule.rehearsed import driven_by_a_schedule

pytestmark = [pytest.mark.flow, pytest.mark.full]

SHORT_LEASES = {"PREFECT_SERVER_CONCURRENCY_INITIAL_DEPLOYMENT_LEASE_DURATION": "30"}
"""The slot of a pass that died is soon free. A pass has to start within a lease, or a
second begins beside it: on a busy machine that needs the five minutes of the default.
"""


def test_a_schedule_alone_brings_a_small_campaign_to_its_end(tmp_path: Path) -> None:
    """prefect.yaml is deployed as it is; nobody but the schedule starts a pass."""
    with prefect_apart(tmp_path / "prefect") as prefect:
        ended = driven_by_a_schedule(
            tmp_path / "campaign", prefect, pictures=5, batches=1, every_seconds=5, patience=400
        )
        assert {"captions.csv", "captions.json", "report.html"} <= set(ended.files)
        assert "Finished" in ended.states
        assert not {"Failed", "Crashed"} & set(ended.states)
        artifacts = {artifact["key"] for artifact in prefect.read("artifacts/filter")}
        assert {"days-progress", "days-status", "days-report"} <= artifacts
        key = "/marketplace.db"
        assert not [
            artifact_key for artifact_key in artifacts if artifact_key and key in artifact_key
        ]


class _Kills:
    """Kills worker and server, each at a number of HITs, and starts them again.

    Attributes:
        done: how many HITs there were at each kill.
        passes: how many passes died, or outlived their worker if it is killed alone.
    """

    def __init__(self, prefect: PrefectApart, at: dict[int, str], *, alone: bool = False) -> None:
        self._prefect, self._at = prefect, dict(at)
        self._kill = prefect.kill_alone if alone else prefect.kill
        self.done: list[int] = []
        self.passes = 0

    def __call__(self, posted: int) -> None:
        for number in [threshold for threshold in self._at if posted >= threshold]:
            name = self._at.pop(number)
            self.passes += self._kill(name)
            self.done.append(posted)
            getattr(self._prefect, name)()


def test_a_pass_outlives_its_worker(tmp_path: Path) -> None:
    """Its console is closed; it ends well, and its log is on the server."""
    with prefect_apart(tmp_path / "prefect") as prefect:
        kills = _Kills(prefect, {1: "worker"}, alone=True)
        ended = driven_by_a_schedule(
            tmp_path / "campaign",
            prefect,
            pictures=60,
            batches=1,
            every_seconds=10,
            patience=400,
            disturb=kills,
        )
        assert kills.passes == 1
        assert {"Completed", "Finished"} <= set(ended.states)
        assert not {"Failed", "Crashed"} & set(ended.states)
        messages = [log["message"] for log in prefect.read("logs/filter")]
        assert "12 HITs were posted or extended" in messages


def test_a_machine_that_dies_before_its_run_begins_delays_the_schedule(tmp_path: Path) -> None:
    """The run holds the slot and imports no flow; after its lease, others run."""
    lease = {**SHORT_LEASES, next(iter(SHORT_LEASES)): "90"}
    with prefect_apart(tmp_path / "prefect", lease) as prefect:
        dead: list[str] = []

        def kill_before_it_begins(_posted: int) -> None:
            pending = {"state": {"type": {"any_": ["PENDING"]}}}
            runs = [] if dead else prefect.read("flow_runs/filter", flow_runs=pending)
            if runs:
                prefect.kill("worker")
                dead.append(str(runs[0]["id"]))
                prefect.worker()

        ended = driven_by_a_schedule(
            tmp_path / "campaign",
            prefect,
            pictures=5,
            batches=1,
            every_seconds=20,
            patience=900,
            disturb=kill_before_it_begins,
        )
        lost = prefect.get(f"flow_runs/{dead[0]}")
        assert (lost["state_type"], lost["start_time"]) == ("PENDING", None)
        assert "Finished" in ended.states
        assert not {"Failed", "Crashed"} & set(ended.states)
        print(f"{ended.seconds:.0f} s", Counter(ended.states))  # noqa: T201 - docs/internals/measurements/schedule.md


@pytest.mark.full(weeks=3)
def test_kills_on_the_way_leave_no_trace_in_the_dataset(tmp_path: Path) -> None:
    """600 pictures: worker and server die by SIGKILL; the files are the same bytes."""
    ended = []
    # 120 HITs in five batches of 24, and replacements: so the deaths fall while the
    # first, second, third and fourth batch are posted.
    deaths = {3: "worker", 30: "server", 60: "worker", 100: "server"}
    for name, at in (("calm", {}), ("stormy", deaths)):
        home = tmp_path / f"prefect-{name}"
        with prefect_apart(home, SHORT_LEASES) as prefect:
            kills = _Kills(prefect, at)
            ended.append(
                driven_by_a_schedule(
                    tmp_path / name,
                    prefect,
                    pictures=600,
                    batches=5,
                    every_seconds=10,
                    patience=3600,
                    disturb=kills,
                )
            )
            assert len(kills.done) == len(at)
            # A worker dies while its pass posts HITs, so the pass dies too.
            assert kills.passes == list(at.values()).count("worker")
            print(f"{name}: killed at {kills.done} HITs")  # noqa: T201
    calm, stormy = ended
    print(f"{calm.seconds:.0f} s calm, {stormy.seconds:.0f} s with deaths")  # noqa: T201
    print(Counter(calm.states), Counter(stormy.states))  # noqa: T201 - docs/internals/measurements/schedule.md
    assert stormy.files == calm.files
