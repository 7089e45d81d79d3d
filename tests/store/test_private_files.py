"""Only its owner may read a campaign's files: worker ids, and the key of hashes."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from piecework.domain.store_address import FILE_NAME, in_folder
from piecework.store import bound
from piecework.store.database import open_store
from piecework.store.files import write_private
from piecework.store.lock import only_pass


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_store_its_logs_and_its_folder_are_closed_to_others(tmp_path: Path) -> None:
    """With any umask; the folders above it stay as they are."""
    folder = tmp_path / "out/birds"
    with only_pass(in_folder(folder)), closing(open_store(folder / FILE_NAME, create=True)) as own:
        bound.bind(own, "pseudonym_key", "00")
        files = {path.name: _mode(path) for path in folder.glob("piecework.db*")}
        assert files == {
            "piecework.db": 0o600,
            "piecework.db-wal": 0o600,
            "piecework.db-shm": 0o600,
        }
        assert _mode(folder) == 0o700


def test_an_old_store_is_closed_when_it_is_opened(tmp_path: Path) -> None:
    """Created by an earlier version, readable for all, with a leftover log."""
    folder = tmp_path / "birds"
    path = folder / FILE_NAME
    with closing(open_store(path, create=True)) as own:
        bound.bind(own, "pseudonym_key", "00")
        folder.chmod(0o755)
        for file in folder.iterdir():
            file.chmod(0o644)
        with closing(open_store(path)):
            assert {_mode(file) for file in folder.iterdir()} == {0o600}
            assert _mode(folder) == 0o700


def test_the_folder_in_which_one_stands_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If `# the end folder` is the project itself, only the files are closed."""
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with closing(open_store(tmp_path / FILE_NAME, create=True)):
        assert _mode(tmp_path) == 0o755
        assert _mode(tmp_path / FILE_NAME) == 0o600


def test_a_list_of_decisions_is_closed_before_it_is_written(tmp_path: Path) -> None:
    """Also over a file that others could read."""
    path = tmp_path / "decisions.csv"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, b"new")
    assert (_mode(path), path.read_bytes()) == (0o600, b"new")
    write_private(tmp_path / "other.csv", b"new")
    assert _mode(tmp_path / "other.csv") == 0o600
