"""Test participants and test studies, and changes of workspaces and projects."""

import pytest

from offline_markets_tests.prolific.people import UNIT, Participant, Refused, Researcher


def test_a_draft_is_tried_by_the_test_participants_alone(researcher: Researcher) -> None:
    """The copy recruits, the draft does not; each of them has a place."""
    someone = researcher.participant()
    testers = [
        Participant(
            researcher, researcher.post("/researchers/participants/", email=email)["participant_id"]
        )
        for email in ("a@lab.example", "b@lab.example")
    ]
    draft = researcher.draft()
    tried = researcher.post(f"/studies/{draft}/test-study")
    assert researcher.status(draft) == "UNPUBLISHED"
    assert someone.studies() == []
    assert [each.studies() for each in testers] == [[tried["study_id"]]] * 2
    assert researcher.balance()[1] == 2 * UNIT
    page = researcher.http.get(tried["study_url"])
    assert tried["study_id"] in page.text
    for each in testers:
        each.do(tried["study_id"])
    assert researcher.status(tried["study_id"]) == "AWAITING REVIEW"
    researcher.books()


def test_a_test_needs_a_draft_and_a_test_participant(researcher: Researcher) -> None:
    """The sentences say which is missing."""
    draft = researcher.draft()
    with pytest.raises(Refused, match="test participant first"):
        researcher.post(f"/studies/{draft}/test-study")
    researcher.post("/researchers/participants/", email="a@lab.example")
    researcher.move(draft, "PUBLISH")
    with pytest.raises(Refused, match="Only a draft"):
        researcher.post(f"/studies/{draft}/test-study")


@pytest.mark.parametrize("email", ["nobody", "a@lab.example", "A@lab.example"])
def test_an_address_is_valid_and_new(researcher: Researcher, email: str) -> None:
    """Prolific accepts none that was registered before."""
    researcher.post("/researchers/participants/", email="a@lab.example")
    with pytest.raises(Refused) as refusal:
        researcher.post("/researchers/participants/", email=email)
    assert list(refusal.value.detail) == ["email"]


def test_a_workspace_and_a_project_are_made_and_renamed(researcher: Researcher) -> None:
    """A new workspace has no money; the account's first one stays the first."""
    first = researcher.workspace_id()
    made = researcher.post("/workspaces/", title="Second", currency_code="GBP")
    assert researcher.get(f"/workspaces/{made['id']}/balance/")["total_balance"] == 0
    names = {"id": made["id"], "title": "Third"}
    renamed = researcher.ask("PATCH", f"/workspaces/{made['id']}/", names)
    assert (renamed["title"], renamed["projects"]) == ("Third", [])
    project = researcher.post(f"/workspaces/{made['id']}/projects/", title="P")
    path = f"/projects/{project['id']}/"
    changed = researcher.ask("PATCH", path, {"description": "Birds"})
    assert (changed["title"], changed["description"]) == ("P", "Birds")
    assert researcher.ask("PATCH", path, {"title": "Q"})["description"] == "Birds"
    assert researcher.workspace_id() == first
    with pytest.raises(Refused, match="Only GBP"):
        researcher.post("/workspaces/", title="Dollars", currency_code="USD")
    researcher.books()


def test_an_invitation_is_answered(researcher: Researcher) -> None:
    """For a workspace of the account, in a known role."""
    workspace = researcher.workspace_id()
    asked = {"association": workspace, "emails": ["c@lab.example"]}
    [made] = researcher.post("/invitations/", **asked, role="WORKSPACE_ADMIN")["invitations"]
    assert made["invitee"]["email"] == "c@lab.example"
    assert (made["status"], made["association"]) == ("INVITED", workspace)
    with pytest.raises(Refused, match="WORKSPACE_COLLABORATOR"):
        researcher.post("/invitations/", **asked, role="OWNER")
