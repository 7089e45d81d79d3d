"""`/metrics`: figures that equal the database, on a port of their own."""

import re
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.wire import operation_names
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.watching import state_figures
from piecework.marketplace.watching.metrics import Metrics, MetricsPort
from piecework.marketplace.watching.watched_requests import AnsweredRequest, RequestFacts
from tests.marketplace.market import START, Market, post
from tests.marketplace.served_apart import ROOT, SERVE, figures_in, scraped, served_apart

CLIENTS = 4
HITS_EACH = 5
_SMALL = {"accounts", "studies", "state_totals"}
"""Tables whose rows are few and short, so that all may be read."""


@contextmanager
def _watched_market(tmp_path: Path) -> Iterator[tuple[Market, str]]:
    """A rehearsing marketplace in this process, and the address of its metrics."""
    port = MetricsPort(Metrics(), 0)
    with serve(
        Marketplace(tmp_path / "market.db", rehearsal=True, seed=7, start=START, metrics=port)
    ) as running:
        market = Market(running.endpoint_url, running.frames_url)
        with closing(market):
            yield market, running.metrics_url


def _work(market: Market, number: int) -> None:
    """A requester and a worker: half of the HITs are done, some judged, one refused."""
    client = market.requester(f"LOAD{number}")
    worker = market.worker()
    for each in range(HITS_EACH):
        hit = post(client, Title=f"Load {number} {each}", MaxAssignments=2)
        if each % 2:
            continue
        assignment_id = worker.do(hit["HITGroupId"])
        if each == 0:
            client.approve_assignment(AssignmentId=assignment_id)
    with pytest.raises(ClientError, match="does not exist"):
        client.get_hit(HITId="3" + "A" * 29)


def test_after_load_each_figure_equals_the_database(tmp_path: Path) -> None:
    """A real process: requesters and workers at work, and a scrape all the time."""
    database = tmp_path / "load.db"
    with (
        served_apart(database, "--rehearsal", "--metrics-port", "0") as apart,
        closing(Market(apart.site, apart.frames)) as market,
    ):
        with ThreadPoolExecutor(CLIENTS) as pool:
            at_work = [pool.submit(_work, market, n) for n in range(CLIENTS)]
            submitted = [0.0]
            while not all(each.done() for each in at_work):
                figures = scraped(apart.metrics)
                assert figures["piecework_database_readable"] == 1
                submitted.append(
                    figures.get('piecework_calls_total{operation="CreateHIT",outcome="ok"}', 0)
                )
            for each in at_work:
                each.result()
        assert submitted == sorted(submitted)
        figures = scraped(apart.metrics)
        with closing(sqlite3.connect(database)) as conn:
            expected = _expected(conn)
    assert {name: figures[name] for name in expected} == expected
    calls = 'piecework_calls_total{operation="%s",outcome="%s"}'
    assert figures[calls % ("CreateHIT", "ok")] == CLIENTS * HITS_EACH
    assert figures[calls % ("GetHIT", "refused")] == CLIENTS
    assert figures['piecework_call_errors_total{code="HITDoesNotExist"}'] == CLIENTS
    assert figures['piecework_call_seconds_count{operation="CreateHIT"}'] == CLIENTS * HITS_EACH
    page = 'piecework_page_requests_total{page="/mturk/externalSubmit",status="2xx"}'
    assert figures[page] == CLIENTS * 3
    size = (tmp_path / "load.db").stat().st_size
    assert 0 < figures["piecework_database_bytes"] <= size


def _expected(conn: sqlite3.Connection) -> dict[str, float]:
    """What the tables hold, counted row by row."""
    expected: dict[str, float] = {}
    for table in ("assignments", "hits"):
        states = Counter(row[0] for row in conn.execute(f"SELECT status FROM {table}"))
        assert states, "the load must have left something to count"
        for state, number in states.items():
            expected[f'piecework_{table}{{state="{state}"}}'] = number
    kinds = {"available": "available", "held": "held", "paid": "worker", "fees": "fees"}
    for account, kind in kinds.items():
        rows = conn.execute("SELECT balance_cents FROM accounts WHERE kind = ?", [kind])
        name = f'piecework_money_cents{{account="{account}",currency="USD"}}'
        expected[name] = sum(row[0] for row in rows)
        assert expected[name] > 0
    return expected


def test_paths_and_operations_of_strangers_become_no_labels(tmp_path: Path) -> None:
    """A thousand invented names may not fill the memory of a Prometheus."""
    with _watched_market(tmp_path) as (market, metrics):
        series: list[set[str]] = []
        text = ""
        # The first round makes the series that stay.
        for round_ in range(2):
            for number in range(20):
                secret = f"s3cret{round_}{number}"
                market.http.get(f"/worker/{secret}?token={secret}")
                market.http.get(f"/{secret}", headers={"host": f"{secret}.example"})
                market.http.get(f"/worker/assignments/{secret}")
                market.http.request("PUT", f"/worker/assignments/{secret}/return")
                market.http.post(
                    "/",
                    headers={"x-amz-target": f"MTurkRequesterServiceV20170117.{secret}"},
                    content=b"{}",
                )
                market.http.post(f"/visit/arrive?who={secret}")
            text = httpx.get(metrics).text
            series.append(set(figures_in(text)))
        assert "s3cret" not in text
        assert series[0] == series[1]
        figures = figures_in(text)
        assert figures['piecework_calls_total{operation="unknown",outcome="refused"}'] == 40
        assert figures['piecework_page_requests_total{page="none",status="4xx"}'] >= 40


def test_codes_of_errors_are_bounded() -> None:
    """A fault script may answer any code; after a hundred, they share a label."""
    metrics = Metrics()
    for number in range(150):
        facts = RequestFacts("id", operation="GetHIT", error=f"Code{number}")
        metrics.observe_request(
            AnsweredRequest(
                facts=facts, method="POST", route="/", is_call=True, status=400, size=2, seconds=0.1
            )
        )
    figures = figures_in(metrics.text().decode())
    codes = [name for name in figures if name.startswith("piecework_call_errors_total")]
    assert len(codes) == 101
    assert figures['piecework_call_errors_total{code="other"}'] == 50


def test_operations_are_those_of_the_service_model(market: Market) -> None:
    """So the label has few values."""
    assert len(operation_names()) < 50
    assert market.http.post("/").status_code == 400


def test_only_the_own_port_serves_metrics_and_only_to_this_machine(tmp_path: Path) -> None:
    """Neither the site nor the frames; and no page of a browser with another name."""
    with _watched_market(tmp_path) as (market, metrics):
        for origin in (market.endpoint, market.frames):
            assert httpx.get(f"{origin}/metrics").status_code == 404
        own = urlsplit(metrics)
        assert own.hostname == "127.0.0.1"
        host = {"host": "hits.example.org"}
        assert httpx.get(metrics, headers=host).status_code == 421
        assert httpx.get(metrics, headers={"host": "["}).status_code == 421
        assert httpx.get(metrics, headers={"host": "localhost:1"}).status_code == 200
        base = f"http://{own.netloc}"
        assert httpx.post(metrics).status_code == 405
        for path in ("/", "/worker/hits", "/healthz", "/rehearsal/books"):
            assert httpx.get(f"{base}{path}").status_code == 404
        reply = httpx.get(metrics)
        assert reply.headers["content-type"].startswith("text/plain; version=1.0.0")


@pytest.mark.full
def test_two_processes_count_separately_and_a_port_is_used_once(tmp_path: Path) -> None:
    """Two marketplaces on a machine; a third is refused the first one's port."""
    words = ("--rehearsal", "--metrics-port", "0")
    with (
        served_apart(tmp_path / "a.db", *words) as first,
        served_apart(tmp_path / "b.db", *words) as second,
    ):
        httpx.get(f"{first.site}/healthz")
        name = 'piecework_page_requests_total{page="/healthz",status="2xx"}'
        assert scraped(first.metrics)[name] == 1
        assert name not in scraped(second.metrics)
        port = str(urlsplit(first.metrics).port)
        command = [*SERVE, "--rehearsal", "--database", str(tmp_path / "c.db")]
        command += ["--port", "0", "--frames-port", "0", "--metrics-port", port]
        refused = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
        )
    assert refused.returncode == 1
    sentence, next_step, *rest = refused.stderr.strip().splitlines()
    assert sentence.startswith("another program has the port: Address already in use")
    assert f"127.0.0.1 port {port}" in sentence
    assert "--metrics-port" in next_step
    assert not rest
    assert not (tmp_path / "c.db").exists()


def test_a_port_in_use_is_refused_before_the_database_is_made(tmp_path: Path) -> None:
    """The error names the port."""
    with _watched_market(tmp_path) as (_, metrics):
        used = urlsplit(metrics).port or 0
        other = tmp_path / "other.db"
        with (
            pytest.raises(OSError, match=f"in use: 127.0.0.1 port {used}"),
            serve(Marketplace(other, rehearsal=True, metrics=MetricsPort(Metrics(), used))),
        ):
            pass
        assert not other.exists()


def test_a_writer_and_a_scrape_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """A scrape sees what is committed while another process writes."""
    with _watched_market(tmp_path) as (market, metrics):
        client = market.requester()
        post(client)
        with closing(sqlite3.connect(tmp_path / "market.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            other.execute("UPDATE hits SET status = 'Disposed'")
            # The other holds its lock until it is answered.
            figures = scraped(metrics)
            other.execute("ROLLBACK")
        assert figures["piecework_database_readable"] == 1
        assert figures['piecework_hits{state="Assignable"}'] == 1
        # The connection that scraped is still open, and holds back no writer.
        post(client, Title="Another")
        assert scraped(metrics)['piecework_hits{state="Assignable"}'] == 2


def test_an_unreadable_database_leaves_the_other_metrics(tmp_path: Path) -> None:
    """The process still says how it is, and that it cannot read."""
    metrics = Metrics()
    with metrics.with_figures(tmp_path / "missing.db", "USD"):
        figures = figures_in(metrics.text().decode())
    assert figures["piecework_database_readable"] == 0
    assert not any(name.startswith("piecework_hits") for name in figures)
    assert figures["process_open_fds"] > 0


def test_no_figure_reads_the_rows_of_a_large_table(backend: Backend) -> None:
    """Rows of assignments hold answers, so only their indexes may be counted."""
    queries = {
        name: value
        for name, value in vars(state_figures).items()
        if isinstance(value, str) and value.startswith("SELECT")
    }
    assert len(queries) >= 7
    with backend.transaction() as transaction:
        for name, query in queries.items():
            values = ["x"] * query.count("?")
            plan = transaction.conn.execute(f"EXPLAIN QUERY PLAN {query}", values)
            for step in plan:
                detail = step["detail"]
                scan = re.fullmatch(r"SCAN (\w+)", detail)  # no index follows
                assert scan is None or scan[1] in _SMALL, (name, detail)


@pytest.mark.full
def test_a_scrape_of_a_hundred_thousand_assignments_takes_under_50_ms(tmp_path: Path) -> None:
    """As many HITs and visits, and 10,000 workers' accounts."""
    database, number = tmp_path / "large.db", 100_000
    with closing(Backend(database, Rules())) as backend:
        with backend.transaction() as transaction:
            _fill(transaction.conn, number)
        metrics = Metrics(has_bridge=True)
        with metrics.with_figures(database, "USD"):
            seconds: list[float] = []
            text = ""
            for _ in range(10):
                # The processor's time: others may be at work on the machine.
                began = time.process_time()
                text = metrics.text().decode()
                seconds.append(time.process_time() - began)
    figures = figures_in(text)
    states = [v for k, v in figures.items() if k.startswith("piecework_assignments")]
    assert sum(states) == number
    print(f"scrapes: {min(seconds):.4f} to {max(seconds):.4f} s")  # noqa: T201 - to state
    assert sorted(seconds)[len(seconds) // 2] < 0.05


def _fill(conn: sqlite3.Connection, number: int) -> None:
    conn.execute("PRAGMA defer_foreign_keys = ON")
    conn.execute("INSERT INTO requesters VALUES (1, 'KEY', 'Lab', 0)")
    conn.execute(
        "INSERT INTO hit_types (id, hit_type_id, hit_group_id, requester, fingerprint, "
        "title, description, keywords, reward_cents, duration_seconds, "
        "auto_approval_seconds, requirements, assignable_hits, created_ms) "
        "VALUES (1, 'T', 'G', 1, '', '', '', '', 5, 60, 60, '[]', 0, 0)"
    )
    conn.execute("INSERT INTO outside_markets VALUES (1, 'prolific', 'Prolific', '{}', 1)")
    conn.execute(
        "INSERT INTO studies (id, hit_type, market, internal_name, status, stage, "
        "hits_per_visit, currency, reward_cents, minutes, most_minutes, places, code, "
        "own_code, made_ms) "
        "VALUES (1, 1, 'prolific', 'S', '', 'Draft', 1, 'USD', 5, 1, 1, 1, 'a', 'b', 0)"
    )
    workers = 10_000
    conn.executemany(
        "INSERT INTO workers (id, worker_id, handle, token_hash, country, is_adult, "
        "is_master, approved, judged, created_ms) "
        "VALUES (?1, ?1, ?1, ?1, 'US', 0, 0, 0, 0, 0)",
        ((each,) for each in range(1, workers + 1)),
    )
    conn.executemany(
        "INSERT INTO accounts (kind, owner, balance_cents) VALUES ('worker', ?, 5)",
        ((each,) for each in range(1, workers + 1)),
    )
    states = ("Submitted", "Approved", "Rejected", "Returned", "Abandoned")
    for each in range(1, number + 1):
        conn.execute(
            "INSERT INTO hits (id, hit_id, requester, hit_type, status, "
            "max_assignments, reward_cents, fee_cents, held_cents, created_ms, "
            "expires_ms, is_expired) VALUES (?, ?, 1, 1, ?, 9, 5, 1, 0, 0, 0, 1)",
            (each, f"3{each:029}", ("Reviewable", "Disposed")[each % 2]),
        )
        conn.execute(
            "INSERT INTO visits (id, study, worker, market, submission_id, stage, began_ms, "
            "deadline_ms, closed_ms, status) "
            "VALUES (?, 1, ?, 'prolific', ?, 'Done', 0, 0, 1, '')",
            (each, each % workers + 1, f"{each:024}"),
        )
        conn.execute(
            "INSERT INTO assignments (assignment_id, hit, worker, status, accepted_ms, "
            "deadline_ms, answer) VALUES (?, ?, ?, ?, 0, 0, ?)",
            (f"3{each:029}", each, each % workers + 1, states[each % 5], "x" * 1000),
        )
