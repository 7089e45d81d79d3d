"""`check` and `rehearse --times` show the price of each market; a rehearsal has no markets."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.cli.rehearse import _outcome, say_forecast
from piecework.engine import begun, opening
from piecework.engine.opening import NO_MARKETS
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.report.forecast import Estimate, Forecast, Row, forecast_page
from piecework.report.page import render_sections
from piecework.simulation.forecast.forecasts import WrittenForecast, _prices, as_document
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of
from piecework.store import hits
from tests.engine.two_markets import Office, TwoMarkets
from tests.small_campaign import CAMPAIGN, write_campaign

SHARES = (
    CAMPAIGN.replace("batches = 2", "batches = 1")
    .replace('"5.00"', '"9.00"')
    .replace("reward = ", "minutes = 6\nreward = ")
)
SHARES += "[markets]\nprolific = 60\nconnect = 40\n"


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Office:
    """What both markets know; the commands ask them."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    known = Office()
    monkeypatch.setattr(TwoMarkets, "office", known, raising=False)
    for module in (begun, opening):
        monkeypatch.setattr(module, "MTurk", TwoMarkets)
    return known


@contextmanager
def marketplace(folder: Path) -> Iterator[str]:
    """A marketplace; its endpoint."""
    with serve(Marketplace(folder / "marketplace.db", rehearsal=True, seed=1)) as running:
        yield running.endpoint_url


def checked(*words: str) -> str:
    """What `check` prints, on a wide terminal."""
    ended = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["check", *words])
    assert ended.exit_code == 0, ended.output
    return ended.output


def test_check_prices_each_market(tmp_path: Path, office: Office) -> None:
    """Ten pictures are five HITs of two assignments of 50 cents.

    Three at Prolific cost 3 x 2 x 70 = 420 cents, two at Connect 2 x 2 x 63 = 252. All
    five would cost 700 and 630. Six minutes for 50 cents are 5 dollars an hour.
    """
    path = write_campaign(tmp_path, SHARES, pictures=10)
    prolific, connect = office.crowds
    office.crowds = (replace(prolific, least_per_hour_cents=800), connect)
    with marketplace(tmp_path) as endpoint:
        printed = checked(str(path), "--endpoint", endpoint)
        document: dict[str, Any] = json.loads(checked(str(path), "--endpoint", endpoint, "--json"))
    assert "price by market" in printed
    line = next(row for row in printed.splitlines() if "│ prolific" in row)
    assert "$4.20" in line
    assert "3 HITs at $1.40, 6 assignments at a fee of 40 % ($0.20)" in line
    assert "all HITs there would cost $7.00" in line
    line = next(row for row in printed.splitlines() if "│ connect" in row)
    assert "$2.52" in line
    assert "2 HITs at $1.26, 4 assignments at a fee of 25 % ($0.13)" in line
    assert "all HITs there would cost $6.30" in line
    assert "$6.72" in printed
    assert "UNDERPAID: $5.00 an hour, and prolific asks for at least $8.00" in printed
    assert "connect asks" not in printed
    assert [
        (each["market"], each["cents"], each["fee_percent"]) for each in document["markets"]
    ] == [("prolific", 420, 40.0), ("connect", 252, 25.0)]
    assert document["plain_cents"] == 672
    assert document["least_cents_per_hour"] == 800


def test_check_prices_a_market_by_its_usual_fee_before_it_was_asked(tmp_path: Path) -> None:
    """In the campaign's currency, with the source; only a panel's fee is not known here."""
    pounds = SHARES.replace('reward = "0.50"', 'reward = "£0.50"')
    for text in (SHARES, pounds):
        printed = checked(str(write_campaign(tmp_path, text, pictures=10)))
        sign = "£" if text is pounds else "$"
        assert f"at a fee of 39.6 % ({sign}0.20)" in printed
        assert f"at a fee of 25 % ({sign}0.13)" in printed
        assert "fees: Prolific's usual fee, 33 %" in printed
        assert "not known here" not in printed
        assert "in dollars" not in printed
    panel = checked(str(write_campaign(tmp_path, SHARES.replace("connect", "panel"), pictures=10)))
    assert "WARNING: the fees of panel are not known here" in panel
    plain = write_campaign(tmp_path, CAMPAIGN)
    assert "by market" not in checked(str(plain))


def test_check_refuses_a_market_that_is_not_served(tmp_path: Path, office: Office) -> None:
    """In one sentence that names those that are."""
    path = write_campaign(tmp_path, SHARES)
    office.crowds = office.crowds[1:]
    with marketplace(tmp_path) as endpoint:
        words = ["check", str(path), "--endpoint", endpoint]
        ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 3
    assert "serves connect, but the campaign is for prolific; no HITs" in ended.output


@pytest.mark.usefixtures("office")
def test_a_forecast_shows_the_prices_of_all_markets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the terminal, on the page and as a document, with the same figures."""
    path = write_campaign(tmp_path, SHARES, pictures=10)
    with marketplace(tmp_path) as endpoint:
        prices = _prices(path, endpoint)
    figures = (
        *("cost_cents", "days", "wage_cents", "bad_kept"),
        *("bad_found", "honest_wronged", "complete"),
    )
    made = Forecast(
        campaign="birds",
        currency="USD",
        seeds=1,
        rows=[Row("as it is", dict.fromkeys(figures, Estimate(1, 1, 1)))],
        assumptions=["None."],
        markets=prices,
    )
    say_forecast(WrittenForecast(made, tmp_path / "forecast.html"))
    printed = capsys.readouterr().out
    assert "prolific: $4.20 for 3 HITs at $1.40, with a fee of 40 %" in printed
    assert "connect: $2.52 for 2 HITs at $1.26, with a fee of 25 %" in printed
    page = render_sections(forecast_page(made))
    assert "Prices by market" in page
    assert "$6.30" in page
    document = json.loads(json.dumps(as_document(made)))
    assert [each["whole_cents"] for each in document["markets"]] == [700, 630]
    assert "Prices by market" not in render_sections(forecast_page(replace(made, markets=())))


def test_a_rehearsal_without_markets_says_so(tmp_path: Path) -> None:
    """Its own workers come from none; one line, and the fees of the file."""
    text = SHARES.replace('file = "items.csv"', "scenes = 4")
    path = write_campaign(tmp_path, text)
    prepared = prepare(path)
    with rehearsal_of(prepared) as (run, _):
        assert run.campaign.crowds is None
        run_pass(run)
        assert {hit.market for hit in hits.load_hits(run.store)} == {""}
    _, remarks = _outcome(prepared)
    assert [note.text for note in remarks].count(NO_MARKETS) == 1
    _, without = _outcome(replace(prepared, crowds=None))
    assert NO_MARKETS not in [note.text for note in without]
