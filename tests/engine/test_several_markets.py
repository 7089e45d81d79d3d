"""One campaign at two markets: one ledger, shares that hold, and what is refused."""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.domain.crowds import crowd_type
from piecework.domain.errors import PlatformRefused, RefusedForSafety, TransientPlatformError
from piecework.domain.hit import PROLIFIC, PlannedHit
from piecework.domain.ids import HitId
from piecework.domain.money import CrowdPrices
from piecework.engine import opening
from piecework.engine.begun import as_begun
from piecework.engine.launch import launch
from piecework.engine.pass_request import PassRequest
from piecework.engine.payments.compensations import plan_compensation
from piecework.engine.payments.due_bonuses import read_bonuses
from piecework.engine.payments.pay import pay_bonuses
from piecework.engine.plan import plan
from piecework.engine.progress import read_progress
from piecework.engine.quick_check import cached_progress
from piecework.engine.recover.adopting import adopt, begin_adopting
from piecework.engine.run_pass import post, run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.results.whole_pass import advance_without_prefect
from piecework.store import hits, intents, ledger, workers
from tests.crash.people import People
from tests.engine.payments.bookkeeping import assignment_ids, bonus_file, books
from tests.engine.two_markets import EVENING, FEES, TWO, Died, Office, TwoMarkets
from tests.small_campaign import CAMPAIGN, write_campaign

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
ONE_BATCH = CAMPAIGN.replace("batches = 2", "batches = 1")
SHARES = f"{ONE_BATCH}[markets]\nprolific = 60\nconnect = 40\n"
CHEAPEST = """markets = ["prolific", "connect"]
cheapest_within_hours = 24
"""
WORKERS = ("ann", "cat", "eve", "fay", "gus")


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Office:
    """What both markets know; the pipeline's port is theirs."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    known = Office()
    monkeypatch.setattr(TwoMarkets, "office", known, raising=False)
    monkeypatch.setattr(opening, "MTurk", TwoMarkets)
    return known


@contextmanager
def marketplace(folder: Path) -> Iterator[str]:
    """A marketplace in virtual time; its endpoint."""
    database = folder / "marketplace.db"
    with serve(Marketplace(database, rehearsal=True, seed=1, start=START)) as running:
        yield running.endpoint_url


@contextmanager
def at_work(
    folder: Path, endpoint: str, text: str = SHARES, *, at: datetime = EVENING
) -> Iterator[CampaignRun]:
    """The campaign of ten pictures there: five HITs, each of two assignments."""
    campaign = load_campaign(write_campaign(folder, text, pictures=10))
    with opening.open_on_marketplace(campaign, endpoint, live=False) as run:
        yield replace(run, clock=FixedClock(at))


def work(endpoint: str, *handles: str) -> int:
    """Let each of these workers do what is offered to them; return how many HITs."""
    return sum(People(endpoint, script=((handle, "good"),) * 9).work() for handle in handles)


def markets(run: CampaignRun) -> list[str]:
    """The market of each HIT, in the order of the plan."""
    return [hit.market for hit in hits.load_hits(run.store)]


def priced(run: CampaignRun) -> dict[str, tuple[str, int]]:
    """The market and the fee of each HIT."""
    return {hit.hit_key: (hit.market, hit.fee_cents) for hit in hits.load_hits(run.store)}


def posted(run: CampaignRun) -> Counter[str]:
    """How many HITs each market has."""
    return Counter(hit.market for hit in hits.load_hits(run.store) if hit.hit_id)


def test_a_whole_campaign_has_one_ledger(tmp_path: Path, office: Office) -> None:
    """Each HIT, bonus and compensation costs what its market charges.

    Six assignments at Prolific, with 40 % of 50 cents, and four at Connect, with 25 %:
    20 and 13 cents (12.5, halves up). A bonus of 30 cents costs 12 or 8 (7.5).
    """
    with marketplace(tmp_path) as endpoint, at_work(tmp_path, endpoint) as run:
        while run_pass(run).waiting_for == "workers":
            assert work(endpoint, *WORKERS)
        assert posted(run) == {"prolific": 3, "connect": 2}
        assert ledger.balances(run.store)["fees"] == 6 * 20 + 4 * 13
        of_hit = hits.markets(run.store)
        by_assignment = {
            name: of_hit[HitId(str(hits.of_assignment(run.store, name).hit_id))]
            for name in assignment_ids(run)
        }
        rows = [(str(name), "0.30", "A fine text.") for name in by_assignment]
        text = bonus_file(*rows)
        pay_bonuses(run, read_bonuses(run, text, label="thanks", name="bonuses.csv"))
        balances = ledger.balances(run.store)
        assert balances["fees"] == 6 * 20 + 4 * 13 + 6 * 12 + 4 * 8
        assert office.charged == {"prolific": 6 * 20 + 6 * 12, "connect": 4 * 13 + 4 * 8}
        # The marketplace itself paid the same people.
        paid = sum(each["paid_cents"] for each in books(run)["assignments"])
        assert (paid, balances["held"]) == (balances["rewards"], 0)
        for name, market in by_assignment.items():
            worker = str(ledger_worker(run, name))
            planned = plan_compensation(run, worker, "1.00", because="An outage.")
            last = workers.market_of_worker(run.store, worker)
            assert planned.fee_cents == FEES[last].bonus_fee_cents(100)
            assert market in FEES
        stranger = plan_compensation(run, "A1B2C3D4E5", "1.00", because="An outage.")
        assert stranger.fee_cents == 20  # as the marketplace states for itself


def ledger_worker(run: CampaignRun, assignment_id: str) -> str:
    """Who did an assignment."""
    (row,) = run.store.db.execute(
        "SELECT worker_id FROM assignments WHERE assignment_id = ?", [assignment_id]
    ).fetchone()
    return str(row)


def test_each_market_has_hit_types_of_its_own(tmp_path: Path, office: Office) -> None:
    """They require its crowd; Prolific's filters are for participants of Prolific."""
    table = "[requirements]\ncountries = ['US']\n"
    with marketplace(tmp_path) as endpoint, at_work(tmp_path, endpoint, SHARES + table) as run:
        run_pass(run)
        types = {office.market(type_id): each for type_id, each in office.types.items()}
        assert set(types) == {"prolific", "connect"}
        for market, hit_type in types.items():
            crowd = hit_type.requirements[-1]
            assert crowd.qualification_type_id == crowd_type(market)
            assert crowd.comparator == "Exists"
            assert not crowd.lets_look
        alike = [each.requirements[:-1] for each in types.values()]
        # One exclusion for both, and the campaign's own requirement.
        assert alike[0] == alike[1]
        assert len(alike[0]) == 2


def test_filters_of_prolific_hold_at_prolific_only(tmp_path: Path, office: Office) -> None:
    """This marketplace knows none of them, so only HITs for Prolific are refused."""
    table = "[prolific]\nage = { at_least = 18 }\n"
    with marketplace(tmp_path) as endpoint, at_work(tmp_path, endpoint, SHARES + table) as run:
        progress = run_pass(run)
        assert posted(run) == {"connect": 2}
        assert "prolific refused 3 planned HITs" in progress.reason
        (hit_type,) = office.types.values()
        ids = [each.qualification_type_id for each in hit_type.requirements]
        assert not any(type_id.startswith(PROLIFIC) for type_id in ids)


def test_a_killed_pass_plans_the_same_split(tmp_path: Path, office: Office) -> None:
    """Killed between plan and launch, and again between two HITs."""
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder in (whole, cut):
        folder.mkdir()
    with marketplace(whole) as endpoint, at_work(whole, endpoint) as run:
        run_pass(run)
        expected = markets(run)
    assert Counter(expected) == {"prolific": 3, "connect": 2}
    with marketplace(cut) as endpoint:
        with at_work(cut, endpoint) as run:
            plan(run)
            planned = markets(run)
            assert not posted(run)
        office.published, office.dies_at = 0, 3
        with pytest.raises(Died), at_work(cut, endpoint) as run:
            launch(replace(run, most_calls=1))
        office.dies_at = 0
        with at_work(cut, endpoint) as run:
            assert run_pass(run).waiting_for == "workers"
            assert planned == markets(run) == expected
            assert sum(posted(run).values()) == 5
            assert len(list(run.platform.find_hits())) == 5
            held = ledger.balances(run.store)["held"]
    # Six assignments of 70 cents and four of 63.
    assert held == 6 * 70 + 4 * 63


def test_a_restored_store_knows_the_markets_of_what_it_adopts(
    tmp_path: Path, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The marketplace lists the requirements of each HIT."""
    with marketplace(tmp_path) as endpoint, at_work(tmp_path, endpoint) as run:
        run_pass(run)
        expected = priced(run)
        there = [
            replace(each, market=office.hits[each.hit_id]) for each in run.platform.find_hits()
        ]
        with run.store.db.atomic():
            for table in ("ledger", "balances", "batch_costs", "day_promises"):
                run.store.db.execute(f"DELETE FROM {table}")
            run.store.db.execute("DELETE FROM intents WHERE operation = 'publish'")
            run.store.db.execute("UPDATE hits SET hit_id = NULL, posted_at = NULL, market = ''")
        begin_adopting(run.store)
        monkeypatch.setattr(TwoMarkets, "find_hits", lambda _self, **_older: iter(there))
        adopt(run)
        adopted = priced(run)
        assert adopted == expected


def test_a_lost_reply_beside_a_refusal_stays_open(tmp_path: Path, office: Office) -> None:
    """Its HIT may be there: it is looked for by the next pass, and posted once."""
    with marketplace(tmp_path) as endpoint, at_work(tmp_path, endpoint) as run:
        office.broke["prolific"] = "too low"
        office.lost_at = 2
        with pytest.raises(TransientPlatformError):
            run_pass(run)
        assert intents.has_open(run.store, "publish")
        office.broke.clear()
        run_pass(run)
        assert posted(run) == {"prolific": 3, "connect": 2}
        assert len(list(run.platform.find_hits())) == 5


@pytest.mark.parametrize("broke", ["prolific", "connect"])
def test_one_market_without_funds_does_not_stop_the_other(
    tmp_path: Path, office: Office, broke: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its HITs stay planned, the pass says so, and a later pass posts them."""
    numbers = {"prolific": 3, "connect": 2}
    other = next(name for name in numbers if name != broke)
    with marketplace(tmp_path) as endpoint, at_work(tmp_path, endpoint) as run:
        office.broke[broke] = "the balance is too low"
        with caplog.at_level(logging.WARNING, "piecework"):
            progress = run_pass(run)
        assert posted(run) == {other: numbers[other]}
        (sentence,) = [record.getMessage() for record in caplog.records if broke in record.message]
        assert sentence == (
            f"{broke} refused HITs: the balance is too low; {numbers[broke]} HITs stay "
            "planned, and the next pass tries again"
        )
        assert progress.waiting_for == "workers"
        waiting = f"{broke} refused {numbers[broke]} planned HITs"
        assert waiting in progress.reason
        assert progress.refused == numbers[broke]
        assert not progress.stopped_by
        # What only looks reads the same.
        assert read_progress(run).waiting_for == "workers"
        # Nothing is held or under way for what was refused.
        assert not intents.has_open(run.store, "publish")
        each = {"prolific": 70, "connect": 63}
        held = numbers[other] * 2 * each[other]
        assert ledger.balances(run.store)["held"] == held
        office.broke.clear()
        run_pass(run)
        assert posted(run) == numbers
        assert run_pass(run).reason == "open HITs: 5"


def test_a_refusal_counts_for_all_if_no_other_hit_is_open(tmp_path: Path, office: Office) -> None:
    """Then nothing can continue, and the command ends with the refusal."""
    with marketplace(tmp_path) as endpoint, at_work(tmp_path, endpoint) as run:
        office.broke = {"prolific": "too low here", "connect": "too low there"}
        for _ in range(2):
            with pytest.raises(PlatformRefused, match="too low here"):
                run_pass(run)
        assert not posted(run)
        assert read_progress(run).waiting_for == "the next pass"
        office.broke.clear()
        run_pass(run)
        assert posted(run) == {"prolific": 3, "connect": 2}


def test_a_refusal_frees_the_allowance_of_the_day(tmp_path: Path, office: Office) -> None:
    """Two dollars pay for one HIT of 140 cents, or for one of 126 cents."""
    text = SHARES.replace('budget = "20.00"', 'budget = { total = "20.00", day = "2.00" }')
    with marketplace(tmp_path) as endpoint, at_work(tmp_path, endpoint, text) as run:
        office.broke["prolific"] = "too low"
        # What was refused does not count as posted.
        assert post(run) == 1
        assert posted(run) == {"connect": 1}
        run_pass(run)
        assert posted(run) == {"connect": 1}
        office.broke.clear()
        run_pass(replace(run, clock=FixedClock(EVENING + timedelta(days=1))))
        assert posted(run) == {"connect": 1, "prolific": 1}


@pytest.mark.parametrize(
    ("crowds", "words"),
    [
        ((), "serves no market, but the campaign is for prolific and connect"),
        (("connect",), "serves connect, but the campaign is for prolific;"),
        (("connect", "panel"), "serves connect and panel, but the campaign is for prolific;"),
    ],
)
def test_a_market_that_is_not_served_is_refused(
    tmp_path: Path, office: Office, crowds: tuple[str, ...], words: str
) -> None:
    """In one sentence, and before anything is there."""
    office.crowds = tuple(
        CrowdPrices(market=market, currency="USD", fees=FEES["connect"]) for market in crowds
    )
    with marketplace(tmp_path) as endpoint:
        with pytest.raises(RefusedForSafety, match=words), at_work(tmp_path, endpoint):
            pass
        assert not list(tmp_path.glob("out/*/piecework.db"))


def test_work_comes_in_although_a_market_is_no_longer_served(
    tmp_path: Path, office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    """Its own HITs wait; what the other market's workers did is collected."""
    with marketplace(tmp_path) as endpoint:
        with at_work(tmp_path, endpoint) as run:
            office.broke["connect"] = "too low"
            run_pass(run)
            assert work(endpoint, *WORKERS) == 6
        office.crowds = office.crowds[:1]
        with at_work(tmp_path, endpoint) as run:
            with pytest.raises(PlatformRefused):
                run_pass(run, poll_open_hits=True)
            assert workers.work_by_market(run.store)["prolific"].collected == 6
            assert posted(run) == {"prolific": 3}
        assert "serves prolific, but the campaign is for connect; HITs" in caplog.text
        office.crowds, office.broke = TWO, {}
        with at_work(tmp_path, endpoint) as run:
            run_pass(run)
            assert posted(run) == {"prolific": 3, "connect": 2}


def test_two_currencies_are_never_one_campaign(tmp_path: Path, office: Office) -> None:
    """Amounts of different currencies are not added up."""
    pounds, dollars = office.crowds
    office.crowds = (replace(pounds, currency="GBP"), dollars)
    with (
        marketplace(tmp_path) as endpoint,
        pytest.raises(RefusedForSafety, match="pays prolific in GBP, but currency"),
        at_work(tmp_path, endpoint),
    ):
        pass


def test_who_only_looks_knows_the_prices_of_all_markets(tmp_path: Path, office: Office) -> None:
    """The store keeps them with the marketplace's own."""
    with marketplace(tmp_path) as endpoint, at_work(tmp_path, endpoint) as run:
        run_pass(run)
        assert run.campaign.rewards.fees_by_market == tuple(
            (each.market, each.fees) for each in office.crowds
        )
        campaign = load_campaign(run.campaign.path)
    with opening.open_to_look(campaign) as opened:
        rewards = opened.campaign.rewards
        assert rewards.fees_on(EVENING.date(), "prolific").takes_as(FEES["prolific"])
        assert rewards.fees_on(EVENING.date(), "connect").takes_as(FEES["connect"])
    begun = as_begun(campaign)
    assert begun.rewards.fees_by_market == rewards.fees_by_market


@pytest.mark.usefixtures("office")
def test_the_cheapest_market_gets_the_first_batch(tmp_path: Path) -> None:
    """Connect charges less; then its pace says what it can finish.

    The first batch has 3 HITs, six assignments, and took ten hours: 0.6 an hour. Of 24
    hours 14 are left, which are enough for 8.4; the second batch has six more.
    """
    text = CHEAPEST + CAMPAIGN
    with marketplace(tmp_path) as endpoint:
        with at_work(tmp_path, endpoint, text, at=START) as run:
            run_pass(run)
            assert posted(run) == {"connect": 3}
            assert work(endpoint, *WORKERS) == 6
        later = START + timedelta(hours=10)
        with at_work(tmp_path, endpoint, text, at=later) as run:
            run_pass(run, poll_open_hits=True)
            assert posted(run) == {"connect": 6}


@pytest.mark.usefixtures("office")
def test_what_the_cheapest_cannot_finish_goes_to_the_next(tmp_path: Path) -> None:
    """Six assignments took 20 hours: 0.3 an hour, so in 4 hours it finishes 1.2 of 6.

    The next market gets 4.8 of them: of three HITs of two, it gets two.
    """
    text = CHEAPEST + CAMPAIGN
    with marketplace(tmp_path) as endpoint:
        with at_work(tmp_path, endpoint, text, at=START) as run:
            run_pass(run)
            assert work(endpoint, *WORKERS) == 6
        later = START + timedelta(hours=20)
        with at_work(tmp_path, endpoint, text, at=later) as run:
            run_pass(run, poll_open_hits=True)
            second = [hit for hit in hits.load_hits(run.store) if hit.batch == 2]
            assert [hit.market for hit in second] == ["prolific", "prolific", "connect"]
            assert [hit.fee_cents for hit in second] == [20, 20, 13]


def test_extensions_stay_at_their_market(tmp_path: Path, office: Office) -> None:
    """A HIT that lost an assignment gets another slot where it is."""
    with marketplace(tmp_path) as endpoint, at_work(tmp_path, endpoint) as run:
        run_pass(run)
        assert People(endpoint, script=(("dan", "paste"),)).work() == 1
        while run_pass(run).waiting_for == "workers":
            assert work(endpoint, *WORKERS)
        by_key = {hit.hit_key: hit for hit in hits.load_hits(run.store)}
        added = [hit for hit in by_key.values() if hit.extends]
        assert added
        for hit in added:
            whole: PlannedHit = by_key[hit.extends or hit.hit_key]
            assert (hit.market, hit.fee_cents) == (whole.market, whole.fee_cents)
        charged = sum(office.charged.values())
        assert ledger.balances(run.store)["fees"] == charged


def test_a_scheduled_pass_asks_a_market_again(tmp_path: Path, office: Office) -> None:
    """It does not wait for news of the other market's HITs: funds are no news."""
    path = write_campaign(tmp_path, SHARES, pictures=10)
    office.broke["connect"] = "too low"
    with marketplace(tmp_path) as endpoint:
        request = PassRequest(campaign=path, endpoint=endpoint)
        assert advance_without_prefect(request).refused == 2
        assert cached_progress(request) is None
        office.broke.clear()
        assert advance_without_prefect(request).refused == 0
        assert cached_progress(request) is not None
