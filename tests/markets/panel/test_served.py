"""`market serve --crowd panel` as people run it: a boto3 script, arrivals, a kill, a list."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.markets.panel.scene import Visitor
from tests.markets.panel.served import Served


def _visits(served: Served, people: range) -> list[Visitor]:
    """Each person of the range comes with a session and answers a first HIT."""
    visitors = []
    for number in people:
        visitor = served.visitor()
        link = served.panel.open(f"p{number}", f"s{number}")
        assert visitor.arrive(link).status_code == 201
        visitor.answer()
        visitors.append(visitor)
    return visitors


def _finish(served: Served, visitors: list[Visitor]) -> None:
    for visitor in visitors:
        way_back = visitor.finish()["way_back"]
        assert served.panel.take_back(way_back) == "complete"


@pytest.mark.full
@pytest.mark.parametrize("kills", [1, 4])
def test_a_kill_in_the_middle_loses_nobody_and_pays_nobody_twice(
    tmp_path: Path, kills: int
) -> None:
    """A script that knows no panels posts HITs; people work through the kills."""
    with ExitStack() as stack:
        served = Served(tmp_path, stack)
        hits = served.post(4 * (kills + 1), most=2, Reward="0.25")
        for round_ in range(kills + 1):
            people = range(4 * round_, 4 * round_ + 4)
            if round_ == kills:
                _finish(served, _visits(served, people))
                break
            # Some requests are under way when the process dies.
            visitors = _visits(served, people)
            with ThreadPoolExecutor(3) as pool:
                for visitor in visitors[:2]:
                    pool.submit(_tried, visitor)
                pool.submit(served.kill)
            served.serve_again()
            _finish(served, visitors)
        turned_back = served.visitor().arrive(served.panel.open("late", "s-late"))
        assert served.panel.take_back(turned_back.json()["way_back"]) == "quota_full"
        assignments = served.submitted(hits)
        done = Counter((each["WorkerId"], each["HITId"]) for each in assignments)
        assert len(assignments) == 8 * (kills + 1)
        assert max(done.values()) == 1
        for each in assignments:
            served.requester.approve_assignment(AssignmentId=each["AssignmentId"])
        file = tmp_path / "list.csv"
        listed = served.command("market", "panel", "pay-list", str(served.file), str(file))
        assert listed.returncode == 0, listed.stderr
        all_people = 4 * (kills + 1)
        assert served.panel.pay(file.read_text()) == all_people
        assert served.panel.paid_sessions == served.panel.sessions("complete")
        assert served.panel.paid_cents == all_people * 50
        assert served.panel.broken_laws == []
        again = served.command("market", "panel", "pay-list", str(served.file), f"{file}2")
        assert "no payment is due" in again.stdout


def _tried(visitor: Visitor) -> None:
    try:
        visitor.answer()
    except (httpx.HTTPError, KeyError, TypeError):
        return  # The process died first.


@pytest.mark.full
def test_the_start_prints_the_link_that_the_panel_needs(tmp_path: Path) -> None:
    """With the site's address, and a warning where nothing is verified."""
    with ExitStack() as stack:
        served = Served(tmp_path, stack)
        served.kill()
        text = served.file.read_text()
        by = 'by = "signature"\nparameter = "sig"\nsecret_variable = "PANEL_SECRET"'
        risk = 'accepted_risk = "We know all people of the class."'
        served.file.write_text(text.replace(by, f'by = "nothing"\n{risk}'))
        spoken = served.spoken_at_the_start()
        assert f"{served.endpoint}/visit/arrive?pid=PERSON&sid=SESSION" in spoken
        assert "WARNING: links are not verified" in spoken
        assert "We know all people of the class." in spoken
