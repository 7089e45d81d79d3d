"""docs/tutorial-nightly.md as somebody types it, who also does the HITs."""

import json
import os
import re
import shutil
import threading
from pathlib import Path

import httpx
import pytest

from piecework.simulation.crowd.browser import read_page
from tests.end_to_end.conftest import ROOT
from tests.end_to_end.readers import link_in, session_at, typed
from tests.marketplace.market import free_port

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not shutil.which("curl"), reason="the page types curl"),
]

PAGE = (ROOT / "docs/tutorial-nightly.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
TABLES = re.findall(r"^```\n(2026-11-01-1 .*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_two_nights_go_from_the_bucket_to_the_table(tmp_path: Path) -> None:
    """One shell from the first line to the last; the tables are those of the page."""
    lines, posted = "", 0
    for block in BLOCKS:
        lines += block
        # Passes post and collect in turns; the reader does two HITs after each posting.
        if "--once" in block and "labels.py" not in block:
            posted += 2
            lines += _wait_for(f"did_{posted}")
    for port in ("9000", "8080", "8081"):
        lines = lines.replace(port, str(free_port()))
    is_over = threading.Event()
    reader = threading.Thread(target=_work, args=(tmp_path / "nightly", is_over), daemon=True)
    reader.start()
    without_aws = {name: value for name, value in os.environ.items() if "AWS" not in name}
    try:
        done = typed(lines, tmp_path, environment=without_aws, seconds=500)
    finally:
        # Else it goes on beside other tests, and calls a server that is gone.
        is_over.set()
        reader.join(60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pictures: 2 tried, all of them load" in done.stdout
    assert "sinks: 1 asked, all of them answer" in done.stdout
    for table in TABLES:
        assert table in done.stdout
    assert posted == 4


def _wait_for(name: str) -> str:
    return f"for i in $(seq 600); do [ -e {name} ] && break; sleep 0.1; done\n"


def _work(folder: Path, is_over: threading.Event) -> None:
    """Sign in by the link and do each HIT that appears; see its picture first."""
    while not (folder / "my_link.txt").exists():
        if is_over.wait(0.2):
            return
    site, code = link_in(folder / "my_link.txt").split("/worker/sign-in?invitation=")
    with session_at(site) as session:
        form = {"invitation": code}
        session.post("/worker/sign-in", data=form).raise_for_status()
        session.headers["accept"] = "application/json"
        done = 0
        while done < 4 and not is_over.wait(0.3):
            for group in session.get("/worker/hits").json()["hit_groups"]:
                taken = session.post(f"/worker/groups/{group['hit_group_id']}/accept")
                if taken.is_error:
                    continue
                _submit(session, taken.json())
                done += 1
                (folder / f"did_{done}").touch()


def _submit(session: httpx.Client, taken: dict[str, str]) -> None:
    html = httpx.get(taken["frame_url"]).text
    frames = taken["frame_url"].partition("/frames/")[0]
    (address,) = re.findall(r"src=\"(/pictures/photos/[^\"]+)", html)
    svg = httpx.get(frames + address).raise_for_status().text
    is_circle = "<circle" in svg
    page = read_page(html)
    answer = {"shape": {"circle": is_circle, "square": not is_circle}}
    form = {
        **page.fixed,
        "shown_ms.1": "21000",
        "assignmentId": taken["assignment_id"],
        "taskAnswers": json.dumps([answer]),
    }
    session.post("/mturk/externalSubmit", data=form).raise_for_status()
