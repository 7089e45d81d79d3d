"""Problems that workers report about HITs, and the requester reads."""

import json
from pathlib import Path

import httpx
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.state import messages
from tests.marketplace.market import Market, Worker, post


def report(worker: Worker, assignment_id: str, text: str) -> httpx.Response:
    """Report a problem with the HIT of an assignment."""
    address = f"/worker/assignments/{assignment_id}/problem"
    return worker.http.post(address, data={"text": text})


def test_a_problem_is_kept_for_the_requester_who_reads_it_by_a_command(
    market: Market, tmp_path: Path
) -> None:
    """Strangers' text: what would steer a terminal is shown instead."""
    hit, ann = post(market.requester("LAB")), market.worker()
    taken = ann.accept(hit["HITGroupId"]).json()["assignment_id"]
    assert report(ann, taken, "Picture 2\nis \x1b[31mblack.").status_code == 201
    ann.submit(taken)
    assert report(ann, taken, "And I was not paid.").status_code == 201
    assert report(market.worker(), taken, "Not mine.").status_code == 404
    database = str(tmp_path / "market.db")
    words = ["market", "problems", "--database", database]
    output = CliRunner().invoke(main, words).stdout
    assert "\x1b" not in output
    assert "    Picture 2\n    is \\x1b[31mblack." in output
    newest, oldest = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert newest["text"] == "And I was not paid."
    assert (oldest["hit_id"], oldest["assignment_id"]) == (hit["HITId"], taken)
    assert "worker_id" not in oldest
    other = CliRunner().invoke(main, [*words, "somebody else"]).stdout
    assert "no worker has reported" in other


def test_reports_have_an_end(market: Market) -> None:
    """Empty or endless ones are refused, and more than twenty a day of one worker."""
    hit, ann = post(market.requester()), market.worker()
    taken = ann.accept(hit["HITGroupId"]).json()["assignment_id"]
    for text in ("", "  ", "x" * (messages.LONGEST_TEXT + 1)):
        assert report(ann, taken, text).status_code == 422
    for _ in range(messages.MOST_PROBLEMS_A_DAY):
        assert report(ann, taken, "black").status_code == 201
    assert report(ann, taken, "black").status_code == 429
    market.wait(days=1)
    assert report(ann, taken, "black").status_code == 201
    address = f"/worker/assignments/{taken}/problem"
    elsewhere = {"origin": "https://elsewhere.example"}
    sent = ann.http.post(address, data={"text": "x"}, headers=elsewhere)
    assert sent.status_code == 403
