"""All rows of a listing, whichever way it is paged, and none of them twice."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from piecework.foundation.client.errors import Lost, NoAccess, Unreadable
from tests.answering import Answer, Asked
from tests.markets.prolific.calls import ID
from tests.markets.prolific.stub import Stub

_ELSEWHERE = "http://internal-host.invalid:9/other/path/?study=x&page={}&page_size=2"


def _rows(first: int, last: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"s{number}",
            "participant_id": f"p{number}",
            "status": "ACTIVE",
            "started_at": "2026-11-20T10:00:00Z",
            "has_siblings": False,
        }
        for number in range(first, last + 1)
    ]


def _serve(stub: Stub, respond: Callable[[Mapping[str, str]], Answer]) -> list[str]:
    def by_query(asked: Asked) -> Answer:
        return respond(asked.query)

    stub.respond = by_query
    return [each.id for each in stub.client().submissions.of_study(ID)]


def _linked(query: Mapping[str, str]) -> Answer:
    page = int(query.get("page", 1))
    href = _ELSEWHERE.format(page + 1) if page < 3 else None
    links = {"next": {"href": href, "title": "Next"}}
    rows = _rows(2 * page - 1, 2 * page)
    return Answer(document={"results": rows, "_links": links, "meta": {"count": 6}})


def test_a_link_to_the_next_page_is_followed_by_its_query_alone(stub: Stub) -> None:
    """Its host may be an internal one, and its path another."""
    assert _serve(stub, _linked) == ["s1", "s2", "s3", "s4", "s5", "s6"]
    assert {asked.path for asked in stub.asked} == {"/api/v1/submissions/"}
    assert [asked.query.get("page") for asked in stub.asked] == [None, "2", "3"]


def test_rows_are_counted_where_there_is_no_link(stub: Stub) -> None:
    """Offset and limit, until as many rows came as there are."""

    def respond(query: Mapping[str, str]) -> Answer:
        offset = int(query.get("offset", 0))
        rows = _rows(offset + 1, min(offset + 2, 5))
        return Answer(document={"results": rows, "meta": {"count": 5}})

    assert _serve(stub, respond) == ["s1", "s2", "s3", "s4", "s5"]
    assert [asked.query.get("offset") for asked in stub.asked] == [None, "2", "4"]


@pytest.mark.parametrize("after", [Answer(404, {"detail": "Invalid page."}), None])
def test_pages_are_tried_where_nothing_tells(stub: Stub, after: Answer | None) -> None:
    """Until one is empty, or there is none."""

    def respond(query: Mapping[str, str]) -> Answer:
        page = int(query.get("page", 1))
        if page > 2:
            return after or Answer(document={"results": []})
        return Answer(document={"results": _rows(2 * page - 1, 2 * page)})

    assert _serve(stub, respond) == ["s1", "s2", "s3", "s4"]


def test_a_listing_without_pages_is_read_once(stub: Stub) -> None:
    """It gives the same rows again when it is asked for a second page."""
    everything = Answer(document={"results": _rows(1, 3)})
    assert _serve(stub, lambda _: everything) == ["s1", "s2", "s3"]
    assert len(stub.asked) == 2


def test_a_row_that_moves_to_a_later_page_is_given_once(stub: Stub) -> None:
    """A new row came in before it while the pages were read."""

    def respond(query: Mapping[str, str]) -> Answer:
        page = int(query.get("page", 1))
        rows = {1: _rows(1, 2), 2: _rows(2, 4)}.get(page, [])
        return Answer(document={"results": rows})

    assert _serve(stub, respond) == ["s1", "s2", "s3", "s4"]


@pytest.mark.parametrize(
    "more", [{"_links": {"next": {"href": _ELSEWHERE.format(1)}}}, {"meta": {"count": 9}}]
)
def test_a_listing_that_goes_round_in_circles_is_no_whole_one(
    stub: Stub, more: dict[str, Any]
) -> None:
    """Money hangs on it, so half a listing is an error."""
    with pytest.raises(Unreadable, match="after 4 rows"):
        _serve(stub, lambda _: Answer(document={"results": _rows(1, 2), **more}))


@pytest.mark.parametrize("status", [401, 404])
def test_no_access_to_the_first_page_is_no_empty_listing(stub: Stub, status: int) -> None:
    """A study that is not there has no submissions, but that is another thing."""
    with pytest.raises(NoAccess):
        _serve(stub, lambda _: Answer(status, {"detail": "no"}))


def test_a_token_that_ends_in_between_is_no_end_of_the_listing(stub: Stub) -> None:
    """401 says so; only 404 is Prolific's word for a page past the last."""
    stub.answer(_linked({}), Answer(401, {"detail": "Invalid token."}))
    with pytest.raises(NoAccess):
        list(stub.client().submissions.of_study(ID))


def test_a_page_that_does_not_come_ends_the_listing_with_an_error(stub: Stub) -> None:
    """The rows before it are no whole listing."""
    stub.answer(_linked({}), Answer(503))
    with pytest.raises(Lost):
        list(stub.client().submissions.of_study(ID))


@pytest.mark.parametrize("document", [[], {"results": {}}, {"results": [1]}, "x", None])
def test_what_is_no_page_is_said(stub: Stub, document: object) -> None:
    """A sentence, and no traceback from within."""
    stub.answer(Answer(document=document))
    with pytest.raises(Unreadable, match="`results`"):
        list(stub.client().submissions.of_study(ID))
