"""A full disk under the review page: the decision is not lost without a word."""

from pathlib import Path

import pytest

from piecework.store import decisions
from tests.crash.world import can_mount, small_disk, without_room
from tests.review import stores
from tests.review.conftest import served
from tests.review.test_wire import CARD, form_of

pytestmark = pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")

MOST_TRIES = 200
"""What is already there for SQLite to write to is used up by fewer."""


def test_a_reviewer_is_told_to_try_again_and_the_decision_is_taken_later(tmp_path: Path) -> None:
    """503 with a sentence and when to try again; then the same form is taken."""
    folder = tmp_path / "disk"
    with small_disk(folder), stores.opened(folder) as run, served(run) as page:
        with page.client() as ada:
            form = {**CARD, **form_of(ada, CARD), "because": "x" * 900}
            with without_room(folder):
                for _ in range(MOST_TRIES):
                    reply = ada.post("/decide", data={**form, "act": "drop"})
                    if reply.status_code == 503:
                        break
                    assert reply.status_code == 303
                    assert ada.post("/undo", data=form).status_code in {303, 503}
                else:
                    raise AssertionError("the disk is not full")
                assert "the disk is full" in reply.text
                assert int(reply.headers["retry-after"]) > 0
                assert ada.get("/").status_code == 200
            assert decisions.load_decisions(run.store) == []
            again = ada.post("/decide", data={**form, "act": "drop"})
            assert again.status_code == 303
        assert [each.verdict for each in decisions.load_decisions(run.store)] == ["drop"]
