import errno
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from piecework.cli.errors import explain
from piecework.cli.main import main
from piecework.store.database import open_store


def test_a_lock_of_another_program_is_named_as_such(tmp_path: Path) -> None:
    """SQLite's own error, made by a real lock, becomes what a user can do."""
    path = tmp_path / "piecework.db"
    holder, other = open_store(path, create=True), open_store(path)
    other.db.execute("PRAGMA busy_timeout = 10")
    holder.db.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError) as locked:
        other.db.execute("UPDATE bound SET campaign = 'birds'")
    problem, next_step = explain(locked.value)
    assert "another program has locked the database" in problem
    assert "fuser" in next_step
    holder.db.execute("ROLLBACK")
    holder.close()
    other.close()


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "the disk is full"), (errno.EACCES, "the operating system refused")],
)
def test_what_the_system_refuses_is_told_by_its_number(number: int, words: str) -> None:
    """A full disk is told from a right that is missing."""
    problem, next_step = explain(OSError(number, "so it is"))
    assert problem.startswith(words)
    assert "run the same command again" in next_step


def _refused_to_open(path: Path) -> OSError:
    with pytest.raises(OSError, match=path.name) as refused:
        path.open("w")
    return refused.value


def test_a_path_that_the_system_refuses_is_in_the_next_step(tmp_path: Path) -> None:
    """With what is wrong about it: its folder is missing, or it is a folder itself."""
    file = tmp_path / "missing/birds.log"
    problem, next_step = explain(_refused_to_open(file))
    assert str(file) in problem
    assert next_step.startswith(f"create the folder {file.parent},")
    problem, next_step = explain(_refused_to_open(tmp_path))
    assert next_step.startswith(f"move {tmp_path} away,")
    problem, next_step = explain(PermissionError(errno.EACCES, "no", str(file)))
    assert next_step.startswith(f"let your user read and write {file} ")


@pytest.mark.parametrize(
    "command",
    [
        ("market", "serve", "--port"),
        ("market", "serve", "--as-aws", "--aws-port"),
        ("review", "birds.toml", "--port"),
    ],
)
def test_a_port_that_does_not_exist_is_refused(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything starts, with the range."""
    with pytest.raises(SystemExit, match="2"):
        main([*command, "99999"])
    assert "99999 is not in the range 0<=x<=6553" in capsys.readouterr().err


_REHEARSE = """
import sys
from piecework.cli.main import main
try:
    main(["rehearse", sys.argv[1]])
except SystemExit as end:
    print(end.code, [name for name in ("prefect", "boto3") if name in sys.modules])
"""


@pytest.mark.full
def test_a_fault_of_the_file_is_told_before_a_rehearsal_starts_anything(tmp_path: Path) -> None:
    """Without the seconds that Prefect takes to be imported."""
    path = tmp_path / "birds.toml"
    path.write_text('name = "birds"\ntsak = "caption"\n')
    done = subprocess.run(
        [sys.executable, "-c", _REHEARSE, path], capture_output=True, text=True, check=True
    )
    assert "did you mean 'task'?" in done.stderr
    assert done.stdout == "2 []\n"
