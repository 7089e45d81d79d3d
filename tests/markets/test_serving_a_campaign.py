"""`market serve CAMPAIGN --crowd MARKET`: its account's money, and whether work is live."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from offline_markets.connect.options import KEY
from offline_markets.connect.options import Options as ConnectOptions
from offline_markets.connect.server import serving as serving_connect
from offline_markets.prolific import server as prolific
from offline_markets.prolific.options import Options as ProlificOptions
from piecework.cli.main import main
from tests.conftest import in_full
from tests.marketplace.market import free_port
from tests.marketplace.served_apart import PIECEWORK
from tests.small_campaign import CAMPAIGN, write_campaign

FEES = {"prolific": 20, "connect": 13}
"""What the offline markets take of 50: 33 % and the tax on it; and a guess of 25 %."""

CURRENCIES = {"prolific": "GBP", "connect": "USD"}


@pytest.fixture(params=["prolific", "connect"])
def market(request: pytest.FixtureRequest) -> Iterator[tuple[str, dict[str, str]]]:
    """An offline market, and what commands need to call it."""
    name: str = request.param
    if name == "prolific":
        with prolific.serve(ProlificOptions()) as url:
            yield name, {"PROLIFIC_URL": url, "PROLIFIC_TOKEN": "any-token-at-all"}
    else:
        with serving_connect(ConnectOptions()) as offline:
            yield name, {"CONNECT_URL": offline.address, "CONNECT_API_KEY": KEY}


FEES_OF_DAYS = """
[[fees]]
valid_from = 2020-01-01
percent = 12
source = "our institute"
[[fees]]
valid_from = 2099-01-01
percent = 90
source = "our institute, one day"
"""


def _written(folder: Path, currency: str) -> Path:
    """The small campaign without a budget, in a market's currency."""
    lines = CAMPAIGN.splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith("budget"))
    sign = {"USD": "$", "GBP": "£"}[currency]
    return write_campaign(
        folder, re.sub(r'^(reward|hourly_wage) = "', rf'\1 = "{sign}', text, flags=re.MULTILINE)
    )


@contextmanager
def _served(
    path: Path, environment: dict[str, str], *words: str, place: tuple[str, ...] = ()
) -> Iterator[str]:
    """Serve a campaign; yield what the command printed for people."""
    site, frames = free_port(), free_port()
    place = place or (
        *("--site-url", f"http://127.0.0.1:{site}"),
        *("--frames-url", f"http://localhost:{frames}"),
    )
    ports = ("--port", str(site), "--frames-port", str(frames))
    database = ("--database", str(path.with_name("market.db")))
    with subprocess.Popen(
        [*PIECEWORK, "market", "serve", str(path), *database, *ports, *place, *words],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            printed = ""
            for line in process.stderr:
                printed += line
                if line.startswith("next:"):
                    break
            yield printed
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def _run(environment: dict[str, str], *words: str) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        # They would count before the key beside the campaign.
        for name in ("PIECEWORK_ACCESS_KEY_ID", "PREFECT_API_URL"):
            patch.delenv(name, raising=False)
        return CliRunner().invoke(main, [*words], env=environment)


def test_the_account_has_the_budget_at_the_markets_own_fees(
    market: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    """What `check` derives there is in the account, and posting needs no more."""
    name, environment = market
    path = _written(tmp_path, CURRENCIES[name])
    live = ("--crowd", name, "--live", "--spend-at-most", "90")
    with _served(path, environment, *live) as printed:
        key = json.loads((tmp_path / ".piecework" / "crash.key.json").read_text())
        asked = _run(environment, "check", str(path), "--endpoint", key["endpoint"], "--json")
        known = json.loads(asked.stdout)
        listed = _run(
            environment,
            *("market", "account", "list", "--json", "--database", str(tmp_path / "market.db")),
        )
        [account] = json.loads(listed.stdout)
        unsafe = _run(environment, "run", str(path), "--once")
        done = _run(environment, "run", str(path), "--once", *live[2:], "--json")
    # 4 assignments of 0.50; each fee is rounded, halves up.
    assert known["fees_cents"] == 4 * FEES[name]
    assert account["available_cents"] == known["cap_cents"]
    assert printed.rstrip().endswith(f"next: piecework run {path} --live")
    assert (unsafe.exit_code, "add --live" in unsafe.output) == (3, True), unsafe.output
    assert json.loads(done.stdout)["hits_posted"] > 0, done.output


@pytest.mark.parametrize(
    ("stated", "fee"), [("", 0), (FEES_OF_DAYS, 6)], ids=["own people", "fees of the machine"]
)
def test_without_a_market_the_machine_s_fees_are_taken_or_none(
    tmp_path: Path, stated: str, fee: int
) -> None:
    """People who work for oneself cost their rewards; the ledgers of both sides agree."""
    path = _written(tmp_path, "USD")
    (tmp_path / "piecework.toml").write_text(stated)
    with _served(path, {}) as printed:
        key = json.loads((tmp_path / ".piecework" / "crash.key.json").read_text())
        known = json.loads(
            _run({}, "check", str(path), "--endpoint", key["endpoint"], "--json").stdout
        )
        done = _run({}, "run", str(path), "--once", "--json")
        status = _run({}, "status", str(path)).stdout
        database = ("--database", str(tmp_path / "market.db"))
        [account] = json.loads(_run({}, "market", "account", "list", "--json", *database).stdout)
    assert printed.rstrip().endswith(f"next: piecework run {path}")
    # `run` takes the marketplace from its key file, so the next command need not name it.
    assert status.rstrip().endswith(f"next: piecework run {path}")
    # 4 assignments of 0.50.
    assert (known["rewards_cents"], known["fees_cents"]) == (200, 4 * fee)
    assert account["available_cents"] + account["held_cents"] == known["cap_cents"]
    assert account["held_cents"] == 2 * (50 + fee)  # the first batch has two of them
    assert json.loads(done.stdout)["hits_posted"] > 0, done.output


def test_drafts_are_no_live_work(market: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    """Without --live, a bridge on this machine publishes and pays nothing."""
    name, environment = market
    path = _written(tmp_path, CURRENCIES[name])
    with _served(path, environment, "--crowd", name) as printed:
        done = _run(environment, "run", str(path), "--once", "--json")
    assert printed.rstrip().endswith(f"next: piecework run {path}")
    assert json.loads(done.stdout)["hits_posted"] > 0, done.output


def test_another_currency_is_said_before_an_account_is_opened(
    market: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    """The campaign's is the fault, not the database's."""
    name, environment = market
    other = {"GBP": "USD", "USD": "GBP"}[CURRENCIES[name]]
    path = _written(tmp_path, other)
    with _served(path, environment, "--crowd", name) as printed:
        pass
    assert f"currency is {other}, but {name} charges {CURRENCIES[name]}" in printed


@pytest.mark.parametrize("option", ["--public-url", *in_full("--site-url")])
def test_names_that_browsers_open_leave_a_key_for_this_machine(
    market: tuple[str, dict[str, str]], tmp_path: Path, option: str
) -> None:
    """Both options name the site; `run` calls it here, and is live because others work there."""
    name, environment = market
    path = _written(tmp_path, CURRENCIES[name])
    place = (option, "https://hits.example.org", "--frames-url", "https://frames.example.org")
    with _served(path, environment, "--crowd", name, place=place) as printed:
        key = json.loads((tmp_path / ".piecework" / "crash.key.json").read_text())
        unsafe = _run(environment, "run", str(path), "--once")
    assert key["endpoint"].startswith("http://127.0.0.1:")
    assert printed.rstrip().endswith(f"next: piecework run {path} --live")
    assert (unsafe.exit_code, "add --live" in unsafe.output) == (3, True), unsafe.output
