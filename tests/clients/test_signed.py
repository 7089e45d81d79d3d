"""Every client signs its calls in its own way, and a live marketplace checks them all.

Sums: the requester deposited ten dollars; a hundred HITs hold two of them, for rewards
and fees of a cent each.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from piecework.foundation.server.stand_in import authority
from piecework.marketplace.http.hosts import AMAZON_HOSTS
from piecework.marketplace.http.server import Marketplace, Running, serve
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend, Rules
from tests.clients.driven import Driven
from tests.clients.environments import UnavailableError, node_client, python_client
from tests.clients.scene import command_line_environment
from tests.conftest import absent
from tests.marketplace.market import HIT_TYPE, QUESTION

_DRIVERS = Path(__file__).with_name("drivers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A marketplace that checks signatures, and the key of its one requester."""

    running: Running
    key: accounts.Key

    def environment(self, *, as_aws: bool, secret: str = "") -> dict[str, str]:
        """Variables of a user: led here by the proxy, or by the endpoint's own one."""
        led = {"AWS_ENDPOINT_URL_MTURK": self.running.endpoint_url}
        if as_aws:
            assert self.running.aws_proxy is not None
            led = self.running.aws_proxy.environment()
        return {
            **command_line_environment(self.key.access_key),
            "AWS_SECRET_ACCESS_KEY": secret or self.key.secret,
            "AWS_REGION": "us-east-1",
            **led,
        }


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """Started as `piecework market serve --as-aws`, after `piecework market account add`."""
    database = tmp_path / "market.db"
    with closing(Backend(database, Rules())) as backend, backend.transaction() as transaction:
        key = accounts.give_key(transaction, "The lab", deposit_cents=1000)
    now = datetime.now(UTC)  # noqa: TID251 - certificates and signatures are of today
    aws_proxy = authority.establish(tmp_path / "market-aws", AMAZON_HOSTS, now=now)
    with serve(Marketplace(database, aws_proxy=aws_proxy)) as running:
        yield Live(running=running, key=key)


def _typed(aws: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(aws), "mturk", "get-account-balance", "--output", "text"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.clients
@pytest.mark.parametrize("as_aws", [True, False], ids=["as-aws", "endpoint"])
def test_the_aws_cli_is_let_in(live: Live, aws: Path, *, as_aws: bool) -> None:
    """As Amazon's host it needs no word about an endpoint at all."""
    done = _typed(aws, live.environment(as_aws=as_aws))
    assert done.stdout.split() == ["10.00", "0.00"], done.stderr


@pytest.mark.clients
def test_the_aws_cli_with_a_wrong_secret_is_shut_out(live: Live, aws: Path) -> None:
    """The key alone opens nothing."""
    done = _typed(aws, live.environment(as_aws=False, secret="guessed"))  # noqa: S106
    assert done.returncode in (254, 255)
    assert "InvalidSignatureException" in done.stderr


@pytest.mark.clients
def test_the_sdk_for_javascript_is_let_in(live: Live, tmp_path: Path) -> None:
    """With the right secret, and not with a wrong one."""
    try:
        home = node_client()
    except UnavailableError as fault:
        absent("node", f"the AWS SDK for JavaScript is not here: {fault}")
    words = ["node", str(_DRIVERS / "javascript.cjs")]
    message: dict[str, Any] = {"as": live.key.access_key, "input": {}}
    right = {**live.environment(as_aws=False), "HOME": str(tmp_path)}
    with Driven(words, environment=right, folder=home) as node:
        reply = node.ask("GetAccountBalance", **message)
    assert reply["result"]["AvailableBalance"] == "10.00"
    wrong = {**right, "AWS_SECRET_ACCESS_KEY": "guessed"}
    with Driven(words, environment=wrong, folder=home) as node:
        reply = node.ask("GetAccountBalance", **message)
    assert reply["error"]["name"] == "InvalidSignatureException"


@pytest.mark.clients
@pytest.mark.parametrize("driver", ["javascript.cjs", "javascript_v2.cjs"])
def test_both_sdks_for_javascript_post_a_hundred_identical_hits(
    live: Live, tmp_path: Path, driver: str
) -> None:
    """Many of these calls have the same signature; none is refused or repeated."""
    try:
        home = node_client()
    except UnavailableError as fault:
        absent("node", f"the AWS SDKs for JavaScript are not here: {fault}")
    hit = {**HIT_TYPE, "LifetimeInSeconds": 3600, "Question": QUESTION}
    message = {"as": live.key.access_key, "input": {**hit, "Reward": "0.01"}}
    environment = {**live.environment(as_aws=False), "HOME": str(tmp_path)}
    words = ["node", str(_DRIVERS / driver)]
    with Driven(words, environment=environment, folder=home) as node:
        replies = [node.ask("CreateHIT", **message) for _ in range(100)]
    assert [reply for reply in replies if "error" in reply] == []
    assert len({reply["result"]["HIT"]["HITId"] for reply in replies}) == 100


@pytest.mark.clients
def test_the_boto3_of_2019_is_let_in(live: Live, tmp_path: Path) -> None:
    """The one that psiTurk pins."""
    try:
        python = python_client("psiturk", pythons=("3.9",)) / "python"
    except UnavailableError as fault:
        pytest.skip(f"psiTurk is not here: {fault}")
    words = [str(python), "-W", "ignore", str(_DRIVERS / "psiturk_driver.py")]
    environment = {**live.environment(as_aws=True), "HOME": str(tmp_path)}
    with Driven(words, environment=environment, folder=tmp_path) as psiturk:
        assert psiturk.ask("amt_balance")["result"]["data"] == "10.00"


@pytest.mark.clients
def test_mephisto_is_let_in(live: Live, tmp_path: Path) -> None:
    """By the credentials file that it writes itself."""
    try:
        python = python_client("mephisto", pythons=("3.10",)) / "python"
    except UnavailableError as fault:
        pytest.skip(f"Mephisto is not here: {fault}")
    words = [str(python), "-W", "ignore", str(_DRIVERS / "mephisto_driver.py")]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_MTURK": live.running.endpoint_url,
        "PIECEWORK_KEY": live.key.access_key,
        "PIECEWORK_SECRET": live.key.secret,
    }
    with Driven(words, environment=environment, folder=tmp_path) as mephisto:
        budget = mephisto.ask("requester.get_available_budget")
    assert budget == {"result": 10.0}
