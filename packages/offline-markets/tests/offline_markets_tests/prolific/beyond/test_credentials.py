"""Credentials for participants: pools of them, and which study used which."""

import pytest

from offline_markets_tests.prolific.people import Refused, Researcher


def _pool(researcher: Researcher, credentials: str) -> str:
    made = researcher.post(
        "/credentials/", credentials=credentials, workspace_id=researcher.workspace_id()
    )
    return str(made["credential_pool_id"])


def _counts(researcher: Researcher) -> list[tuple[int, int]]:
    """All and free credentials of each pool."""
    listed = researcher.get("/credentials/", workspace_id=researcher.workspace_id())
    return [
        (pool["total_credentials"], pool["available_credentials"])
        for pool in listed["credential_pools"]
    ]


def test_participants_get_a_credential_each_until_none_is_left(researcher: Researcher) -> None:
    """Also a returned submission used its own up; more can be added."""
    pool = _pool(researcher, "ann,a1\neve,e1")
    study_id = researcher.study(credential_pool_id=pool)
    assert researcher.get(f"/studies/{study_id}/")["has_credentials"] is True
    first, second, third = (researcher.participant() for _ in range(3))
    taken = first.ask("POST", f"/studies/{study_id}", {})
    assert taken["credential"] == {"username": "ann", "password": "a1"}
    first.give_back(taken["submission_id"])
    second.do(study_id)
    assert _counts(researcher) == [(2, 0)]
    assert third.studies() == []
    with pytest.raises(Refused, match="No credentials are left"):
        third.take(study_id)
    path = f"/credentials/{pool}/"
    assert researcher.ask("PATCH", path, {"credentials": "ida,i1"}) == {"credential_pool_id": pool}
    assert _counts(researcher) == [(3, 1)]
    assert third.ask("POST", f"/studies/{study_id}", {})["credential"]["username"] == ("ida")


def test_the_report_names_who_used_which(researcher: Researcher) -> None:
    """Credentials that another study used are not in it."""
    pool = _pool(researcher, "ann,a1\neve,e1\nida,i1\n")
    other, study_id = (researcher.study(credential_pool_id=pool) for _ in range(2))
    researcher.participant().do(other)
    someone = researcher.participant()
    submission_id = someone.do(study_id)
    report = researcher.get(f"/studies/{study_id}/credentials/report/")
    assert report.splitlines()[1:] == [
        f"{someone.participant_id},{submission_id},eve,USED",
        ",,ida,UNUSED",
    ]
    assert "a1" not in report
    plain = researcher.study()
    with pytest.raises(Refused, match="has no credentials"):
        researcher.get(f"/studies/{plain}/credentials/report/")


def test_a_reservation_uses_none(researcher: Researcher) -> None:
    """They are given when the study is started."""
    pool = _pool(researcher, "ann,a1")
    study_id, someone = (researcher.study(credential_pool_id=pool), researcher.participant())
    reserved = someone.ask("POST", f"/studies/{study_id}", {"reserve": True})
    assert "credential" not in reserved
    assert _counts(researcher) == [(1, 1)]
    someone.take(study_id)
    assert _counts(researcher) == [(1, 0)]


def test_user_names_are_unique_in_their_pool(researcher: Researcher) -> None:
    """409, and nothing of the refused lines is added."""
    for credentials in ("ann,a1\nann,a2", "ann,a1\n ann,a2"):
        with pytest.raises(Refused, match="Duplicate user names: ann") as refusal:
            _pool(researcher, credentials)
        assert refusal.value.status == 409
    pool = _pool(researcher, "ann,a1")
    _pool(researcher, "ann,b1")
    with pytest.raises(Refused, match="Duplicate"):
        researcher.ask("PATCH", f"/credentials/{pool}/", {"credentials": "eve,e1\nann,a3"})
    assert _counts(researcher) == [(1, 1), (1, 1)]


@pytest.mark.parametrize("credentials", ["ann", "ann,", "ann,a1,x", "a,b\n,c"])
def test_a_line_has_a_name_and_a_password(researcher: Researcher, credentials: str) -> None:
    """The message says which line has not."""
    with pytest.raises(Refused, match=r"Line [12]: write username,password"):
        _pool(researcher, credentials)


def test_a_study_takes_a_pool_of_its_workspace_with_credentials(researcher: Researcher) -> None:
    """A used-up pool is refused when the study is published."""
    with pytest.raises(Refused, match="Unknown credential pool"):
        researcher.draft(credential_pool_id="none")
    elsewhere = researcher.post("/workspaces/", title="Second")["id"]
    foreign = researcher.post("/credentials/", credentials="ann,a1", workspace_id=elsewhere)[
        "credential_pool_id"
    ]
    with pytest.raises(Refused, match="Unknown credential pool"):
        researcher.draft(credential_pool_id=foreign)
    pool = _pool(researcher, "ann,a1")
    researcher.participant().do(researcher.study(credential_pool_id=pool))
    draft = researcher.draft(credential_pool_id=pool)
    with pytest.raises(Refused, match="No credentials are left"):
        researcher.move(draft, "PUBLISH")
    researcher.ask("PATCH", f"/studies/{draft}/", {"credential_pool_id": None})
    assert researcher.get(f"/studies/{draft}/")["has_credentials"] is False
    assert researcher.move(draft, "PUBLISH") == "PUBLISHING"
