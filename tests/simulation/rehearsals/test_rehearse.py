"""A rehearsal's marketplace has what the campaign may take."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError, StoreError
from piecework.engine.begun import known_store
from piecework.engine.run_pass import run_pass
from piecework.marketplace.state import clock
from piecework.platforms import clocks
from piecework.simulation.rehearsals import marketplace
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.marketplace import rehearsal_market
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store.database import Store
from tests.engine.payments.bookkeeping import check_books
from tests.growing_campaign import names, write_growing

CAMPAIGN = """
name = "dear"
description = "More than the ten thousand dollars that a sandbox gives everybody."
task = "caption"
batches = 1
answers = 5
reward = "{reward}"
budget = "{budget}"
hourly_wage = "5.00"
[items]
scenes = 5
[posting]
items_per_hit = 5
"""

FEES = """
[[fees]]
valid_from = 2020-01-01
percent = 42.8
minimum = "0.01"
source = "a marketplace in pounds"
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("reward", "budget", "balance"),
    [
        ("2400.00", "16000.00", "1600.00"),
        pytest.param("1.00", "10.00", "9994.00", marks=pytest.mark.full),
    ],
)
def test_a_rehearsal_can_spend_its_whole_budget(
    tmp_path: Path, reward: str, budget: str, balance: str
) -> None:
    """Five assignments and their fees of a fifth are held, whatever they cost."""
    path = tmp_path / "dear.toml"
    path.write_text(CAMPAIGN.format(reward=reward, budget=budget))
    with rehearsal_of(prepare(path)) as (run, _):
        assert run_pass(run).waiting_for == "workers"
        held = run.platform._client.get_account_balance()
        assert held["AvailableBalance"] == balance


@pytest.mark.full
def test_a_rehearsal_is_in_the_campaign_s_currency_at_its_fees(tmp_path: Path) -> None:
    """Five of £1.00 at 42.8 % are held; the marketplace says what the file states."""
    text = CAMPAIGN.format(reward="£1.00", budget="10.00")
    (tmp_path / "piecework.toml").write_text(FEES)
    path = tmp_path / "dear.toml"
    path.write_text(text)
    with rehearsal_of(prepare(path)) as (run, _):
        progress = run_pass(run)
        assert progress.shown(progress.held_cents) == "£7.15"
        prices = run.platform.prices()
        assert prices is not None
        assert (prices.currency, str(prices.fees.percent)) == ("GBP", "42.8")
        check_books(run)


@pytest.mark.full
def test_a_file_without_hits_is_left_by_a_start_without_room_and_used(tmp_path: Path) -> None:
    """The store was not made, so nothing was posted."""
    path = tmp_path / "dear.toml"
    path.write_text(CAMPAIGN.format(reward="1.00", budget="10.00"))
    campaign = prepare(path)
    with rehearsal_market(campaign):
        pass  # as by a rehearsal that then finds no room for the store
    with rehearsal_of(prepare(path)) as (run, _):
        assert run_pass(run).waiting_for == "workers"


def test_a_store_that_a_pass_makes_meanwhile_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schedule's pass may make the store and post between the two looks of a start."""
    path = tmp_path / "dear.toml"
    path.write_text(CAMPAIGN.format(reward="1.00", budget="10.00"))
    with rehearsal_of(prepare(path)) as (run, _):
        run_pass(run)
    looks = []

    @contextmanager
    def not_there_at_first(campaign: Campaign) -> Iterator[Store | None]:
        looks.append(campaign)
        with known_store(campaign) as store:
            yield None if len(looks) == 1 else store

    monkeypatch.setattr(marketplace, "known_store", not_there_at_first)
    with rehearsal_market(prepare(path)):
        assert len(looks) == 2


@pytest.mark.full
def test_hits_without_their_store_are_not_posted_a_second_time(tmp_path: Path) -> None:
    """Somebody deleted the store; the marketplace knows what was posted."""
    path = tmp_path / "dear.toml"
    path.write_text(CAMPAIGN.format(reward="1.00", budget="10.00"))
    with rehearsal_of(prepare(path)) as (run, _):
        run_pass(run)
    store = tmp_path / "out/dear/piecework.db"
    store.rename(tmp_path / "kept.db")
    with (
        pytest.raises(StoreError, match="is missing beside this marketplace"),
        rehearsal_of(prepare(path)),
    ):
        pass
    (tmp_path / "kept.db").rename(store)
    with rehearsal_of(prepare(path)) as (run, _):
        assert run_pass(run).hits_posted == 1


def test_virtual_time_begins_at_one_moment() -> None:
    """The marketplace may not import ours, so the constant stands there as well."""
    assert clock.DEFAULT_START == clocks.START


def test_a_rehearsal_ends_at_once_if_its_source_cannot_be_read(tmp_path: Path) -> None:
    """No later day would change that; with the file it goes on."""
    path = write_growing(tmp_path, names(1, 4))
    text = (tmp_path / "items.csv").read_text()
    (tmp_path / "items.csv").unlink()
    with rehearsal_of(load_campaign(path)) as (run, crowd):
        with pytest.raises(ConfigError, match=r"items\.csv: .*No such file") as refused:
            work_through(run, crowd)
        assert "correct the source" in str(refused.value.next_step)
        (tmp_path / "items.csv").write_text(text)
        assert run_pass(run).batch == 1
