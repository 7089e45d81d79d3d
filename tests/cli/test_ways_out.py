"""Faults of everyday use: what is wrong, where, what was found, the next command."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign, load_with_results
from piecework.cli.main import main
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend, Rules
from piecework.platforms.endpoint import OWN_KEYS
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.marketplace import rehearsal_market
from piecework.simulation.rehearsals.rehearsal import rehearsal_of
from piecework.store.lock import only_pass
from tests.conftest import in_full
from tests.small_campaign import write_campaign


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign file, and the keys of a requester whom no marketplace knows."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "PWKEYOFNOREQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    return write_campaign(tmp_path)


def piecework(*words: object) -> Result:
    """What a command says, and its exit code."""
    return CliRunner().invoke(main, [str(word) for word in words])


@contextmanager
def file_server() -> Iterator[int]:
    """Another program on a port: Python's own file server; the port."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def test_a_key_that_the_marketplace_does_not_know(campaign: Path, tmp_path: Path) -> None:
    """The endpoint, the key, where keys come from, and how to see those that hold."""
    database = tmp_path / "live.db"
    backend = Backend(database, Rules())
    with backend.transaction() as transaction:
        accounts.add_requester(transaction, "LAB", balance_cents=100)
    backend.close()
    with serve(Marketplace(database)) as running:
        words = ("run", "--once", campaign, "--endpoint", running.endpoint_url)
        refused = piecework(*words)
        own = CliRunner().invoke(main, [*map(str, words)], env=dict.fromkeys(OWN_KEYS, "PWOTHER"))
    # The variables that count are those to set.
    assert f"set {' and '.join(OWN_KEYS)} to" in own.output
    assert "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to" in refused.output
    assert refused.exit_code == 1
    assert running.endpoint_url in refused.output
    assert "no requester there has the access key 'PWKEYOFNOREQUESTER'" in (refused.output)
    assert "piecework market account add NAME" in refused.output
    assert "piecework market account list" in refused.output


def test_another_program_on_the_marketplace_s_port(campaign: Path) -> None:
    """It is not busy, and the same command again does not help."""
    with file_server() as port:
        refused = piecework("run", "--once", campaign, "--endpoint", f"http://127.0.0.1:{port}")
    assert refused.exit_code == 1
    assert f"http://127.0.0.1:{port}: the answer (HTTP 501) is not" in refused.output
    assert "another program on that port" in refused.output
    assert "busy" not in refused.output


@pytest.mark.parametrize("command", ["market serve", "preview"])
def test_a_port_that_another_program_has(campaign: Path, tmp_path: Path, command: str) -> None:
    """The port is named, and the option that names another."""
    words: tuple[object, ...] = (campaign,)
    if command != "preview":
        words = ("--rehearsal", "--database", tmp_path / "m.db")
    with file_server() as port:
        refused = piecework(*command.split(), *words, "--port", port)
    assert refused.exit_code == 1
    assert f"another program has the port: Address already in use: 127.0.0.1 port {port}" in (
        refused.output
    )
    assert "next: name a free port with --port" in refused.output


def test_previews_take_free_ports_unless_they_are_named(campaign: Path) -> None:
    """Two run beside each other, and beside a marketplace at the usual port."""
    command = [str(Path(sys.executable).with_name("piecework")), "preview", str(campaign)]
    with ExitStack() as stack:
        addresses = set()
        for _ in range(2):
            shown = stack.enter_context(
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(shown.terminate)
            assert shown.stdout is not None
            addresses.add(urlsplit(shown.stdout.readline().removeprefix("open ")).netloc)
    assert len(addresses) == 2
    assert "127.0.0.1:8080" not in addresses


@pytest.mark.parametrize("more", [(), ("--once",)])
def test_no_endpoint(
    campaign: Path, more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is, who prints one, and what needs none."""
    monkeypatch.delenv("PIECEWORK_ENDPOINT", raising=False)
    refused = piecework("run", campaign, *more)
    assert refused.exit_code == 2
    assert "Missing option '--endpoint'" in refused.output
    for words in ("http://127.0.0.1:8080", "piecework market serve", "piecework rehearse"):
        assert words in refused.output


@pytest.mark.parametrize("command", ["status", "export", "workers list"])
def test_before_the_first_pass(campaign: Path, command: str) -> None:
    """There is no store yet; what makes one is named."""
    refused = piecework(*command.split(), campaign)
    assert refused.exit_code == 1
    assert "there is no store yet" in refused.output
    assert f"piecework rehearse {campaign}" in refused.output
    assert f"piecework run {campaign} --endpoint URL" in refused.output


def test_a_live_store_takes_no_answers_of_simulated_workers(campaign: Path) -> None:
    """The marketplace says that it simulates; the line to type instead is a rehearsal's."""
    with rehearsal_market(prepare(campaign)) as running:
        words = ("--once", "--endpoint", running.endpoint_url)
        for more in ((), ("--live", "--spend-at-most", "50")):
            refused = piecework("run", campaign, *words, *more)
            assert refused.exit_code == 3, refused.output
            assert "simulated workers work at this marketplace" in refused.output
            assert f"next: piecework run {campaign} --once --rehearsal" in refused.output
    assert not list(campaign.parent.rglob("piecework.db"))


@pytest.mark.parametrize(
    "words", [("--answers", "b.csv"), *in_full(((),), (("--answers", "a.parquet"),))]
)
def test_an_export_before_the_first_answer_writes_nothing(
    campaign: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty dataset looks like a result."""
    monkeypatch.chdir(campaign.parent)
    with rehearsal_of(prepare(campaign)) as (run, _):
        run_pass(run)
        before = {*campaign.parent.rglob("*")}
        refused = piecework("export", campaign, *words)
        assert refused.exit_code == 1, refused.output
        assert "no answers came in yet, so nothing was written" in refused.output
        assert f"next: piecework status {campaign}" in refused.output
        assert {*campaign.parent.rglob("*")} == before


@pytest.mark.parametrize("command", ["check", "rehearse", "preview"])
def test_a_page_where_a_campaign_file_is_wanted(tmp_path: Path, command: str) -> None:
    """It is called a page, and `init` makes a campaign of it."""
    page = tmp_path / "hit.html"
    page.write_text("\n<!doctype html><p>Which shape is it?</p>")
    refused = piecework(command, page)
    assert refused.exit_code == 2
    assert f"{page}: a page of HTML" in refused.output
    assert f"piecework init CAMPAIGN.toml --task {page}" in refused.output


def test_items_that_have_changed_are_named(campaign: Path, tmp_path: Path) -> None:
    """One that says something else, one that is gone, one that is new; settings too."""
    items = campaign.parent / "items.csv"
    before = items.read_text()
    first = before.splitlines()[1].partition(",")[0]
    with serve(
        Marketplace(
            tmp_path / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
        )
    ) as running:
        words = ("run", "--once", campaign, "--endpoint", running.endpoint_url)
        begun = piecework(*words)
        assert begun.exit_code == 0, begun.output

        items.write_text(before.replace(f"{first},http", f"{first},http://other.example?"))
        changed = piecework(*words)
        assert changed.exit_code == 1
        assert f"changed: 1 item, '{first}' (column url);" in changed.output
        assert f"next: put item '{first}' back as before, then" in changed.output

        lines = before.splitlines()
        items.write_text("\n".join([*lines[:-1], "new,https://example.org/new.jpg", ""]))
        moved = piecework(*words)
        last = lines[-1].partition(",")[0]
        assert f"added: 1 item, 'new'; missing: 1 item, '{last}'" in moved.output
        assert f"put item '{last}' back into `items`" in moved.output

        items.write_text(before)
        text = campaign.read_text()
        campaign.write_text(text.replace("answers = 2", "answers = 3"))
        shown = piecework(*words).output
        assert "answers was 2 and is now 3" in shown
        assert f"next: write answers = 2 again in {campaign}" in shown
        campaign.write_text(text)
        assert piecework(*words).exit_code == 0


def test_the_file_of_a_task_that_has_changed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What workers read was edited after HITs were posted: which file, and the undo."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "two")
    assert piecework("init", "--new-task", tmp_path / "own").exit_code == 0
    with serve(Marketplace(tmp_path / "marketplace.db", rehearsal=True, seed=1)) as running:
        words = ("run", "--once", tmp_path / "own.toml", "--endpoint", running.endpoint_url)
        begun = piecework(*words)
        assert begun.exit_code == 0, begun.output
        page = tmp_path / "own" / "question.html.j2"
        page.write_text(page.read_text("utf-8") + "<p>More.</p>", "utf-8")
        refused = piecework(*words)
    assert refused.exit_code == 1
    where = f"question.html.j2 in {tmp_path / 'own'}"
    assert f"changed: {where}; its task" in refused.output
    assert f"next: put {where} back as before, then repeat" in refused.output


def test_a_renamed_campaign_names_the_store_beside_it(tmp_path: Path) -> None:
    """It has not begun under its new name; the store with its items has another."""
    assert piecework("init", "--new-task", tmp_path / "own").exit_code == 0
    file = tmp_path / "own.toml"
    with rehearsal_of(prepare(file)) as (run, _):
        run_pass(run)
    text = file.read_text("utf-8")
    file.write_text(text.replace('name = "own"', 'name = "birds"'), "utf-8")
    shown = piecework("status", file)
    assert shown.exit_code == 1
    store = tmp_path / "out" / "own" / "piecework.db"
    assert f"{store} has the same items and settings, under the name 'own'" in (shown.output)
    assert f'write name = "own" again in {file}' in shown.output

    machine = tmp_path / "piecework.toml"
    file.write_text(text, "utf-8")
    machine.write_text('[output]\nfolder = "elsewhere"\n', "utf-8")
    assert "has the same items" not in piecework("status", file).output
    machine.unlink()
    store.parent.rename(store.parent.with_name("x"))
    assert f"move {store.parent.with_name('x')} to" in piecework("status", file).output


def test_a_campaign_file_that_does_not_exist(campaign: Path) -> None:
    """The file with almost the same name is suggested, and `init` is named."""
    refused = piecework("check", campaign.with_name("carsh.toml"))
    assert refused.exit_code == 2
    assert "carsh.toml: no such campaign file" in refused.output
    assert "did you mean 'crash.toml'?" in refused.output
    assert "piecework init" in refused.output


def test_a_pass_beside_another_has_an_exit_code_of_its_own(campaign: Path) -> None:
    """A timer of systemd takes it for no failure."""
    loaded = load_campaign(campaign)
    (market := loaded.out).mkdir(parents=True, exist_ok=True)
    with serve(Marketplace(market / "m.db", rehearsal=True, seed=1)) as running:
        words = ("run", "--once", campaign, "--rehearsal", "--endpoint", running.endpoint_url)
        assert piecework(*words).exit_code == 0
        with only_pass(load_with_results(campaign).store):
            busy = piecework(*words)
    assert busy.exit_code == 5, busy.output
    assert "is working on" in busy.output
