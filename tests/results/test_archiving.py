"""The archive: nothing is lost or changed, and passes work without it."""

import json
import os
import stat
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.cli.store import archive as archive_command
from piecework.domain.errors import CampaignBusy, ConfigError, StoreError
from piecework.domain.ids import WorkerId
from piecework.domain.store_address import in_folder, store_address
from piecework.domain.verdicts import Decision
from piecework.results import whole_pass
from piecework.results.export import export, write_batch_results
from piecework.results.whole_pass import archive_settled
from piecework.store import archive, assignments, decisions, hits
from piecework.store.copying import copy
from piecework.store.database import open_store
from piecework.store.forgetting import forget_worker, removable
from piecework.store.lock import only_pass
from tests.conftest import in_full
from tests.engine.conftest import Open
from tests.growing_campaign import TEXT, Growing, growing, names
from tests.small_campaign import CAMPAIGN
from tests.stores import stored_in

RELEASED = TEXT.replace('formats = ["csv"]', 'formats = ["csv", "parquet"]')
FILES = (
    "dataset/captions.parquet",
    "dataset/captions.csv",
    "batch.csv",
    "report.md",
    "report.html",
)


def three_batches(grown: Growing) -> None:
    """Let people answer three batches of four items, all paid."""
    for first in (1, 5, 9):
        if first > 1:
            grown.append(*names(first, first + 3))
        assert grown.finish().waiting_for == "new rows"
    assert hits.batch_at_work(grown.run.store) == 3


def look(run: CampaignRun) -> OpenedCampaign:
    """Open the campaign as a new process does."""
    return OpenedCampaign(
        campaign=run.campaign,
        store=run.store,
        clock=run.clock,
        is_rehearsal=True,
        pseudonym_key=run.pseudonym_key,
    )


def results(run: CampaignRun) -> dict[str, bytes]:
    """Return the files of all results, as a new process writes them."""
    opened, out = look(run), run.campaign.out
    export(opened)
    write_batch_results(opened, out / "batch.csv")
    return {name: (out / name).read_bytes() for name in FILES}


@pytest.mark.parametrize("store_url", ["file", *in_full("postgresql")], indirect=True)
def test_results_are_the_same_byte_for_byte(tmp_path: Path, store_url: str) -> None:
    """The report too, after the store was compacted, and with newer answers."""
    text = stored_in(RELEASED, tmp_path, store_url)
    with growing(tmp_path, names(1, 4), text) as grown:
        three_batches(grown)
        run = grown.run
        table, before = look(run).answers(), results(run)
        sent = assignments.documents(run.store)
        moved = archive_settled(run, keep=1, compacts=True)
        assert [part.batch for part in moved.parts] == [1, 2]
        assert moved.answers == 8
        # A database that holds the archive has it instead of the rows.
        assert store_url or moved.bytes_after <= moved.bytes_before
        assert (run.campaign.out / "archive").exists() is not bool(store_url)
        pd.testing.assert_frame_equal(look(run).answers(), table)
        assert len(look(run).recent_answers()) == 4
        assert assignments.documents(run.store) == sent
        assert results(run) == before
        # Archive again: nothing is left to move.
        assert archive_settled(run, keep=1).parts == ()
        grown.append(*names(13, 16))
        grown.finish()
        assert len(look(run).answers()) == 16
        assert [part.part for part in archive_settled(run, keep=1).parts] == [3]
        assert archive.through(run.store) == 12
        assert len(look(run).answers()) == 16


def test_a_copy_of_a_store_takes_its_archive_along(tmp_path: Path, postgres_url: str) -> None:
    """Into the table of a database, and back into files."""
    with growing(tmp_path, names(1, 4)) as grown:
        three_batches(grown)
        archive_settled(grown.run, keep=1)
        file = grown.run.store.address
        sent = assignments.documents(grown.run.store)
    assert len(sent) == 6
    schema = store_address(tmp_path, campaign="archived", url=postgres_url)
    back = in_folder(tmp_path / "back")
    copy(file, schema)
    copy(schema, back)
    assert (back.folder / "archive/batch=000002/answers-000002.parquet").is_file()
    for address in (schema, back):
        with closing(open_store(address)) as store:
            assert assignments.documents(store) == sent
            archived = list(range(1, archive.through(store) + 1))
            assert set(archive.contents(store, archived)) == set(archived)


def test_one_process_that_archives_and_goes_on_sees_all_answers(tmp_path: Path) -> None:
    """Its table was read before, and grows afterwards."""
    with growing(tmp_path, names(1, 4)) as grown:
        three_batches(grown)
        assert len(grown.run.answers()) == 12
        archive_settled(grown.run, keep=1)
        grown.append(*names(13, 16))
        grown.finish()
        assert len(grown.run.answers()) == 16
        again = look(grown.run)
        assert len(again.recent_answers()) == 8
        assert len(again.answers()) == 16
        grown.append(*names(17, 20))
        grown.finish()
        pd.testing.assert_frame_equal(again.answers(), look(grown.run).answers())


def test_a_pass_archives_by_itself(tmp_path: Path) -> None:
    """`archive_after_batches = 1`: the batch before the one that was settled."""
    text = RELEASED.replace("[grows]", "[grows]\narchive_after_batches = 1")
    with growing(tmp_path, names(1, 4), text) as grown:
        three_batches(grown)
        progress, report = whole_pass.finish_pass(grown.run, grown.advance())
        assert report is not None
        assert {part.batch for part in archive.parts(grown.run.store)} == {1, 2}
        assert progress.accepted == 12


@pytest.mark.full
def test_a_pass_archives_nothing_unless_it_is_asked_to(tmp_path: Path) -> None:
    """Without the key."""
    with growing(tmp_path, names(1, 4), RELEASED) as grown:
        three_batches(grown)
        whole_pass.finish_pass(grown.run, grown.advance())
        assert archive.parts(grown.run.store) == []


def test_work_that_is_not_settled_stays(tmp_path: Path) -> None:
    """An answer without a verdict, one that is not paid yet, and a HIT that is open or planned."""
    with growing(tmp_path, names(1, 4)) as grown:
        three_batches(grown)
        store = grown.run.store
        of_first = "(SELECT hit_id FROM hits WHERE batch = 1 LIMIT 1)"
        for undo, redo in (
            (
                f"UPDATE assignments SET outcome = NULL WHERE hit_id = {of_first}",
                f"UPDATE assignments SET outcome = 'done' WHERE hit_id = {of_first}",
            ),
            (
                f"UPDATE hits SET collected_at = NULL WHERE hit_id = {of_first}",
                f"UPDATE hits SET collected_at = posted_at WHERE hit_id = {of_first}",
            ),
            (
                f"UPDATE hits SET posted_at = NULL WHERE hit_id = {of_first}",
                f"UPDATE hits SET posted_at = collected_at WHERE hit_id = {of_first}",
            ),
            (
                "UPDATE answers SET verdict = NULL WHERE number = 1",
                "UPDATE answers SET verdict = 'keep' WHERE number = 1",
            ),
        ):
            with store.db.atomic():
                store.db.execute(undo)
            assert archive.settled_batches(store, keep=1) == [2]
            with store.db.atomic():
                store.db.execute(redo)
        assert archive.settled_batches(store, keep=1) == [1, 2]


def test_a_process_that_dies_before_the_record_leaves_all_in_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are written again by the next archiving."""
    with growing(tmp_path, names(1, 4)) as grown:
        three_batches(grown)
        run = grown.run
        table = look(run).answers()
        with monkeypatch.context() as patched:
            patched.setattr(archive, "insert", _dies)
            with pytest.raises(KeyboardInterrupt):
                archive_settled(run, keep=1)
        written = list((run.campaign.out / "archive").rglob("*.parquet"))
        assert len(written) == 2
        assert archive.through(run.store) == 0
        pd.testing.assert_frame_equal(look(run).answers(), table)
        assert archive_settled(run, keep=1).answers == 8
        pd.testing.assert_frame_equal(look(run).answers(), table)


def _dies(*_: object) -> None:
    raise KeyboardInterrupt


def test_files_that_are_missing_or_changed_are_named_and_passes_go_on(tmp_path: Path) -> None:
    """Only results need them."""
    with growing(tmp_path, names(1, 4)) as grown:
        three_batches(grown)
        run = grown.run
        archive_settled(run, keep=1)
        path = run.campaign.out / "archive/batch=000002/answers-000002.parquet"
        content = path.read_bytes()
        path.write_bytes(content[:-1] + b"?")
        with pytest.raises(StoreError, match="is not the one that was archived"):
            look(run).answers()
        path.unlink()
        with pytest.raises(StoreError, match="archive is missing") as refused:
            look(run).answers()
        assert "copy the folder `archive` back" in str(refused.value.next_step)
        grown.append(*names(13, 16))
        assert grown.finish().accepted == 16
        path.write_bytes(content)
        assert len(look(run).answers()) == 16


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    """It has the workers' documents, as the store had."""
    with growing(tmp_path, names(1, 4)) as grown:
        three_batches(grown)
        archive_settled(grown.run, keep=1)
        folder = grown.run.campaign.out / "archive"
        for path in (folder, *folder.rglob("*")):
            assert not stat.S_IMODE(os.stat(path).st_mode) & 0o077, path  # noqa: PTH116


def test_an_archived_answer_that_a_person_drops_is_replaced(tmp_path: Path) -> None:
    """Its batch gets a new answer, which is archived later as a part of its own."""
    with growing(tmp_path, names(1, 4)) as grown:
        three_batches(grown)
        run = grown.run
        archive_settled(run, keep=1)
        answer_id = str(look(run).answers().index[0])
        dropped = Decision(
            subject_kind="answer",
            subject_id=answer_id,
            verdict="drop",
            decided_by="a person",
            decided_at=run.clock.now(),
            because="the picture shows no bus",
        )
        with run.store.db.atomic():
            decisions.overrule(run.store, [dropped])
        grown.finish()
        table = look(run).answers()
        assert len(table) > 12
        assert table["batch"].iloc[-1] == 1
        late = len(table) - 12
        assert [(part.batch, part.answers) for part in archive_settled(run, keep=1).parts] == [
            (1, late)
        ]
        assert archive.through(run.store) == 8
        pd.testing.assert_frame_equal(look(run).answers(), table)


def test_the_command_says_what_it_moved(tmp_path: Path) -> None:
    """And once more: nothing is left."""
    with growing(tmp_path, names(1, 4)) as grown:
        three_batches(grown)
    rules = grown.path.read_text().replace("[grows]", "[grows]\narchive_after_batches = 1")
    grown.path.write_text(rules)
    command = [str(grown.path), "--json"]
    done = CliRunner().invoke(archive_command, command, catch_exceptions=False)
    facts = json.loads(done.stdout)
    assert (facts["batches"], facts["answers"]) == (2, 8)
    assert Path(facts["folder"], "batch=000001").is_dir()
    again = CliRunner().invoke(archive_command, command[:1], catch_exceptions=False)
    assert again.stdout == "nothing to archive: the newest batch stays\n"
    with only_pass(in_folder(tmp_path / "out/crash")):
        busy = CliRunner().invoke(archive_command, command)
        assert isinstance(busy.exception, CampaignBusy)


def test_a_campaign_that_does_not_grow_has_none(at_work: Open) -> None:
    """It ends, so its store does."""
    with (
        at_work(CAMPAIGN) as (run, _),
        pytest.raises(ConfigError, match="only a campaign that grows"),
    ):
        archive_settled(run, keep=1)


def test_an_answer_that_was_forgotten_before_keeps_no_mark_back(tmp_path: Path) -> None:
    """Its content will never be archived, so passes need not look for it."""
    with growing(tmp_path, names(1, 4), RELEASED) as grown:
        three_batches(grown)
        run, store = grown.run, grown.run.store
        worker_id = WorkerId(look(run).answers()["worker_id"].iloc[0])
        forget_worker(store, worker_id, at=run.clock.now(), by="ada")
        archive_settled(run, keep=1)
        ((last,),) = store.db.execute(
            "SELECT max(number) FROM answers JOIN assignments USING (assignment_id) "
            "JOIN hits USING (hit_id) WHERE batch < 3"
        )
        assert archive.through(store) >= last


@pytest.mark.parametrize("store_url", ["file", *in_full("postgresql")], indirect=True)
def test_a_forgotten_worker_leaves_no_content_in_the_archive(
    tmp_path: Path, store_url: str
) -> None:
    """Also if the process died between new files and their rows; others' content stays."""
    with growing(tmp_path, names(1, 4), stored_in(RELEASED, tmp_path, store_url)) as grown:
        three_batches(grown)
        run, store = grown.run, grown.run.store
        archive_settled(run, keep=1)
        table, sent = look(run).answers(), assignments.documents(store)
        worker_id = WorkerId(table["worker_id"].iloc[0])
        theirs = table[table["worker_id"] == worker_id]
        assert 0 < len(theirs) < len(table)
        archive.rewrite_without(store, list(theirs["assignment_id"]))  # and then it dies
        for _ in range(2):
            forget_worker(store, worker_id, at=run.clock.now(), by="ada")
            assert not any(asdict(removable(store, worker_id)).values())
            pd.testing.assert_frame_equal(look(run).answers(), table.drop(theirs.index))
            left = {name for name in sent if name not in set(theirs["assignment_id"])}
            assert set(assignments.documents(store)) == left
            files = sorted((run.campaign.out / "archive").glob("*/*.parquet"))
            assert len(files) == (0 if store_url else 2 * len(archive.parts(store)))
            assert not any(theirs["text"].isin(look(run).answers()["text"]))
        results(run)
        grown.finish()
        archive_settled(run, keep=1)
        assert look(run).answers().index.is_unique
        assert not set(theirs.index) & set(look(run).answers().index)
