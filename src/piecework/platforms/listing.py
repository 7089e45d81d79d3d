"""List HITs and qualification types page by page."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from piecework.domain.assignment import Assignment
from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import PostableTest, PostedHit
from piecework.domain.ids import HitId, HitTypeId, QualificationTypeId, WorkerId
from piecework.domain.money import Bonus, cents_from_wire
from piecework.platforms.calling import called
from piecework.platforms.extensions import LIST_TOGETHER
from piecework.platforms.wire import assignment_from_wire, bonus_from_wire, market_of_requirements

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
            "other limits; give this one another name with name in its file",
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


def test_of(listed_type: Mapping[str, Any]) -> PostableTest:
    """Return the test of a listed type; its documents are empty if it has none."""
    return PostableTest(
        name=listed_type["Name"],
        description=listed_type["Description"],
        question_form=listed_type.get("Test") or "",
        answer_key=listed_type.get("AnswerKey") or "",
        duration_seconds=listed_type.get("TestDurationInSeconds") or 0,
        retry_seconds=listed_type.get("RetryDelayInSeconds"),
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


def blocks(client: "MTurkClient") -> Iterator[tuple[WorkerId, str]]:
    """Yield all workers whom the requester blocks, with the reason of the block."""
    pages = client.get_paginator("list_worker_blocks").paginate(
        PaginationConfig={"PageSize": _PAGE}
    )
    for page in pages_of(pages):
        for block in page["WorkerBlocks"]:
            yield WorkerId(block["WorkerId"]), block.get("Reason", "")


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


PAGE = 100
_TOO_MANY = "ParameterValidationError"
_HIT_ID = re.compile(r'"?([A-Z0-9]{20,64})"?')


def pages_of(pages: Any) -> Iterator[Any]:  # noqa: ANN401 - one for all paginators
    """Yield the pages of a listing; each is fetched like any other call."""
    iterator = iter(pages)
    while (page := called(lambda: next(iterator, None))) is not None:
        yield page


def newer(pages: Any, older: Container[str]) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - botocore's
    """Yield HITs of a listing, up to the page with one of the older ones.

    MTurk does not guarantee an order. Only if the pages so far have the newest first
    are the following pages assumed to be older. HITs that were posted at the same time
    show no order, and may fill whole pages.
    """
    made: list[datetime] = []
    is_ordered = True
    for page in pages_of(pages):
        yield from page["HITs"]
        of_page = [hit["CreationTime"] for hit in page["HITs"]]
        made = [*made[:1], *made[-1:], *of_page]
        is_ordered = is_ordered and made == sorted(made, reverse=True)
        is_newest_first = is_ordered and len(set(made)) > 1
        if is_newest_first and any(hit["HITId"] in older for hit in page["HITs"]):
            return


def all_hits(client: "MTurkClient") -> Any:  # noqa: ANN401 - botocore's pages
    """Return pages of all HITs of the requester, except disposed ones."""
    return client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": PAGE})


def posted_hits(client: "MTurkClient", older: Container[str]) -> Iterator[PostedHit]:
    """Yield those HITs, down to the older ones."""
    for hit in newer(all_hits(client), older):
        life = hit["Expiration"] - hit["CreationTime"]
        yield PostedHit(
            annotation=hit.get("RequesterAnnotation", ""),
            hit_id=HitId(hit["HITId"]),
            hit_type_id=HitTypeId(hit["HITTypeId"]),
            slots=hit["MaxAssignments"],
            reward_cents=cents_from_wire(hit["Reward"]),
            made_at=hit["CreationTime"].astimezone(UTC),
            # MTurk may show a HIT that was ended as one that expired in 1970.
            lifetime_seconds=max(0, round(life.total_seconds())),
            duration_seconds=hit["AssignmentDurationInSeconds"],
            auto_approval_seconds=hit.get("AutoApprovalDelayInSeconds", 0),
            market=market_of_requirements(hit.get("QualificationRequirements", [])),
        )


def paid_bonuses(client: "MTurkClient", **subject: str) -> Iterator[Bonus]:
    """Yield bonuses of an assignment (`AssignmentId`) or of a HIT (`HITId`)."""
    paginator = client.get_paginator("list_bonus_payments")
    pages = paginator.paginate(**subject, PaginationConfig={"PageSize": PAGE})
    for page in pages_of(pages):
        yield from map(bonus_from_wire, page["BonusPayments"])


def posted_before(client: "MTurkClient", annotation: str, sentence: str) -> HitId:
    """Return the HIT with an annotation after a refusal said that it exists.

    The refusal names the HIT in an undocumented form. So the named HIT is used only if
    it has the annotation; otherwise all HITs are searched.

    Raises:
        PlatformRefused: it is in no list.
    """
    for candidate in _HIT_ID.findall(sentence):
        try:
            hit = called(client.get_hit, HITId=candidate)["HIT"]
        except PlatformRefused:
            continue
        if hit.get("RequesterAnnotation") == annotation:
            return HitId(candidate)
    for posted in posted_hits(client, ()):
        if posted.annotation == annotation:
            return posted.hit_id
    raise PlatformRefused(
        f"the HIT {annotation!r} was posted before, but is not listed",
        code="HitAlreadyExists",
        kind="already_exists",
        next_step="run the same command again in a minute: lists may lag",
    )


def parts_of_a_page(slots: Mapping[HitId, int]) -> list[Mapping[HitId, int]]:
    """Split HITs with their slots so that no part has more slots than a page."""
    parts: list[dict[HitId, int]] = [{}]
    for hit_id, number in slots.items():
        if parts[-1] and sum(parts[-1].values()) + number > PAGE:
            parts.append({})
        parts[-1][hit_id] = number
    return list(parts)


def fetch(
    client: "MTurkClient", slots: Mapping[HitId, int]
) -> Mapping[HitId, Sequence[Assignment]]:
    """Return all assignments of HITs; one call may list several HITs.

    See `piecework.platforms.extensions`.

    Args:
        client: the requester's client.
        slots: how many assignments each HIT asks for, as far as known.
    """
    if len(slots) == 1:
        return _each_alone(client, slots)
    first, *others = slots
    try:
        reply = called(
            client.list_assignments_for_hit, HITId=first, MaxResults=PAGE, **{LIST_TOGETHER: others}
        )
    except PlatformRefused as refusal:
        if refusal.code != _TOO_MANY:
            raise
        # Slots that were added by hand let the HITs have more than one call may list.
        return _each_alone(client, slots)
    by_hit: dict[HitId, list[Assignment]] = {hit_id: [] for hit_id in slots}
    for assignment in _each_once(reply["Assignments"]):
        if assignment.hit_id in by_hit:
            by_hit[assignment.hit_id].append(assignment)
    return {
        # Each HIT has at most a page of assignments, unless slots were added by hand.
        hit_id: some if len(some) < PAGE else _of_one_hit(client, hit_id, slots=slots[hit_id])
        for hit_id, some in by_hit.items()
    }


def _each_alone(
    client: "MTurkClient", slots: Mapping[HitId, int]
) -> Mapping[HitId, Sequence[Assignment]]:
    return {hit_id: _of_one_hit(client, hit_id, slots=number) for hit_id, number in slots.items()}


def _of_one_hit(client: "MTurkClient", hit_id: HitId, *, slots: int) -> list[Assignment]:
    listed = _each_once(_pages_of_one_hit(client, hit_id, slots=slots))
    return [assignment for assignment in listed if assignment.hit_id == hit_id]


def _each_once(listed: Iterable[Any]) -> Iterator[Assignment]:
    """Yield each assignment of a listing once: a repeated one would be paid twice."""
    seen = set()
    for assignment in map(assignment_from_wire, listed):
        if assignment.assignment_id not in seen:
            seen.add(assignment.assignment_id)
            yield assignment


def _pages_of_one_hit(client: "MTurkClient", hit_id: HitId, *, slots: int) -> Iterator[Any]:
    seen = 0
    pages = client.get_paginator("list_assignments_for_hit").paginate(
        HITId=hit_id, PaginationConfig={"PageSize": PAGE}
    )
    for page in pages_of(pages):
        yield from page["Assignments"]
        seen += len(page["Assignments"])
        # A list ends with an empty page, which need not be fetched: if slots had been
        # added, their assignments would have filled this page further.
        if seen >= slots and len(page["Assignments"]) < PAGE:
            return
