"""`prolific try`: one visit by a test participant, at the offline Prolific."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import Participant, Researcher
from piecework.campaign.assembling import read_anywhere
from piecework.foundation.client.checks import Check
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.rehearsal.live_trial import FOLDER, Trial, Wanted
from tests.marketplace.market import free_port
from tests.small_campaign import write_campaign

PIECEWORK = Path(sys.executable).with_name("piecework")
_EMAIL = "try@lab.example"
_PARTS = [
    *("draft", "test study", "visit", "submission", "answers", "cost"),
    *("given back", "removed"),
]


class Scene:
    """An offline Prolific, a campaign, and a person who signs in as its tester."""

    def __init__(self, url: str, folder: Path, researcher: Researcher) -> None:
        self.researcher, self.campaign = (researcher, read_anywhere(write_campaign(folder)))
        self.site, frames = free_port(), free_port()
        self.wanted = Wanted(
            address=url,
            token=Token("rehearsal-token"),
            workspace_id="",
            site_url=f"http://127.0.0.1:{self.site}",
            frames_url=f"http://localhost:{frames}",
            port=self.site,
            frames_port=frames,
            email=_EMAIL,
            patience_seconds=4,
        )
        self.heard: list[str] = []

    def checks(
        self, sleep: Callable[[float], None] = lambda _: None, email: str = _EMAIL
    ) -> dict[str, Check]:
        """What a trial shows, with its tester doing something while it waits."""
        trial = Trial(
            self.campaign, replace(self.wanted, email=email), say=self.heard.append, sleep=sleep
        )
        return {check.name: check for check in trial.checks()}

    def tester(self) -> Participant:
        """The test participant of the account."""
        [known] = [
            each
            for each in self.researcher.control("GET", "/participants")["results"]
            if Participant(self.researcher, each["id"]).studies()
        ]
        return Participant(self.researcher, str(known["id"]))

    def studies(self) -> list[dict[str, Any]]:
        """All studies at Prolific."""
        studies: list[dict[str, Any]] = self.researcher.get("/studies/")["results"]
        return studies

    def visit(self, *, code: str = "") -> None:
        """Do the visit as the test participant, through the real site."""
        tester = self.tester()
        [study_id] = tester.studies()
        taken = tester.ask("POST", f"/studies/{study_id}", {})
        link = dict(parse_qsl(urlsplit(taken["url"]).query))
        with httpx.Client(
            base_url=self.wanted.site_url, headers={"accept": "application/json"}, trust_env=False
        ) as browser:
            reply = browser.post("/visit/arrive", data={**link, "agreed": "1"})
            assert reply.status_code == 201, reply.text
            while True:
                shown = browser.get("/visit").json()
                if shown["assignment"] is None:
                    break
                form = {
                    "assignmentId": shown["assignment"]["assignment_id"],
                    "caption.1": "A red bird sits on a branch.",
                    "caption.2": "A black bird sits on a roof.",
                }
                browser.post("/mturk/externalSubmit", data=form)
        tester.complete(taken["submission_id"], code or shown["code"])


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """Nothing has been tried yet."""
    with ExitStack() as stack:
        url = stack.enter_context(serve(Options(currency="USD", participants=0)))
        yield Scene(url, tmp_path, stack.enter_context(Researcher(url)))


def test_a_visit_shows_that_link_pages_code_and_answers_hold(scene: Scene) -> None:
    """Nothing is left: no draft, no study that recruits, no file, no cost."""
    checks = scene.checks(_once(scene.visit))
    assert list(checks) == _PARTS
    assert {check.level for check in checks.values()} == {"ok"}, checks
    assert "2 of 2" in checks["answers"].sentence
    assert not (scene.campaign.out / FOLDER).exists()
    assert all(each["status"] not in ("UNPUBLISHED", "ACTIVE") for each in scene.studies())
    spent = scene.researcher.books()["accounts"]
    assert not any(spent.get(name, 0) for name in ("rewards", "bonuses"))


def test_a_trial_without_a_visit_is_removed_and_can_be_repeated(scene: Scene) -> None:
    """No second test participant; another test study."""
    checks = scene.checks()
    assert checks["submission"].level == "fail"
    assert checks["removed"].level == "ok"
    assert scene.checks(_once(scene.visit))["answers"].level == "ok"


def test_an_interrupted_trial_leaves_no_study_that_recruits(scene: Scene) -> None:
    """And the next one works."""
    with pytest.raises(KeyboardInterrupt):
        scene.checks(_interrupt)
    assert not [each for each in scene.studies() if each["status"] == "ACTIVE"]
    assert scene.checks(_once(scene.visit))["answers"].level == "ok"


@pytest.mark.full
def test_a_killed_trial_is_continued_with_the_same_study(scene: Scene) -> None:
    """SIGKILL while it waits for the visit."""
    command = [
        *(str(PIECEWORK), "market", "prolific", "try", str(scene.campaign.path)),
        *("--url", scene.wanted.address, "--email", _EMAIL),
        *("--public-url", scene.wanted.site_url, "--port", str(scene.wanted.port)),
        *("--frames-url", scene.wanted.frames_url),
        *("--frames-port", str(scene.wanted.frames_port)),
    ]
    environment = {**os.environ, "PROLIFIC_TOKEN": "rehearsal-token"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any("waiting for the visit" in line for line in process.stderr)
        process.kill()
    [first] = [each["id"] for each in scene.studies() if each["status"] == "ACTIVE"]
    checks = scene.checks(_once(scene.visit))
    assert first in checks["test study"].sentence
    assert checks["answers"].level == "ok"


def _interrupt(_: float) -> None:
    raise KeyboardInterrupt


def test_an_account_without_the_feature_reads_what_it_needs(scene: Scene) -> None:
    """No test participant exists, and none is created."""
    checks = scene.checks(email="")
    assert list(checks) == ["draft", "test study", "removed"]
    assert checks["test study"].level == "fail"
    assert "--email" in checks["test study"].next_step
    assert all(each["status"] != "UNPUBLISHED" for each in scene.studies())


def test_an_address_that_is_registered_already_is_no_obstacle(scene: Scene) -> None:
    """Somebody made it on another day."""
    scene.researcher.post("/researchers/participants/", email=_EMAIL)
    checks = scene.checks(_once(scene.visit))
    assert checks["answers"].level == "ok"
    assert any("registered already" in words for words in scene.heard)


def test_another_code_and_a_lost_reply_are_named(scene: Scene) -> None:
    """The test study with a lost reply is found again by its name."""
    scene.researcher.control(
        "PUT", "/faults", [{"kind": "lose_reply", "operation": "create-test-study"}]
    )
    first = scene.checks()
    assert first["test study"].level == "fail"
    scene.researcher.control("PUT", "/faults", [])
    checks = scene.checks(_once(lambda: scene.visit(code="C0NOTHING")))
    assert checks["submission"].level == "warn"
    assert checks["answers"].level == "ok"


def _once(act: Callable[[], None]) -> Callable[[float], None]:
    """Do something at the first wait."""
    done: list[bool] = []

    def sleep(_: float) -> None:
        if not done:
            done.append(True)
            act()

    return sleep
