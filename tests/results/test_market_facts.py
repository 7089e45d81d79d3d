"""What the report says of each market, by hand; and the market beside each answer."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.engine.run_pass import run_pass
from piecework.report.model import report_model
from piecework.report.sections import money as section
from piecework.report.sections.money import MarketFacts, Markets
from piecework.results.facts_by_source import read_markets
from piecework.results.table import answers_table
from piecework.results.whole_pass import write_results
from piecework.store import hits, ledger
from tests.as_needed_campaign import AS_NEEDED, Voters, write_as_needed
from tests.engine.conftest import in_folder
from tests.engine.two_markets import EVENING
from tests.gold_campaign import AGREED, write_gold
from tests.gold_campaign import TEXT as GOLD
from tests.results.reported import reported


def to_the_end(run: CampaignRun, voters: Voters) -> None:
    """Passes and votes until nothing is open."""
    while (waiting_for := run_pass(run).waiting_for) != "nobody":
        if waiting_for == "workers":
            voters.work()


def send_to(run: CampaignRun, market_of: Callable[[int], str]) -> None:
    """Give each HIT a market by its place in the plan, as if it had been posted so."""
    with run.store.db.atomic():
        for place, hit in enumerate(hits.load_hits(run.store)):
            run.store.db.execute(
                "UPDATE hits SET market = ? WHERE hit_key = ?", [market_of(place), hit.hit_key]
            )


def facts_of(run: CampaignRun) -> dict[str, MarketFacts]:
    """The facts by market."""
    made = read_markets(run, answers_table(run))
    assert made is not None
    return {each.market: each for each in made.rows}


def test_kept_answers_are_compared_with_the_label(tmp_path: Path) -> None:
    """Votes by item: yy, yy, ynyy and ynyn, the last of which is a tie.

    So seven of eight votes agree, wherever they came from.
    """
    with in_folder(tmp_path, AS_NEEDED, write=write_as_needed) as (run, people):
        to_the_end(run, Voters(people.endpoint))
        assert read_markets(run, answers_table(run)) is None
        send_to(run, lambda place: "prolific" if place else "connect")
        by_market = facts_of(run)
        assert list(by_market) == ["connect", "prolific"]
        agreed = sum(each.agreed for each in by_market.values())
        compared = sum(each.compared for each in by_market.values())
        assert (agreed, compared) == (7, 8)
        done = run.store.db.execute(
            "SELECT market, count(*) FROM assignments JOIN hits USING (hit_id) GROUP BY market"
        )
        counted = {name: each.assignments for name, each in by_market.items()}
        assert counted == dict(done)
        assert sum(each.kept for each in by_market.values()) == 12
        cost = sum(each.cost for each in by_market.values())
        balances = ledger.balances(run.store)
        assert cost == balances["rewards"] + balances["fees"]


def test_answers_about_gold_are_compared_with_what_is_known(tmp_path: Path) -> None:
    """The first vote about the known item is wrong, all others are right."""
    with in_folder(tmp_path, GOLD, write=write_gold) as (run, people):
        to_the_end(run, Voters(people.endpoint, votes=AGREED))
        (about_gold,) = run.store.db.execute(
            "SELECT count(*) FROM answers WHERE item_id = 'p9'"
        ).fetchone()
        send_to(run, lambda _place: "panel")
        made = read_markets(run, answers_table(run))
        assert made is not None
        assert made.is_gold
        (row,) = made.rows
        assert (row.compared - row.agreed, row.compared) == (1, about_gold)


def test_files_name_the_market_of_each_answer(tmp_path: Path) -> None:
    """Only of a campaign whose HITs went to markets of their own."""
    with in_folder(tmp_path, AS_NEEDED, write=write_as_needed) as (run, people):
        to_the_end(run, Voters(people.endpoint))
        table = run.campaign.out / "dataset" / "answers.csv"
        write_results(run)
        assert "market" not in table.read_text().splitlines()[0].split(",")
        send_to(run, lambda place: "prolific" if place else "connect")
        report = Path(write_results(run)).read_text()
        with table.open(encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
        assert {row["market"] for row in rows} == {"connect", "prolific"}
        card = (run.campaign.out / "dataset" / "README.md").read_text()
        assert "| market | the market that the worker came from |" in card
        assert "By market" in report


def test_pay_and_time_are_those_of_the_markets_workers(tmp_path: Path) -> None:
    """Ann takes 12 minutes for 50 cents, bob 18: 250 and 166.7 cents an hour.

    The median of their times is 15 minutes, and of their wages 208.3 cents.
    """
    with in_folder(tmp_path) as (opened, people):
        run = replace(opened, clock=FixedClock(EVENING))
        people.minutes = (12, 18)
        people.script = (("ann", "good"), ("bob", "good"))
        run_pass(run)
        people.work()
        run_pass(run)
        send_to(run, lambda _place: "connect")
        row = facts_of(run)["connect"]
        assert row.seconds == pytest.approx(900, abs=1)
        assert row.wage_cents_per_hour == pytest.approx(208.3, abs=0.5)
        built = section.markets_section(report_model(reported(run)))
        assert built is not None
        (cells,) = built.tables[0].rows
        assert cells[0] == "connect"
        assert cells[4] == "–"  # noqa: RUF001 - captions have no label to agree with
        assert cells[5:] == ("900", "$2.08/h", "$1.20")


def test_a_report_without_markets_has_no_such_section(tmp_path: Path) -> None:
    """Nothing is said of markets that the campaign does not name."""
    with in_folder(tmp_path) as (run, _):
        run_pass(run)
        model = report_model(reported(run))
        assert section.markets_section(model) is None
        some = Markets(rows=(), is_gold=False)
        unpaid = replace(model.facts, of_sections=(some,), money=None)
        assert section.markets_section(report_model(unpaid)) is None
