"""Who takes a place that was given back finds work, before the bridge looks."""

import pytest

from tests.markets.prolific.bridge.town import Town


def _full(town: Town) -> str:
    """Reserve all HITs of a study by two visits; return the study's id."""
    town.post(hits=2, assignments=2)
    town.settle()
    return town.study()


@pytest.mark.parametrize("is_late", [False, True], ids=["returned", "timed out"])
def test_the_next_participant_gets_its_hits(town: Town, *, is_late: bool) -> None:
    """The marketplace asks Prolific which submissions ended, and frees their HITs."""
    study = _full(town)
    ann, bob, eve = town.visitor(), town.visitor(), town.visitor()
    ann.arrive(study)
    bob.arrive(study)
    if is_late:
        bob.answer()
        town.researcher.wait(hours=23)
    else:
        bob.give_back(bob.submission_id)
    assert eve.arrive(study).status_code == 201
    assert eve.visit()["stage"] == "Open"
    ended = town.rows("SELECT stage FROM visits WHERE submission_id = ?", bob.submission_id)
    assert ended == [{"stage": "Late" if is_late else "Left"}]
    town.settle()
    while eve.visit()["stage"] == "Open":
        eve.answer()
    town.check_books()


def test_who_still_works_keeps_the_hits(town: Town) -> None:
    """The next participant is turned away, with one list and no more."""
    study = _full(town)
    people = [town.visitor() for _ in range(2)]
    for someone in people:
        someone.arrive(study)
    # Another place, although no HIT is left for it.
    places = {"total_available_places": 3}
    town.researcher.ask("PATCH", f"/studies/{study}/", places)
    before = town.researcher.control("GET", "/calls").get("get-submissions", 0)
    eve = town.visitor()
    eve.arrive(study)
    assert eve.visit()["stage"] == "TurnedAway"
    after = town.researcher.control("GET", "/calls").get("get-submissions", 0)
    assert after - before == 1
    for someone in people:
        assert someone.visit()["stage"] == "Open"


def test_without_prolific_the_participant_is_turned_away(town: Town) -> None:
    """A list that fails frees nothing, and the visit ends as it would have."""
    study = _full(town)
    ann, bob, eve = town.visitor(), town.visitor(), town.visitor()
    ann.arrive(study)
    bob.arrive(study)
    bob.give_back(bob.submission_id)
    down = {"kind": "server_error", "operation": "get-submissions", "times": 99}
    town.researcher.control("PUT", "/faults", [down])
    assert eve.arrive(study).status_code == 201
    assert eve.visit()["stage"] == "TurnedAway"
