"""Each operation against Prolific's own document: what is sent, and what is read."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from piecework.foundation.client.errors import Unreadable
from tests.answering import Answer, Asked
from tests.markets.prolific import openapi
from tests.markets.prolific.calls import ALL, ID, ONCE, PARTICIPANT
from tests.markets.prolific.stub import Stub

_Document = Any

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not openapi.FILE.exists(), reason="../shared/reference is not here"),
]

_IDENTITY = {"id": ID, "name": "birds", "status": "ACTIVE"}
"""What the document of a study or a group does not promise, and must be there."""
_SAYS_NOTHING = {
    *("add", "bulk_approve", "delete_study", "pay_bonuses", "remove"),
    *("send", "send_bulk", "unsubscribe"),
}
_PROMISES_NOTHING = {
    *("balance", "cost", "create_group", "filter_kinds", "group", "groups"),
    *("participants", "recruitment_time", "reward_recommendations"),
    *("create_secret", "event_types", "secrets"),
    *("create_test_participant", "create_test_study"),
}
"""Where the document requires no key of what is useless without some."""
_MAY_BE_EMPTY = {"counts", "request_return"}


def _as_documented(
    *, all_keys: bool, change: Callable[[_Document], _Document] = lambda document: document
) -> Callable[[Asked], Answer]:
    def respond(asked: Asked) -> Answer:
        status, schema = openapi.operation_of(asked).success()
        if schema is None or status == 204:
            return Answer(status)
        return Answer(status, change(openapi.sample(schema, all_keys=all_keys)))

    return respond


def _with_identity(document: _Document) -> _Document:
    rows = document.get("results") if isinstance(document, dict) else None
    if rows is not None:
        return {**document, "results": [{**_IDENTITY, **row} for row in rows]}
    is_object = isinstance(document, dict) and document
    return {**_IDENTITY, **document} if is_object else document


@pytest.mark.parametrize("name", ALL)
def test_what_is_documented_can_be_read_and_what_is_sent_is_documented(
    stub: Stub, name: str
) -> None:
    """With all keys of the document; the fixture holds each call to the document."""
    stub.respond = _as_documented(all_keys=True)
    ALL[name](stub.client())
    assert stub.asked


@pytest.mark.parametrize("name", sorted(ALL.keys() - _PROMISES_NOTHING))
def test_what_is_not_promised_may_be_missing(stub: Stub, name: str) -> None:
    """With the keys that the document requires, and null where it may stand."""
    stub.respond = _as_documented(all_keys=False, change=_with_identity)
    ALL[name](stub.client())


@pytest.mark.parametrize("name", ALL)
def test_what_is_new_at_prolific_is_left_out_and_does_no_harm(stub: Stub, name: str) -> None:
    """A key and a status that nobody knows yet."""

    def renewed(document: _Document) -> _Document:
        if isinstance(document, list):
            return [renewed(each) for each in document]
        if not isinstance(document, dict):
            return document
        inner = {key: renewed(value) for key, value in document.items()}
        if "status" in inner:
            inner["status"] = "BRAND NEW"
        return inner if name == "counts" else {**inner, "brand_new": {"a": [1]}}

    stub.respond = _as_documented(all_keys=True, change=renewed)
    value = ALL[name](stub.client())
    if name in {"study", "submission", "publish", "approve"}:
        assert getattr(value, "status") == "BRAND NEW"  # noqa: B009 - any of two values


@pytest.mark.parametrize("name", sorted(ALL.keys() - _SAYS_NOTHING - _MAY_BE_EMPTY))
def test_a_promised_key_that_is_missing_is_named_in_a_sentence(stub: Stub, name: str) -> None:
    """An empty object is no answer of this operation; and no KeyError either."""
    stub.answer(Answer(document={}))
    with pytest.raises(Unreadable, match=r"not as documented|`results`"):
        ALL[name](stub.client())


@pytest.mark.parametrize("name", sorted(ONCE.keys() & _SAYS_NOTHING))
def test_what_says_nothing_is_done_when_json_or_nothing_comes_back(stub: Stub, name: str) -> None:
    """Prolific answers such calls with nothing or with a word."""
    for answer in (Answer(204), Answer(202, "accepted"), Answer(200, {})):
        stub.answer(answer)
        ONCE[name](stub.client())


def test_the_values_hold_what_was_answered(stub: Stub) -> None:
    """Money in minor units, moments in UTC, both shapes of a submission."""
    row = {
        "id": ID,
        "participant_id": PARTICIPANT,
        "status": "AWAITING REVIEW",
        "started_at": "2026-11-20T10:00:00+01:00",
        "has_siblings": False,
        "study_code": "C1ABCDEF",
    }
    stub.answer(Answer(document={"results": [row], "_links": {"next": None}}))
    (listed,) = stub.client().submissions.of_study(ID)
    detail = {
        "id": ID,
        "participant": PARTICIPANT,
        "status": "AWAITING REVIEW",
        "started_at": "2026-11-20T09:00:00Z",
        "study_id": ID,
        "entered_code": "C1ABCDEF",
        "bonus_payments": [125, 50.0],
    }
    stub.answer(Answer(document=detail))
    whole = stub.client().submissions.get(ID)
    assert whole.bonuses_minor == (125, 50)
    assert (listed.participant_id, listed.code, listed.started_at) == (
        *(whole.participant_id, whole.code, whole.started_at),
    )
    assert PARTICIPANT not in f"{listed!r} {whole!r}"


def test_a_new_key_that_is_called_like_ours_is_not_taken_for_it(stub: Stub) -> None:
    """Names of ours are not Prolific's: its next version may use them otherwise."""
    taken = {"places": ["a"], "submissions": {"b": 1}, "reward_minor": "c"}
    stub.answer(Answer(document={**_IDENTITY, "total_available_places": 20, **taken}))
    study = stub.client().studies.get(ID)
    assert (study.places, study.submissions, study.reward_minor) == (20, None, None)


def test_a_filter_of_each_kind_is_written_as_prolific_reads_it(stub: Stub) -> None:
    """The bodies of a draft, word for word where money and people hang on them."""
    stub.respond = _as_documented(all_keys=True)
    ALL["create_study"](stub.client())
    (asked,) = stub.asked
    body: Mapping[str, _Document] = asked.body
    assert body["reward"] == 150
    assert body["total_available_places"] == 20
    assert body["filters"][1] == {
        "filter_id": "approval_rate",
        "selected_range": {"lower": 95, "upper": 100},
    }
    assert body["completion_codes"][0]["actions"] == [
        {"action": "MANUALLY_REVIEW"},
        {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": ID},
    ]


def test_a_bonus_is_written_in_major_units(stub: Stub) -> None:
    """`125` would be a hundred and twenty-five pounds."""
    stub.respond = _as_documented(all_keys=True)
    ALL["create_bonuses"](stub.client())
    assert stub.asked[0].body["csv_bonuses"] == f"{ID},1.25"
