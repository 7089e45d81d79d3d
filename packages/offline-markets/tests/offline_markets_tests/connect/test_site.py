"""Pages for a person: from the list of projects to the work and its completion."""

import re
from collections.abc import Iterator

import httpx
import pytest

from offline_markets_tests.connect.requester import Requester
from offline_markets_tests.connect.test_participants import CODE


@pytest.fixture
def browser(requester: Requester) -> Iterator[httpx.Client]:
    """A browser that keeps cookies and follows no redirect by itself."""
    address = requester.offline.address
    with httpx.Client(base_url=address, trust_env=False) as browser:
        yield browser


def test_a_person_begins_and_comes_back_by_the_redirect(
    requester: Requester, browser: httpx.Client
) -> None:
    """The browser's cookie says who they are; a second visit changes nothing."""
    worker = requester.offline.participant()
    project_id = requester.live(summary="<b>Say</b> what you see.")
    assert worker in browser.get("/emulator/site").text
    page = browser.get(f"/emulator/site/{worker}").text
    assert "&lt;b&gt;Say" in page
    assert "1.50 USD" in page
    began = browser.post(f"/emulator/site/{worker}/{project_id}")
    assert began.status_code == 303
    assert f"participantId={worker}" in began.headers["location"]
    assert "continue" in browser.get(f"/emulator/site/{worker}").text
    shown = requester.get(f"/project/{project_id}")["project"]
    for _ in range(2):
        assert "Pending" in browser.get(shown["completionSettings"]["value"]).text
    assert requester.statuses(project_id) == ["Pending"]


def test_a_person_enters_the_code(requester: Requester, browser: httpx.Client) -> None:
    """The page asks for it; spaces around it are dropped."""
    project_id = requester.live(completionSettings=CODE)
    worker = requester.offline.arrive(project_id)
    page = browser.get(worker.complete_url)
    action = re.search(r"action='([^']+)'", page.text)
    assert action is not None
    assert requester.statuses(project_id) == []
    address = page.url.join(action[1])
    assert "Pending" in browser.post(address, data={"code": " R1GHT "}).text
    [listed] = requester.assignments(project_id)
    assert listed["completion"]["completionCode"] == "R1GHT"
    assert browser.post(address, data={"code": "again"}).status_code == 400
    assert browser.post(address, data={}).status_code == 400


def test_a_person_returns_an_assignment(requester: Requester, browser: httpx.Client) -> None:
    """And then cannot complete it."""
    worker = requester.offline.arrive(requester.live())
    path = f"/emulator/site/{worker.participant_id}/return/{worker.assignment_id}"
    assert browser.post(path).headers["location"].endswith(worker.participant_id)
    refused = browser.get(worker.complete_url)
    assert refused.status_code == 400
    assert "Returned" in refused.json()["error"]["detail"]


def test_a_stranger_completes_nothing(requester: Requester, browser: httpx.Client) -> None:
    """Without a cookie and an id, with another project's, or with an unknown id."""
    project_id, other = requester.live(), requester.live()
    worker = requester.offline.arrive(other)
    path = f"/participant/project/{project_id}/complete"
    for query in (
        {},
        {"participantId": worker.participant_id},
        {"assignmentId": worker.assignment_id},
        {"assignmentId": "none"},
    ):
        assert browser.get(path, params=query).status_code == 400
    assert requester.statuses(other) == []


def test_a_page_of_another_site_controls_nothing(
    requester: Requester, browser: httpx.Client
) -> None:
    """But it may send a person to the completion page."""
    project_id = requester.live()
    worker = requester.offline.arrive(project_id)
    foreign = {"Sec-Fetch-Site": "cross-site"}
    for path in ("/emulator/books", "/emulator/site", "/emulator/clock"):
        assert browser.get(path, headers=foreign).status_code == 403
    assert browser.get(worker.complete_url, headers=foreign).status_code == 200
    assert requester.statuses(project_id) == ["Pending"]
