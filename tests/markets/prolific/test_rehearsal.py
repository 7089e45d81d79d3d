"""A campaign rehearsed with participants: pipeline, marketplace, bridge, Prolific."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from piecework.domain.errors import PlatformRefused
from piecework.domain.progress import Progress
from piecework.engine.progress import read_progress
from piecework.report.books import Books
from piecework.results.whole_pass import write_results
from piecework.simulation.crowd.crowd import Event
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_at, work_through
from piecework.store import assignments, workers
from tests.conftest import ROOT
from tests.engine.test_qualification import CAMPAIGN as GATED
from tests.engine.test_qualification import written as gated_campaign
from tests.trusted import own

CAMPAIGN = """
name = "visited"
description = "Twelve drawn pictures, a HIT each, so that a visit has several."
task = "caption"
batches = 2
answers = 3
reward = "£0.11"
budget = "30.00"
hourly_wage = "5.00"
minutes = 1
formats = ["csv"]
[items]
scenes = 12
[posting]
items_per_hit = 1
[requirements]
approved_hits_above = 500
countries = ["US", "GB"]
[decisions]
by = "policy"
[[decisions.rule]]
on = "assignment"
any_of = ["quality_words"]
share = 1.0
then = "reject"
because = "It speaks of the photograph: {evidence}."
[[decisions.rule]]
on = "answer"
any_of = ["rule_violation"]
then = "drop"
because = "Not what the page asks for."
[[decisions.rule]]
on = "worker"
any_of = ["quality_words"]
share = 0.4
then = "exclude"
because = "Not what the page asks for, again and again."
[rehearsal]
seed = 3
[rehearsal.crowd]
diligent = 7
hurried = 6
slow = 2
quality_writer = 8
"""

KILLED = """
import sys
from pathlib import Path
from piecework.simulation.rehearsals.rehearsal import rehearsal_at, work_through
from piecework.simulation.rehearsals.campaign import prepare
with rehearsal_at(prepare(Path(sys.argv[1])), ["prolific"]) as (run, crowd, prolific):
    left = [int(sys.argv[2])]
    def tell(event):
        left[0] -= event.kind == "accept"
        if not left[0]:
            print("now", flush=True)
            sys.stdin.read()
    crowd._tell = tell
    work_through(run, crowd)
"""


def write(folder: Path, text: str = CAMPAIGN) -> Path:
    """The campaign's file in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "visited.toml"
    path.write_text(text)
    return own(path)


def rehearse(path: Path, *, writes: bool = False) -> tuple[Progress, Books]:
    """Rehearse a campaign without Prefect; checks who was planted, too."""
    with rehearsal_at(prepare(path), ["prolific"]) as (run, crowd, prolific):
        work_through(run, crowd)
        books = prolific.close_books(run)
        progress = read_progress(run)
        if writes:
            write_results(run)
        known = workers.load_traits(run.store)
        worked = run.store.db.query("SELECT DISTINCT worker_id FROM assignments")
        assert {row["worker_id"] for row in worked} <= set(known)
        return progress, books


def rows(database: Path, query: str) -> list[dict[str, Any]]:
    """What a database holds."""
    with closing(sqlite3.connect(database)) as opened:
        opened.row_factory = sqlite3.Row
        return [dict(row) for row in opened.execute(query)]


def written(folder: Path) -> dict[str, bytes]:
    """What people get: dataset and report."""
    made = [*(folder / "out/visited/dataset").iterdir(), folder / "out/visited/report.html"]
    return {path.name: path.read_bytes() for path in made}


def working_on(folder: Path) -> list[str]:
    """Processes that serve this folder's marketplace."""
    process_names = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words:
            process_names.append(process.name)
    return process_names


def what_happened(folder: Path) -> list[list[dict[str, Any]]]:
    """Every answer, every visit and every submission, with its moments."""
    return [
        rows(
            folder / "out/visited/marketplace.db",
            "SELECT assignment_id, worker_id, assignments.status, accepted_ms, "
            "submitted_ms, answer FROM assignments "
            "JOIN workers ON workers.id = worker ORDER BY assignments.id",
        ),
        rows(folder / "out/visited/marketplace.db", "SELECT * FROM visits ORDER BY id"),
        rows(folder / "out/visited/prolific.db", "SELECT * FROM submission ORDER BY number"),
        rows(folder / "out/visited/prolific.db", "SELECT * FROM ledger ORDER BY number"),
    ]


class BrokenOffError(Exception):
    """Something that ends a rehearsal in the middle of a visit."""


def break_off(path: Path, *, hits: int) -> None:
    """Rehearse until so many HITs were begun."""
    with rehearsal_at(prepare(path), ["prolific"]) as (run, crowd, _):
        begun = count(1)

        def tell(event: Event) -> None:
            if event.kind == "accept" and next(begun) == hits:
                raise BrokenOffError

        crowd._tell = tell
        work_through(run, crowd)


def check_ended_well(folder: Path, progress: Progress, books: Books) -> None:
    """All is answered, settled and paid, by three equal ledgers; no name is kept."""
    assert progress.is_finished
    assert progress.missing == 0
    assert progress.accepted == 36  # 12 pictures x 3 answers
    assert progress.rejected > 0
    assert progress.held_cents == 0
    assert books.broken_laws == ()
    assert books.pipeline == books.marketplace == books.outside
    assert books.outside_price > 0  # Pennies of fee, and HITs rejected in paid visits.
    market = folder / "out/visited/marketplace.db"
    visits = rows(market, "SELECT * FROM visits")
    assert all(visit["outcome"] for visit in visits)
    outcomes = Counter(visit["outcome"] for visit in visits)
    assert outcomes["Paid"] >= 12
    assert outcomes["Gone"] + outcomes["Rejected"] > 0
    lengths = rows(market, "SELECT count(*) AS hits FROM assignments GROUP BY visit ORDER BY 1")
    assert lengths[-1]["hits"] == 3  # HITs of a minute; a visit shall take three.
    with closing(sqlite3.connect(folder / "out/visited/piecework.db")) as store:
        remembered = "\n".join(store.iterdump())
    for participant in rows(market, "SELECT participant_id FROM participants"):
        assert participant["participant_id"] not in remembered


def check_participants_differ(folder: Path) -> None:
    """Codes are entered and forgotten; some return what they are asked to."""
    [first, *_] = rows(folder / "out/visited/marketplace.db", "SELECT * FROM studies")
    had = rows(folder / "out/visited/prolific.db", "SELECT * FROM submission")
    entered = {each["entered_code"] for each in had if each["status"] == "APPROVED"}
    assert {first["code"], first["own_code"]} < entered  # own_code: by the bridge
    asked = {each["status"] for each in had if each["return_requested_ms"]}
    assert asked == {"RETURNED", "REJECTED"}


def test_a_rehearsal_with_participants_breaks_off_goes_on_and_ends_well(tmp_path: Path) -> None:
    """Visits that were under way are gone on with; nobody is paid twice."""
    path = write(tmp_path)
    with pytest.raises(BrokenOffError):
        break_off(path, hits=14)
    before = rows(tmp_path / "out/visited/marketplace.db", "SELECT * FROM visits ORDER BY id")
    assert any(visit["stage"] == "Open" for visit in before)
    check_ended_well(tmp_path, *rehearse(path))
    after = rows(tmp_path / "out/visited/marketplace.db", "SELECT * FROM visits ORDER BY id")
    assert [visit["submission_id"] for visit in after][: len(before)] == [
        visit["submission_id"] for visit in before
    ]


@pytest.mark.full
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """Dataset and report; and again over the finished rehearsal."""
    ended = rehearse(write(tmp_path / "one"), writes=True)
    check_ended_well(tmp_path / "one", *ended)
    check_participants_differ(tmp_path / "one")
    rehearse(write(tmp_path / "other"), writes=True)
    assert what_happened(tmp_path / "other") == what_happened(tmp_path / "one")
    files = written(tmp_path / "one")
    assert written(tmp_path / "other") == files
    assert rehearse(tmp_path / "one/visited.toml", writes=True) == ended
    assert written(tmp_path / "one") == files


@pytest.mark.full
def test_a_rehearsal_that_is_killed_goes_on(tmp_path: Path) -> None:
    """SIGKILL, twice, in the middle of visits: no process stays behind."""
    path = write(tmp_path)
    for hits in (14, 5):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, path, str(hits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        ) as begun:
            assert begun.stdout is not None
            assert begun.stdout.readline() == b"now\n"
            os.kill(begun.pid, signal.SIGKILL)
        until = time.monotonic() + 60
        while working_on(tmp_path):
            assert time.monotonic() < until, "its marketplace lives on"
            time.sleep(0.1)
    check_ended_well(tmp_path, *rehearse(path))


@pytest.mark.full
@pytest.mark.parametrize("name", ["demo", "severity", "hodosh_caption"])
def test_example_campaigns_are_rehearsed_with_participants(tmp_path: Path, name: str) -> None:
    """Whole, with penny for penny the same in the marketplace and at Prolific."""
    campaigns = ROOT / "config/campaigns"
    text = (campaigns / f"{name}.toml").read_text()
    text = re.sub(r'^(file|pictures|items) = "', rf'\1 = "{campaigns}/', text, flags=re.MULTILINE)
    # A test before the work is a file that the campaign names.
    shutil.copytree(campaigns / "tests", tmp_path / "tests")
    shutil.copy(campaigns / "hodosh_qualification.csv", tmp_path)
    progress, books = rehearse(own(write(tmp_path, text)))
    assert progress.is_finished
    assert progress.missing == 0
    assert books.broken_laws == ()
    assert books.pipeline == books.marketplace == books.outside


@pytest.mark.full
def test_what_prolific_cannot_ask_is_said_at_once(tmp_path: Path) -> None:
    """Instead of waiting for participants who can never come."""
    path = write(tmp_path, CAMPAIGN.replace("countries = [", 'countries = ["FJ", '))
    with (
        pytest.raises(PlatformRefused, match="no country FJ"),
        rehearsal_at(prepare(path), ["prolific"]) as (run, crowd, _),
    ):
        work_through(run, crowd)


@pytest.mark.full
def test_participants_take_a_paid_test_and_who_fails_never_works(tmp_path: Path) -> None:
    """The test is a study of its own; its cost is in both books, and no HIT's."""
    path = gated_campaign(tmp_path, GATED)
    with rehearsal_at(prepare(path), ["prolific"]) as (run, crowd, prolific):
        progress = work_through(run, crowd)
        books = prolific.close_books(run)
        report = Path(write_results(run)).read_text()
        traits = crowd.traits_by_worker()
        passed = {
            (traits[worker_id], score >= 32)
            for worker_id, score in workers.load_scores(run.store).items()
        }
        assert passed == {("diligent", True), ("guesser", False), ("first_clicker", False)}
        worked = {traits[each.worker_id] for each in assignments.load_assignments(run.store)}
        assert worked == {"diligent"}
        out = run.campaign.out
    assert progress.is_finished
    assert progress.missing == 0
    assert books.broken_laws == ()
    assert books.pipeline == books.marketplace == books.outside
    [tests] = rows(
        out / "marketplace.db",
        "SELECT count(*) AS taken, sum(outcome = 'Paid') AS paid, max(cost_cents) "
        "AS cost FROM visits JOIN studies ON studies.id = study "
        "WHERE qualification_type IS NOT NULL",
    )
    assert tests["taken"] == tests["paid"] == 7
    assert books.outside_price >= 7 * tests["cost"]
    by_ledger = re.findall(
        r"(?:campaign|marketplace|Prolific)(?:'|&#39;)s</t.>\s*<td[^>]*>\$([\d.]+)<", report
    )
    assert by_ledger[:3] == [
        f"{cents / 100:.2f}" for cents in (books.pipeline, books.marketplace, books.outside)
    ]
    assert "does not belong to a HIT" in report
    ended = rows(out / "prolific.db", "SELECT status FROM study")
    assert {each["status"] for each in ended} == {"COMPLETED"}


def test_why_ledgers_differ_is_said() -> None:
    """A line for each, and a reason for each difference; none where there is none."""
    same = Books(
        currency="GBP",
        pipeline=100,
        marketplace=100,
        outside_price=0,
        taken={"Prolific": 100},
        broken_laws=(),
    )
    assert len(same.lines()) == 3
    other = replace(same, pipeline=90, outside_price=-3, broken_laws=("money is lost",))
    prices, books, laws = other.lines()[3:]
    assert "-£0.03" in prices
    assert "£0.10" in books
    assert laws.strip() == "broken: money is lost"
    document = json.loads(json.dumps({"books": asdict(other)}))
    again = Books.from_facts(document)
    assert again is not None
    assert again.lines() == other.lines()
    assert Books.from_facts({}) is None
