"""A campaign whose items grow: each row is dealt, answered and paid once."""

import io
from dataclasses import replace
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from PIL import Image

from piecework.campaign.assembling import load_campaign
from piecework.campaign.pricing import first_pass
from piecework.cli.price_tables import price_rows
from piecework.domain.errors import ConfigError, StoreError
from piecework.domain.growing import SourceRow
from piecework.engine import take_in
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.snapshot import Reader
from piecework.results.releases import latest_release, read_release
from piecework.results.whole_pass import finish_pass, write_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.checking import check_campaign
from piecework.store import campaign_facts, item_totals, ledger, source
from piecework.store.database import writing
from tests.conftest import in_full
from tests.growing_campaign import START, TEXT, growing, names, row, write_growing


def test_new_rows_make_the_next_batch_and_each_row_is_dealt_once(tmp_path: Path) -> None:
    """Four rows are a batch; the five that arrive later are the next one."""
    with growing(tmp_path, names(1, 4)) as campaign:
        idle = campaign.finish()
        assert (idle.waiting_for, idle.batch, idle.items) == ("new rows", 1, 4)
        assert (idle.accepted, idle.missing, idle.is_finished) == (4, 0, False)
        campaign.append(*names(5, 9))
        idle = campaign.finish()
        assert (idle.batch, idle.items, idle.accepted) == (2, 9, 9)
        assert campaign.shown() == names(1, 9)
        # 3 batches' worth of HITs: 2 + 3 (of two, two and one item), 60 cents each.
        assert ledger.balances(campaign.run.store)["rewards"] == 5 * 50
        assert campaign.finish() == idle


@pytest.mark.parametrize(
    ("rows", "budget", "hits"),
    # HITs of two pictures for 60 cents; a day's $2.00 pays for three of the five.
    [(9, '"900.00"', 5), (9, '{ total = "900.00", day = "2.00" }', 3), (3, '"900.00"', 0)],
)
def test_check_prices_what_the_next_pass_posts(
    tmp_path: Path, rows: int, budget: str, hits: int
) -> None:
    """All rows that wait, as far as the caps pay; nothing while they are too few."""
    text = TEXT.replace('budget = "900.00"', f"budget = {budget}")
    with growing(tmp_path, names(1, rows), text) as campaign:
        whole = check_campaign(campaign.path, on=START.date())
        worst = {what: cents for what, cents, _ in price_rows(whole.campaign, whole.price)}
        assert worst["worst, without caps"] == "no limit"
        assert worst["worst, within caps"] == "$900.00"
        checked = whole.first_pass
        assert checked is not None
        progress = campaign.advance()
        assert (checked.rows, checked.hits) == (rows, progress.hits_posted) == (rows, hits)
        assert checked.cost == progress.held_cents == 60 * hits


def test_the_next_pass_is_priced_with_as_many_hits_as_items_belong_together(tmp_path: Path) -> None:
    """HITs have room for two rows, but no two of these rows share one."""
    campaign = load_campaign(write_growing(tmp_path, names(1, 4)))
    apart = replace(campaign, task=replace(campaign.task, one_value_per_hit="image_id"))
    for grown, hits in ((campaign, 5), (apart, 9)):
        priced = first_pass(grown, 9, on=START.date())
        assert priced is not None
        assert (priced.wanted, priced.hits, priced.cost) == (hits, hits, 60 * hits)


def test_each_settled_batch_is_released_and_old_releases_and_splits_stay(tmp_path: Path) -> None:
    """Two batches make two releases without a word about it in the campaign file."""
    text = TEXT.replace("batch = 4", "batch = 40").replace('["csv"]', '["parquet"]')
    with growing(tmp_path, names(1, 40), text) as grown:
        run, folder = grown.run, tmp_path / "out" / "crash" / "releases"

        def finish() -> bool:
            return finish_pass(run, grown.finish())[1] is not None

        assert finish()
        assert not finish()  # nothing is new
        first = read_release(folder, 1, table="items")
        grown.append(*names(41, 80))
        assert finish()
        assert latest_release(folder) == 2
        assert read_release(folder, 1, table="items").equals(first)
        split_of = _splits(read_release(folder, 2, table="items"))
        before = _splits(first)
        assert len(split_of) == 80
        assert {name: split_of[name] for name in before} == before
        assert set(before.values()) == {"train", "val", "test"}


def _splits(table: pa.Table) -> dict[str, str]:
    ids, split_of = table["item_id"].to_pylist(), table["split"].to_pylist()
    return dict(zip(ids, split_of, strict=True))


def test_a_batch_waits_for_its_size_or_for_its_time(tmp_path: Path) -> None:
    """Three rows of four wait for six hours; four rows wait no time."""
    text = TEXT.replace("every_hours = 24", "every_hours = 6")
    with growing(tmp_path, names(1, 3), text) as campaign:
        waits = campaign.advance()
        assert (waits.waiting_for, waits.hits_posted) == ("new rows", 0)
        assert waits.source is not None
        assert waits.source.waiting == 3
        assert waits.due_at == "2026-01-05T15:00:00+00:00"
        campaign.move(hours=5.9)
        assert campaign.advance().hits_posted == 0
        campaign.move(hours=0.1)
        assert campaign.advance().hits_posted == 2
        campaign.append("p004")
        assert campaign.finish().waiting_for == "new rows"
        campaign.append(*names(5, 7))
        assert campaign.advance().batch == 2  # four wait, so no more time passes
        assert campaign.shown() == names(1, 7)


@pytest.mark.full
def test_a_row_that_appears_again_changes_nothing(tmp_path: Path) -> None:
    """At the end of the file, or in a file that was written again."""
    with growing(tmp_path, names(1, 4)) as campaign:
        idle = campaign.finish()
        campaign.append("p002", "p003")
        again = campaign.finish()
        assert again == idle
        # The rows in another order, too.
        campaign.items.write_text("image_id,url\n" + "".join(map(row, reversed(names(1, 4)))))
        assert campaign.finish() == idle
        assert campaign.shown() == names(1, 4)


@pytest.mark.parametrize(
    ("on_change", "shown", "quarantined", "changed"),
    [
        ("ask_again", sorted([*names(1, 4), "p002@2"]), 0, 1),
        ("refuse", names(1, 4), 1, 0),
        *in_full(("keep", names(1, 4), 0, 1)),
    ],
)
def test_a_row_whose_cells_change(
    tmp_path: Path, on_change: str, shown: list[str], quarantined: int, changed: int
) -> None:
    """It is refused, or ignored, or asked again as an item of its own."""
    text = TEXT.replace("[grows]", f'[grows]\non_change = "{on_change}"')
    with growing(tmp_path, names(1, 4), text) as campaign:
        campaign.finish()
        rows = [row("p001"), row("p002", "other"), row("p003"), row("p004")]
        campaign.items.write_text("image_id,url\n" + "".join(rows))
        campaign.finish()
        campaign.move(hours=25)
        progress = campaign.finish()
        assert campaign.shown() == shown
        assert progress.source is not None
        assert progress.source.quarantined == quarantined
        assert progress.source.changed == changed
        assert (progress.missing, progress.waiting_for) == (0, "new rows")
        if on_change == "refuse":
            write_results(campaign.run)
            report = (campaign.run.campaign.out / "report.html").read_text()
            # Workers were asked about it as it was before.
            assert "No worker was asked" not in report
            assert "an item that was posted before keeps its first cells" in report
        if on_change == "ask_again":
            items = {str(item.item_id): item for item in campaign.run.campaign.items}
            assert items["p002"].columns["url"].endswith("p002.jpg")
            assert items["p002@2"].columns["url"].endswith("other.jpg")
            assert progress.accepted == 5


@pytest.mark.full
def test_the_row_of_a_waiting_item_may_change(tmp_path: Path) -> None:
    """Nobody was shown it, so its new cells count."""
    with growing(tmp_path, names(1, 3)) as campaign:
        campaign.advance()
        campaign.items.write_text("image_id,url\n" + row("p001", "new") + row("p002"))
        campaign.append("p003")
        campaign.move(hours=25)
        campaign.finish()
        items = {str(item.item_id): item for item in campaign.run.campaign.items}
        assert items["p001"].columns["url"].endswith("new.jpg")
        assert campaign.shown() == names(1, 3)


def test_the_open_hits_of_a_row_that_disappears_expire(tmp_path: Path) -> None:
    """The other items of these HITs are asked again, and a row that returns, too."""
    with growing(tmp_path, names(1, 4)) as campaign:
        assert campaign.advance().hits_open == 2
        gone = campaign.posted()[0].item_ids[0]
        left = [name for name in names(1, 4) if name != gone]
        campaign.items.write_text("image_id,url\n" + "".join(map(row, left)))
        withdrawn = campaign.advance()
        assert withdrawn.source is not None
        assert withdrawn.source.withdrawn == 1
        done = campaign.finish()
        # The other item of that HIT is asked in a HIT of its own.
        assert (done.waiting_for, done.accepted, done.missing) == ("new rows", 3, 0)
        assert campaign.posted()[-1].item_ids == tuple(
            name for name in campaign.posted()[0].item_ids if name != gone
        )
        # It comes back: its answer is asked for again.
        campaign.append(str(gone))
        assert campaign.finish().accepted == 4


@pytest.mark.parametrize(
    ("line", "withdrawn"),
    [
        ('on_removal = "keep"', 0),
        ('on_removal = "withdraw"', 0),
        ('on_removal = "withdraw_all"', 3),
    ],
)
def test_the_file_says_whether_rows_may_disappear_and_how_many(
    tmp_path: Path, line: str, withdrawn: int
) -> None:
    """More than half at once are probably a mistake, which is stated as a fault."""
    text = TEXT.replace("[grows]", f"[grows]\n{line}")
    with growing(tmp_path, names(1, 4), text) as campaign:
        campaign.advance()
        campaign.items.write_text("image_id,url\n" + "".join(map(row, names(4, 4))))
        source_now = campaign.advance().source
        assert source_now is not None
        assert source_now.withdrawn == withdrawn
        assert ("withdraw_all" in source_now.fault) == line.endswith('"withdraw"')


def test_rows_of_a_rehearsal_arrive_as_many_a_day_as_the_file_says(tmp_path: Path) -> None:
    """Three rows on the first day, three on the next, and the rest on the third."""
    text = f"{TEXT}[rehearsal]\nrows_a_day = 3\n"
    with growing(tmp_path, names(1, 8), text) as campaign:
        for arrived in (3, 6, 8):
            campaign.advance()
            rows = campaign.run.store.db.execute("SELECT count(*) FROM source_items")
            assert rows.fetchone() == (arrived,)
            campaign.move(days=1)


@pytest.mark.full
def test_answers_to_a_row_that_disappears_stay(tmp_path: Path) -> None:
    """They were given and paid."""
    with growing(tmp_path, names(1, 4)) as campaign:
        before = campaign.finish()
        campaign.items.write_text("image_id,url\n" + "".join(map(row, names(2, 4))))
        after = campaign.finish()
        assert (after.accepted, after.items, after.missing) == (4, 4, 0)
        assert after.spent_cents == before.spent_cents


@pytest.mark.full
def test_rows_that_vanish_by_the_thousand_are_not_withdrawn(tmp_path: Path) -> None:
    """Half a file is more probably a mistake."""
    with growing(tmp_path, names(1, 4)) as campaign:
        campaign.finish()
        campaign.items.write_text("image_id,url\n" + row("p001"))
        progress = campaign.finish()
        assert progress.source is not None
        assert progress.source.withdrawn == 0
        assert "3 rows of 4" in progress.source.fault
        campaign.items.write_text("image_id,url\n" + "".join(map(row, names(1, 4))))
        progress = campaign.finish()
        assert progress.source is not None
        assert progress.source.fault == ""


def test_a_source_that_loses_a_column_says_what_to_do(tmp_path: Path) -> None:
    """Give it back, or say which new column has its cells: what a reader advises is kept."""
    with growing(tmp_path, ()) as campaign:
        rows = "p001,https://example.org/1.jpg"
        campaign.items.write_text(f"image_id,url,note\n{rows},a\n")
        campaign.advance()
        advice = []
        for lacking in (f"image_id,url\n{rows}\n", f"image_id,url,words\n{rows},a\n"):
            campaign.items.write_text(lacking)
            source = campaign.advance().source
            assert source is not None
            assert "items.csv: column 'note' has disappeared; " in source.fault
            advice.append(source.fault.partition("; next: ")[2])
    again = "give the source the column 'note' again"
    renamed = "if 'words' has its cells now, write columns = { note = \"words\" } in [items]"
    assert advice == [again, f"{again}; {renamed}"]


@pytest.mark.full
def test_a_source_that_cannot_be_read_stops_nothing_else(tmp_path: Path) -> None:
    """Answers are collected and paid; the fault is stated until the file is back."""
    with growing(tmp_path, names(1, 4)) as campaign:
        campaign.advance()
        campaign.items.unlink()
        assert campaign.people.work() == 2
        progress = campaign.finish()
        assert (progress.accepted, progress.waiting_for) == (4, "new rows")
        assert progress.source is not None
        assert "items.csv" in progress.source.fault
        writes = campaign.run.store.changes()
        campaign.advance()  # the same fault is not written again
        assert campaign.run.store.changes() == writes
        campaign.items.write_text("image_id,url\n" + "".join(map(row, names(1, 8))))
        progress = campaign.finish()
        assert (progress.accepted, progress.batch) == (8, 2)
        assert progress.source is not None
        assert progress.source.fault == ""


@pytest.mark.full
def test_a_needed_column_that_disappears_overnight(tmp_path: Path) -> None:
    """The source is refused as a whole, and no row counts as gone."""
    with growing(tmp_path, names(1, 4)) as campaign:
        campaign.finish()
        campaign.items.write_text("image_id,link\np005,https://example.org/5.jpg\n")
        progress = campaign.finish()
        assert progress.source is not None
        assert "no column url" in progress.source.fault
        assert (progress.items, progress.source.withdrawn) == (4, 0)


@pytest.mark.full
def test_a_new_column_is_no_change_of_old_rows(tmp_path: Path) -> None:
    """New rows have it, and old rows are as they were."""
    with growing(tmp_path, names(1, 4)) as campaign:
        campaign.finish()
        rows = "".join(f"{row(name).strip()},x{name}\n" for name in names(1, 8))
        campaign.items.write_text("image_id,url,note\n" + rows)
        progress = campaign.finish()
        assert campaign.shown() == names(1, 8)
        assert progress.source is not None
        assert progress.source.quarantined == 0
        assert campaign.run.campaign.items[7].columns["note"].startswith("xp")


def test_rows_that_cannot_be_used_are_set_aside_and_the_rest_proceeds(tmp_path: Path) -> None:
    """Each fault is named with its line."""
    with growing(tmp_path, names(1, 4)) as campaign:
        campaign.finish()
        with campaign.items.open("ab") as file:
            file.write(row("p005").encode())
            file.write(row("p005", "other").encode())  # line 7: the id again
            file.write(row("6.0").encode())
            file.write(b"p007,not an address\n")
            file.write(b"p008\n")
            file.write(b"p009,https://example.org/\xff.jpg\n")
            file.write(b'p010,"https://example.org/10.jpg"x\n')
            file.write(b",https://example.org/11.jpg\n")
            file.write("".join(map(row, names(12, 14))).encode())
            file.write(b"p015,https://example.org/1")  # half written
        progress = campaign.finish()
        assert campaign.shown() == [*names(1, 5), *names(12, 14)]
        state = progress.source
        assert state is not None
        assert (state.quarantined, bool(state.unfinished)) == (7, True)
        _, faults = source.quarantined(campaign.run.store, most=100)
        lines = {fault.partition("line ")[2].partition(":")[0] for fault in faults}
        assert lines == {str(line) for line in range(7, 14)}
        # The writer finishes its line: nothing else is read again.
        with campaign.items.open("a") as file:
            file.write("5.jpg\n")
        campaign.advance()
        campaign.move(hours=25)
        assert campaign.finish().items == 9
        assert campaign.shown()[-1] == "p015"


def test_a_picture_that_is_half_uploaded_is_asked_about_when_it_is_whole(tmp_path: Path) -> None:
    """Under the same name; until then its row is set aside, with the reason."""
    photos = tmp_path / "photos"
    photos.mkdir()
    picture = Image.effect_noise((60, 40), 50)
    picture.save(photos / "a.png")
    whole = (photos / "a.png").read_bytes()
    (photos / "b.png").write_bytes(whole[:300])
    text = TEXT.replace('[items]\nfile = "items.csv"', 'pictures = "photos"')
    with growing(tmp_path, [], text.replace("batch = 4", "batch = 1")) as campaign:
        state = campaign.finish().source
        assert campaign.shown() == ["a.png"]
        assert state is not None
        assert (state.quarantined, state.withdrawn) == (1, 0)
        assert "b.png: the picture cannot be decoded to its end" in state.faults[0]
        (photos / "b.png").write_bytes(whole)
        state = campaign.finish().source
        assert campaign.shown() == ["a.png", "b.png"]
        assert state is not None
        assert state.quarantined == 0


@pytest.mark.parametrize("place", ["table beside a folder", "table of a bucket", "bucket"])
def test_a_row_waits_until_its_picture_is_there_and_whole(tmp_path: Path, place: str) -> None:
    """The table itself does not change meanwhile."""
    picture = io.BytesIO()
    Image.effect_noise((60, 40), 50).save(picture, "PNG")
    whole, memory = picture.getvalue(), fsspec.filesystem("memory")
    bucket = f"{tmp_path.name}-{place.replace(' ', '-')}"
    (tmp_path / "photos").mkdir()

    def put(name: str, content: bytes) -> None:
        if place == "table beside a folder":
            (tmp_path / "photos" / name).write_bytes(content)
        else:
            memory.pipe(f"/{bucket}/{name}", content)

    pictures = "photos" if place == "table beside a folder" else f"memory://{bucket}"
    text = TEXT.replace("batch = 4", "batch = 1")
    if place == "bucket":
        text = text.replace('[items]\nfile = "items.csv"', f'pictures = "{pictures}"')
    else:
        text = text.replace("[items]", f'pictures = "{pictures}"\n[items]')
    put("a.png", whole)
    put("b.png", whole[:300])
    with growing(tmp_path, [], text) as campaign:
        with campaign.items.open("a") as file:
            file.writelines(f"{name},{name}.png\n" for name in "abc")
        state = campaign.finish().source
        assert len(campaign.shown()) == 1
        assert state is not None
        assert state.quarantined == (1 if place == "bucket" else 2)
        assert any("cannot be decoded to its end" in fault for fault in state.faults)
        assert not take_in.due(Reader(campaign.run))
        put("b.png", whole)
        put("c.png", whole)
        state = campaign.finish().source
        assert state is not None
        assert state.quarantined == 0
        assert len(campaign.shown()) == 3


def test_check_names_rows_that_would_be_set_aside(tmp_path: Path) -> None:
    """And a source without a row that can be used cannot be priced."""
    path = write_growing(tmp_path, [*names(1, 5), "6.0"])
    with (tmp_path / "items.csv").open("a") as file:
        file.write(row("p001", "other") + "p007")
    warnings = check_campaign(path, on=START.date()).warnings
    assert sum("line 7" in words for words in warnings) == 1
    assert sum("line 8" in words for words in warnings) == 1
    assert any(words.startswith("2 rows") for words in warnings)
    (tmp_path / "items.csv").write_text("image_id,url\n")
    with pytest.raises(ConfigError):
        check_campaign(path, on=START.date())


@pytest.mark.full
def test_an_open_quote_at_the_end_waits_for_the_rest(tmp_path: Path) -> None:
    """The row may still be written."""
    with growing(tmp_path, names(1, 3)) as campaign:
        with campaign.items.open("a") as file:
            file.write('p004,"https://example.org/4\n')
        first = campaign.advance()
        assert first.source is not None
        assert (first.source.waiting, bool(first.source.unfinished)) == (3, True)
        with campaign.items.open("a") as file:
            file.write('.jpg"\n')
        second = campaign.advance()
        assert second.source is not None
        assert second.source.quarantined == 1  # an address with a line break in it


@pytest.mark.full
def test_stop_ends_it(tmp_path: Path) -> None:
    """No more rows are taken in."""
    with growing(tmp_path, names(1, 4)) as campaign:
        campaign.finish()
        campaign_facts.record_stop(campaign.run.store, at=campaign.clock.now())
        campaign.append(*names(5, 8))
        done = campaign.advance()
        assert (done.waiting_for, done.items) == ("nobody", 4)
        assert done.is_finished


@pytest.mark.full
def test_a_cap_ends_it_and_rows_that_wait_keep_their_order(tmp_path: Path) -> None:
    """The rows that arrived first are paid for."""
    # Three HITs of 60 cents; each shows two rows.
    text = TEXT.replace('budget = "900.00"', 'budget = "2.00"')
    with growing(tmp_path, names(1, 12), text) as campaign:
        done = campaign.finish()
        assert campaign.shown() == names(1, 6)
        assert (done.waiting_for, done.cap_reached) == ("nobody", True)
        assert done.source is not None
        assert done.source.waiting == 6


@pytest.mark.full
def test_a_day_and_a_month_postpone_what_they_do_not_pay(tmp_path: Path) -> None:
    """The campaign says which of the two, and until when."""
    text = TEXT.replace(
        'budget = "900.00"', 'budget = { total = "900.00", day = "1.20", month = "2.00" }'
    )
    with growing(tmp_path, names(1, 12), text) as campaign:
        first = campaign.finish()
        assert len(campaign.shown()) == 4  # two HITs a day
        assert (first.waiting_for, first.stopped_by) == ("the next day", "budget.day")
        campaign.move(days=1)
        second = campaign.finish()
        assert len(campaign.shown()) == 6  # three HITs a month
        assert (second.waiting_for, second.stopped_by) == ("the next month", "budget.month")
        assert second.goes_on_at == "2026-02-01T00:00:00+00:00"
        campaign.move(days=27)
        campaign.finish()
        assert len(campaign.shown()) == 10


@pytest.mark.full
def test_an_item_that_has_cost_its_budget_is_not_asked_again(tmp_path: Path) -> None:
    """The missing answer counts as missing."""
    # A share of a HIT costs 30 cents. A second answer would make 60 or, alone, 90.
    text = TEXT.replace('budget = "900.00"', 'budget = { total = "900.00", item = "0.80" }')
    with growing(tmp_path, names(1, 4), text) as campaign:
        shouts = (("bob", "half"), ("ann", "good"), ("cat", "good"))
        campaign.people.script = shouts
        done = campaign.finish()
        assert (done.accepted, done.missing) == (3, 1)
        assert done.waiting_for == "new rows"
        assert len(campaign.posted()) == 2
        lacks = item_totals.batches_lacking(campaign.run.store, campaign.run.campaign.posting)
        assert lacks == {}


@pytest.mark.full
def test_a_backlog_that_the_budget_cannot_keep_up_with(tmp_path: Path) -> None:
    """Rates in and out, and the days of work that wait."""
    text = TEXT.replace('budget = "900.00"', 'budget = { total = "900.00", day = "1.20" }')
    with growing(tmp_path, names(1, 10), text) as campaign:
        for day in range(1, 4):
            progress = campaign.finish()
            campaign.append(*names(day * 10 + 1, day * 10 + 10))
            campaign.move(days=1)
        progress = campaign.finish()
        assert progress.source is not None
        # Three days passed, and ten rows arrived on each of four mornings. On each,
        # four were paid; four more are planned, and wait for the next day.
        assert progress.source.waiting == 40 - 16 - 4
        assert progress.source.rows_in == pytest.approx(40 / 3)
        assert progress.source.rows_out == pytest.approx(20 / 3)
        assert progress.source.behind_days == pytest.approx(20 / (20 / 3))


@pytest.mark.full
def test_a_store_whose_items_grow_cannot_stop_growing(tmp_path: Path) -> None:
    """The store is bound to the way it deals."""
    with growing(tmp_path, names(1, 4)) as campaign:
        campaign.finish()
        path, endpoint = campaign.path, campaign.run.platform.endpoint
        path.write_text(TEXT.replace("[grows]\nbatch = 4\nevery_hours = 24\n", ""))
        with (
            pytest.raises(StoreError),
            open_for_rehearsal(load_campaign(path), endpoint, campaign.clock),
        ):
            pass


def test_scenes_that_a_file_names_are_drawn(tmp_path: Path) -> None:
    """Without a file there would be no rows to arrive; a scene too many is refused."""
    text = TEXT.replace('file = "items.csv"', 'file = "items.csv"\nscenes = 2')
    path = write_growing(tmp_path, [], text)
    path.with_name("items.csv").write_text(
        "image_id,url\n" + "".join(f"scene_000{n},scene_000{n}.svg\n" for n in (1, 2, 3))
    )
    campaign = prepare(path)
    assert [str(item.item_id) for item in campaign.items] == ["scene_0001", "scene_0002"]
    drawn = sorted(file.name for file in (campaign.out / "pictures").iterdir())
    assert drawn == ["scene_0001.svg", "scene_0002.svg"]
    path.write_text(text.replace('file = "items.csv"\n', ""))
    with pytest.raises(ConfigError, match="drawn pictures do not grow"):
        load_campaign(path)


def test_a_fault_of_a_source_is_kept_without_the_secret_of_its_address(tmp_path: Path) -> None:
    """People see it in the status, in the report and in logs; so does the fault of a row."""
    with growing(tmp_path, names(1, 4)) as campaign:
        campaign.advance()
        kept = campaign.run.store
        fault = ConfigError(["s3://AK:hush@b/x: cannot be read"], next_step="open s3://AK:hush@b/x")
        assert (fault.faults, fault.next_step) == (
            ["s3://AK:***@b/x: cannot be read"],
            "open s3://AK:***@b/x",
        )
        row_of = SourceRow(row_id="p9", located="line 9", cells={})
        with writing(kept):
            source.keep_reading(
                kept,
                at=START,
                number=2,
                fingerprint=None,
                fault="x://a:hush@b",
                unfinished="x://a:hush@b",
            )
            source.quarantine(kept, [(row_of, "x://a:hush@b")], reading_number=2, at=START)
        reading = source.reading(kept)
        assert (reading.fault, reading.unfinished) == ("x://a:***@b", "x://a:***@b")
        assert source.quarantined(kept, most=9) == (1, ["x://a:***@b"])
