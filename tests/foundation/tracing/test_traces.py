"""Traces over the wire: one pass and the marketplace that answers it."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from piecework.foundation.client.calls import get_request
from piecework.foundation.tracing import spans
from piecework.markets.bridging.accounts import Running
from piecework.platforms.client import turk_client
from tests.answering import Answer
from tests.foundation.tracing.collector import Collector, collecting
from tests.marketplace.market import free_port
from tests.marketplace.served_apart import PIECEWORK
from tests.markets.prolific.stub import serving
from tests.small_campaign import write_campaign

_KEYS = {"AWS_ACCESS_KEY_ID": "A-REQUESTER", "AWS_SECRET_ACCESS_KEY": "no secret"}


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector of this test's own."""
    with collecting() as listening:
        yield listening


def environment(collector: Collector) -> dict[str, str]:
    """What asks for traces, as an operator sets it."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OTEL_", "PREFECT_"))
    }
    asked = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    return {**kept, **_KEYS, **asked}


@contextmanager
def marketplace(folder: Path, variables: dict[str, str], *words: str) -> Iterator[str]:
    """A marketplace in a process of its own; ended as a supervisor ends it."""
    with subprocess.Popen(
        [
            *(*PIECEWORK, "market", "serve", "--rehearsal", "--database", str(folder / "m.db")),
            *("--port", str(free_port()), "--frames-port", str(free_port()), *words),
        ],
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            address = re.search(r"http://\S+", line)
            assert address is not None, line
            yield address[0]
        finally:
            process.terminate()
            process.wait(timeout=60)


def advance(
    campaign: Path, endpoint: str, variables: dict[str, str]
) -> "subprocess.CompletedProcess[str]":
    """One pass in a process of its own."""
    return subprocess.run(
        [*PIECEWORK, "run", "--once", str(campaign), "--endpoint", endpoint],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_a_pass_and_its_calls_are_one_trace(collector: Collector, tmp_path: Path) -> None:
    """From the pass by its step and its call to the marketplace's own span."""
    campaign = write_campaign(tmp_path)
    variables = environment(collector)
    log = tmp_path / "access.log"
    with marketplace(tmp_path, variables, "--access-log", str(log)) as endpoint:
        done = advance(campaign, endpoint, variables)
        assert done.returncode == 0, done.stderr
        httpx.get(f"{endpoint}/healthz")
    (whole,) = collector.named("pass")
    assert whole.service == "piecework"
    assert whole.attributes == {"piecework.campaign": campaign.stem}
    of_trace = [span for span in collector.spans if span.trace == whole.trace]
    by_id = {span.id: span for span in of_trace}
    assert all(span.parent in by_id for span in of_trace if span is not whole)
    # The posting calls are made by threads, and belong to their step.
    (launch,) = collector.named("step launch")
    called = collector.named("call CreateHITWithHITType")
    assert called
    assert {span.parent for span in called} == {launch.id}
    calls = [span for span in of_trace if span.name.startswith("call ")]
    answered = [span for span in of_trace if span.service == "piecework-marketplace"]
    assert len(calls) == len(answered) > 2
    for span in answered:
        call = by_id[span.parent]
        assert call.attributes["aws.request_id"] == span.attributes["aws.request_id"]
        assert span.name == f"answer {call.attributes['rpc.method']}"
    # All of the pass's calls, and none without a line of the access log.
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    logged = {line["request"] for line in lines if line.get("operation")}
    assert {span.attributes["aws.request_id"] for span in calls} <= logged
    assert not [span for span in collector.spans if "healthz" in span.name]


def test_a_stranger_writes_into_no_trace(collector: Collector, tmp_path: Path) -> None:
    """Only admitted requesters are believed; spans hold no query and no path's ids."""
    strange = f"00-{'a' * 32}-{'b' * 16}-01"
    with marketplace(tmp_path, environment(collector)) as endpoint:
        for path in ("/worker?token=s3cret", "/worker/assignments/AID1234?x=s3cret"):
            httpx.get(f"{endpoint}{path}", headers={"traceparent": strange})
    first, second = collector.spans
    assert "http.route" not in first.attributes  # no page has this path
    assert second.attributes["http.route"] == "/worker/assignments/{assignment_id}"
    assert all(span.trace != bytes.fromhex("a" * 32) for span in collector.spans)
    sent = b"".join(collector.bodies)
    assert b"s3cret" not in sent
    assert b"AID1234" not in sent


def test_a_bridge_s_step_holds_its_calls(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other market learns nothing of the trace; its ids are in no name."""
    for name, value in environment(collector).items():
        monkeypatch.setenv(name, value)
    is_made = threading.Event()

    def step(_bridge: object) -> bool:
        with stub.transport() as transport:
            transport.call(get_request("studies/60ffe5c8371090c7041d43f8/"))
        is_made.set()
        return False

    backend = SimpleNamespace(database=tmp_path / "m.db", data_version=lambda: 1)
    bridge: Any = SimpleNamespace(backend=backend, market="Prolific", faults=(), is_due_soon=False)
    with serving() as stub:
        stub.answer(Answer(document={}))
        with spans.sending("test"), Running(bridge, step).running():
            assert is_made.wait(60)
        (asked,) = stub.asked
    assert "traceparent" not in {name.lower() for name in asked.headers}
    (whole,) = collector.named("bridge step")
    assert whole.attributes == {"piecework.market": "Prolific"}
    (call,) = collector.named("GET studies/{id}/")
    assert (call.trace, call.parent) == (whole.trace, whole.id)


def test_a_refused_call_says_why(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The span has the code; the pass's span has the type of the error alone."""
    variables = environment(collector)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with (
        marketplace(tmp_path, variables) as endpoint,
        pytest.raises(ClientError),
        spans.sending("test"),
        spans.span("pass"),
    ):
        turk_client(endpoint, access_key="A", secret_key="b").get_hit(HITId="NONE")  # noqa: S106
    (call,) = collector.named("call GetHIT")
    assert call.is_failed
    assert "HITDoesNotExist" in str(call.attributes["error.type"])
    (answer,) = collector.named("answer GetHIT")
    assert answer.attributes["error.type"] == "HITDoesNotExist"
    assert not answer.is_failed
    (whole,) = collector.named("pass")
    assert whole.is_failed
    assert whole.attributes == {"error.type": "RequestError"}


@pytest.mark.full
def test_a_collector_that_is_away_stops_no_pass(tmp_path: Path) -> None:
    """The pass does its work; its end waits no longer than OpenTelemetry allows."""
    campaign = write_campaign(tmp_path)
    variables = environment(Collector(f"http://127.0.0.1:{free_port()}"))
    variables["OTEL_EXPORTER_OTLP_TIMEOUT"] = "1"
    with marketplace(tmp_path, variables) as endpoint:
        done = advance(campaign, endpoint, variables)
    assert done.returncode == 0, done.stderr
    assert "HITs" in done.stdout or "HIT" in done.stdout


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
        {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        },
    ],
)
def test_nothing_is_sent_unless_the_variables_ask(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a span of nothing costs nothing."""
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with spans.sending("test"), spans.span("pass") as under_way:
        assert not spans.is_sending()
        assert spans.traceparent() == ""
        under_way.note({"a": 1})
        under_way.fail("b")


def test_without_the_extra_there_is_a_warning_and_no_trace(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The variables may be meant for other programs."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr("piecework.foundation.tracing.spans._LIBRARIES", ("no_such.library",))
    with spans.sending("test"):
        assert not spans.is_sending()
    assert "piecework[otel]" in caplog.text


def test_the_command_imports_nothing_of_it_unasked() -> None:
    """Without the variables, a pass pays nothing."""
    script = (
        "import sys\nfrom piecework.foundation.tracing.spans import sending, span\n"
        "import piecework.platforms.client, piecework.foundation.client.transport\n"
        "with sending('test'), span('pass'): pass\n"
        "print(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    clean = {key: value for key, value in os.environ.items() if "OTEL" not in key}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=clean,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("studies/", "studies/"),
        ("studies/60ffe5c8371090c7041d43f8/submissions/", "studies/{id}/submissions/"),
        ("submissions/bulk-approve/", "submissions/bulk-approve/"),
        ("projects/abcdefabcdefabcdefabcdef", "projects/{id}"),
        ("users/ABCDEF/", "users/{id}/"),
    ],
)
def test_the_name_of_an_outside_call_has_no_id(path: str, template: str) -> None:
    """A participant's id must not leave with a span."""
    assert get_request(path).template == template
