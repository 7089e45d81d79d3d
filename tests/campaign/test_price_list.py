"""A campaign in pounds on a marketplace with fees of its own, over the real wire."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.campaign.price_list import ask_prices
from piecework.campaign.pricing import price
from piecework.cli.main import main
from piecework.domain.clock import FixedClock
from piecework.domain.errors import RefusedForSafety, StoreError, TransientPlatformError
from piecework.domain.hit import PostedHit
from piecework.engine.begun import as_begun
from piecework.engine.opening import open_on_marketplace, open_to_look
from piecework.engine.payments.due_bonuses import read_bonuses
from piecework.engine.payments.pay import pay_bonuses
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import post, run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester import extensions
from piecework.marketplace.state.money import MTURK, PriceList
from piecework.platforms.client import turk_client
from piecework.platforms.mturk import MTurk
from piecework.results.whole_pass import write_results
from piecework.store import hits, ledger
from tests.campaign.test_what_keys_change import MASTERS
from tests.crash.people import People
from tests.engine.payments.bookkeeping import EVENING, assignment_ids, bonus_file, check_books
from tests.engine.test_publishing import Broken, Deaf
from tests.small_campaign import CAMPAIGN, MACHINE, write_campaign

TODAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
PROLIFIC = PriceList(
    currency="GBP",
    percent=Decimal("42.8"),
    extra_percent_for_many=Decimal(0),
    extra_percent_for_masters=Decimal(0),
    minimum_cents=1,
)
POUNDS = CAMPAIGN.replace('reward = "', 'reward = "£')
FEES = f"""
{MACHINE}[[fees]]
valid_from = 2020-01-01
percent = 20
minimum = "0.01"
source = "what it took last year"
"""


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")


@contextmanager
def market(folder: Path, prices: PriceList, *, port: int = 0) -> Iterator[str]:
    """A marketplace with these prices; its endpoint."""
    with serve(
        Marketplace(
            folder / "marketplace.db", rehearsal=True, seed=1, start=TODAY, prices=prices, port=port
        )
    ) as running:
        yield running.endpoint_url


@contextmanager
def at_work(folder: Path, endpoint: str, text: str = POUNDS) -> Iterator[CampaignRun]:
    """The small campaign at work there."""
    campaign = load_campaign(write_campaign(folder, text))
    with open_on_marketplace(campaign, endpoint, live=False) as run:
        yield replace(run, clock=FixedClock(EVENING))


def test_what_the_marketplace_takes_is_what_the_ledger_holds(tmp_path: Path) -> None:
    """Five times 50p and 21p (42.8 % is 21.4), and a bonus of 25p and 11p (10.7)."""
    with market(tmp_path, PROLIFIC) as endpoint:
        with at_work(tmp_path, endpoint) as run:
            people = People(endpoint, minutes=(12,) * 8)
            while run_pass(run).waiting_for == "workers":
                assert people.work()
            first = assignment_ids(run)[0]
            text = bonus_file((first, "£0.25", "A fine text."))
            pay_bonuses(run, read_bonuses(run, text, label="thanks", name="bonuses.csv"))
            balances = ledger.balances(run.store)
            assert balances["rewards"] == 5 * 50
            assert balances["bonuses"] == 25
            assert balances["fees"] == 5 * 21 + 11
            check_books(run)
            report = Path(write_results(run)).read_text()
            path = run.campaign.path
        printed = CliRunner().invoke(main, ["status", str(path)]).output
    assert "£3.91 of £20.00" in printed
    assert "£3.91 of a budget of £20.00" in report
    # Ann had 50p and 25p for the first of her two HITs of twelve minutes each.
    assert "£3.12/h" in report
    assert "pounds an hour" in report
    assert "Ledger (pounds)" in report
    assert "$" not in printed + report


def test_who_only_looks_prices_as_the_pass_does(tmp_path: Path) -> None:
    """Status, export and check open no marketplace; the store knows what it takes."""
    campaign = load_campaign(write_campaign(tmp_path, POUNDS))
    # Two HITs of two assignments: 4 x (50 + 10) as listed, 4 x (50 + 21) as taken.
    assert price(as_begun(campaign), on=TODAY.date()).plain == 240
    with market(tmp_path, PROLIFIC) as endpoint, at_work(tmp_path, endpoint) as run:
        run_pass(run)
        assert price(run.campaign, on=TODAY.date()).plain == 284
    with open_to_look(campaign) as opened:
        assert price(opened.campaign, on=TODAY.date()).plain == 284
        assert read_progress(opened).held_cents == 142
    checked = CliRunner().invoke(main, ["check", str(campaign.path)]).output
    assert "£2.84" in checked
    assert "the marketplace's own price list" in checked
    assert "0001" not in checked


@pytest.mark.parametrize(("longest", "days"), [(20 * 86_400, 20), (0, 30)])
def test_a_longer_auto_approval_than_the_marketplace_allows_is_cut(
    tmp_path: Path, longest: int, days: int
) -> None:
    """Passes judge in time for it, and `status` reads the same from the store."""
    prices = replace(PROLIFIC, longest_approval_seconds=longest)
    campaign = load_campaign(write_campaign(tmp_path, POUNDS))
    assert campaign.posting.auto_approval_delay_seconds == 30 * 86_400
    with market(tmp_path, prices) as endpoint, at_work(tmp_path, endpoint) as run:
        assert run.campaign.posting.auto_approval_delay_seconds == days * 86_400
        run_pass(run)
        delays = {
            hit["AutoApprovalDelayInSeconds"]
            for hit in turk_client(endpoint, access_key=None, secret_key=None).list_hits()["HITs"]
        }
        assert delays == {days * 86_400}
    with open_to_look(campaign) as opened:
        assert opened.campaign.posting.auto_approval_delay_seconds == days * 86_400


def test_the_usual_list_changes_nothing(tmp_path: Path) -> None:
    """It is the one that piecework brings along, and keeps its day and source.

    It takes more of HITs for masters, and of those with ten assignments.
    """
    campaign = load_campaign(write_campaign(tmp_path))
    text = CAMPAIGN.replace("answers = 2", "answers = 10")
    with market(tmp_path, MTURK) as endpoint, at_work(tmp_path, endpoint, text + MASTERS) as run:
        run_pass(run)
        assert [hit.fee_cents for hit in hits.load_hits(run.store)] == [23]  # 45 % of 50
        check_books(run)
        assert run.campaign.rewards.fees == campaign.rewards.fees
        assert run.campaign.rewards.fees[0].source.startswith("MTurk's last price list")


@pytest.mark.parametrize(
    ("text", "prices", "words"),
    [
        (POUNDS, MTURK, "currency is GBP, but http.* uses USD"),
        (CAMPAIGN, PROLIFIC, "currency is USD, but http.* uses GBP"),
    ],
)
def test_a_campaign_never_begins_in_another_currency(
    tmp_path: Path, text: str, prices: PriceList, words: str
) -> None:
    """Refused before anything is there: no store, no HIT, no qualification type."""
    with market(tmp_path, prices) as endpoint:
        with pytest.raises(RefusedForSafety, match=words), at_work(tmp_path, endpoint, text):
            pass
        assert not (tmp_path / "out/crash/piecework.db").exists()
        for more in ([], ["--once"]):
            words_of_command = ["run", *more, str(tmp_path / "crash.toml")]
            ended = CliRunner().invoke(main, [*words_of_command, "--endpoint", endpoint])
            assert ended.exit_code == 3
            assert "currency is" in ended.output


def test_a_marketplace_that_does_not_say_counts_as_dollars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MTurk's protocol knows no currency; the campaign's fees are what they were."""
    monkeypatch.setitem(extensions.HEADERS, "x-piecework-extensions", "keep-apart")
    with market(tmp_path, PROLIFIC) as endpoint:
        with (
            pytest.raises(RefusedForSafety, match="does not state its currency"),
            at_work(tmp_path, endpoint),
        ):
            pass
        with at_work(tmp_path, endpoint, CAMPAIGN) as run:
            assert price(run.campaign, on=TODAY.date()).plain == 240


def test_fees_that_the_marketplace_does_not_take_are_refused_at_the_beginning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Later a sentence is enough: workers wait for their pay, and the caps hold."""
    with market(tmp_path, PROLIFIC) as endpoint:
        words = r"state 20 % .* charges 42.8 % .*no HITs were posted"
        with (
            pytest.raises(RefusedForSafety, match=words),
            at_work(tmp_path, endpoint, POUNDS + FEES),
        ):
            pass
        with at_work(tmp_path, endpoint, POUNDS + FEES.replace("20\n", "42.8\n", 1)):
            pass
        with at_work(tmp_path, endpoint) as run:
            run_pass(run)
        with at_work(tmp_path, endpoint, POUNDS + FEES) as run:
            assert price(run.campaign, on=TODAY.date()).plain == 284
    assert "fees count" in caplog.text


def test_fees_are_compared_from_their_first_day_on(tmp_path: Path) -> None:
    """On the day before, the campaign file says nothing about fees."""
    campaign = load_campaign(write_campaign(tmp_path, POUNDS + FEES))
    with market(tmp_path, PROLIFIC) as endpoint:
        platform = MTurk.with_keys(endpoint, None)
        first_day = date(2020, 1, 1)
        for day, is_refused in ((first_day, True), (first_day - timedelta(days=1), False)):
            refused = pytest.raises(RefusedForSafety, match="no HITs were posted")
            with refused if is_refused else nullcontext():
                prices = ask_prices(campaign, platform, today=day, has_posted=False)
                assert prices is not None
                assert prices.currency == "GBP"


@pytest.mark.full
def test_other_prices_at_a_later_start_are_taken_from_then_on(tmp_path: Path) -> None:
    """What is posted keeps its fee on both sides; what comes later has the new one."""
    with market(tmp_path, PROLIFIC) as endpoint:
        with at_work(tmp_path, endpoint) as run:
            run_pass(run)
            # The first HIT: two of 50p and 21p.
            assert ledger.balances(run.store)["held"] == 142
        people = People(endpoint)
        people.work()
    dearer, port = replace(PROLIFIC, percent=Decimal(50)), int(endpoint[-5:])
    with market(tmp_path, dearer, port=port), at_work(tmp_path, endpoint) as run:
        while run_pass(run).waiting_for == "workers":
            assert people.work()
        fees = {hit.fee_cents for hit in hits.load_hits(run.store)}
        assert fees == {21, 25}
        check_books(run)


def test_what_was_put_off_costs_what_is_taken_when_it_is_posted(tmp_path: Path) -> None:
    """A day's cap lets one HIT be posted; the other is, after the fees have risen."""
    text = POUNDS.replace('budget = "20.00"', 'budget = { total = "20.00", day = "1.60" }')
    text = text.replace("batches = 2", "batches = 1")
    with market(tmp_path, PROLIFIC) as endpoint, at_work(tmp_path, endpoint, text) as run:
        assert post(run) == 1
        assert [hit.fee_cents for hit in hits.unposted(run.store)] == [21]
    dearer, port = replace(PROLIFIC, percent=Decimal(50)), int(endpoint[-5:])
    with market(tmp_path, dearer, port=port), at_work(tmp_path, endpoint, text) as run:
        assert post(replace(run, clock=FixedClock(EVENING + timedelta(days=1)))) == 1
        # Two of 50p and 21p, two of 50p and 25p.
        assert ledger.balances(run.store)["held"] == 142 + 150
        assert [hit.fee_cents for hit in hits.load_hits(run.store)] == [21, 25]
        check_books(run)


@pytest.mark.parametrize(("platform", "held_cents"), [(Deaf, 142), (Broken, 150)])
def test_a_hit_whose_call_was_cut_off_is_booked_at_the_fee_of_that_call(
    tmp_path: Path, platform: type[MTurk], held_cents: int
) -> None:
    """The fees rise before the next pass, and lists do not show the HIT yet.

    Two of 50p and 21p, on both sides. If the call was in vain, later ones cost 25p each.
    """
    with (
        market(tmp_path, PROLIFIC) as endpoint,
        at_work(tmp_path, endpoint) as run,
        pytest.raises(TransientPlatformError),
    ):
        post(replace(run, platform=platform(endpoint)))
    dearer, port = replace(PROLIFIC, percent=Decimal(50)), int(endpoint[-5:])
    minutes = timedelta(minutes=3 if platform is Broken else 0)
    with market(tmp_path, dearer, port=port), at_work(tmp_path, endpoint) as run:
        later = replace(run, clock=FixedClock(EVENING + minutes))
        post(replace(later, platform=_Lagging(endpoint)))
        assert ledger.balances(run.store)["held"] == held_cents
        check_books(run)


class _Lagging(MTurk):
    """Its lists do not show a HIT that was just posted."""

    def find_hits(self, **_: object) -> Iterator[PostedHit]:
        """List none."""
        return iter(())


def test_a_store_keeps_its_currency(tmp_path: Path) -> None:
    """Another currency in the file is refused as other items are."""
    with market(tmp_path, PROLIFIC) as endpoint, at_work(tmp_path, endpoint):
        pass
    dollars = load_campaign(write_campaign(tmp_path))
    words = "its money is in GBP, .* currency is USD"
    with pytest.raises(StoreError, match=words), open_to_look(dollars):
        pass
    with pytest.raises(StoreError, match=words):
        as_begun(dollars)


def test_check_asks_a_marketplace_what_it_takes_and_wants(tmp_path: Path) -> None:
    """The price is by its percentage; less than its least pay an hour is said."""
    text = POUNDS.replace("reward = ", "minutes = 30\nreward = ")
    path = write_campaign(tmp_path, text)
    least = replace(PROLIFIC, least_per_hour_cents=600)
    with market(tmp_path, least) as endpoint:
        as_text = CliRunner().invoke(main, ["check", str(path), "--endpoint", endpoint])
        as_json = CliRunner().invoke(main, ["check", str(path), "--endpoint", endpoint, "--json"])
    assert as_text.exit_code == 0, as_text.output
    assert "UNDERPAID" in as_text.output
    assert "at least £6.00 an hour" in as_text.output
    assert '"least_cents_per_hour": 600' in as_json.output
    assert not (tmp_path / "out").exists()
