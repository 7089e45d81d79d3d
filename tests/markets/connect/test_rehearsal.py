"""A campaign rehearsed with an offline Connect: dataset, report and three ledgers."""

from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.engine.progress import read_progress
from piecework.results.whole_pass import write_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.outside import AtBridge
from piecework.simulation.rehearsals.rehearsal import rehearsal_at, work_through
from tests.engine.test_qualification import CAMPAIGN as GATED
from tests.engine.test_qualification import written as gated_campaign
from tests.markets.prolific.test_rehearsal import CAMPAIGN, rows, write

_FEW = CAMPAIGN.replace("scenes = 12", "scenes = 5")
_IN_DOLLARS = _FEW.replace("£0.11", "$0.40").replace("£", "$")


def test_three_ledgers_agree_and_every_answer_has_its_assignment(tmp_path: Path) -> None:
    """The campaign file knows nothing of Connect."""
    path = write(tmp_path, _IN_DOLLARS)
    with rehearsal_at(prepare(path), ["connect"]) as (run, crowd, connect):
        work_through(run, crowd)
        books = connect.close_books(run)
        assert read_progress(run).is_finished
        write_results(run)
        at_connect = connect.markets["connect"]
        assert isinstance(at_connect, AtBridge)
        theirs = at_connect.site.books()
    assert books.broken_laws == ()
    assert books.pipeline == books.marketplace == books.outside > 0
    assert books.market == "Connect"
    statuses = {each["status"] for each in theirs["projects"]}
    assert statuses <= {"Completed", "Closed", "Archived"}
    assert theirs["accounts"]["held"] == 0
    approved = rows(run.campaign.store.path, "SELECT 1 FROM assignments")
    assert approved


def test_a_campaign_with_a_test_is_refused(tmp_path: Path) -> None:
    """In one sentence, before anything is started."""
    path = gated_campaign(tmp_path, GATED)
    with (
        pytest.raises(ConfigError, match="take no qualification tests"),
        rehearsal_at(prepare(path), ["connect"]),
    ):
        pass


def test_another_currency_is_refused(tmp_path: Path) -> None:
    """Currencies are never converted."""
    with (
        pytest.raises(ConfigError, match="Connect pays in USD, not GBP"),
        rehearsal_at(prepare(write(tmp_path)), ["connect"]),
    ):
        pass
