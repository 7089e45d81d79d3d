"""A row that no page can show is set aside, and keeps no other from being asked."""

import hashlib
import json
import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.hit import PlannedHit
from piecework.engine.plan import plan
from piecework.engine.posted_hits import publish_key
from piecework.engine.take_in import take_in
from piecework.results.whole_pass import write_results
from piecework.simulation.rehearsals.checking import check_campaign
from piecework.store import hits, intents
from piecework.store.database import writing
from piecework.store.intents import Intent
from piecework.store.source import quarantined
from tests.growing_campaign import START, TEXT, Growing, growing, names, row, write_growing

FIVE = TEXT.replace("items_per_hit = 2", "items_per_hit = 5").replace("batch = 4", "batch = 10")
QUERY = 'query = "SELECT image_id, url FROM items"\nfile = "sqlite:///items.db"'

TICKETS = """
name = "crash"
task = "choose"
question = "About what?"
options = ["money", "other"]
answers = 1
reward = "0.50"
budget = { total = "9.00" }
[items]
file = "arrivals/"
[grows]
batch = 1
"""


def long_row(name: str, length: int) -> str:
    """A row whose picture has an address of about this length, as CSV."""
    # A page is compressed, so the letters may not repeat.
    letters = hashlib.shake_256(name.encode()).hexdigest(length // 2)
    return f"{name},https://example.org/{letters}.jpg\n"


def into_file(folder: Path, rows: str) -> None:
    """Append rows to the campaign's file."""
    with (folder / "items.csv").open("a") as file:
        file.write(rows)


def into_database(folder: Path, rows: str) -> None:
    """Insert rows into the campaign's database."""
    with closing(sqlite3.connect(folder / "items.db")) as conn, conn:
        conn.execute("CREATE TABLE IF NOT EXISTS items (image_id TEXT, url TEXT)")
        cells = [line.split(",") for line in rows.splitlines()]
        conn.executemany("INSERT INTO items VALUES (?, ?)", cells)


def faults(campaign: Growing) -> list[str]:
    """Why rows are set aside."""
    return quarantined(campaign.run.store, most=100)[1]


def test_a_column_that_workers_see_and_no_new_row_has_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was renamed in a folder's next file, or a night's rows of JSON leave it out."""
    monkeypatch.setattr(logging.getLogger("piecework"), "propagate", True)
    (tmp_path / "arrivals").mkdir()
    (tmp_path / "arrivals/1.csv").write_text("id,subject,body\n1,Bill,Too high.\n")
    with growing(tmp_path, [], TICKETS) as campaign:
        campaign.advance()
        assert not [line for line in caplog.records if line.levelno >= logging.WARNING]
        (tmp_path / "arrivals/2.csv").write_text("id,topic,body\n2,Bill,Too low.\n")
        campaign.advance()
    lost = "1 new row came without the column 'subject', which workers see"
    assert f"arrivals/: {lost}; the columns are body, id, topic" in caplog.text


@pytest.mark.parametrize("kind", ["file", "database"])
def test_rows_that_are_too_long_stop_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A cell of 120 kB and an id of 100,000 letters are named, and others asked."""
    monkeypatch.chdir(tmp_path)
    text, put = TEXT, into_file
    if kind == "database":
        text = TEXT.replace('file = "items.csv"', QUERY)
        into_database(tmp_path, "".join(map(row, names(1, 3))))
        put = into_database
    with growing(tmp_path, names(1, 3), text) as campaign:
        put(tmp_path, long_row("long", 120_000) + row("i" * 100_000) + row("p004"))
        progress = campaign.finish()
        assert campaign.shown() == names(1, 4)
        assert progress.source is not None
        assert (progress.accepted, progress.source.quarantined) == (4, 2)
        too_long, no_id = sorted(faults(campaign), key=lambda fault: "image_id" in fault)
        assert "bytes" in too_long
        assert "image_id has 100,000 bytes; an id has at most 1,000" in no_id
        assert max(map(len, progress.source.faults)) < 1000
        put(tmp_path, "".join(map(row, names(5, 8))))
        assert campaign.finish().accepted == 8
        write_results(campaign.run)
        report = (campaign.run.campaign.out / "report.html").read_text()
        assert "Rows that cannot be used" in report
        assert "has 100,000 bytes" in report


def test_check_names_rows_that_are_too_long_and_prices_the_others(tmp_path: Path) -> None:
    """Also if they are the first rows, and if some are too long together."""
    path = write_growing(tmp_path, [], FIVE)
    too_long = [long_row("a", 120_000), row("i" * 2_000)]
    into_file(tmp_path, "".join(too_long))
    with pytest.raises(ConfigError, match=r"has .* bytes"):
        check_campaign(path, on=START.date())
    into_file(tmp_path, "".join(long_row(name, 12_000) for name in names(1, 8)))
    into_file(tmp_path, "".join(map(row, names(9, 12))))
    warnings = check_campaign(path, on=START.date()).warnings
    assert any(words.startswith("2 rows cannot be used") for words in warnings)


def test_rows_that_are_too_long_together_get_more_hits(tmp_path: Path) -> None:
    """Five rows of 12 kB do not fit into a HIT of five; each is asked once."""
    with growing(tmp_path, [], FIVE) as campaign:
        into_file(tmp_path, "".join(long_row(name, 12_000) for name in names(1, 10)))
        progress = campaign.finish()
        assert campaign.shown() == names(1, 10)
        assert (progress.accepted, progress.missing) == (10, 0)
        assert 1 < len(campaign.posted()) <= 10
        assert progress.source is not None
        assert progress.source.quarantined == 0


def planned(campaign: Growing) -> list[PlannedHit]:
    """Take rows in and plan their HITs, as a pass that dies before it posts them."""
    take_in(campaign.run)
    plan(campaign.run)
    return hits.unposted(campaign.run.store)


def make_too_long(campaign: Growing, item_id: str) -> None:
    """Let an item that was planned be longer than any page can show."""
    _, _, url = long_row("later", 120_000).strip().partition(",")
    columns = json.dumps({"image_id": item_id, "url": url})
    campaign.run.store.db.execute(
        "UPDATE source_items SET columns = ? WHERE item_id = ?", [columns, item_id]
    )


def test_a_planned_hit_that_no_page_can_show_is_dropped_and_the_rest_asked(tmp_path: Path) -> None:
    """As if it had been planned by another version, whose pages were smaller."""
    with growing(tmp_path, names(1, 4)) as campaign:
        first, _ = planned(campaign)
        bad, good = first.item_ids
        make_too_long(campaign, bad)
        progress = campaign.finish()
        assert campaign.shown() == sorted({*names(1, 4)} - {bad})
        assert good in campaign.shown()
        assert progress.source is not None
        assert (progress.accepted, progress.source.quarantined) == (3, 1)
        assert repr(bad) in progress.source.faults[0]
        campaign.append(*names(5, 8))
        assert campaign.finish().accepted == 7


def test_a_call_that_may_have_posted_such_a_hit_is_waited_for(tmp_path: Path) -> None:
    """Two minutes later no list shows it, so it was not posted."""
    with growing(tmp_path, names(1, 4)) as campaign:
        first, _ = planned(campaign)
        intent = Intent(key=publish_key(first), operation="publish", subject=("hit", first.hit_key))
        with writing(campaign.run.store):
            intents.declare(campaign.run.store, intent, campaign.run.clock)
        make_too_long(campaign, first.item_ids[0])
        campaign.advance()
        assert hits.unposted(campaign.run.store) == [first]
        campaign.move(minutes=3)
        assert campaign.finish().accepted == 3


def test_a_planned_hit_of_a_row_that_disappears_is_dropped_and_the_rest_asked(
    tmp_path: Path,
) -> None:
    """It was not posted yet, so nothing has to expire."""
    with growing(tmp_path, names(1, 4)) as campaign:
        gone = planned(campaign)[0].item_ids[0]
        left = sorted({*names(1, 4)} - {gone})
        campaign.items.write_text("image_id,url\n" + "".join(map(row, left)))
        assert campaign.finish().accepted == 3
        assert campaign.shown() == left


def test_a_row_that_is_corrected_is_asked(tmp_path: Path) -> None:
    """Nobody was shown it, so its new cells count."""
    with growing(tmp_path, names(1, 4)) as campaign:
        bad = planned(campaign)[0].item_ids[0]
        make_too_long(campaign, bad)
        campaign.finish()
        rows = [row(name, "other" if name == bad else "") for name in names(1, 4)]
        campaign.items.write_text("image_id,url\n" + "".join(rows))
        progress = campaign.finish()
        assert progress.source is not None
        assert (progress.accepted, progress.source.quarantined) == (4, 0)
        assert campaign.shown() == names(1, 4)


@pytest.mark.parametrize("why", ["too long", "gone"])
def test_the_other_rows_of_a_batch_that_was_never_posted_wait_for_the_next(
    tmp_path: Path, why: str
) -> None:
    """Its only HIT was dropped; the row that is left is asked with the next one."""
    text = TEXT.replace("batch = 4", "batch = 2")
    with growing(tmp_path, names(1, 2), text) as campaign:
        ((bad, good),) = [hit.item_ids for hit in planned(campaign)]
        if why == "gone":
            campaign.items.write_text("image_id,url\n" + row(good))
        else:
            make_too_long(campaign, bad)
        waits = campaign.finish()
        assert waits.source is not None
        assert (waits.items, waits.missing, waits.source.waiting) == (0, 0, 1)
        campaign.append("p003")
        assert campaign.finish().accepted == 2
        assert campaign.shown() == sorted([good, "p003"])
