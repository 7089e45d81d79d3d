"""`--live`: what is refused, and what is agreed to and holds.

A marketplace on 127.0.0.2 is another machine's to `piecework`, which knows its own by
three names only.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.cli.run import _opened
from piecework.config.trust import deployment_path
from piecework.domain.campaign import Campaign
from piecework.domain.errors import BudgetExceeded, RefusedForSafety
from piecework.engine.begun import agreed_before
from piecework.engine.checks import check_campaign
from piecework.engine.opening import open_environment, open_on_marketplace, open_to_look
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import post, run_pass
from piecework.flows.advance import _deployed
from piecework.marketplace.http.server import Marketplace, serve
from tests.marketplace.live_market import give
from tests.marketplace.market import free_port
from tests.small_campaign import write_campaign
from tests.trusted import own

SECRET = "Sup3rS3cretKeyOfTheTestThatNobodyMayRead"  # noqa: S105 - it is grepped for


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """The small campaign: $2.40 plain, more than its cap of $20 at worst."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    return load_campaign(write_campaign(tmp_path))


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """URL of a marketplace that is not at a loopback name."""
    with serve(
        Marketplace(
            tmp_path / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
            host="127.0.0.2",
        )
    ) as running:
        yield running.endpoint_url


@pytest.mark.parametrize(
    ("endpoint", "live", "words"),
    [
        ("http://192.0.2.1:8080", False, "live work"),
        ("http://192.0.2.1:8080", True, "agreed to an amount"),
        ("http://127.0.0.1:9", True, "agreed to an amount"),
        ("https://mturk-requester.us-east-1.amazonaws.com", True, "2026-09-30"),
        ("https://MTurk-Requester.us-east-1.AmazonAWS.com.", True, "2026-09-30"),
    ],
)
def test_nothing_begins_without_consent(
    campaign: Campaign, endpoint: str, *, live: bool, words: str
) -> None:
    """Refused (3) before a store is made; Amazon's hosts whatever is said."""
    agreed = 10_000 if "amazon" in endpoint.lower() else None
    with (
        pytest.raises(RefusedForSafety, match=words),
        open_on_marketplace(campaign, endpoint, live=live, spend_at_most_cents=agreed),
    ):
        pass
    assert not campaign.out.exists()


def test_an_amount_is_agreed_to_once_and_holds_for_later_passes(
    campaign: Campaign, elsewhere: str
) -> None:
    """It is a further cap: below the plain cost nothing begins, and status knows it."""
    words = r"the amount agreed to is \$2\.39, but the campaign costs \$2\.40"
    too_little = partial(
        open_on_marketplace, campaign, elsewhere, live=True, spend_at_most_cents=239
    )
    with pytest.raises(BudgetExceeded, match=words), too_little():
        pass
    assert not campaign.store.path.exists()
    with open_on_marketplace(campaign, elsewhere, live=True, spend_at_most_cents=300) as run:
        assert post(run) == 1
    with open_on_marketplace(campaign, elsewhere, live=True) as run:
        assert run.campaign.rewards.cap_cents == 300
    with open_to_look(campaign) as opened:
        assert read_progress(opened).budget_cents == 300
    assert agreed_before(campaign) == 300
    shown = CliRunner().invoke(main, ["check", str(campaign.path)], env={"COLUMNS": "300"})
    assert shown.exit_code == 0, shown.output
    (agreed,) = (line for line in shown.output.splitlines() if "agreed" in line and "$3.00" in line)
    assert "the next run asks for no amount, and spends no more in all" in agreed
    (room,) = (line for line in shown.output.splitlines() if line.startswith("│ campaign"))
    assert "LESS than expected" in room
    asked = CliRunner().invoke(main, ["check", str(campaign.path), "--json"])
    assert json.loads(asked.output)["agreed_cents"] == 300
    assert json.loads(asked.output)["cap_cents"] == 300


def test_a_refused_amount_of_a_command_does_not_stay_in_force(
    campaign: Campaign, elsewhere: str
) -> None:
    """Neither of a pass nor of a schedule, for which no line is printed."""
    words = ["run", str(campaign.path), "--endpoint", elsewhere, "--live", "--spend-at-most"]
    with open_on_marketplace(campaign, elsewhere, live=True, spend_at_most_cents=300):
        pass  # nothing is posted
    for how in (["--once"], ["--every", "5m"]):
        refused = CliRunner().invoke(main, [*words, "2.39", *how], env={"PREFECT_API_URL": ""})
        assert (refused.exit_code, "costs $2.40" in refused.output) == (3, True), refused.output
        assert "crontab" not in refused.output
        assert agreed_before(campaign) == 300


@pytest.mark.parametrize("how", [["--once"], ["--every", "5m"]])
def test_a_small_amount_ends_no_campaign_under_way(
    campaign: Campaign, elsewhere: str, how: list[str]
) -> None:
    """A typed one is refused; that of a schedule lets what is posted be collected and paid."""
    with open_on_marketplace(campaign, elsewhere, live=True, spend_at_most_cents=300) as run:
        assert post(run) == 1
    words = ["run", str(campaign.path), "--endpoint", elsewhere, "--live"]
    typed = [*words, "--spend-at-most", "2.39"]
    for more in ([], how):
        refused = CliRunner().invoke(main, [*typed, *more], env={"PREFECT_API_URL": ""})
        assert (refused.exit_code, "costs $2.40" in refused.output) == (3, True), refused.output
        assert agreed_before(campaign) == 300
    by_schedule = {"PIECEWORK_RUN_SPEND_AT_MOST": "2.39", "PREFECT_API_URL": ""}
    done = CliRunner().invoke(main, [*words, *how], env=by_schedule)
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, [*words, "--once"], env=by_schedule)
    assert done.exit_code == 0, done.output
    assert agreed_before(campaign) == 239
    of_flows = partial(_opened, live=True, spend_at_most=None, allow_second_store=False)
    assert of_flows(campaign.path, elsewhere, as_json=True).rewards.cap_cents == 239
    with open_on_marketplace(campaign, elsewhere, live=True) as run:
        assert run_pass(run).waiting_for == "workers"
        with pytest.raises(BudgetExceeded, match=r"agreed to is \$2\.39"):
            check_campaign(run)


@pytest.mark.parametrize(("first", "holds"), [("3", 250), ("2.45", 245)])
def test_a_schedule_that_is_older_than_the_store_raises_no_typed_amount(
    campaign: Campaign, elsewhere: str, monkeypatch: pytest.MonkeyPatch, first: str, holds: int
) -> None:
    """Its first pass states an amount that a person may have lowered since."""
    monkeypatch.setenv("PIECEWORK_ALTHOUGH_UNSEEN", "1")
    monkeypatch.setenv("PREFECT_API_URL", "")
    words = ["run", str(campaign.path), "--endpoint", elsewhere, "--live"]

    def agreed(*more: str, stated: str = "") -> int | None:
        env = {"PIECEWORK_RUN_SPEND_AT_MOST": stated} if stated else {}
        done = CliRunner().invoke(main, [*words, *more], env=env)
        assert done.exit_code == 0, done.output
        return agreed_before(campaign)

    assert agreed("--every", "1h", "--spend-at-most", first) is None
    assert agreed("--once", "--spend-at-most", "2.50") == 250
    assert [agreed("--once", stated=first) for _ in range(2)] == [holds, holds]
    assert agreed("--once", stated="2.80") == 280


def test_a_schedule_undoes_no_later_agreement(campaign: Campaign, elsewhere: str) -> None:
    """Its amount counts when it changes, however often it is repeated."""

    def agreed(amount: str, *, by_schedule: bool = False) -> int | None:
        words = ["run", str(campaign.path), "--endpoint", elsewhere, "--live", "--once"]
        words += [] if by_schedule else ["--spend-at-most", amount]
        stated = {"PIECEWORK_RUN_SPEND_AT_MOST": amount} if by_schedule else {}
        done = CliRunner().invoke(main, words, env=stated)
        assert done.exit_code == 0, done.output
        return agreed_before(campaign)

    def deployed(amount: str) -> int | None:
        text = f'endpoint = "{elsewhere}"\nlive = true\nspend_at_most = "{amount}"\n'
        deployment_path(campaign.path).write_text(text)
        request, _ = _deployed(own(campaign.path))
        with open_environment(request):
            return agreed_before(campaign)

    def from_file(amount: str) -> int | None:
        options = campaign.path.with_name("options.toml")
        options.write_text(f'[run]\nspend-at-most = "{amount}"\n')
        words = ["run", str(campaign.path), "--endpoint", elsewhere, "--live", "--once"]
        done = CliRunner().invoke(main, [*words, "--config", str(options)])
        assert done.exit_code == 0, done.output
        return agreed_before(campaign)

    assert agreed("3", by_schedule=True) == 300
    assert agreed("2.50") == 250
    assert [from_file("3"), from_file("2.70"), agreed("3")] == [250, 270, 300]
    assert [from_file("2.70"), agreed("2.50"), deployed("2.70")] == [300, 250, 250]
    assert [agreed("3", by_schedule=True), agreed("2.50")] == [300, 250]
    assert [agreed("3", by_schedule=True), deployed("3.00")] == [250, 250]
    assert [deployed("2.80"), deployed("2.80"), deployed("3")] == [280, 280, 300]
    assert [agreed("2.50"), agreed("2.50", by_schedule=True), deployed("3")] == [250, 250, 300]


def test_an_amount_typed_with_a_schedule_is_agreed_to_at_once(
    campaign: Campaign, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it holds although an earlier schedule stated the same, and until the next one."""
    monkeypatch.setenv("PIECEWORK_ALTHOUGH_UNSEEN", "1")
    monkeypatch.setenv("PREFECT_API_URL", "")
    words = ["run", str(campaign.path), "--endpoint", elsewhere, "--live"]
    first = CliRunner().invoke(main, [*words, "--once"], env={"PIECEWORK_RUN_SPEND_AT_MOST": "3"})
    then = CliRunner().invoke(main, [*words, "--once", "--spend-at-most", "2.50"])
    assert (first.exit_code, then.exit_code) == (0, 0)
    assert agreed_before(campaign) == 250
    made = CliRunner().invoke(main, [*words, "--every", "5m", "--spend-at-most", "3"])
    assert made.exit_code == 0, made.output
    assert "/usr/bin/env PIECEWORK_RUN_SPEND_AT_MOST=3.00 " in made.output
    assert "--spend-at-most" not in made.output
    assert agreed_before(campaign) == 300


def test_the_secret_is_in_no_store_and_no_log(
    campaign: Campaign, elsewhere: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The key signs a pass at the noisiest level, and is found nowhere after."""
    caplog.set_level("DEBUG")
    with open_on_marketplace(campaign, elsewhere, live=True, spend_at_most_cents=300) as run:
        post(run)
    assert "CreateHITWithHITType" in caplog.text
    assert SECRET not in caplog.text
    files = [path for path in campaign.out.rglob("*") if path.is_file()]
    assert any(path.name == "piecework.db" for path in files)
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_one_explicit_word_lets_calls_go_to_amazons_host(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that still answers is not refused by us; the amount is asked."""
    monkeypatch.setenv("PIECEWORK_ALTHOUGH_CLOSED", "1")
    with (
        pytest.raises(RefusedForSafety, match="agreed to an amount"),
        open_on_marketplace(campaign, "https://mturk-requester.us-east-1.amazonaws.com", live=True),
    ):
        pass
    assert not campaign.out.exists()


def test_the_word_is_an_option_of_the_commands(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With it, `run` comes as far as the amount."""
    monkeypatch.delenv("PIECEWORK_ALTHOUGH_CLOSED", raising=False)
    words = ["run", str(campaign.path), "--live", "--endpoint"]
    words.append("https://mturk-requester.us-east-1.amazonaws.com")
    refused = CliRunner().invoke(main, words)
    assert "2026-09-30" in refused.output
    monkeypatch.setenv("PIECEWORK_ALTHOUGH_CLOSED", "")  # put back afterwards
    asked = CliRunner().invoke(main, [*words, "--although", "closed"])
    assert "2026-09-30" not in asked.output
    assert "amount" in asked.output


@pytest.mark.parametrize(
    ("site_url", "is_live"),
    [
        ("", False),
        ("http://localhost:9", False),
        ("https://hits.example", True),
        ("http://192.0.2.1:8080", True),
    ],
)
def test_a_local_address_is_live_if_workers_come_from_elsewhere(
    campaign: Campaign,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    site_url: str,
    is_live: bool,
) -> None:
    """The marketplace states where its workers work; nothing begins without consent."""
    database = tmp_path / "people.db"
    key = give(database)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key.secret)
    frames_url = site_url and "https://frames.example"
    port = free_port()
    with serve(Marketplace(database, port=port, site_url=site_url, frames_url=frames_url)):
        endpoint = f"http://127.0.0.1:{port}"
        if is_live:
            words = f"workers reach this marketplace at {site_url}"
            with (
                pytest.raises(RefusedForSafety, match=words),
                open_on_marketplace(campaign, endpoint, live=False),
            ):
                pass
            assert not campaign.out.exists()
            refused = CliRunner().invoke(main, ["run", str(campaign.path), "--endpoint", endpoint])
            assert refused.exit_code == 3
            assert "--live" in refused.output
        with open_on_marketplace(campaign, endpoint, live=is_live, spend_at_most_cents=300) as run:
            assert post(run) == 1


def test_a_rehearsals_public_site_is_not_live(campaign: Campaign, tmp_path: Path) -> None:
    """Its money is simulated, wherever its pages are opened."""
    port = free_port()
    with (
        serve(
            Marketplace(
                tmp_path / "marketplace.db",
                rehearsal=True,
                port=port,
                site_url="https://hits.example",
                frames_url="https://frames.example",
            )
        ),
        open_on_marketplace(campaign, f"http://127.0.0.1:{port}", live=False) as run,
    ):
        assert post(run) == 1
