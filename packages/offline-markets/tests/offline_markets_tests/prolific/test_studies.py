"""Studies: what is wrong with a draft, their states, their money."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import CODE, START, STUDY, UNIT, Refused, Researcher

REJECTION = {
    "message": "The sentences do not describe the pictures; they repeat one text. " * 2,
    "rejection_category": "LOW_EFFORT",
}
BALANCE = 1_000_000


def _refused(researcher: Researcher, method: str, path: str, body: object) -> Refused:
    with pytest.raises(Refused) as caught:
        researcher.ask(method, path, body)
    assert caught.value.status == 400
    return caught.value


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"description": None}, "description"),
        ({"reward": 0}, "reward"),
        ({"reward": 1.5}, "reward"),
        ({"reward": "150"}, "reward"),
        ({"total_available_places": -3}, "total_available_places"),
        ({"external_study_url": "work.example"}, "external_study_url"),
        ({"prolific_id_option": "header"}, "prolific_id_option"),
        ({"maximum_allowed_time": 25}, "maximum_allowed_time"),
        ({"study_labels": ["fun"]}, "study_labels"),
        ({"filters": [{"filter_id": "shoe-size"}]}, "filters"),
        ({"project": "f" * 24}, None),
        ({"rewrad": 150}, "rewrad"),
        ({"access_details": [{"external_url": "x"}]}, "access_details"),
        ({"completion_codes": STUDY["completion_codes"] * 2}, "completion_codes"),
    ],
)
def test_what_is_wrong_is_named(
    researcher: Researcher, changes: dict[str, Any], field: str | None
) -> None:
    """The field of a study that cannot be is in the answer; nothing is made."""
    with pytest.raises(Refused) as caught:
        researcher.draft(**changes)
    if field is None:
        assert caught.value.status == 404
    else:
        assert (caught.value.status, list(caught.value.detail)) == (400, [field])
    assert researcher.get("/studies/")["results"] == []


def test_everything_that_is_wrong_is_named_at_once(researcher: Researcher) -> None:
    """What is missing, too."""
    refused = _refused(researcher, "POST", "/studies/", {"reward": -1})
    assert set(refused.detail) == {
        *("name", "description", "external_study_url", "prolific_id_option"),
        *("total_available_places", "estimated_completion_time", "reward"),
    }


@pytest.mark.parametrize(
    "actions",
    [
        [{"action": "AUTOMATICALLY_APPROVE"}, {"action": "MANUALLY_REVIEW"}],
        [{"action": "ADD_TO_PARTICIPANT_GROUP"}],
        [{"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": "nobody"}],
        [{"action": "DYNAMIC_PAYMENT"}],
        [{"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 150, "slots": 1}],
        [{"action": "CHEER"}],
    ],
)
def test_actions_of_a_code_must_make_sense(
    researcher: Researcher, actions: list[dict[str, Any]]
) -> None:
    """Two that exclude each other, one without its group, a screen-out paid in full."""
    code = {"code": "A", "code_type": "OTHER", "actions": actions}
    with pytest.raises(Refused) as caught:
        researcher.draft(completion_codes=[code])
    assert list(caught.value.detail) == ["completion_codes"]


def test_the_time_allowed_has_a_least_and_a_usual_value(researcher: Researcher) -> None:
    """2 + 2*9 + 2*3 = 26 minutes are allowed, 25 are not; left out, it is filled in."""
    study_id = researcher.draft(maximum_allowed_time=26)
    assert researcher.get(f"/studies/{study_id}/")["maximum_allowed_time"] == 26
    fields = {name: STUDY[name] for name in STUDY if name != "maximum_allowed_time"}
    made = researcher.post("/studies/", **fields)
    assert made["maximum_allowed_time"] >= 26


def test_a_study_lives_from_draft_to_completed(researcher: Researcher) -> None:
    """Published through PUBLISHING, reviewed when full, completed when decided."""
    study_id = researcher.draft(total_available_places=1)
    assert researcher.status(study_id) == "UNPUBLISHED"
    assert researcher.move(study_id, "PUBLISH") == "PUBLISHING"
    assert researcher.status(study_id) == "ACTIVE"
    assert researcher.move(study_id, "PAUSE") == "PAUSED"
    assert researcher.move(study_id, "START") == "ACTIVE"
    someone = researcher.participant()
    submission_id = someone.take(study_id)
    assert researcher.status(study_id) == "ACTIVE"
    someone.complete(submission_id)
    assert researcher.status(study_id) == "AWAITING REVIEW"
    researcher.judge(submission_id, "APPROVE")
    assert researcher.status(study_id) == "COMPLETED"
    assert researcher.balance() == (BALANCE - UNIT, 0)


@pytest.mark.parametrize(
    ("before", "action"),
    [
        ([], "PAUSE"),
        ([], "START"),
        ([], "STOP"),
        ([], "CANCEL_PUBLISH"),
        (["PUBLISH"], "PUBLISH"),
        (["PUBLISH", "PAUSE"], "PUBLISH"),
        (["PUBLISH", "PAUSE"], "PAUSE"),
        (["PUBLISH", "STOP"], "START"),
        ([], "EXPLODE"),
    ],
)
def test_a_transition_that_is_not_in_the_table_is_refused(
    researcher: Researcher, before: list[str], action: str
) -> None:
    """And changes nothing."""
    study_id = researcher.draft()
    for earlier in before:
        researcher.move(study_id, earlier)
    status = researcher.status(study_id)
    with pytest.raises(Refused) as caught:
        researcher.move(study_id, action)
    assert caught.value.status == 400
    assert researcher.status(study_id) == status


def test_publishing_holds_the_cost_of_all_places(researcher: Researcher) -> None:
    """Three of them; stopping lets go of what nobody worked for."""
    study_id = researcher.study()
    assert researcher.balance() == (BALANCE - 3 * UNIT, 3 * UNIT)
    submission_id = researcher.participant().do(study_id)
    assert researcher.move(study_id, "STOP") == "COMPLETED"
    assert researcher.balance() == (BALANCE - UNIT, UNIT)
    researcher.judge(submission_id, "REJECT", **REJECTION)
    assert researcher.balance() == (BALANCE, 0)
    researcher.books()


def test_nothing_is_published_without_the_money(researcher: Researcher) -> None:
    """4,761 places of 2.10 are 9,998.10 pounds; one more is too many."""
    study_id = researcher.draft(total_available_places=4762)
    with pytest.raises(Refused) as caught:
        researcher.move(study_id, "PUBLISH")
    assert caught.value.status == 400
    assert researcher.status(study_id) == "UNPUBLISHED"
    assert researcher.balance() == (BALANCE, 0)
    path = f"/studies/{study_id}/"
    researcher.ask("PATCH", path, {"total_available_places": 4761})
    researcher.move(study_id, "PUBLISH")
    assert researcher.balance() == (190, 4761 * UNIT)


def test_a_draft_without_codes_is_not_ready(researcher: Researcher) -> None:
    """It can be made, and says so, and cannot be published."""
    study_id = researcher.draft(completion_codes=[])
    assert researcher.get(f"/studies/{study_id}/")["is_ready_to_publish"] is False
    with pytest.raises(Refused) as caught:
        researcher.move(study_id, "PUBLISH")
    assert list(caught.value.detail) == ["completion_codes"]


def test_a_study_publishes_itself_at_its_time(researcher: Researcher) -> None:
    """Unless it is cancelled; a time that has passed is refused."""
    study_id, other_id = researcher.draft(), researcher.draft()
    for scheduled in (study_id, other_id):
        at = (START + timedelta(hours=2)).isoformat()
        researcher.move(scheduled, "SCHEDULE_PUBLISH", publish_at=at)
    assert researcher.move(other_id, "CANCEL_PUBLISH") == "UNPUBLISHED"
    researcher.wait(minutes=119)
    assert researcher.status(study_id) == "SCHEDULED"
    assert researcher.balance() == (BALANCE, 0)
    researcher.wait(minutes=1)
    assert researcher.status(study_id) == "ACTIVE"
    assert researcher.status(other_id) == "UNPUBLISHED"
    with pytest.raises(Refused) as caught:
        researcher.move(other_id, "SCHEDULE_PUBLISH", publish_at=START.isoformat())
    assert list(caught.value.detail) == ["publish_at"]


def test_publishing_may_take_a_while(researcher: Researcher) -> None:
    """Nobody sees the study until then."""
    researcher.control("PUT", "/switches", {"publishing_seconds": 60})
    study_id, someone = researcher.study(), researcher.participant()
    researcher.wait(seconds=59)
    assert researcher.status(study_id) == "PUBLISHING"
    assert someone.studies() == []
    researcher.wait(seconds=1)
    assert someone.studies() == [study_id]


def test_publishing_may_be_over_at_once(researcher: Researcher) -> None:
    """As the table of transitions has it, for clients that know no PUBLISHING."""
    researcher.control("PUT", "/switches", {"publishes_at_once": True})
    study_id = researcher.draft()
    assert researcher.move(study_id, "PUBLISH") == "ACTIVE"
    assert researcher.balance() == (BALANCE - 3 * UNIT, 3 * UNIT)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"reward": 200}, "reward"),
        ({"total_available_places": 2}, "total_available_places"),
        ({"filters": [{"filter_id": "age", "selected_range": {"lower": 20}}]}, "filters"),
        ({"name": "Other"}, "name"),
    ],
)
def test_what_is_locked_after_publication_is_named(
    researcher: Researcher, change: dict[str, Any], field: str
) -> None:
    """Each of them may be changed in a draft."""
    study_id = researcher.draft()
    researcher.ask("PATCH", f"/studies/{study_id}/", change)
    other_id = researcher.study()
    refused = _refused(researcher, "PATCH", f"/studies/{other_id}/", change)
    assert list(refused.detail) == [field]


def test_places_are_raised_and_paid_for(researcher: Researcher) -> None:
    """Also of a study that is completed: then it recruits again."""
    study_id = researcher.study(total_available_places=1)
    path = f"/studies/{study_id}/"
    researcher.ask("PATCH", path, {"total_available_places": 2, "internal_name": "x"})
    assert researcher.balance()[1] == 2 * UNIT
    researcher.move(study_id, "STOP")
    assert researcher.balance()[1] == 0
    researcher.ask("PATCH", path, {"total_available_places": 5})
    assert researcher.status(study_id) == "ACTIVE"
    assert researcher.balance()[1] == 5 * UNIT
    refused = _refused(researcher, "PATCH", path, {"total_available_places": 9000})
    assert "money" in refused.detail
    assert researcher.get(path)["total_available_places"] == 5


def test_a_rejected_place_is_refilled(researcher: Researcher) -> None:
    """At once while the study is active, and by START while it waits for review."""
    study_id = researcher.study(total_available_places=2)
    first, second = (researcher.participant().do(study_id) for _ in range(2))
    assert researcher.status(study_id) == "AWAITING REVIEW"
    with pytest.raises(Refused):
        researcher.move(study_id, "START")
    researcher.judge(first, "REJECT", **REJECTION)
    assert researcher.balance()[1] == UNIT
    assert researcher.move(study_id, "START") == "ACTIVE"
    assert researcher.balance()[1] == 2 * UNIT
    researcher.participant().do(study_id)
    researcher.judge(second, "APPROVE")
    assert researcher.status(study_id) == "AWAITING REVIEW"
    researcher.books()


def test_a_stopped_study_may_wait_for_review(researcher: Researcher) -> None:
    """As a client saw it, if the switch is on."""
    researcher.control("PUT", "/switches", {"stop_awaits_review": True})
    study_id, empty_id = researcher.study(), researcher.study()
    submission_id = researcher.participant().do(study_id)
    assert researcher.move(study_id, "STOP") == "AWAITING REVIEW"
    assert researcher.move(empty_id, "STOP") == "COMPLETED"
    researcher.judge(submission_id, "APPROVE")
    assert researcher.status(study_id) == "COMPLETED"


def test_only_drafts_are_deleted(researcher: Researcher) -> None:
    """By either address."""
    first, second, third = researcher.draft(), researcher.draft(), researcher.study()
    project = researcher.get(f"/studies/{first}/")["project"]
    researcher.ask("DELETE", f"/studies/{first}/")
    researcher.ask("DELETE", f"/projects/{project}/studies/{second}/")
    _refused(researcher, "DELETE", f"/studies/{third}/", None)
    left = [study["id"] for study in researcher.get("/studies/")["results"]]
    assert left == [third]


def test_a_list_shows_what_the_document_says(researcher: Researcher) -> None:
    """Places taken count what was rejected, not what was returned or timed out."""
    study_id = researcher.study()
    first, second = researcher.participant(), researcher.participant()
    researcher.judge(first.do(study_id), "REJECT", **REJECTION)
    second.give_back(second.take(study_id))
    [line] = researcher.get("/studies/", state="ACTIVE")["results"]
    assert (line["places_taken"], line["number_of_submissions"]) == (1, 2)
    assert line["total_cost"] == 3 * UNIT
    assert researcher.get("/studies/", state="(paused|completed)")["results"] == []
    project = researcher.get(f"/studies/{study_id}/")["project"]
    assert researcher.get(f"/projects/{project}/studies/")["results"] == [line]


def test_costs_are_told_before_and_after(researcher: Researcher) -> None:
    """The calculator, the projection, and what was paid: rewards, fees and tax."""
    cost = researcher.post("/study-cost-calculator/", reward=150, total_available_places=3)
    assert cost == {"total_cost": 3 * UNIT}
    study_id = researcher.study()
    path = f"/studies/{study_id}/cost/"
    projected = researcher.get(path, is_projected="true")["rewards"]
    assert [projected[part]["amount"] for part in ("rewards", "fees", "tax")] == [450, 150, 30]
    researcher.judge(researcher.participant().do(study_id), "APPROVE")
    paid = researcher.get(path)
    assert paid["rewards"]["rewards"] == {"amount": 150, "currency": "GBP"}
    assert paid["bonuses"]["fees"]["amount"] == 0


def test_a_copy_keeps_the_participants_of_the_first_out(researcher: Researcher) -> None:
    """Unless they are wanted."""
    study_id, someone = researcher.study(), researcher.participant()
    someone.do(study_id)
    copies = [
        researcher.post(f"/studies/{study_id}/clone/", block_previous_participants=blocks)["id"]
        for blocks in (True, False)
    ]
    for copy_id in copies:
        researcher.move(copy_id, "PUBLISH")
    assert someone.studies() == [copies[1]]


def test_a_fixed_screen_out_pays_its_own_amount(researcher: Researcher) -> None:
    """The place stays free; the study pauses when the slots are used up.

    A screen-out of 20 costs 20 + 7 (6.6) + 1 (1.4): 28.
    """
    screen_out = {
        "code": "UNFIT",
        "code_type": "FIXED_SCREENOUT",
        "actions": [
            {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 1}
        ],
    }
    codes = [*STUDY["completion_codes"], screen_out]
    study_id = researcher.study(completion_codes=codes)
    assert researcher.balance()[1] == 3 * UNIT + 28
    unfit = researcher.participant()
    submission_id = unfit.take(study_id)
    assert unfit.complete(submission_id, "UNFIT") == "SCREENED OUT"
    assert researcher.status(study_id) == "PAUSED"
    assert researcher.balance() == (BALANCE - 28 - 3 * UNIT, 3 * UNIT)
    with pytest.raises(Refused):
        researcher.move(study_id, "START")
    screen_out["actions"][0]["slots"] = 2  # type: ignore[index] # a list of objects
    researcher.ask("PATCH", f"/studies/{study_id}/", {"completion_codes": codes})
    assert researcher.move(study_id, "START") == "ACTIVE"
    assert researcher.books()["participants"][unfit.participant_id]["rewards"] == 20


def test_a_researcher_screens_out_by_the_study_s_code(researcher: Researcher) -> None:
    """It uses one of the slots; a study without such a code has none to use."""
    action = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 2}
    code = {"code": "UNFIT", "code_type": "FIXED_SCREENOUT", "actions": [action]}
    study_id = researcher.study(completion_codes=[*STUDY["completion_codes"], code])
    submission_id = researcher.participant().take(study_id)
    assert researcher.judge(submission_id, "SCREEN_OUT") == "SCREENED OUT"
    assert researcher.submission(submission_id)["entered_code"] == "UNFIT"
    assert researcher.balance()[1] == 3 * UNIT + 28
    plain = researcher.participant().take(researcher.study())
    with pytest.raises(Refused):
        researcher.judge(plain, "SCREEN_OUT")


def test_a_deleted_draft_is_not_published_at_its_time(researcher: Researcher) -> None:
    """And nothing else stops because of it."""
    study_id = researcher.draft()
    at = (START + timedelta(hours=2)).isoformat()
    researcher.move(study_id, "SCHEDULE_PUBLISH", publish_at=at)
    researcher.ask("DELETE", f"/studies/{study_id}/")
    researcher.wait(hours=3)
    assert researcher.get("/studies/")["results"] == []


def test_counts_may_be_written_as_numbers(researcher: Researcher) -> None:
    """The document calls them numbers, so 3.0 places are three."""
    study_id = researcher.draft(total_available_places=3.0, reward=150.0)
    assert researcher.get(f"/studies/{study_id}/")["total_available_places"] == 3
    assert CODE in str(researcher.get(f"/studies/{study_id}/")["completion_codes"])


def test_a_published_study_of_an_older_file_can_be_changed(tmp_path: Path) -> None:
    """It lacks fields that came later; what is locked stays so."""
    options = Options(start=START, database=tmp_path / "prolific.db")
    with serve(options) as url, Researcher(url) as researcher:
        study_id = researcher.study()
    later = ("access_details", "is_external_study_url_secure", "credential_pool_id")
    with closing(sqlite3.connect(tmp_path / "prolific.db")) as conn, conn:
        paths = ", ".join(f"'$.{name}'" for name in later)
        conn.execute(f"UPDATE study SET fields = json_remove(fields, {paths})")
    with serve(options) as url, Researcher(url) as researcher:
        path = f"/studies/{study_id}/"
        changed = researcher.ask("PATCH", path, {"internal_name": "run 2"})
        assert changed["internal_name"] == "run 2"
        with pytest.raises(Refused, match="cannot be changed after publication"):
            researcher.ask("PATCH", path, {"is_external_study_url_secure": True})


@pytest.mark.parametrize("is_returned", [True, False])
def test_a_freed_place_pauses_a_full_study(researcher: Researcher, *, is_returned: bool) -> None:
    """Its money stays held until it is started and filled, or stopped."""
    researcher.control("PUT", "/switches", {"rejection_pauses": True})
    study_id = researcher.study(total_available_places=2)
    ann, bob = researcher.participant(), researcher.participant()
    ann.do(study_id)
    submission_id = bob.do(study_id)
    assert researcher.status(study_id) == "AWAITING REVIEW"
    _refused(researcher, "POST", f"/studies/{study_id}/transition/", {"action": "START"})
    if is_returned:
        bob.give_back(submission_id)
    else:
        researcher.judge(submission_id, "REJECT", **REJECTION)
    assert researcher.status(study_id) == "PAUSED"
    assert researcher.balance() == (BALANCE - 2 * UNIT, 2 * UNIT)
    assert researcher.move(study_id, "START") == "ACTIVE"
    researcher.participant().do(study_id)
    assert researcher.status(study_id) == "AWAITING REVIEW"
