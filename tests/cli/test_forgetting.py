"""`workers forget`: a person's data are deleted at their request, and the books stay."""

import csv
import json
import os
import pty
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.engine.opening import open_to_look
from piecework.engine.progress import read_progress
from piecework.importing.readers.potato import STATE_FILE
from piecework.store import ledger
from tests.cli.finished_campaign import finished_campaign
from tests.importing.batches import row, write
from tests.importing.test_potato import kept
from tests.importing.test_readers import answer_xml

_PAID = "worker,amount,date\n"
_OWN_WORDS = "the words of ann about a bicycle"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished campaign on a marketplace of one's own."""
    folder = tmp_path_factory.mktemp("forgetting")
    with finished_campaign(folder):
        pass
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path


def _piecework(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--database", str(folder / "people.db")])


def _campaign(folder: Path) -> Path:
    return next(folder.glob("*.toml"))


def _pay(folder: Path, name: str) -> None:
    """Record that a person was paid all that they are owed."""
    path, sheet = _campaign(folder), folder / "sheet.csv"
    assert _piecework(folder, "pay", str(path), "--sheet", str(sheet)).exit_code == 0
    rows = csv.DictReader(sheet.read_text(encoding="utf-8").splitlines())
    (row,) = (row for row in rows if row["name"] == name)
    paid = folder / "paid.csv"
    paid.write_text(f"{_PAID}{row['worker']},{row['left']},2026-11-27\n", encoding="utf-8")
    done = _piecework(folder, "pay", str(path), "--paid", str(paid))
    assert done.exit_code == 0, done.output


def _rows(file: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(sql, values).fetchall()


def _all_bytes(folder: Path) -> bytes:
    files = [*folder.glob("out/**/piecework.db*"), *folder.glob("people.db*")]
    assert files
    return b"".join(file.read_bytes() for file in files)


def _mark_words(folder: Path, worker_id: str) -> None:
    """Put words of their own into every place where a person's words are."""
    with closing(sqlite3.connect(folder / "people.db")) as market, market:
        market.execute(
            "UPDATE assignments SET answer = replace(answer, '</Answer>', ?) "
            "WHERE worker = (SELECT id FROM workers WHERE worker_id = ?)",
            (f"<FreeText>{_OWN_WORDS}</FreeText></Answer>", worker_id),
        )
        market.execute(
            "INSERT INTO reported_problems (assignment, worker, text, reported_ms) "
            "SELECT id, worker, ?, 0 FROM assignments WHERE worker = "
            "(SELECT id FROM workers WHERE worker_id = ?) LIMIT 1",
            (_OWN_WORDS, worker_id),
        )
    (store,) = folder.glob("out/**/piecework.db")
    mine = "(SELECT assignment_id FROM assignments WHERE worker_id = ?)"
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            f"UPDATE raw_answers SET raw = raw || ? WHERE assignment_id IN {mine}",
            (_OWN_WORDS, worker_id),
        )
        connection.execute(
            f"UPDATE answers SET also_sent = ? WHERE assignment_id IN {mine}",
            (json.dumps({"more": _OWN_WORDS}), worker_id),
        )


def test_a_person_s_data_are_gone_and_the_books_stay(folder: Path) -> None:
    """No byte of what they wrote, and of their name, is left in the two files."""
    path = _campaign(folder)
    refused = _piecework(folder, "workers", "forget", "ann", str(path))
    assert refused.exit_code == 3
    assert "not recorded as paid" in refused.output
    _pay(folder, "ann")
    (worker_id,) = _rows(
        folder / "people.db", "SELECT worker_id FROM workers WHERE handle = 'ann'"
    )[0]
    _mark_words(folder, str(worker_id))
    assert _OWN_WORDS.encode() in _all_bytes(folder)
    with open_to_look(load_campaign(path)) as opened:
        balances, payouts = ledger.balances(opened.store), ledger.payouts(opened.store)
        before = opened.answers()
        others = before[before["worker_id"] != worker_id].index
        assert len(others) < len(before)
    unasked = _piecework(folder, "workers", "forget", "ann", str(path))
    assert "nothing was removed yet" in unasked.output
    assert _OWN_WORDS.encode() in _all_bytes(folder)
    done = _piecework(folder, "workers", "forget", "ann", str(path), "--yes")
    assert done.exit_code == 0, done.output
    assert "not reached: backups" in done.output
    with open_to_look(load_campaign(path)) as opened:
        assert ledger.balances(opened.store) == balances
        assert ledger.payouts(opened.store) == payouts
        assert list(opened.answers().index) == list(others)
    assert _OWN_WORDS.encode() not in _all_bytes(folder)
    handles = _rows(folder / "people.db", "SELECT handle FROM workers ORDER BY id")
    assert (f"forgotten {worker_id}",) in handles
    assert ("ann",) not in handles
    (paid,) = _rows(
        folder / "people.db",
        "SELECT count(*) FROM assignments JOIN workers ON workers.id = worker "
        "WHERE worker_id = ? AND paid_cents > 0",
        worker_id,
    )[0]
    assert paid
    again = _piecework(folder, "workers", "forget", str(worker_id), str(path), "--yes")
    assert again.exit_code == 0
    assert "nothing is left to remove" in again.output
    for words in (["export"], ["workers", "list"], ["status"]):
        shown = CliRunner().invoke(main, [*words, str(path)])
        assert shown.exit_code == 0, shown.output
    (report,) = folder.glob("out/*/report.html")
    assert "Counts differ" not in report.read_text("utf-8")
    assert all(
        _OWN_WORDS.encode() not in file.read_bytes()
        for file in folder.glob("out/**/*")
        if file.is_file()
    )


def test_the_marketplace_alone_says_which_campaigns_are_left(folder: Path) -> None:
    """A file without its campaigns names the HITs whose answers other stores have."""
    done = _piecework(folder, "workers", "forget", "cat", "--yes")
    assert done.exit_code == 0, done.output
    assert "not reached: the store of the campaign with" in done.output
    assert _piecework(folder, "workers", "forget", "cat", "--yes").exit_code == 2


@pytest.fixture(scope="module")
def paid(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which ann was paid, with words of hers everywhere."""
    folder = tmp_path_factory.mktemp("paid")
    shutil.copytree(finished, folder, dirs_exist_ok=True)
    _pay(folder, "ann")
    _mark_words(folder, _ann(folder))
    return folder


@pytest.fixture
def ready(paid: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    shutil.copytree(paid, tmp_path, dirs_exist_ok=True)
    return tmp_path


def _ann(folder: Path) -> str:
    ((worker_id,),) = _rows(
        folder / "people.db", "SELECT worker_id FROM workers WHERE handle = 'ann'"
    )
    return str(worker_id)


def _in_child(folder: Path, *words: str, prepare: Callable[[], object]) -> int:
    """Type a command in a process of its own; return how that ended."""
    child = os.fork()
    if not child:
        code = 1
        with suppress(BaseException):
            prepare()
            code = _piecework(folder, *words).exit_code
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _typed(
    folder: Path,
    keys: bytes,
    words: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> tuple[int, str]:
    """Give a command at a terminal, where keys wait for its question; exit code and screen."""
    ours, theirs = pty.openpty()
    os.write(ours, keys)
    with os.fdopen(theirs) as terminal, monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", terminal)
        with pytest.raises(SystemExit) as end:
            main([*words, "--database", str(folder / "people.db")])
    os.close(ours)
    return int(end.value.code or 0), "".join(capsys.readouterr())


def test_at_a_terminal_only_the_typed_id_deletes(
    ready: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other words, an empty line and the end of the input leave everything."""
    path, worker_id = str(_campaign(ready)), _ann(ready)
    forget = ("workers", "forget", "ann", path)
    for keys, ending in ((b"ann\n", 3), (b"\n", 3), (b"\x04", 130)):
        code, screen = _typed(ready, keys, forget, monkeypatch, capsys)
        assert (keys, code) == (keys, ending), screen
        assert "Traceback" not in screen
        assert _OWN_WORDS.encode() in _all_bytes(ready)
        assert _ann(ready) == worker_id
    code, screen = _typed(ready, f" {worker_id} \n".encode(), forget, monkeypatch, capsys)
    assert code == 0, screen
    assert "removed" in screen
    assert _OWN_WORDS.encode() not in _all_bytes(ready)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


KILLED = (
    "piecework.store.archive.rewrite_without",
    "piecework.store.archive.replace_parts",
    "piecework.store.archive.remove_unnamed_files",
    "piecework.store.sqlite_database.SqliteDatabase.compact",
    "piecework.marketplace.workers.forgetting.forget_person",
    "piecework.marketplace.workers.forgetting.hits_elsewhere",
)


@pytest.mark.parametrize("place", KILLED)
def test_the_same_command_finishes_what_a_kill_left(place: str, ready: Path) -> None:
    """Wherever it dies, the name still finds the worker until all is removed."""
    path, worker_id = str(_campaign(ready)), _ann(ready)
    forget = ("workers", "forget", "ann", path, "--yes")

    def prepare() -> None:
        pytest.MonkeyPatch().setattr(place, lambda *_, **__: _die())

    assert _in_child(ready, *forget, prepare=prepare) == -signal.SIGKILL
    is_done = place.endswith("hits_elsewhere")
    again = _piecework(ready, *forget[:2], worker_id if is_done else "ann", *forget[3:])
    assert again.exit_code == 0, again.output
    assert _OWN_WORDS.encode() not in _all_bytes(ready)


def test_nothing_is_removed_of_a_worker_who_is_not_named_in_full(ready: Path) -> None:
    """The start of an id or of a pseudonym may be another person's name."""
    path, worker_id = str(_campaign(ready)), _ann(ready)
    with open_to_look(load_campaign(Path(path))) as opened:
        pseudonym = opened.pseudonym(worker_id)  # type: ignore[arg-type]
    for word in (worker_id[:-1], f"{worker_id}A", pseudonym[:6], "an", "nobody", "' OR 1=1 --"):
        refused = _piecework(ready, "workers", "forget", word, path, "--yes")
        assert refused.exit_code == 2, (word, refused.output)
    assert _OWN_WORDS.encode() in _all_bytes(ready)
    done = _piecework(ready, "workers", "forget", pseudonym.upper(), path, "--yes")
    assert done.exit_code == 0, done.output
    assert _OWN_WORDS.encode() not in _all_bytes(ready)


def test_work_that_came_while_a_person_thought_about_it_is_judged_first(
    ready: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What holds before the question must hold after it."""
    path, worker_id = str(_campaign(ready)), _ann(ready)
    (store,) = ready.glob("out/**/piecework.db")

    def agree(*_: object, **__: object) -> bool:
        with closing(sqlite3.connect(store)) as connection, connection:
            connection.execute(
                "INSERT INTO intents (intent_key, operation, subject_kind, subject_id, times, "
                "arguments, amount_cents, made_at) VALUES ('late', 'exclude', 'worker', ?, 1, "
                "'{}', 0, '2026-11-27T00:00:00+00:00')",
                (worker_id,),
            )
        return True

    monkeypatch.setattr("piecework.cli.forget._is_agreed", agree)
    refused = _piecework(ready, "workers", "forget", "ann", path)
    assert refused.exit_code == 3, refused.output
    assert "1 act about them not carried out" in refused.output
    assert _OWN_WORDS.encode() in _all_bytes(ready)


_IDS = ("Zoë", "Zoë 李", 'O\'Neil "x"; --', "%", "a/../b")


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """A campaign about another tool's results, without any marketplace."""
    rows = [
        row(number, name, shown={"url": "http://127.0.0.1/a.jpg"}, sent={"words": f"of {number}"})
        for number, name in enumerate(_IDS)
    ]
    source, path = write(tmp_path / "batch.csv", rows), tmp_path / "words.toml"
    done = CliRunner().invoke(main, ["data", "import", str(source), "--as", str(path)])
    assert done.exit_code == 0, done.output
    return path


def test_any_id_names_its_own_worker_alone(imported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that begins like another, or has signs of SQL, of a shell or of a folder."""
    monkeypatch.chdir(imported.parent)
    (store,) = imported.parent.glob("out/**/piecework.db")
    left = [*_IDS]
    for name in _IDS:
        done = CliRunner().invoke(main, ["workers", "forget", name, str(imported), "--yes"])
        assert done.exit_code == 0, done.output
        left.remove(name)
        rows = _rows(store, "SELECT raw FROM raw_answers")
        assert len(rows) == len(left)


def test_a_file_that_is_imported_again_brings_nothing_of_a_forgotten_worker(
    imported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows, further ones, and one that cannot be read; others' rows come in."""
    monkeypatch.chdir(imported.parent)
    (store,) = imported.parent.glob("out/**/piecework.db")
    shown = {"url": "http://127.0.0.1/a.jpg"}
    rows = [
        row(number, name, shown=shown, sent={"words": f"of {number}"}, status="Approved")
        for number, name in enumerate((*_IDS, _IDS[0], "new", _IDS[0]))
    ]
    rows[-1]["SubmitTime"] = "yesterday"
    source = str(write(imported.parent / "longer.csv", rows))
    names = [_IDS[0], *_IDS[2:]]
    for times in range(2):
        for name in names if times else names[:1]:
            done = CliRunner().invoke(main, ["workers", "forget", name, str(imported), "--yes"])
            assert done.exit_code == 0, done.output
        done = CliRunner().invoke(main, ["data", "import", source, "--as", str(imported)])
        assert done.exit_code == 0, done.output
        assert f"{1 - times} assignment" in done.output
    kept = "SELECT worker_id FROM raw_answers JOIN assignments USING (assignment_id) ORDER BY 1"
    assert _rows(store, kept) == [(_IDS[1],), ("new",)]
    with_feedback = "SELECT count(*) FROM outcomes WHERE feedback <> ''"
    assert _rows(store, with_feedback) == [(2,)]
    assert set(_rows(store, "SELECT cells FROM unreadable_rows")) == {("[]",)}


def _potato(folder: Path) -> None:
    for user in ("ann", "bob"):
        (folder / user).mkdir(parents=True)
        (folder / user / STATE_FILE).write_text(json.dumps(kept(user)))
    seen = kept("ann") | {"instance_id_to_behavioral_data": {"i1": {"session_end": "Ann's words"}}}
    (folder / "ann" / STATE_FILE).write_text(json.dumps(seen))
    (folder / "cat").mkdir()
    (folder / "cat" / STATE_FILE).write_text("{")


def _pages_of_mturk(folder: Path) -> None:
    answer = "<QuestionFormAnswers><Answer>{}</QuestionFormAnswers>"
    rows = [
        {"AssignmentId": "A1", "HITId": "H1", "WorkerId": "ann", "Answer": answer.format("mine")},
        {"AssignmentId": "A2", "HITId": "H1", "WorkerId": "bob", "Answer": answer_xml("whole")},
        {"AssignmentId": "A3", "HITId": "H1", "WorkerId": "cat", "Answer": answer.format("cat's")},
    ]
    folder.mkdir()
    (folder / "pages.json").write_text(json.dumps({"Assignments": rows}))


@pytest.mark.parametrize("make", [_potato, _pages_of_mturk])
def test_nothing_of_a_forgotten_worker_s_unreadable_rows_is_left_or_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    """Neither id nor words, in any column, though no cell is the id; others' rows stay."""
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "files")
    source = tmp_path / "files"
    source = next(source.glob("*.json"), source)

    def done(*words: str) -> None:
        result = CliRunner().invoke(main, [*words])
        assert result.exit_code == 0, result.output

    done("data", "import", str(source), "--as", "moods.toml")
    (store,) = tmp_path.glob("out/**/piecework.db")
    query = "SELECT fault, cells, worker_id FROM unreadable_rows WHERE import_id = ? ORDER BY place"
    with closing(sqlite3.connect(store)) as connection:
        before = connection.execute(query, (1,)).fetchall()
    assert [by for *_, by in before] == ["ann", "cat"]
    done("workers", "forget", "ann", "moods.toml", "--yes")
    done("data", "import", str(source), "--as", "moods.toml")
    with closing(sqlite3.connect(store)) as connection:
        for number in (1, 2):
            assert connection.execute(query, (number,)).fetchall() == [("", "[]", ""), before[1]]


def test_a_forgotten_worker_s_id_in_another_s_unreadable_row_is_a_word_like_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Worker 1 has only an unreadable row; worker 2's has the cell 1 too, and stays whole.

    Nobody knows whose the cut row is: its cell 1 may be the worker.
    """
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "moods.csv"
    table.write_text("who,when,image,mood\n1,never,a,1\n2,never,a,1\n3,,a,1\n1,,a\n4,,a\n")
    (tmp_path / "columns.toml").write_text(
        'item = "image"\nanswers = { mood = "mood" }\n'
        '[columns]\nworker = "who"\nsubmitted = "when"\n'
    )

    def done(*words: str) -> None:
        result = CliRunner().invoke(main, [*words])
        assert result.exit_code == 0, result.output

    done("data", "import", str(table), "--columns", "columns.toml", "--as", "moods.toml")
    (store,) = tmp_path.glob("out/**/piecework.db")
    query = (
        "SELECT fault, cells, worker_id FROM unreadable_rows WHERE import_id = {} ORDER BY place"
    )
    before = _rows(store, query.format(1))
    assert [by for *_, by in before] == ["1", "2", "", ""]
    done("workers", "forget", "1", "moods.toml", "--yes")
    done("data", "import", str(table), "--as", "moods.toml")
    gone = ("", "[]", "")
    for number in (1, 2):
        assert _rows(store, query.format(number)) == [gone, before[1], gone, before[3]]


def test_an_imported_campaign_ends_without_the_undecided_answers_of_who_left(
    imported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are dropped, nothing is paid, and what was proposed about them is gone."""
    monkeypatch.chdir(imported.parent)
    (store,) = imported.parent.glob("out/**/piecework.db")
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            "INSERT INTO proposals SELECT 'answer', answer_id, 'drop', fields FROM answers"
        )
    for name in _IDS:
        done = CliRunner().invoke(main, ["workers", "forget", name, str(imported), "--yes"])
        assert done.exit_code == 0, done.output
    assert _rows(store, "SELECT * FROM proposals") == []
    with open_to_look(load_campaign(imported)) as opened:
        assert read_progress(opened).is_finished
        assert not any(ledger.balances(opened.store).values())


def test_programs_that_have_the_files_open_keep_no_deleted_word_in_a_log(ready: Path) -> None:
    """Such as the marketplace's server and the review pages."""
    path = str(_campaign(ready))
    (store,) = ready.glob("out/**/piecework.db")
    with (
        closing(sqlite3.connect(store)) as review,
        closing(sqlite3.connect(ready / "people.db")) as server,
    ):
        for connection in (review, server):
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        done = _piecework(ready, "workers", "forget", "ann", path, "--yes")
        assert done.exit_code == 0, done.output
        assert len([*ready.glob("**/*.db-wal")]) == 2
        assert _OWN_WORDS.encode() not in _all_bytes(ready)
