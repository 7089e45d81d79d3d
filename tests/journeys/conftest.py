"""A user at a terminal: a folder of their own, the command, and what it leaves."""

import csv
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page

from piecework.cli.main import main
from tests.browser.pages import sign_in
from tests.end_to_end.conftest import Command, environment, piecework, prefect_server
from tests.marketplace.served_apart import served_apart

__all__ = ["environment", "piecework", "prefect_server"]

PAGE = """<!doctype html>
<title>Is it about food?</title>
<form name="mturk_form" method="post"
 action="https://www.mturk.com/mturk/externalSubmit">
<input type="hidden" name="assignmentId">
<input type="hidden" name="workerId" id="workerId">
<p>Is this sentence about food? <b>${text}</b></p>
<label><input type="radio" name="about" value="yes" required> yes</label>
<label><input type="radio" name="about" value="no"> no</label>
<label>Why? <textarea name="why"></textarea></label>
<input type="submit" value="Send">
</form>
<script>
const seen = new URLSearchParams(location.search);
document.getElementById("workerId").value = seen.get("workerId");
const made = document.createElement("input");
made.type = "hidden"; made.name = "who.saw"; made.value = seen.get("workerId");
document.forms[0].append(made);
const width = document.createElement("input");
width.type = "hidden"; width.name = "width"; width.value = "wide";
document.forms[0].append(width);
</script>
"""
"""A page as people bring them from MTurk: its own form, hidden ids, a script."""


@dataclass
class User:
    """Somebody who types commands in a folder.

    Attributes:
        folder: where their files are.
        forked: runs a command in a process of its own.
        prefect: names the server of Prefect that their commands use.
        settings: environment variables of their shell.
    """

    folder: Path
    forked: Command
    prefect: dict[str, str]
    settings: dict[str, str] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        """Return a file of the folder."""
        return self.folder / name

    def write(self, name: str, text: str) -> Path:
        """Write a file of the folder."""
        self.path(name).write_text(text)
        return self.path(name)

    def replace(self, name: str, before: str, after: str) -> None:
        """Edit a file; the text is there, as the user saw it."""
        text = self.path(name).read_text()
        assert before in text, text
        self.write(name, text.replace(before, after))

    def completes(self, name: str, *, by: str = "person") -> None:
        """Put the complete file in place of a short one, and say who decides."""
        shown = self.forked("check", self.path(name), "--full")
        assert shown.returncode == 0, shown.stderr
        assert shown.stdout.count('by = "person"') == 1
        self.write(name, shown.stdout.replace('by = "person"', f'by = "{by}"'))

    def types(self, command: str, *, exits: int = 0) -> str:
        """Type a command, with names of files in the folder; return what it prints."""
        words = shlex.split(command)
        home = Path.cwd()
        os.chdir(self.folder)
        try:
            done = CliRunner(env=self.settings).invoke(main, words)
        finally:
            os.chdir(home)
        assert done.exit_code == exits, done.output
        assert "Traceback" not in done.output
        return done.output

    def tries(self, command: str) -> dict[str, object] | None:
        """Type a command that prints JSON; return that, or `None` if it failed."""
        try:
            printed: dict[str, object] = json.loads(self.types(command))
        except AssertionError:
            return None
        return printed

    @contextmanager
    def starts(self, command: str) -> Iterator["subprocess.Popen[bytes]"]:
        """Start a command that goes on beside; it is ended with the block."""
        words = [str(Path(sys.executable).with_name("piecework")), *shlex.split(command)]
        environment = {**os.environ, **self.prefect, **self.settings}
        environment["PREFECT_HOME"] = str(self.folder / "prefect")
        with subprocess.Popen(words, cwd=self.folder, env=environment) as started:
            try:
                yield started
            finally:
                started.kill()

    def rehearses(self, name: str) -> dict[str, object]:
        """Rehearse a campaign; return its figures."""
        done = self.forked("rehearse", self.path(name), "--json")
        assert done.returncode == 0, done.stderr
        facts: dict[str, object] = json.loads(done.stdout)
        return facts

    def results(self, campaign: str) -> Path:
        """Return the folder of live work, or of the latest rehearsal."""
        out = self.path(f"out/{campaign}")
        return out if (out / "piecework.db").exists() else out / "rehearsals/latest"

    def answers(self, campaign: str, table: str = "answers") -> list[dict[str, str]]:
        """Return the rows of a table of the dataset, such as `set_aside`."""
        path = self.results(campaign) / f"dataset/{table}.csv"
        with path.open(newline="", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    def published(self, campaign: str) -> bytes:
        """Return everything that is written for others, in one piece."""
        out = self.results(campaign)
        files = [*(out / "dataset").rglob("*"), *out.glob("report.*")]
        return b"".join(file.read_bytes() for file in files if file.is_file())


@pytest.fixture
def user(tmp_path: Path, piecework: Command, prefect_server: dict[str, str]) -> User:
    """A user in an empty folder."""
    return User(tmp_path, piecework, prefect_server)


@dataclass
class Market:
    """The user's own marketplace, live, and people's browsers on it.

    Attributes:
        site: its address.
        opens: opens a browser for a person who was invited.
        ids: the marketplace's ids of those people.
    """

    site: str
    opens: Callable[[str], Page]
    ids: list[str]


Serves = Callable[[], AbstractContextManager[Market]]
"""Serves the user's marketplace while a block runs."""


@pytest.fixture
def serves(user: User, browser: Browser) -> Callable[[], AbstractContextManager[Market]]:
    """Return what serves a live marketplace from the user's folder."""

    @contextmanager
    def serving() -> Iterator[Market]:
        account = user.types("market account add Lab --balance 50 --database m.db --json")
        key = json.loads(account)
        user.settings |= {
            "AWS_ACCESS_KEY_ID": key["access_key_id"],
            "AWS_SECRET_ACCESS_KEY": key["secret"],
        }
        contexts = []
        ids: list[str] = []
        with served_apart(user.path("m.db")) as served:

            def opens(name: str) -> Page:
                invited = user.types(
                    f"market people invite {name} --database m.db --json --site-url {served.site}"
                )
                ids.append(json.loads(invited)["worker_id"])
                context = browser.new_context(viewport={"width": 1280, "height": 900})
                contexts.append(context)
                page = context.new_page()
                sign_in(page, json.loads(invited)["link"])
                return page

            yield Market(served.site, opens, ids)
            for context in contexts:
                context.close()

    return serving
