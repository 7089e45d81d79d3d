"""`piecework store copy`, and commands with a store in a database."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.config.campaign_file import parse
from piecework.store import bound
from piecework.store.database import exists, open_store
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.stores import stored_in


def _piecework(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a campaign with a store in a file."""
    out = tmp_path / "out/crash"
    store = open_store(out / "piecework.db", create=True)
    bound.bind(store, "name", "a test")
    bound.bind(store, "campaign", "crash")
    store.close()
    return out


def test_a_store_is_copied_to_a_database_and_back(
    folder: Path, tmp_path: Path, postgres_url: str
) -> None:
    """The command says how many rows there are, and what to do next."""
    to = f"{postgres_url}#piecework_copied_by_command"
    done = _piecework("store", "copy", folder, to)
    assert done.exit_code == 0, done.output
    assert "both stores have the same rows" in done.output
    assert "next: set `[store] url`" in done.output
    assert "two stores would post and pay twice" in done.output
    again = _piecework("store", "copy", folder, to)
    assert again.exit_code == 1
    assert "there is a store already" in again.output
    back = _piecework("store", "copy", to, tmp_path / "back", "--json")
    facts = json.loads(back.output)
    assert facts["rows"]["bound"] == 1
    assert len(facts["sha256"]) == 64
    assert (tmp_path / "back/piecework.db").is_file()


def test_a_variable_of_a_url_is_filled_in_and_not_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password stays out of the history of the shell, and of messages."""
    missing = _piecework("store", "copy", folder, "postgresql://ann:${PW}@host/db")
    assert missing.exit_code == 2
    assert "environment variable PW is not set" in missing.output
    monkeypatch.setenv("PW", "geheim")
    unreachable = _piecework("store", "copy", folder, "postgresql://ann:${PW}@127.0.0.1:1/db")
    assert unreachable.exit_code == 1
    assert "the database cannot be reached" in unreachable.output
    assert "geheim" not in unreachable.output


def test_a_campaign_says_where_its_database_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence and the next step, for every command that opens the store."""
    path = write_campaign(tmp_path)
    monkeypatch.setenv("PIECEWORK_STORE_URL", "postgresql://ann@127.0.0.1:1/db")
    for command in (("status", path), ("export", path), ("export", "--report-only", path)):
        ended = _piecework(*command)
        assert ended.exit_code == 1, ended.output
        assert "postgresql://127.0.0.1:1/db, schema piecework_crash" in ended.output
        assert "next: check the URL" in ended.output
    assert not (tmp_path / "out/crash/piecework.db").exists()
    monkeypatch.setenv("PIECEWORK_STORE_URL", "mysql://ann@127.0.0.1:1/db")
    ended = _piecework("status", path)
    assert ended.exit_code == 2
    assert "write it like postgresql://user@host/database" in ended.output


def test_status_reads_a_store_in_a_database(tmp_path: Path, postgres_url: str) -> None:
    """Before a pass has begun, it creates no schema."""
    path = write_campaign(tmp_path, stored_in(CAMPAIGN, tmp_path, postgres_url))
    ended = _piecework("status", path)
    assert ended.exit_code == 1
    assert "no pass of" in ended.output
    assert not exists(parse(path).store)


def test_a_store_in_a_database_is_backed_up_by_its_own_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`piecework store backup` copies files."""
    path = write_campaign(tmp_path)
    monkeypatch.setenv("PIECEWORK_STORE_URL", "postgresql://ann@host/db")
    refused = _piecework("store", "backup", path, "--to", "file:///tmp/nowhere")
    assert refused.exit_code == 2, refused.output
    assert "the store is in PostgreSQL" in refused.output
