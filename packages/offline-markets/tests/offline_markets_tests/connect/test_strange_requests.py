"""Whatever is sent, the answer is one of the API's, and the books stay whole."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_markets.connect import account, books, money, projects, taking
from offline_markets.connect.assignment import catch_up
from offline_markets.connect.call import Call, error_body
from offline_markets.connect.options import Options
from offline_markets.connect.routes import CONTROLS, OPERATIONS
from offline_markets.connect.state import State
from offline_markets.core.errors import ApiError
from offline_markets_tests.connect.requester import PROJECT, START, Requester
from tests.examples import examples

_FIELDS = {
    *PROJECT,
    *("instructions", "systemRequirements", "hasSensitiveContent", "taskTemplate"),
    *("deviceRequirements", "demographicTargeting", "platformTargeting", "status"),
    *("participantIds", "bonusPayment", "message", "subject", "projectId"),
    *("recipientId", "targetingCriteria", "amount", "code"),
}
_NAMES = ("id", "message", "amount", "participants", "includedParticipants", "value")
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(["", "Live", "Paused", "Closed", "RedirectUrl", 1, 2.5]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)


@examples(100)
@given(data=st.data())
def test_any_body_is_done_or_refused(data: st.DataObject) -> None:
    """To a live project with work in it: fields of any operation, two of them odd."""
    state = State(Options(start=START))
    with state.transaction():
        money.open_account(state, 10_000)
        account.draw(state, 2)
        made = projects.create(Call(state=state, body=PROJECT))["project"]
        path = {
            "project_id": made["projectId"],
            "participant_id": state.rows("SELECT id FROM participant")[0]["id"],
        }
        live = Call(state=state, path=path, body={"status": "Live"})
        projects.update_status(live)
        path["assignment_id"] = taking.arrive(Call(state=state, path=path))["assignmentId"]
    for _ in range(4):
        operation = data.draw(st.sampled_from([*OPERATIONS, *CONTROLS]))
        body: dict[str, Any] = {}
        if operation.method == "POST":
            body = data.draw(st.dictionaries(st.sampled_from(sorted(_FIELDS)), _VALUES, max_size=2))
        if operation.name == "create-project":
            body = {**PROJECT, **body}
        query = data.draw(
            st.dictionaries(
                st.sampled_from(["Size", "Status", "NextToken"]), st.text(max_size=5), max_size=2
            )
        )
        try:
            with state.transaction():
                catch_up(state)
                operation.handler(Call(state=state, path=path, query=query, body=body))
        except ApiError as refusal:
            error_body(refusal, "/api/v1/project")
    with state.transaction():
        assert books.read(Call(state=state))["brokenLaws"] == []
    state.close()


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "\\ud800"}',
        b'{"payment": NaN}',
        b'{"payment": 1e999}',
        b"[]",
        b"{",
        b'{"name": "' + b"n" * 1_048_576 + b'"}',
    ],
)
def test_what_is_no_json_object_is_refused(lasting: Requester, body: bytes) -> None:
    """Though Python's parser takes some of it; the last one is too large."""
    response = lasting.http.post("/project", content=body)
    assert response.status_code in (400, 413)
    assert response.json()["error"]["status"] == response.status_code


def test_an_unknown_address_is_answered_in_the_same_shape(lasting: Requester) -> None:
    """With 404 and a trace."""
    response = lasting.http.get("/studies")
    assert response.status_code == 404
    assert response.json()["error"]["instance"] == "/api/v1/studies"
    assert response.headers["X-TRACE-ID"]
