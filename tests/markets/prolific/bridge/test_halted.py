"""A study that Prolific paused goes on; what a person paused or stopped there stays so."""

from dataclasses import replace
from pathlib import Path

import pytest

from piecework.markets.prolific.bridge.bridge import Bridge
from piecework.markets.prolific.bridge.status import committed_cents
from piecework.markets.prolific.bridge.studies import HALTED_THERE
from piecework.markets.prolific.resources.studies import Study
from tests.markets.prolific.bridge.long_campaign import LONG_AGO
from tests.markets.prolific.bridge.test_pay import LATER, check, decide
from tests.markets.prolific.bridge.test_screening import make_test, post_for_tested, take_test
from tests.markets.prolific.bridge.town import Town, Visitor, a_town

COST = 110 + 36 + 7
"""A visit of two HITs of 55 pence; the fee is 36.3, and the tax 7.2."""


def _pausing(town: Town, visits: int) -> tuple[list[str], str, list[Visitor]]:
    """HITs of a full study, where a rejection or return pauses it; the study; its people."""
    town.researcher.control("PUT", "/switches", {"rejection_pauses": True})
    hits = town.post(hits=2, assignments=visits, **LATER)
    town.settle()
    study = town.study()
    people = [town.visitor() for _ in range(visits)]
    for someone in people:
        someone.work(study)
    town.settle()
    assert town.researcher.status(study) == "AWAITING REVIEW"
    return hits, study, people


def _reject_and_return(town: Town, *people: Visitor) -> None:
    for someone in people:
        decide(town, someone, "reject", 0, 1)
    town.settle()
    for someone in people:
        someone.give_back(someone.submission_id)


def _finish(someone: Visitor) -> None:
    while someone.visit()["stage"] == "Open":
        someone.answer()
    someone.complete(someone.submission_id, someone.visit()["code"])


def _post_again(town: Town, hits: list[str], number: int = 1) -> None:
    for hit_id in hits:
        town.requester.create_additional_assignments_for_hit(
            HITId=hit_id, NumberOfAdditionalAssignments=number
        )


def _expire(town: Town, hits: list[str]) -> None:
    for hit_id in hits:
        town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)


def _trouble(town: Town) -> str:
    [row] = town.rows("SELECT trouble FROM studies")
    return str(row["trouble"])


def _committed(town: Town) -> int:
    with town.bridge.backend.transaction() as transaction:
        return committed_cents(transaction)


@pytest.mark.parametrize("more", [1, 2])
def test_a_study_that_prolific_paused_is_started_for_replacements(town: Town, more: int) -> None:
    """The same study, with as many places as the new HITs fill."""
    hits, study, [ann, bob] = _pausing(town, 2)
    _reject_and_return(town, bob)
    assert town.researcher.status(study) == "PAUSED"
    _post_again(town, hits, more)
    town.settle()
    assert town.study() == study
    later = [town.visitor() for _ in range(more)]
    for someone in later:
        someone.work(study)
    town.settle()
    for someone in (ann, *later):
        decide(town, someone, "approve", 0, 1)
    town.settle()
    town.settle()
    assert [each["status"] for each in town.studies()] == ["COMPLETED"]
    assert town.rows("SELECT stage FROM studies") == [{"stage": "Retired"}]
    check(town)


def test_replacements_come_after_a_paused_study_was_stopped(town: Town) -> None:
    """Bob returns nothing, so the bridge's own rejection pauses the study, without work."""
    hits, study, [ann, bob] = _pausing(town, 2)
    decide(town, ann, "approve", 0, 1)
    decide(town, bob, "reject", 0, 1)
    for _ in range(9):
        town.wait(days=1)
        town.settle()
    assert town.researcher.submission(bob.submission_id)["status"] == "REJECTED"
    _post_again(town, hits)
    town.settle()
    assert town.study() != study
    cat = town.visitor()
    cat.work(town.study())
    decide(town, cat, "approve", 0, 1)
    check(town)


def test_a_paused_study_without_work_gives_its_money_back(town: Town) -> None:
    """It is stopped and read no more, and the cap counts only what was paid."""
    _, study, [ann, bob] = _pausing(town, 2)
    decide(town, ann, "approve", 0, 1)
    _reject_and_return(town, bob)
    assert town.researcher.balance()[1] == COST
    town.settle()
    town.settle()
    assert town.researcher.status(study) == "COMPLETED"
    assert town.researcher.balance()[1] == 0
    assert town.rows("SELECT stage FROM studies") == [{"stage": "Retired"}]
    assert _committed(town) == COST
    check(town)


def test_a_paused_study_with_more_places_than_work_gives_way_to_another(town: Town) -> None:
    """Two places were freed, and there is work for one."""
    hits, study, [ann, bob] = _pausing(town, 2)
    _reject_and_return(town, ann, bob)
    _post_again(town, hits)
    town.settle()
    assert town.researcher.status(study) == "COMPLETED"
    cat = town.visitor()
    cat.work(town.study())
    decide(town, cat, "approve", 0, 1)
    check(town)


@pytest.mark.parametrize("is_needed", [True, False])
def test_a_screening_that_prolific_paused_is_started_or_stopped(
    tmp_path: Path, *, is_needed: bool
) -> None:
    """Its code was told, and who used it returned the submission."""
    with a_town(tmp_path, screening_cents=60, screening_places=2) as town:
        town.researcher.control("PUT", "/switches", {"rejection_pauses": True})
        hits = post_for_tested(town, make_test(town))
        town.settle()
        [screening] = [each["id"] for each in town.studies() if each["reward"] == 60]
        [row] = town.rows("SELECT code FROM studies WHERE study_id = ?", screening)
        ann, bob, cat = (town.visitor() for _ in range(3))
        take_test(ann, screening, "dog")
        bob.open(screening)
        bob.complete(bob.submission_id, row["code"])
        town.settle()
        bob.give_back(bob.submission_id)
        assert town.researcher.status(screening) == "PAUSED"
        if not is_needed:
            _expire(town, hits)
            town.settle()
            assert town.researcher.status(screening) == "COMPLETED"
            return
        town.settle()
        assert town.researcher.status(screening) == "ACTIVE"
        take_test(cat, screening, "cat")
        town.settle()
        town.settle()
        [row] = town.rows("SELECT stage FROM studies WHERE study_id = ?", screening)
        assert row["stage"] == "Retired"
        town.check_books()


def test_what_a_person_paused_stays_paused_until_that_person_starts_it(town: Town) -> None:
    """A sentence says so; no other study takes its place."""
    town.post(hits=2, assignments=2, **LATER)
    town.settle()
    study = town.study()
    town.researcher.move(study, "PAUSE")
    for _ in range(2):
        town.settle()
        assert town.researcher.status(study) == "PAUSED"
        assert _trouble(town) == HALTED_THERE["PAUSED"]
    assert len(town.studies()) == 1
    town.researcher.move(study, "START")
    town.settle()
    assert (town.researcher.status(study), _trouble(town)) == ("ACTIVE", "")
    town.researcher.move(study, "PAUSE")  # once more
    town.settle()
    assert town.researcher.status(study) == "PAUSED"


def test_what_a_person_stopped_stays_so_until_that_person_adds_places(town: Town) -> None:
    """Later HITs change nothing, and its free places count towards the cap no more."""
    hits = town.post(hits=2, assignments=3, **LATER)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    ann.work(study)
    town.researcher.move(study, "STOP")
    town.settle()
    assert _trouble(town) == HALTED_THERE["COMPLETED"]
    assert _committed(town) == COST
    decide(town, ann, "approve", 0, 1)
    _expire(town, hits)
    town.settle()
    town.settle()
    assert town.rows("SELECT stage, trouble FROM studies") == [{"stage": "Retired", "trouble": ""}]
    town.post(hits=2, assignments=2, **LATER)
    for _ in range(2):
        town.settle()
        assert (len(town.studies()), _trouble(town)) == (1, HALTED_THERE["COMPLETED"])
        assert _committed(town) == COST
    assert town.researcher.balance()[1] == 0
    places = {"total_available_places": 4}
    town.researcher.ask("PATCH", f"/studies/{study}/", places)
    town.settle()
    assert (town.study(), _trouble(town)) == (study, "")
    bob.work(study)
    decide(town, bob, "approve", 0, 1)
    check(town)


def test_a_pause_by_a_person_outlasts_the_bridges_stop(town: Town) -> None:
    """Without work the money comes back; with new work, nothing is published."""
    hits = town.post(hits=2, **LATER)
    town.settle()
    study = town.study()
    town.researcher.move(study, "PAUSE")
    town.settle()
    _expire(town, hits)
    town.settle()
    assert town.researcher.status(study) == "COMPLETED"
    assert town.researcher.balance()[1] == 0
    town.post(hits=2, **LATER)
    town.settle()
    assert (len(town.studies()), _trouble(town)) == (1, HALTED_THERE["COMPLETED"])


def test_a_person_who_stops_a_study_that_prolific_paused_is_heeded(town: Town) -> None:
    """The bridge may publish nothing at that time, so it has not started it itself."""
    hits, study, [_, bob] = _pausing(town, 2)
    _reject_and_return(town, bob)
    _post_again(town, hits)
    town.bridge.terms = replace(town.bridge.terms, is_live=False)
    town.settle()
    assert town.researcher.status(study) == "PAUSED"
    assert "without --live" in _trouble(town)
    town.researcher.move(study, "STOP")
    town.settle()
    assert _trouble(town) in (HALTED_THERE["COMPLETED"], HALTED_THERE["AWAITING REVIEW"])


class _Died(BaseException):
    """The process of the bridge ended here."""


@pytest.mark.parametrize("is_done", [True, False])
def test_a_kill_at_its_own_stop_leaves_the_bridge_free_to_go_on(
    town: Town, monkeypatch: pytest.MonkeyPatch, *, is_done: bool
) -> None:
    """What it meant to do is stored before the call."""
    hits = town.post(hits=2, assignments=2, **LATER)
    town.settle()
    study = town.study()
    ann = town.visitor()
    ann.work(study)
    town.settle()
    _expire(town, hits)
    real = town.bridge.prolific.studies.transition

    def die(study_id: str, action: str, **more: object) -> Study:
        if is_done:
            real(study_id, action, **more)  # type: ignore[arg-type]
        raise _Died

    with monkeypatch.context() as patch:
        patch.setattr(town.bridge.prolific.studies, "transition", die)
        with pytest.raises(_Died):
            town.settle()
    here = town.bridge
    town.bridge = Bridge(here.backend, here.prolific, here.terms)
    town.post(hits=2, **LATER)
    town.settle()
    town.visitor().work(town.study())
    assert _trouble_of_all(town) == {""}


def _trouble_of_all(town: Town) -> set[str]:
    return {str(row["trouble"]) for row in town.rows("SELECT trouble FROM studies")}


def test_where_only_a_paused_study_can_start_another_is_published(tmp_path: Path) -> None:
    """A place was freed before Prolific began to pause; it refuses START of the rest, once.

    The cap is the cost of all places, of which one is in the other study.
    """
    with a_town(tmp_path, spend_at_most_cents=2 * COST) as town:
        hits = town.post(hits=2, assignments=2, **LATER)
        town.settle()
        study = town.study()
        ann, bob = town.visitor(), town.visitor()
        for someone in (ann, bob):
            someone.work(study)
        town.settle()
        _reject_and_return(town, bob)
        assert town.researcher.status(study) == "AWAITING REVIEW"
        town.researcher.control("PUT", "/switches", {"rejection_pauses": True})
        town.bridge.terms = replace(town.bridge.terms, settle_seconds=60)
        _post_again(town, hits)
        for _ in range(3):
            town.settle()
        assert town.researcher.control("GET", "/calls")["publish-study"] == 2
        town.wait(minutes=2)
        town.settle()
        assert town.study() != study
        assert _trouble_of_all(town) == {""}
        cat = town.visitor()
        cat.work(town.study())
        for someone in (ann, cat):
            decide(town, someone, "approve", 0, 1)
        check(town)


@pytest.mark.parametrize("gap", ["", "restart", "lag"])
@pytest.mark.parametrize("pauses", [True, False])
def test_a_study_that_was_full_between_two_steps_goes_on(
    town: Town, gap: str, *, pauses: bool
) -> None:
    """Its last work came and was returned with no step between, so none saw it full."""
    town.researcher.control("PUT", "/switches", {"rejection_pauses": pauses})
    hits = town.post(hits=2, assignments=2, **LATER)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    ann.work(study)
    town.settle()
    if gap == "lag":
        town.wait(minutes=2)
        town.researcher.control("PUT", "/faults", [{"kind": "lag", "seconds": 60}])
    bob.work(study)
    bob.give_back(bob.submission_id)
    assert town.researcher.status(study) == ("PAUSED" if pauses else "AWAITING REVIEW")
    if gap == "restart":
        here = town.bridge
        town.bridge = Bridge(here.backend, here.prolific, here.terms)
    town.settle()
    town.researcher.control("PUT", "/faults", [])
    town.settle()
    _post_again(town, hits)
    town.settle()
    town.visitor().work(town.study())
    assert _trouble_of_all(town) == {""}
    check(town)


@pytest.mark.parametrize("is_seen", [True, False])
def test_who_returned_work_before_a_person_paused_makes_no_full_study(
    town: Town, *, is_seen: bool
) -> None:
    """It had a free place when it was paused, and Bob finishes in it later."""
    hits = town.post(hits=2, assignments=2, **LATER)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    ann.work(study)
    assert bob.arrive(study).status_code == 201
    ann.give_back(ann.submission_id)
    _post_again(town, hits)
    if is_seen:
        town.settle()
        _finish(bob)
    town.researcher.move(study, "PAUSE")
    town.settle()
    if not is_seen:
        _finish(bob)
    for _ in range(2):
        town.settle()
        assert town.researcher.status(study) == "PAUSED"
        assert _trouble(town) == HALTED_THERE["PAUSED"]


def test_a_study_whose_screen_out_slots_are_used_up_is_replaced(tmp_path: Path) -> None:
    """Prolific pauses it and refuses START; the cap is what was paid and what the other costs."""
    screen_out = 20 + 7 + 1
    with a_town(
        tmp_path, screen_out_cents=20, spend_at_most_cents=2 * COST + 4 * screen_out
    ) as town:
        town.post(hits=2, assignments=2, **LATER)
        town.settle()
        study = town.study()
        for someone in (town.visitor(), town.visitor()):
            someone.open(study)
            town.bridge.prolific.submissions.transition(someone.submission_id, "SCREEN_OUT")
        assert town.researcher.status(study) == "PAUSED"
        town.settle()
        assert town.researcher.status(study) == "COMPLETED"
        assert _trouble_of_all(town) == {""}
        town.visitor().work(town.study())
        check(town)


def test_a_screening_that_a_person_stopped_is_read_only_while_it_is_needed(tmp_path: Path) -> None:
    """It is asked about again when there is work for it, and no other takes its place."""
    with a_town(tmp_path, screening_cents=60, screening_places=2) as town:
        type_id = make_test(town)
        hits = post_for_tested(town, type_id)
        town.settle()
        [screening] = [each["id"] for each in town.studies() if each["reward"] == 60]
        town.researcher.move(screening, "STOP")
        town.settle()
        query = "SELECT stage, trouble FROM studies WHERE qualification_type IS NOT NULL"
        needed = {"stage": "Published", "trouble": HALTED_THERE["COMPLETED"]}
        assert town.rows(query) == [needed]
        _expire(town, hits)
        for _ in range(2):
            town.settle()
        assert town.rows(query) == [{"stage": "Retired", "trouble": ""}]
        post_for_tested(town, type_id)
        for _ in range(2):
            town.settle()
        assert town.rows(query) == [needed]
        assert len([each for each in town.studies() if each["reward"] == 60]) == 1
