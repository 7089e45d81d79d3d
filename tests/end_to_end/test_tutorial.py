"""docs/tutorial.md as somebody types it, who also does the HITs."""

import json
import os
import re
import shutil
import sqlite3
import threading
import time
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest

from piecework.simulation.crowd.browser import read_page
from tests.end_to_end.conftest import ROOT
from tests.end_to_end.readers import link_in, session_at, typed
from tests.marketplace.market import free_port

pytestmark = [
    pytest.mark.flow,
    pytest.mark.full,
    pytest.mark.skipif(not shutil.which("curl"), reason="the page types curl"),
]

PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
NAMES = ("ann", "ben", "cem")
WAIT = "for i in $(seq 600); do [ -e did_one ] && break; sleep 0.1; done\n"
"""Typed after the link to the first marketplace: the reader does a HIT meanwhile."""


def test_the_tutorial_works_as_typed(tmp_path: Path) -> None:
    """One shell from the first line to the last; three people join by the link."""
    site, frames = free_port(), free_port()
    blocks = [block + WAIT if "market people invite me" in block else block for block in BLOCKS]
    lines = "\n".join(blocks).replace("8080", str(site)).replace("8081", str(frames))
    people = threading.Thread(target=_work, args=(tmp_path,), daemon=True)
    reader = threading.Thread(target=_do_a_hit, args=(tmp_path,), daemon=True)
    people.start()
    reader.start()
    done = typed(lines, tmp_path, environment=os.environ, seconds=500)
    people.join(60)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "shapes"
    # The script of boto3 calls printed the answer, and approved it.
    assert "<QuestionIdentifier>shape.circle</QuestionIdentifier>" in done.stdout
    assert _statuses(folder / "try.db") == ["Approved"]
    dataset = folder / "out/shapes/dataset"
    kept = (dataset / "answers.csv").read_text().splitlines()[1:]
    # What a person has to look at is undecided, and set aside as that.
    waiting = (dataset / "set_aside.csv").read_text().splitlines()[1:]
    assert all("undecided" in line for line in waiting)
    # One that is drawn from the first batch by chance keeps the second from beginning.
    came = [*kept, *waiting]
    assert len(came) == 6 * 3 or (waiting and len(came) == 3 * 3)
    assert len(kept) > len(waiting)
    for line in came:
        _, item_id, *_ = line.split(",")
        assert ('"circle"' in line) == (int(item_id.strip('"')) % 2 == 1), line
    assert "waiting for workers" in done.stderr
    assert (folder / "out/shapes/rehearsals/1/report.html").exists()
    assert (folder / "out/shapes/dataset/croissant.json").exists()


def _statuses(database: Path) -> list[str]:
    """The statuses of all assignments of a marketplace."""
    with closing(sqlite3.connect(database)) as connection:
        return [status for (status,) in connection.execute("SELECT status FROM assignments")]


def _do_a_hit(folder: Path) -> None:
    """Sign in by the link of the first marketplace, and do a HIT of the old script."""
    site, code = link_in(folder / "shapes/my_link.txt").split("/worker/sign-in?invitation=")
    with session_at(site) as session:
        form = {"invitation": code}
        session.post("/worker/sign-in", data=form).raise_for_status()
        session.headers["accept"] = "application/json"
        (group, *_) = session.get("/worker/hits").json()["hit_groups"]
        taken = session.post(f"/worker/groups/{group['hit_group_id']}/accept").json()
        form = {
            "assignmentId": taken["assignment_id"],
            **{f"shape.{name}": "false" for name in ("square", "neither")},
            "shape.circle": "true",
            "colour": "red",
        }
        session.post("/mturk/externalSubmit", data=form).raise_for_status()
    (folder / "shapes/did_one").touch()


def _work(folder: Path) -> None:
    """Join by the link as three people, and do every HIT rightly."""
    address = link_in(folder / "shapes/link.txt")
    until = time.monotonic() + 400
    site, code = address.split("/worker/join?link=")
    with ExitStack() as stack:
        sessions = [stack.enter_context(session_at(site)) for _ in NAMES]
        for name, session in zip(NAMES, sessions, strict=True):
            session.get(address)
            form = {"link": code, "name": name}
            session.post("/worker/join", data=form).raise_for_status()
        while time.monotonic() < until:
            for session in sessions:
                try:
                    _do_what_is_there(session)
                except httpx.HTTPError:
                    return  # the marketplace has ended
            time.sleep(0.5)


def _do_what_is_there(session: httpx.Client) -> None:
    """One HIT of each group: odd pictures are circles (rows come in pairs)."""
    session.headers["accept"] = "application/json"
    for group in session.get("/worker/hits").json()["hit_groups"]:
        if not group["may_accept"]:
            continue
        taken = session.post(f"/worker/groups/{group['hit_group_id']}/accept")
        if taken.is_error:
            continue  # somebody was faster
        page = read_page(session.get(taken.json()["frame_url"]).text)
        is_circle = int(page.item_ids[0]) % 2 == 1
        answer = {
            "shape": {"circle": is_circle, "square": not is_circle, "neither": False},
            "colour": "as it is",
        }
        form = {
            **page.fixed,
            "shown_ms.1": "21000",
            "assignmentId": taken.json()["assignment_id"],
            "taskAnswers": json.dumps([answer]),
        }
        session.post("/mturk/externalSubmit", data=form).raise_for_status()
