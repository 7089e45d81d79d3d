"""Qualification types of the requester, found by their unique names."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import QualificationTypeId, WorkerId
from piecework.platforms.calling import called
from piecework.platforms.listing import pages_of

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

_PAGE = 100


def make_or_find(
    client: "MTurkClient",
    is_ours: Callable[[Mapping[str, Any]], bool],
    **wanted: Any,  # noqa: ANN401 - boto3's own
) -> QualificationTypeId:
    """Return the id of a type with these values, created or found by its name.

    Args:
        client: the requester's client.
        is_ours: whether an existing type with the name can be used.
        wanted: the values for a new type.

    Raises:
        PlatformRefused: the existing type with this name cannot be used.
    """
    try:
        reply = called(client.create_qualification_type, **wanted)
        return QualificationTypeId(reply["QualificationType"]["QualificationTypeId"])
    except PlatformRefused as refusal:
        if refusal.kind != "already_exists":
            raise
    existing_type = find(client, wanted["Name"])
    if not is_ours(existing_type):
        raise PlatformRefused(
            f"the qualification type {wanted['Name']!r} exists with another test or "
            "other thresholds; give this one another name with name in its file",
            code="QualificationTypeAlreadyExists",
            kind="already_exists",
        )
    return QualificationTypeId(existing_type["QualificationTypeId"])


def find(client: "MTurkClient", name: str) -> Mapping[str, Any]:
    """Return the requester's existing type with a name.

    Raises:
        PlatformRefused: it is in no list.
    """
    pages = client.get_paginator("list_qualification_types").paginate(
        Query=name,
        MustBeRequestable=False,
        MustBeOwnedByCaller=True,
        PaginationConfig={"PageSize": _PAGE},
    )
    for page in pages_of(pages):
        for listed_type in page["QualificationTypes"]:
            if listed_type["Name"] == name:
                return dict(listed_type)
    raise PlatformRefused(
        f"the qualification type {name!r} exists, but is not listed",
        code="QualificationTypeAlreadyExists",
        kind="already_exists",
        next_step="run the same command again in a minute: lists may lag",
    )


def claim(client: "MTurkClient", name: str, owner: str) -> str:
    """Return who created the type with a name: the owner, or someone earlier.

    No HIT requires it and no worker can request it.
    """
    try:
        called(
            client.create_qualification_type,
            Name=name,
            Description=owner,
            QualificationTypeStatus="Inactive",
        )
    except PlatformRefused as refusal:
        if refusal.kind != "already_exists":
            raise
        return str(find(client, name)["Description"])
    return owner


def holders(client: "MTurkClient", type_id: QualificationTypeId) -> Iterator[tuple[WorkerId, int]]:
    """Yield all workers who hold a qualification, with its value."""
    pages = client.get_paginator("list_workers_with_qualification_type").paginate(
        QualificationTypeId=type_id, Status="Granted", PaginationConfig={"PageSize": _PAGE}
    )
    for page in pages_of(pages):
        for grant in page["Qualifications"]:
            yield WorkerId(grant["WorkerId"]), grant["IntegerValue"]


def notify(client: "MTurkClient", worker_id: WorkerId, subject: str, text: str) -> bool:
    """Send a worker a message; return whether it can be delivered."""
    reply = called(client.notify_workers, Subject=subject, MessageText=text, WorkerIds=[worker_id])
    return not reply["NotifyWorkersFailureStatuses"]


def take_back(
    client: "MTurkClient", type_id: QualificationTypeId, worker_id: WorkerId, because: str
) -> None:
    """Take a qualification from a worker; MTurk refuses this if they do not hold it.

    Raises:
        PlatformRefused: the worker still holds it.
    """
    try:
        called(
            client.disassociate_qualification_from_worker,
            QualificationTypeId=type_id,
            WorkerId=worker_id,
            Reason=because,
        )
    except PlatformRefused:
        if worker_id in dict(holders(client, type_id)):
            raise
