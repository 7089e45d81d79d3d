"""`market serve --crowd connect` and the offline Connect, each a process of its own."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from offline_markets.connect.offline_connect import OfflineConnect
from offline_markets.connect.options import KEY
from tests.conftest import in_full
from tests.marketplace.market import free_port
from tests.marketplace.served_apart import SERVE, ServedForCrowd, until
from tests.markets.connect.town import Visitor


class Served(ServedForCrowd):
    """A marketplace's process, its requester, and the offline Connect."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        super().__init__(folder, stack, {"CONNECT_API_KEY": KEY, "CONNECT_URL": url})
        self.listening("market", "connect", "emulator", "--port", str(port))
        self.connect = stack.enter_context(OfflineConnect(url, KEY))
        self.process = self.serve()

    def serve(self) -> "subprocess.Popen[str]":
        """Start it, or start it again."""
        return self.serve_for(
            *("--crowd", "connect", "--public-url", self.endpoint),
            *("--live", "--spend-at-most", "20", "--hits-per-visit", "2"),
            *("--settle-seconds", "0"),
        )

    def command(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """What `piecework market connect` says."""
        return self.run("market", "connect", *words)

    def live_project(self) -> str:
        """The project that recruits; "" while there is none."""
        for each in self.connect.books()["projects"]:
            if each["status"] == "Live":
                return str(each["projectId"])
        return ""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """An emulator and a marketplace on it, each a process."""
    with ExitStack() as stack:
        yield Served(tmp_path, stack)


@pytest.mark.full
def test_a_script_that_knows_only_mturk_recruits_and_pays_at_connect(served: Served) -> None:
    """And a kill in the middle of a visit loses nothing."""
    hits = served.post(2)
    project = until(served.live_project)
    visitor = Visitor(served.endpoint, served.connect)
    assert visitor.arrive(project).status_code == 201
    visitor.answer()
    served.process.kill()
    served.process.wait()
    served.process = served.serve()
    visitor.enter(str(visitor.answer()["code"]))
    for hit in hits:
        [assignment] = served.requester.list_assignments_for_hit(HITId=hit)["Assignments"]
        served.requester.approve_assignment(AssignmentId=assignment["AssignmentId"])
    until(lambda: served.connect.books()["accounts"]["payments"] == 110)
    visitor.http.close()
    database = ("--database", str(served.database))
    shown = served.command("status", *database)
    assert shown.returncode == 0, shown.stderr
    assert "Describe a picture" in shown.stdout
    whole = served.command("status", "--json", *database)
    assert json.loads(whole.stdout)["committed_cents"] == 138
    checked = served.command("doctor", "--project", project)
    assert checked.returncode == 0, checked.stdout
    assert "1 finished, 0 at work" in checked.stdout
    assert KEY not in checked.stdout
    settled = served.command("settle", "nothing-0-0", "--paid", *database)
    assert settled.returncode == 2
    assert "no open payment" in settled.stderr
    compared = served.command("reconcile", *database)
    assert (compared.returncode, compared.stdout) == (0, "no project waits for a decision\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--live",), "go together"),
        *in_full(
            (("--rehearsal",), "does not go with --rehearsal"),
            (("--link-names", "a,b"), "three names"),
            (("--fee-percent", "lots"), "not a percentage"),
            ((), "needs --public-url"),
            (("--public-url", "http://127.0.0.1:1", "--connect-url", "x"), "the addr"),
        ),
    ],
)
def test_options_that_cannot_work_end_in_a_sentence(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    """Nothing is sent, and no file is made."""
    usual = (
        ("--public-url", "http://127.0.0.1:1", "--frames-url", "http://localhost:2")
        if words and words[0].startswith(("--link", "--fee"))
        else ()
    )
    run = subprocess.run(
        [
            *(*SERVE, "--crowd", "connect"),
            *("--database", str(tmp_path / "market.db")),
            *("--connect-url", "http://127.0.0.1:9", *usual, *words),
        ],
        env={**os.environ, "CONNECT_API_KEY": KEY},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 2, run.stderr
    assert sentence in run.stderr
    assert not (tmp_path / "market.db").exists()
