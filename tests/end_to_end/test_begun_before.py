"""A campaign that the first version (f354797) began is finished by this one.

`begun/` holds the two databases as that version left them when it was stopped: the
first batch is paid, the second was done and not yet collected. The page of the first
HIT was cut out of the marketplace's, since nobody does it any more.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from piecework.engine.passes import run_pass
from piecework.marketplace.state import audit
from piecework.marketplace.state.backend import Backend, Rules
from piecework.rehearsing.campaign import prepare
from piecework.rehearsing.rehearsal import rehearsal_of, work_through
from piecework.results.whole_pass import write_results
from tests.flows.bookkeeping import books, check_books

_BEGUN = Path(__file__).with_name("begun")


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """The campaign's file in a folder, with the databases where it looks for them."""
    out = tmp_path / "out"
    out.mkdir()
    for dump in _BEGUN.glob("*.sql"):
        with closing(sqlite3.connect(out / f"{dump.stem}.db")) as database:
            database.executescript(dump.read_text(encoding="utf-8"))
    return Path(shutil.copy(_BEGUN / "small.toml", tmp_path))


@pytest.mark.full
def test_a_campaign_that_the_first_version_began_comes_to_its_end(
    campaign: Path,
) -> None:
    """Nothing is posted or paid again, and the books of both sides agree.

    An answer of the second HIT is dropped, so the old HIT is extended.
    """
    with rehearsal_of(prepare(campaign)) as (run, crowd):
        progress = work_through(run, crowd)
        write_results(run)
        check_books(run)
        asked = [hit["max_assignments"] for hit in books(run)["hits"]]
        assert run_pass(run) == progress
    assert progress.is_finished
    assert (progress.accepted, progress.missing, progress.held_cents) == (8, 0, 0)
    assert sorted(asked) == [2, 3]
    assert (progress.submitted, progress.rewards_cents) == (5, 500)
    dataset = campaign.parent / "out/dataset"
    aside = pd.read_csv(dataset / "set_aside.csv")["set_aside"].value_counts()
    assert len(pd.read_csv(dataset / "captions.csv")) + aside["canned"] == 8
    rules = Rules(rehearsal=True, seed=3)
    with (
        closing(Backend(campaign.parent / "out/marketplace.db", rules)) as backend,
        backend.transaction() as transaction,
    ):
        assert audit.broken_laws(transaction) == []
