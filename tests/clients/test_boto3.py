"""Every paginator that boto3 ships for MTurk, over three rows in pages of two."""

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from botocore import xform_name
from botocore.loaders import Loader

from tests.marketplace.market import Market, expire, post

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

_SHIPPED = Loader().load_service_model("mturk", "paginators-1", "2017-01-17")
_PAGINATORS: dict[str, dict[str, str]] = _SHIPPED["pagination"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Threefold:
    """A requester who has three of everything that is listed."""

    client: "MTurkClient"
    hit_id: str
    type_id: str

    def arguments(self, operation: str) -> dict[str, Any]:
        """What a list needs to be about the three."""
        by_operation: dict[str, dict[str, Any]] = {
            "ListAssignmentsForHIT": {"HITId": self.hit_id},
            "ListBonusPayments": {"HITId": self.hit_id},
            "ListHITsForQualificationType": {"QualificationTypeId": self.type_id},
            "ListQualificationRequests": {"QualificationTypeId": self.type_id},
            "ListQualificationTypes": {"MustBeRequestable": True, "MustBeOwnedByCaller": True},
            "ListWorkersWithQualificationType": {"QualificationTypeId": self.type_id},
        }
        return by_operation.get(operation, {})


@pytest.fixture(scope="module")
def threefold(standing: Market) -> Threefold:
    """Three HITs that are over (one of them done by three workers), and so on."""
    client = standing.requester()
    type_ids = [_qualification_type(client) for _ in range(3)]
    required = {"QualificationTypeId": type_ids[0], "Comparator": "DoesNotExist"}
    members: dict[str, Any] = {"QualificationRequirements": [required]}
    hit = post(client, MaxAssignments=3, **members)
    for _ in range(3):
        _work(client, standing, hit, type_ids[0])
    for number in range(2):
        other = post(client, RequesterAnnotation=f"n{number}", **members)
        expire(client, other["HITId"])
    return Threefold(client=client, hit_id=hit["HITId"], type_id=type_ids[0])


def _qualification_type(client: "MTurkClient") -> str:
    made = client.create_qualification_type(
        Name=f"Knows birds {secrets.token_hex(4)}",
        Description="Has named birds before.",
        QualificationTypeStatus="Active",
    )
    return made["QualificationType"]["QualificationTypeId"]


def _work(client: "MTurkClient", market: Market, hit: dict[str, Any], type_id: str) -> None:
    """One worker works and gets a bonus; two more ask, or are granted and blocked."""
    worker, asking, holding = market.worker(), market.worker(), market.worker()
    assignment_id = worker.do(hit["HITGroupId"])
    client.send_bonus(
        WorkerId=worker.worker_id,
        AssignmentId=assignment_id,
        BonusAmount="0.10",
        Reason="Fine words",
    )
    asked = asking.http.post(f"/worker/qualifications/{type_id}/request")
    assert asked.is_success, asked.text
    client.associate_qualification_with_worker(
        QualificationTypeId=type_id, WorkerId=holding.worker_id
    )
    client.create_worker_block(WorkerId=holding.worker_id, Reason="Sent spam")


@pytest.mark.parametrize("operation", sorted(_PAGINATORS))
def test_a_paginator_finds_each_row_once(threefold: Threefold, operation: str) -> None:
    """Two rows, one row, and perhaps an empty page; no row twice."""
    shape = _PAGINATORS[operation]
    client: Any = threefold.client
    pages = client.get_paginator(_method(operation)).paginate(
        **threefold.arguments(operation), PaginationConfig={"PageSize": 2}
    )
    rows_of_pages: list[list[Any]] = [page[shape["result_key"]] for page in pages]
    assert [len(rows) for rows in rows_of_pages if rows] == [2, 1]
    assert len({str(row) for rows in rows_of_pages for row in rows}) == 3


def _method(operation: str) -> str:
    return str(xform_name(operation))
