"""The access log: a line for each request, no secret, and never in the way."""

import array
import fcntl
import json
import logging
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import httpx
import pytest
from botocore.exceptions import ClientError

from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import HitId
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.watching.access_log import MOST_WAITING, AccessLog
from piecework.marketplace.watching.metrics import Metrics
from piecework.marketplace.watching.watched_requests import AnsweredRequest, RequestFacts
from piecework.platforms.mturk import MTurk
from tests.conftest import in_full
from tests.crash.world import can_mount, small_disk, without_room
from tests.marketplace.live_market import Live, give
from tests.marketplace.market import START, Market, post
from tests.marketplace.served_apart import ROOT, SERVE, figures_in, served_apart

_WAIT_SECONDS = 60.0
"""What ends a test that waits in vain; the marketplace promises less."""
_NO_HIT = "3" + "A" * 29


def _lines(log: Path, at_least: int) -> list[dict[str, Any]]:
    """The lines, once there are as many; a line that is no JSON fails."""

    def text() -> str:
        return log.read_text(encoding="utf-8") if log.exists() else ""

    _wait_until(lambda: text().count("\n") >= at_least)
    return [json.loads(line) for line in text().splitlines() if line]


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "the log has not come so far"
        time.sleep(0.02)


def _lost_lines(metrics: Metrics) -> float:
    figures = figures_in(metrics.text().decode())
    return figures["piecework_access_log_lost_lines_total"]


def _unread_bytes(pipe: IO[Any] | None) -> int:
    assert pipe is not None
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def _request(number: int = 0) -> AnsweredRequest:
    return AnsweredRequest(
        facts=RequestFacts(f"id{number}"),
        method="GET",
        route="/healthz",
        is_call=False,
        status=200,
        size=3,
        seconds=0.001,
    )


def test_a_line_joins_the_reply_and_holds_no_secret(tmp_path: Path) -> None:
    """A real process: a worker's pages, calls that are done and refused."""
    log = tmp_path / "access.log"
    with (
        served_apart(tmp_path / "market.db", "--rehearsal", "--access-log", str(log)) as apart,
        closing(Market(apart.site, apart.frames)) as market,
    ):
        client = market.requester("AKIDLAB")
        hit = post(client)
        worker = market.worker(handle="ann-secret-handle")
        worker.do(hit["HITGroupId"], caption="secret answer")
        page = worker.http.get("/worker/hits?token=secret-query")
        with pytest.raises(ClientError) as refused:
            client.get_hit(HITId=_NO_HIT)
        lost = market.http.get("/secret-path/secret-id")
        lines = _lines(log, 7)
    by_request = {line["request"]: line for line in lines}
    assert len(by_request) == len(lines)

    line = by_request[page.headers["x-request-id"]]
    assert (line["method"], line["route"]) == ("GET", "/worker/hits")
    assert line["status"] == 200
    assert line["bytes"] == int(page.headers["content-length"])
    assert 0 < line["ms"] < 10_000
    assert line["time"].endswith("+00:00")
    assert "requester" not in line
    assert "operation" not in line

    metadata = refused.value.response["ResponseMetadata"]
    assert metadata["HTTPHeaders"]["x-request-id"] == metadata["RequestId"]
    line = by_request[metadata["RequestId"]]
    assert (line["route"], line["operation"]) == ("/", "GetHIT")
    assert (line["status"], line["error"]) == (400, "HITDoesNotExist")
    assert line["requester"] == "AKIDLAB"

    line = by_request[lost.headers["x-request-id"]]
    assert (line["status"], line["route"]) == (404, None)
    text = log.read_text()
    assert "secret" not in text
    assert worker.worker_id not in text
    assert worker.token not in text
    assert hit["HITId"] not in text
    assert hit["HITGroupId"] not in text
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_key_that_was_not_proved_is_in_no_line(tmp_path: Path) -> None:
    """Strangers can write any key; only an admitted caller is named."""
    database, log = tmp_path / "live.db", tmp_path / "access.log"
    key = give(database)
    wrong = replace(key, secret="wrong")  # noqa: S106 - it is not the key's
    with serve(Marketplace(database, access_log=AccessLog(log))) as served, httpx.Client() as http:
        for each in (wrong, key):
            Live(database, served.endpoint_url, each, http).send("GetAccountBalance", b"{}")
        refused, admitted = _lines(log, 2)
    assert refused["operation"] == admitted["operation"] == "GetAccountBalance"
    assert refused["error"] == "InvalidSignatureException"
    assert "requester" not in refused
    assert admitted["requester"] == key.access_key


def test_the_client_logs_the_id_of_a_refused_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The marketplace's line and the client's are about the same request."""
    log = tmp_path / "access.log"
    with serve(
        Marketplace(tmp_path / "m.db", rehearsal=True, start=START, access_log=AccessLog(log))
    ) as market:
        platform = MTurk(market.endpoint_url, access_key="LAB", secret_key="x")  # noqa: S106 - any
        with (
            caplog.at_level(logging.DEBUG, "piecework.platforms.calling"),
            pytest.raises(PlatformRefused),
        ):
            platform.expire(HitId(_NO_HIT))
        lines = _lines(log, 1)
    (message,) = caplog.messages
    refused = [line for line in lines if line["status"] == 400]
    assert message.endswith(f"request {refused[-1]['request']}")
    assert message.startswith("UpdateExpirationForHIT was not done (HTTP 400 ")


def test_a_renamed_file_is_followed_by_a_new_file(tmp_path: Path) -> None:
    """As logrotate does with `create`; no signal is needed, and no line is lost."""
    log, old = tmp_path / "access.log", tmp_path / "access.log.1"
    writer = AccessLog(log)
    with writer.running():
        writer.observe_request(_request(1))
        assert len(_lines(log, 1)) == 1
        log.rename(old)
        writer.observe_request(_request(2))
        assert [line["request"] for line in _lines(log, 1)] == ["id2"]
        log.unlink()
        writer.observe_request(_request(3))
        assert [line["request"] for line in _lines(log, 1)] == ["id3"]
    assert [line["request"] for line in _lines(old, 1)] == ["id1"]


def test_a_truncated_file_is_written_from_its_beginning(tmp_path: Path) -> None:
    """As logrotate does with `copytruncate`: no hole of zeros appears."""
    log = tmp_path / "access.log"
    writer = AccessLog(log)
    with writer.running():
        writer.observe_request(_request(1))
        _lines(log, 1)
        with log.open("r+") as file:
            file.truncate(0)
        writer.observe_request(_request(2))
        assert [line["request"] for line in _lines(log, 1)] == ["id2"]


def test_a_full_disk_loses_lines_and_counts_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The device that is always full; the marketplace answers all the same."""
    metrics = Metrics()
    log = AccessLog(Path("/dev/full"), metrics.count_lost_lines)
    with serve(
        Marketplace(tmp_path / "m.db", rehearsal=True, start=START, access_log=log)
    ) as market:
        for number in range(1, 6):
            assert httpx.get(f"{market.endpoint_url}/healthz").status_code == 200
            _wait_until(lambda lost=number: _lost_lines(metrics) == lost)  # type: ignore[misc]
    warnings = [text for text in caplog.messages if "loses lines" in text]
    assert len(warnings) == 1, "a full disk must not fill another log"
    assert "No space left" in warnings[0]


@pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")
def test_after_a_full_disk_each_line_is_whole_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What the full disk took of a line does not spoil the next line."""
    folder = tmp_path / "disk"
    lost: list[int] = []
    with small_disk(folder):
        log = folder / "access.log"
        writer = AccessLog(log, lost.append)
        with writer.running():
            with without_room(folder):
                for number in range(2000):
                    writer.observe_request(_request(number))
                    if number % 500 == 0:
                        time.sleep(0.15)  # so that the lines are several writes
                _wait_until(lambda: sum(lost) > 0)
            writer.observe_request(_request(9999))
            _wait_until(lambda: "id9999" in log.read_text())
        *_, last = log.read_text().splitlines()
        assert json.loads(last)["request"] == "id9999"
    assert any("is written again" in text for text in caplog.messages)


@pytest.mark.full
def test_a_pipe_that_is_not_read_stops_neither_serving_nor_the_end(tmp_path: Path) -> None:
    """With `-`, a pipe holds 64 KiB, or half of it in small pieces; more lines wait."""
    with served_apart(tmp_path / "m.db", "--rehearsal", "--access-log", "-") as apart:
        with httpx.Client() as http:
            for _ in range(600):
                assert http.get(f"{apart.site}/healthz").status_code == 200
        _wait_until(lambda: _unread_bytes(apart.process.stdout) > 30_000)
        apart.process.send_signal(signal.SIGTERM)
        assert apart.process.wait(_WAIT_SECONDS) == 0


@pytest.mark.full
def test_standard_output_has_the_lines(tmp_path: Path) -> None:
    """For a supervisor that collects them; addresses come first."""
    with served_apart(tmp_path / "m.db", "--rehearsal", "--access-log", "-") as apart:
        reply = httpx.get(f"{apart.site}/healthz")
        assert apart.process.stdout is not None
        line = json.loads(apart.process.stdout.readline())
    assert line["request"] == reply.headers["x-request-id"]


def test_lines_wait_up_to_a_limit(tmp_path: Path) -> None:
    """A disk that hangs may not fill the memory."""
    lost: list[int] = []
    writer = AccessLog(tmp_path / "access.log", lost.append)
    for number in range(MOST_WAITING + 3):
        writer.observe_request(_request(number))
    assert sum(lost) == 3
    with writer.running():
        pass
    assert len(_lines(tmp_path / "access.log", MOST_WAITING)) == MOST_WAITING
    assert not [each for each in threading.enumerate() if each.name == "access log"]


@pytest.mark.parametrize("name", ["market.db", *in_full("market.db-wal", "./market.db")])
def test_the_database_is_not_taken_as_the_log(tmp_path: Path, name: str) -> None:
    """An appended line would damage it."""
    refused = _refused(tmp_path, name)
    assert refused.returncode == 2
    assert "belongs to the marketplace's database" in refused.stderr
    assert not (tmp_path / "market.db").exists()


@pytest.mark.full
def test_a_log_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    """Before anything is served."""
    refused = _refused(tmp_path, "missing/access.log")
    assert refused.returncode == 1
    assert len(refused.stderr.strip().splitlines()) == 2  # and what to do next
    assert "missing/access.log" in refused.stderr
    assert "marketplace at" not in refused.stdout


def _refused(folder: Path, log: str) -> "subprocess.CompletedProcess[str]":
    command = [*SERVE, "--rehearsal", "--database", str(folder / "market.db")]
    command += ["--port", "0", "--frames-port", "0"]
    command += ["--access-log", f"{folder}/{log}"]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
