"""What programs send to Prolific is accepted, unless the emulator is strict."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from offline_markets.prolific.call import ABSENT
from offline_markets.prolific.options import Options
from offline_markets.prolific.routes import OPERATIONS, PREFIX
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific import documented
from offline_markets_tests.prolific.people import START, STUDY, Participant, Researcher

CLASS = "web.eligibility.models.{}EligibilityRequirement"


@pytest.fixture
def lenient() -> Iterator[Researcher]:
    """A researcher on an emulator as the command starts it, and two participants."""
    options = Options(start=START, participants=2, is_strict=False)
    with serve(options) as url, Researcher(url) as researcher:
        yield researcher


def _call(
    researcher: Researcher,
    method: str,
    path: str,
    *,
    json: object = None,
    headers: dict[str, str] | None = None,
) -> httpx.Response:
    return researcher.http.request(method, f"{PREFIX}{path}", json=json, headers=headers)


def _make(researcher: Researcher, **changes: object) -> dict[str, Any]:
    fields = {**STUDY, **changes}
    made = _call(researcher, "POST", "/studies", json=fields)
    assert made.status_code == 201, made.text
    document: dict[str, Any] = made.json()
    return document


def test_both_spellings_of_an_address_are_served(
    lenient: Researcher, researcher: Researcher
) -> None:
    """A strict emulator serves the document's alone."""
    for path in ("/users/me", "/users/me/", "/studies", "/workspaces/"):
        assert _call(lenient, "GET", path).status_code == 200
    assert _call(researcher, "GET", "/users/me/").status_code == 200
    assert _call(researcher, "GET", "/users/me").status_code == 404


@pytest.mark.parametrize("path", ["/studies/none/", "/filters", "/nothing/", "/studies/"])
def test_an_error_is_always_wrapped(lenient: Researcher, path: str) -> None:
    """Also where the document shows it bare, and where there is no such address."""
    replies = [_call(lenient, "GET", f"{path}?ordering=no&page=9")]
    replies.append(_call(lenient, "PUT", path))
    for reply in replies:
        if not reply.is_success:
            error = reply.json()["error"]
            assert error["status"] == reply.status_code
            assert {"error_code", "title", "detail"} <= set(error)
    assert not replies[-1].is_success


def test_an_older_code_may_approve_at_once(lenient: Researcher) -> None:
    """By the field that AutoRA sends with it; the study has links to follow."""
    fields = {name: value for name, value in STUDY.items() if name != "completion_codes"}
    older = {"completion_code": "OLD1", "completion_code_action": "AUTOMATICALLY_APPROVE"}
    made = _call(lenient, "POST", "/studies/", json={**fields, **older}).json()
    assert {name: made[name] for name in older} == older
    _publish(lenient, made["id"])
    ann = lenient.participant()
    assert ann.complete(ann.take(made["id"]), "OLD1") == "APPROVED"
    links = _call(lenient, "GET", f"/studies/{made['id']}").json()["_links"]
    listed = lenient.http.get(links["related"]["href"]).json()["results"]
    assert [each["status"] for each in listed] == ["APPROVED"]
    odd = {**fields, **older, "completion_code_action": "PAY"}
    assert _call(lenient, "POST", "/studies/", json=odd).status_code == 400


def test_chosen_answers_become_a_filter(lenient: Researcher) -> None:
    """By the question's id and the answers' labels; unknown ones are refused."""
    chosen = {
        "_cls": "web.eligibility.models.SelectAnswerEligibilityRequirement",
        "attributes": [
            {"label": "Germany", "name": "Germany", "value": True, "index": 3},
            {"label": "France", "name": "France", "value": False, "index": 4},
        ],
        "query": {"id": "54bef0fafdf99b15608c504e"},
    }
    body = {**STUDY, "eligibility_requirements": [chosen]}
    made = _call(lenient, "POST", "/studies/", json=body).json()
    assert made["filters"] == [{"filter_id": "nationality", "selected_values": ["3"]}]
    attributes = [{"label": "Atlantis", "value": True}]
    for wrong in ({**chosen, "attributes": attributes}, {**chosen, "query": {}}):
        odd = {**STUDY, "eligibility_requirements": [wrong]}
        assert _call(lenient, "POST", "/studies/", json=odd).status_code == 400


def test_an_older_code_becomes_a_completion_code(lenient: Researcher) -> None:
    """The study can be published, and the fields are read back as written."""
    fields = {name: value for name, value in STUDY.items() if name != "completion_codes"}
    older = {"completion_code": "OLD1", "completion_option": "url", "is_custom_screening": False}
    made = _call(
        lenient,
        "POST",
        "/studies/",
        json={**fields, **older, "status": "ACTIVE", "is_new_to_us": 1, "reward": "150"},
    ).json()
    assert (made["status"], made["reward"]) == ("UNPUBLISHED", 150)
    assert {name: made[name] for name in older} == older
    assert "is_new_to_us" not in made
    path = f"/studies/{made['id']}"
    _publish(lenient, made["id"])
    ann = lenient.participant()
    submission = ann.take(made["id"])
    assert ann.complete(submission, "OLD1") == "AWAITING REVIEW"
    renamed = _call(lenient, "PATCH", path, json={"internal_name": "b"})
    assert (renamed.status_code, renamed.json()["completion_code"]) == (200, "OLD1")


def _requirement(name: str, *attributes: dict[str, object]) -> dict[str, object]:
    return {"_cls": CLASS.format(name), "attributes": list(attributes)}


def test_older_requirements_decide_who_is_eligible(lenient: Researcher) -> None:
    """Each known class lets the same people in as the filter that follows it."""
    ann = lenient.participant(age=30, approvals=90, rejections=10)
    bob = lenient.participant(age=60, approvals=2, rejections=0)
    project = _call(lenient, "GET", f"/workspaces/{lenient.workspace_id()}/projects/").json()[
        "results"
    ][0]["id"]
    group = _call(
        lenient,
        "POST",
        "/participant-groups/",
        json={"project_id": project, "name": "Known", "participant_ids": [ann.participant_id]},
    ).json()["id"]
    earlier = _make(lenient)["id"]
    lenient.move(earlier, "PUBLISH")
    ann.do(earlier)
    lets_in: list[tuple[dict[str, object], list[Participant]]] = [
        (_requirement("AgeRange", _value("min_age", 18), _value("max_age", 40)), [ann]),
        (_requirement("ApprovalNumbers", _value("maximum_approvals", 10)), [bob]),
        (_requirement("ApprovalRate", _value("minimum_approval_rate", 99)), [bob]),
        (_requirement("CustomWhitelist", _value("white_list", _ids(ann))), [ann]),
        (_requirement("CustomBlacklist", _value("black_list", _ids(ann))), [bob]),
        (_requirement("CustomBlacklist", _value("black_list", [])), [ann, bob]),
        (_requirement("ParticipantGroup", {"id": group, "value": True}), [ann]),
        (_requirement("PreviousStudies", {"id": earlier, "value": True}), [bob]),
    ]
    for requirement, people in lets_in:
        study = _make(lenient, eligibility_requirements=[requirement])["id"]
        _publish(lenient, study)
        eligible = [each for each in (ann, bob) if study in each.studies()]
        assert eligible == people, requirement


def _publish(researcher: Researcher, study: str) -> None:
    path, body = f"/studies/{study}/transition", {"action": "PUBLISH"}
    assert _call(researcher, "POST", path, json=body).status_code == 200


def _value(name: str, value: object) -> dict[str, object]:
    return {"name": name, "value": value}


def _ids(*people: Participant) -> list[str]:
    return [each.participant_id for each in people]


@pytest.mark.parametrize(
    "requirements",
    [
        "all",
        ["x"],
        [{}],
        [{"_cls": CLASS.format("JoinedBefore")}],
        [{"_cls": CLASS.format("AgeRange"), "attributes": [1]}],
    ],
    ids=str,
)
def test_a_requirement_that_is_not_known_is_refused_by_name(
    lenient: Researcher, requirements: object
) -> None:
    """A study without it would recruit people that the program does not want."""
    fields = {**STUDY, "eligibility_requirements": requirements}
    reply = _call(lenient, "POST", "/studies/", json=fields)
    assert reply.status_code == 400
    assert list(reply.json()["error"]["detail"]) == ["eligibility_requirements"]


def test_a_strict_emulator_refuses_what_is_not_documented(researcher: Researcher) -> None:
    """Each field by its name."""
    odd = {"completion_code": "OLD1", "is_custom_screening": False, "reward": "150"}
    reply = _call(researcher, "POST", "/studies/", json={**STUDY, **odd})
    assert set(reply.json()["detail"]) == set(odd)


def test_a_study_and_its_submissions_have_what_the_command_line_reads(lenient: Researcher) -> None:
    """Figures are those of the one participant who came."""
    study = _make(lenient)["id"]
    lenient.move(study, "PUBLISH")
    ann = lenient.participant()
    submission = ann.take(study)
    lenient.wait(minutes=2)
    ann.complete(submission)
    shown = _call(lenient, "GET", f"/studies/{study}/").json()
    assert (shown["places_taken"], shown["study_type"]) == (1, "SINGLE")
    # Three places of 150, a fee of 49.5 (50) and a tax of 10.
    assert shown["total_cost"] == 3 * 210
    assert shown["date_created"].startswith("2026-01-05T09:00:00")
    [row] = _call(lenient, "GET", f"/studies/{study}/submissions/").json()["results"]
    assert (row["is_complete"], row["time_taken"]) == (True, 120)
    assert (row["bonus_payments"], row["ip"]) == ([], "")


def test_links_have_the_scheme_of_the_caller(lenient: Researcher) -> None:
    """A proxy that ends TLS says so in a header."""
    for _ in range(2):
        _make(lenient)
    headers = {"X-Forwarded-Proto": "https", "Host": "api.prolific.example"}
    pages = _call(lenient, "GET", "/studies/?page_size=1", headers=headers).json()
    link = pages["_links"]["next"]["href"]
    assert link.startswith("https://api.prolific.example/api/v1/studies/?")
    plain = _call(lenient, "GET", "/studies/?page_size=1").json()
    assert plain["_links"]["next"]["href"].startswith(f"{lenient.url}/api/v1/")


def test_an_operation_that_is_not_performed_says_so(
    lenient: Researcher, researcher: Researcher
) -> None:
    """Its name and the reason, with 501, however strict the emulator is."""
    for someone in (lenient, researcher):
        for method, path, name in ABSENT:
            reply = _call(someone, method, path.replace("{", "").replace("}", ""))
            assert reply.status_code == 501, (method, path)
            error = reply.json().get("error", reply.json())
            assert f"Prolific has the operation {name}" in error["detail"]


@pytest.mark.shared
@pytest.mark.skipif(not documented.FILE.is_file(), reason=documented.MISSING)
def test_every_operation_of_the_document_is_performed_or_known() -> None:
    """Under its name, its method and its address."""
    document = documented.documented()
    assert document is not None
    theirs = {
        (method.upper(), path, described["operationId"])
        for path, methods in document.document["paths"].items()
        for method, described in methods.items()
        if method in {"get", "post", "put", "patch", "delete"} and path.startswith(PREFIX)
    }
    ours = {(each.method, PREFIX + each.path, each.name) for each in OPERATIONS}
    absent = {(method, PREFIX + path, name) for method, path, name in ABSENT}
    assert not ours & absent
    assert ours | absent == theirs
