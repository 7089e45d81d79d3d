"""A full disk during a visit: the participant is told so, and goes on later."""

from pathlib import Path

import pytest

from tests.crash.world import can_mount, small_disk, without_room
from tests.markets.prolific.bridge.town import a_town

pytestmark = pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")

MOST_TRIES = 200
"""What is already there for SQLite to write to is used up by fewer."""


def test_a_participant_arrives_and_answers_when_there_is_room_again(tmp_path: Path) -> None:
    """503 with a sentence, no visit begun by half, and no answer lost."""
    folder = tmp_path / "disk"
    with small_disk(folder), a_town(folder) as town:
        town.post(hits=2, assignments=2)
        town.settle()
        ann, eve = town.visitor(), town.visitor()
        assert ann.arrive(town.study()).status_code == 201
        form = {"assignmentId": ann.visit()["assignment"]["assignment_id"]}
        link = {**eve.open(town.study()), "agreed": "1"}
        with without_room(folder):
            refused = None
            for length in (60_000, 6_000, 600, 6):
                # A later answer takes an earlier one's place until all are sent.
                for _ in range(MOST_TRIES):
                    sent = {**form, "caption": "x" * length}
                    refused = ann.http.post("/mturk/externalSubmit", data=sent)
                    if refused.status_code == 503:
                        break
                else:
                    raise AssertionError("the disk is not full")
            assert refused is not None
            assert refused.json()["error"] == "ServiceFault"
            arriving = eve.http.post("/visit/arrive", data=link, headers={"accept": "text/html"})
            assert arriving.status_code == 503
            assert "the disk of this marketplace is full" in arriving.text
            assert "/worker/" not in arriving.text.partition("<body>")[2]
            assert int(arriving.headers["retry-after"]) > 0
            assert "set-cookie" not in arriving.headers
        assert eve.http.post("/visit/arrive", data=link).status_code == 201
        town.settle()
        while ann.visit()["stage"] == "Open":
            ann.answer()
        assert ann.visit()["stage"] == "Done"
        town.check_books()
