"""Runs that wait for answers are looked for after each pass, however it ends."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest
from prefect.client.schemas.responses import SetStateStatus

from piecework.campaign.assembling import load_campaign
from piecework.cli import run as command
from piecework.engine.opening import open_on_marketplace
from piecework.engine.pass_request import PassRequest
from piecework.engine.run_pass import run_pass
from piecework.engine.watching.pass_watcher import watch_passes
from piecework.flows import advance as flows
from piecework.flows.asking import _deadline
from piecework.marketplace.http.server import Marketplace, serve
from piecework.store import waiting_runs
from piecework.store.lock import only_pass
from piecework.store.waiting_runs import WaitingRun
from tests.small_campaign import write_campaign

RUN = "00000000-0000-4000-8000-000000000001"
BAD = "00000000-0000-4000-8000-000000000000"
"""The first in the order of ids."""

ACCEPTED = SimpleNamespace(status=SetStateStatus.ACCEPT)
REJECTED = SimpleNamespace(status=SetStateStatus.REJECT, details="no")
NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


class _Prefect:
    """A server where every run is suspended; it resumes all but those it refuses."""

    def __init__(self) -> None:
        self.resumed: list[UUID] = []
        self.refusals: dict[UUID, SimpleNamespace | None] = {}

    @contextmanager
    def client(self, **_: object) -> Iterator["_Prefect"]:
        """Return it in place of a client."""
        yield self

    def read_flow_run(self, _: UUID) -> SimpleNamespace:
        """It is suspended."""
        state = SimpleNamespace(is_paused=lambda: True, is_final=lambda: False)
        return SimpleNamespace(state=state)

    def resume_flow_run(self, run_id: UUID) -> SimpleNamespace:
        """It continues, is refused, or the server fails."""
        if run_id not in self.refusals:
            self.resumed.append(run_id)
            return ACCEPTED
        if (refusal := self.refusals[run_id]) is None:
            raise OSError("the server failed")
        return refusal


@pytest.fixture
def prefect(monkeypatch: pytest.MonkeyPatch) -> _Prefect:
    """The server that passes know."""
    server = _Prefect()
    monkeypatch.setattr(flows, "get_client", server.client)
    return server


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A live campaign whose HITs are posted, on a marketplace that is away now."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    path = write_campaign(tmp_path)
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1)) as running:
        path.with_suffix(".deployment.toml").write_text(f'endpoint = "{running.endpoint_url}"\n')
        with open_on_marketplace(load_campaign(path), running.endpoint_url, live=False) as opened:
            assert run_pass(opened).hits_open
    return path


def _wait(path: Path, *, until: datetime, run_id: str = RUN) -> Path:
    out = load_campaign(path).out
    waiting_runs.keep(out, run_id, WaitingRun(keys=["no key"], deadline=until))
    return out


@pytest.mark.parametrize("ends", ["busy", "failed"])
def test_a_run_whose_time_is_over_continues_after_any_pass(
    begun: Path, prefect: _Prefect, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """Although another pass works, or the marketplace does not answer."""
    monkeypatch.setattr("piecework.platforms.calling.PATIENCE_SECONDS", 0.1)
    out = _wait(begun, until=NINE)
    if ends == "busy":
        with only_pass(load_campaign(begun).store):
            assert flows.advance.fn(str(begun)).name == flows.BUSY
    else:
        assert flows.advance.fn(str(begun), poll_open_hits=True).is_failed()
    assert prefect.resumed == [UUID(RUN)]
    assert waiting_runs.ids(out) == []


@pytest.mark.parametrize("fault", ["fails", "refused", "unreadable", "gone"])
def test_a_run_that_cannot_continue_keeps_no_other_waiting(
    begun: Path,
    prefect: _Prefect,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: str,
) -> None:
    """The next pass tries it again, unless another pass has resumed it."""
    _wait(begun, until=NINE, run_id=BAD)
    out = _wait(begun, until=NINE)
    if fault == "unreadable":
        (out / "waiting-runs" / f"{BAD}.json").write_text("{")
    elif fault == "gone":
        waiting_runs.forget(out, BAD)
        monkeypatch.setattr(waiting_runs, "ids", lambda _: [BAD, RUN])
    else:
        prefect.refusals[UUID(BAD)] = None if fault == "fails" else REJECTED
    with only_pass(load_campaign(begun).store):
        flows.advance.fn(str(begun))
    assert prefect.resumed == [UUID(RUN)]
    left = [file.stem for file in (out / "waiting-runs").iterdir()]
    assert left == ([] if fault == "gone" else [BAD])
    assert (f"run {BAD} waiting" in caplog.text) == (fault != "gone")


def test_a_run_that_has_time_waits_on(begun: Path, prefect: _Prefect) -> None:
    """A pass that finds no answer leaves it as it is."""
    out = _wait(begun, until=datetime(2999, 1, 1, tzinfo=UTC))
    with only_pass(load_campaign(begun).store):
        flows.advance.fn(str(begun))
    assert prefect.resumed == []
    assert waiting_runs.ids(out) == [RUN]


@pytest.mark.parametrize(
    ("server", "waits", "is_flow_run"),
    [
        ("http://127.0.0.1:9/api", True, True),
        ("http://127.0.0.1:9/api", False, False),
        ("", True, False),
    ],
)
def test_a_command_without_work_runs_the_flow_if_a_run_may_wait_no_more(
    begun: Path, monkeypatch: pytest.MonkeyPatch, server: str, *, waits: bool, is_flow_run: bool
) -> None:
    """Only a server of Prefect can let it continue."""
    monkeypatch.setenv("PREFECT_API_URL", server)
    monkeypatch.setattr("piecework.engine.quick_check.cached_progress", lambda _: "quick")
    monkeypatch.setattr(command, "_with_consent", lambda request, **_: request)
    monkeypatch.setattr(command, "_advance_in_prefect", lambda *_, **__: "flow run")
    if waits:
        _wait(begun, until=NINE)
    request = PassRequest(campaign=begun, endpoint="http://127.0.0.1:9")
    with watch_passes(begun) as watch:
        done = command._advance(request, watch, poll_open_hits=False, as_json=False)
        watch.stop("busy")
    assert str(done) == ("flow run" if is_flow_run else "quick")


def test_no_time_is_too_long_to_wait() -> None:
    """Also what no calendar has."""
    assert _deadline(NINE, 60) == NINE + timedelta(minutes=1)
    assert _deadline(NINE, None) is _deadline(NINE, math.inf) is _deadline(NINE, 1e13) is None
