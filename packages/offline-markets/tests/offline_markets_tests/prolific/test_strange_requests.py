"""Whatever is sent, the answer is one of the API's, and the books stay whole."""

import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_markets.core.errors import ApiError
from offline_markets.core.faults import FaultScript
from offline_markets.prolific import books, participants
from offline_markets.prolific.call import Call, error_body
from offline_markets.prolific.due import catch_up
from offline_markets.prolific.options import Options, Switches
from offline_markets.prolific.routes import NAMES, OPERATIONS, PARTICIPANTS
from offline_markets.prolific.state import State
from offline_markets.prolific.workspaces import make_account
from offline_markets_tests.prolific.people import START, STUDY, Researcher
from tests.examples import examples

_FIELDS = {
    *STUDY,
    *("filters", "project", "submissions_config", "naivety_distribution_rate"),
    *("action", "publish_at", "message", "rejection_category", "completion_code"),
    *("completion_code_data", "request_return_reasons", "submission_ids"),
    *("study_id", "participant_ids", "csv_bonuses", "recipient_id", "ids", "body"),
    *("participant_group_id", "workspace_id", "title", "type", "code", "reserve"),
    *("block_previous_participants", "country", "age", "approvals", "answers"),
    *("event_type", "target_url", "is_enabled", "secret"),
    *("sections", "questions", "researcher_id", "submission_id", "credentials"),
    *("name", "task_details", "collection_items", "answers", "access_details"),
    *("schema", "batch_items", "dataset_id", "tasks_per_group", "instructions"),
    *("upload_new_dataset", "auto_sync_enabled", "data_collection_metadata"),
    *("data_collection_method", "data_collection_id", "credential_pool_id"),
}
_QUERIES = (
    *("state", "study", "status", "ordering", "page", "page_size", "limit", "offset"),
    *("filter", "workspace_id", "user_id", "created_after", "submitted_from"),
    *("completed", "is_projected", "excluded_sender_ids", "currency", "active"),
    *("is_enabled", "resource_id", "researcher_id", "expires"),
)
_TEXTS = st.sampled_from(["", "x", "PUBLISH", "APPROVE", "COMPLETE", "GB", "0,1"])
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | _TEXTS
    | st.builds(dict, filter_id=st.sampled_from(["age", "and", "custom_allowlist"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)


_TABLES = {
    "workspace_id": "workspace",
    "project_id": "project",
    "participant_id": "participant",
    "subscription_id": "subscription",
    "survey_id": "survey",
    "response_id": "survey_response",
    "credential_pool_id": "credential_pool",
    "collection_id": "collection",
    "export_id": "export_job",
    "upload_id": "upload",
    "dataset_id": "dataset",
    "import_id": "dataset_import",
    "job_id": "schema_migration",
    "batch_id": "batch",
    "sync_id": "batch_sync",
}
"""Where the objects of an address are, by its parameter."""


def _make_one_of_each(state: State) -> None:
    """A survey, a pool of credentials, a collection, a dataset and a batch."""
    details = dict.fromkeys(("task_name", "task_introduction", "task_steps"), "T")
    bodies: dict[str, dict[str, Any]] = {
        "create-survey": {
            "researcher_id": state.user_id,
            "title": "S",
            "questions": [{"title": "Q", "type": "single", "answers": []}],
        },
        "create-credential-pool": {"credentials": "ann,a1"},
        "create-task-builder-dataset": {
            "name": "D",
            "schema": {"strict": True, "fields": {"text": {"type": "text"}}},
        },
        "create-task-builder-batch": {"name": "B", "task_details": details},
        "create-collection": {
            "name": "C",
            "task_details": details,
            "collection_items": [{"page_items": [{"type": "free_text", "description": "D"}]}],
        },
    }
    [workspace] = state.rows("SELECT id FROM workspace")
    handlers = {operation.name: operation.handler for operation in OPERATIONS}
    for name, body in bodies.items():
        if name != "create-survey":
            body["workspace_id"] = workspace["id"]
        with state.transaction():
            handlers[name](Call(state=state, body=body))


@examples(100)
@given(data=st.data())
def test_any_body_is_done_or_refused(data: st.DataObject) -> None:
    """A study's own fields with one or two changed, and fields of any operation."""
    state = State(Options(start=START))
    with state.transaction():
        make_account(state, 10_000)
        participants.draw(state, 2)
    ids: dict[str, str] = {}
    _make_one_of_each(state)
    for _ in range(3):
        operation = data.draw(st.sampled_from([*OPERATIONS, *PARTICIPANTS]))
        body: dict[str, Any] = {}
        if operation.method in ("POST", "PATCH", "DELETE"):
            body = data.draw(st.dictionaries(st.sampled_from(sorted(_FIELDS)), _VALUES, max_size=2))
            if operation.name == "create-study":
                body = {**STUDY, **body}
        for name in ("study", *_TABLES.values()):
            rows = state.rows(f"SELECT id FROM {name}")
            ids[name] = rows[0]["id"] if rows else "none"
        path = {
            **dict.fromkeys(("id", "study_id", "submission_id"), ids["study"]),
            **{parameter: ids[table] for parameter, table in _TABLES.items()},
            "filename": "data.csv",
        }
        query = data.draw(
            st.dictionaries(st.sampled_from(_QUERIES), st.text(max_size=5), max_size=2)
        )
        try:
            with state.transaction():
                catch_up(state)
                operation.handler(
                    Call(
                        state=state,
                        path={
                            name: value
                            for name, value in path.items()
                            if f"{{{name}}}" in operation.path
                        },
                        query=query,
                        body=body,
                        content=json.dumps(body).encode(),
                    )
                )
        except ApiError as refusal:
            error_body(refusal, is_wrapped=True)
    with state.transaction():
        assert books.read(Call(state=state))["broken_laws"] == []
    state.close()


@examples(80)
@given(value=_VALUES)
def test_any_control_is_done_or_refused(value: Any) -> None:  # noqa: ANN401 - any JSON
    """Scripts of faults and switches."""
    for act in (
        lambda: FaultScript().set(value, NAMES),
        lambda: Switches().changed({"errors": value, "settling_seconds": value}),
    ):
        try:
            act()
        except ApiError as refusal:
            assert refusal.status == 400  # noqa: PT017 - others pass through


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "\\ud800"}',
        b'{"naivety_distribution_rate": NaN}',
        b'{"reward": Infinity}',
        b'{"naivety_distribution_rate": 1e999}',
    ],
)
def test_what_is_no_json_is_refused(researcher: Researcher, body: bytes) -> None:
    """Though Python's parser takes it."""
    response = researcher.http.post("/api/v1/studies/", content=body)
    assert response.status_code == httpx.codes.BAD_REQUEST
