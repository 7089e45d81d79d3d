"""A campaign rehearsed at two offline markets: shares, reports, and equal ledgers."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from piecework.domain.errors import RefusedForSafety
from piecework.engine.progress import read_progress
from piecework.results.whole_pass import write_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_at, work_through
from piecework.store import hits, workers
from tests.markets.prolific.test_rehearsal import CAMPAIGN, write

IN_DOLLARS = CAMPAIGN.replace("£0.11", "$0.40").replace("£", "$")
SHARES = IN_DOLLARS + "[markets]\nprolific = 60\nconnect = 40\n"


@pytest.mark.full
def test_every_ledger_agrees_and_the_shares_hold(tmp_path: Path) -> None:
    """Each market has its HITs, its workers and its fees; the campaign has one sum."""
    path = write(tmp_path, SHARES)
    with rehearsal_at(prepare(path), ["prolific", "connect"]) as (run, crowd, markets):
        assert run.campaign.crowds is not None
        work_through(run, crowd)
        books = markets.close_books(run)
        assert read_progress(run).is_finished
        first = Counter(hit.market for hit in hits.load_hits(run.store) if not hit.round)
        listed = {each.market for each in run.platform.find_hits()}
        work = workers.work_by_market(run.store)
        report = Path(write_results(run)).read_text()
        table = run.campaign.out / "dataset" / "captions.csv"
        with table.open(encoding="utf-8-sig") as file:
            named = {row["market"] for row in csv.DictReader(file)}
    assert books.broken_laws == ()
    assert books.pipeline == books.marketplace == books.outside > 0
    total = sum(first.values())
    assert abs(first["prolific"] - 0.6 * total) < 1
    assert set(work) == {"prolific", "connect"}
    assert all(each.collected for each in work.values())
    assert named == {"prolific", "connect"}
    assert listed <= {"prolific", "connect"}
    assert listed
    assert "By market" in report


def test_a_market_that_is_not_rehearsed_is_refused(tmp_path: Path) -> None:
    """In one sentence that names those that are served."""
    campaign = prepare(write(tmp_path, SHARES))
    with (
        pytest.raises(RefusedForSafety, match=r"serves connect, but the campaign is for prolific"),
        rehearsal_at(campaign, ["connect"]),
    ):
        pass
