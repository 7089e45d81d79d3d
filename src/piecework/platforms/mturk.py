"""MTurk's requester API through boto3, for any compatible server.

Amazon's own service closed on 2026-09-30, so the endpoint is always stated: piecework's
marketplace, or another server with the same protocol. Errors are distinguished by
`TurkErrorCode` and by a further look-up, never by their text.

It uses MTurk's terms, which are the field's terms; only this package sees the wire format.
Calls that spend or publish are made only through stored intents, so every such call has a
counterpart that looks whether it has already happened. Every method may raise
`TransientPlatformError` (the outcome is unknown) or `PlatformRefused`. Money is in whole
cents, fees come on top.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from piecework.domain.assignment import Assignment, AssignmentStatus
from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import MTURK, Capabilities, HitStatus, HitType, PostableTest, PostedHit
from piecework.domain.ids import AssignmentId, HitId, HitTypeId, QualificationTypeId, WorkerId
from piecework.domain.marks import Marks, Meeting
from piecework.domain.money import Bonus, Compensation, PriceList, cents_to_wire
from piecework.platforms import extensions, listing
from piecework.platforms.calling import called
from piecework.platforms.client import turk_client
from piecework.platforms.endpoint import Credentials, LiveSite, refuse_closed_host
from piecework.platforms.listing import blocks, claim, holders, make_or_find, notify, take_back
from piecework.platforms.wire import (
    SharedQuestion,
    limit_to_wire,
    recruiting_to_wire,
    requirement_to_wire,
)

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

_EXPIRING_TRIES = 12


class MTurk:
    """What piecework needs from a platform with workers, at an MTurk-compatible endpoint.

    Attributes:
        marks: the marks that it and its store exchange.

    Args:
        endpoint: URL of the requester API.
        access_key: and `secret_key`, from `source`: `None` leaves them to boto3's own chain.
        capabilities: what the endpoint can do, if that differs from MTurk.
        patience_seconds: how long to wait during an outage
            (`piecework.platforms.calling`).
    """

    def __init__(
        self,
        endpoint: str,
        *,
        access_key: str | None = None,
        secret_key: str | None = None,
        source: str = "",
        capabilities: Capabilities = MTURK,
        patience_seconds: float | None = None,
    ) -> None:
        refuse_closed_host(endpoint)
        self.endpoint, self.capabilities, self.marks = endpoint, capabilities, Marks()
        self._opened = partial(
            turk_client,
            endpoint,
            access_key=access_key,
            secret_key=secret_key,
            source=source,
            patience_seconds=patience_seconds,
        )
        self._lock = Lock()
        self._made: MTurkClient | None = None
        self._extensions: extensions.Extensions | None = None
        self._digests: dict[tuple[str, ...], str] = {}

    @classmethod
    def with_keys(
        cls, endpoint: str, keys: Credentials | None, *, patience_seconds: float | None = None
    ) -> "MTurk":
        """Return the port with these keys, or with boto3's credential chain."""
        stated = asdict(keys) if keys else {}
        return cls(endpoint, **stated, patience_seconds=patience_seconds)

    @property
    def _client(self) -> "MTurkClient":
        # Created at first use: code that only reads the store needs no credentials.
        with self._lock:
            if self._made is None:
                self._made = self._opened()
                self._extensions = extensions.Extensions(self._made.meta.events, self.marks)
            return self._made

    def keeps_apart(self) -> bool:
        """Whether HITs can be kept apart, so that a worker does only one of them."""
        return self._knows("keep-apart")

    def _knows(self, extension: str) -> bool:
        """Whether the marketplace has an extension; ask it if no reply has come yet."""
        client, known = self._client, self._extensions
        if known is None:
            return False
        if not known.is_known:
            called(client.get_account_balance)
        return known.has(extension)

    def meet(self, store: str, *, seen: str) -> Meeting | None:
        """Ask what the platform remembers about a store, by name, and its own past.

        `seen` is the platform's mark that the store kept last; "" before the first. The
        result is `None` if the platform has no marks. An extension of piecework.
        """
        return extensions.ask_marks(self._client, store, seen) if self._knows("marks") else None

    def hit_type(self, hit_type: HitType) -> HitTypeId:
        """Return the id of this HIT type; equal values always give the same id."""
        limits = [limit_to_wire(limit) for limit in hit_type.limits]
        counts = bool(limits) and self._knows("worker-limits")
        if not counts and any(limit.most is not None for limit in hit_type.limits):
            raise PlatformRefused(
                "this marketplace cannot limit how many HITs a worker does",
                code="NoWorkerLimit",
                next_step="leave out per_worker, or use `piecework market serve`",
            )
        recruiting = hit_type.recruiting
        if recruiting is not None and not self._knows("recruiting"):
            raise PlatformRefused(
                "this marketplace cannot recruit by lists or shares of participants",
                code="NoRecruiting",
                next_step="leave out lists and percent in [prolific], or "
                "use `piecework market serve --crowd prolific`",
            )
        wanted = recruiting and {extensions.RECRUITING: recruiting_to_wire(recruiting)}
        seconds = hit_type.expected_seconds
        says_time = seconds is not None and self._knows("expected-seconds")
        reply = called(
            self._client.create_hit_type,
            Title=hit_type.title,
            Description=hit_type.description,
            Keywords=", ".join(hit_type.keywords),
            Reward=cents_to_wire(hit_type.reward_cents),
            AssignmentDurationInSeconds=hit_type.assignment_duration_seconds,
            AutoApprovalDelayInSeconds=hit_type.auto_approval_delay_seconds,
            QualificationRequirements=[
                requirement_to_wire(requirement) for requirement in hit_type.requirements
            ],
            **({extensions.EXPECTED_SECONDS: seconds} if says_time else {}),
            **({extensions.WORKER_LIMITS: limits} if counts else {}),
            **(wanted or {}),
        )
        return HitTypeId(reply["HITTypeId"])

    def knows(self, type_id: QualificationTypeId) -> bool:
        """Whether the platform has this qualification type; costs a call."""
        try:
            called(self._client.get_qualification_type, QualificationTypeId=type_id)
        except PlatformRefused as refusal:
            if refusal.kind != "qualification_type_unknown":
                raise
            return False
        return True

    def exclusion(
        self, name: str, description: str, *, is_shown: bool = False
    ) -> QualificationTypeId:
        """Return the id of the qualification type that keeps workers out.

        Workers see it only if `is_shown`, and can never request it. It is found by its
        name, which is unique for a requester.
        """
        return make_or_find(
            self._client,
            lambda _: True,
            Name=name,
            Description=description,
            Keywords="not-requestable" if is_shown else "not-shown",
            QualificationTypeStatus="Active",
        )

    def qualification(self, test: PostableTest) -> QualificationTypeId:
        """Return the id of the qualification type with this test, found by its name.

        A type with this name and another test, key or limits is refused: workers who passed
        that test have not passed this one.
        """
        delay = {"RetryDelayInSeconds": test.retry_seconds}
        return make_or_find(
            self._client,
            lambda existing_type: listing.test_of(existing_type).digest == test.digest,
            Name=test.name,
            Description=test.description,
            QualificationTypeStatus="Active",
            Test=test.question_form,
            AnswerKey=test.answer_key,
            TestDurationInSeconds=test.duration_seconds,
            **(delay if test.retry_seconds is not None else {}),
        )

    def claim(self, name: str, owner: str) -> str:
        """Claim a name for `owner`; return its owner, who may have come earlier.

        If several claim a name at the same time, all get the same owner. It uses the name
        of a qualification type.
        """
        return claim(self._client, name, owner)

    def publish(
        self,
        hit_type_id: HitTypeId,
        question: str | SharedQuestion,
        *,
        max_assignments: int,
        lifetime_seconds: int,
        annotation: str,
        token: str,
        apart_from: Sequence[HitId] = (),
    ) -> HitId:
        """Post a HIT; a repeat with the same token returns the first one's id.

        A worker may do only one of this HIT and those in `apart_from`. Use it only if
        HITs can be kept apart. MTurk remembers a token for 24 hours.
        """
        try:
            reply = called(
                self._client.create_hit_with_hit_type,
                HITTypeId=hit_type_id,
                **extensions.asking(self._client, question, self._digests, knows=self._knows),
                MaxAssignments=max_assignments,
                LifetimeInSeconds=lifetime_seconds,
                RequesterAnnotation=annotation,
                UniqueRequestToken=token,
                **({extensions.KEEP_APART: list(apart_from)} if apart_from else {}),
            )
            return HitId(reply["HIT"]["HITId"])
        except PlatformRefused as refusal:
            if refusal.kind != "already_exists":
                raise
            return listing.posted_before(self._client, annotation, str(refusal))

    def extend(self, hit_id: HitId, *, more: int, slots: int, token: str) -> None:
        """Add slots to a HIT, up to `slots`; a repeated token adds no more.

        Workers who had the HIT do not get it again.
        """
        try:
            called(
                self._client.create_additional_assignments_for_hit,
                HITId=hit_id,
                NumberOfAdditionalAssignments=more,
                UniqueRequestToken=token,
            )
        except PlatformRefused:
            # boto3 repeats a call whose reply was lost; the first one worked.
            if self.slots(hit_id) < slots:
                raise

    def slots(self, hit_id: HitId) -> int:
        """Return how many assignments a HIT asks for now; costs a call."""
        return called(self._client.get_hit, HITId=hit_id)["HIT"]["MaxAssignments"]

    def expire(self, hit_id: HitId) -> None:
        """Stop new workers from accepting the HIT; those at work may still submit.

        MTurk derives a token from HIT and time and refuses the exact repeat, even if
        the HIT was extended in between. So each try uses another second of 1970.
        """
        for second in range(_EXPIRING_TRIES):
            try:
                called(
                    self._client.update_expiration_for_hit,
                    HITId=hit_id,
                    ExpireAt=datetime.fromtimestamp(second, UTC),
                )
            except PlatformRefused as refusal:
                if refusal.kind != "other" or second == _EXPIRING_TRIES - 1:
                    raise
            else:
                return

    def hit_status(self, hit_id: HitId) -> HitStatus:
        """Return the platform's status of a HIT; costs a call, so use it sparingly.

        An unknown HIT is refused: the keys may be another requester's.
        """
        return called(self._client.get_hit, HITId=hit_id)["HIT"]["HITStatus"]

    def find_hits(self, *, older: Container[str] = ()) -> Iterator[PostedHit]:
        """Yield all HITs that this requester still has.

        `older` is as in `reviewable_hits`. Disposed HITs are not listed.
        """
        yield from listing.posted_hits(self._client, older)

    def reviewable_hits(
        self, hit_type_ids: Sequence[HitTypeId], *, older: Container[str] = ()
    ) -> Iterator[HitId]:
        """Yield HITs of these types on which no worker works any more.

        `older` are HITs that were posted before all wanted ones: in a listing with the
        newest first, the search stops at one of them.
        """
        paginator = self._client.get_paginator("list_reviewable_hits")
        for hit_type_id in hit_type_ids:
            pages = paginator.paginate(
                HITTypeId=hit_type_id, PaginationConfig={"PageSize": listing.PAGE}
            )
            for hit in listing.newer(pages, older):
                yield HitId(hit["HITId"])

    def submitted(self, *, older: Container[str] = ()) -> Iterator[tuple[HitId, int]]:
        """Yield all HITs of this requester with an upper bound of their assignments.

        One listing covers all of them; a count that is too high costs only a look-up.
        `older` is as in `reviewable_hits`. MTurk reports free and pending assignments
        instead.
        """
        for hit in listing.newer(listing.all_hits(self._client), older):
            elsewhere = hit["NumberOfAssignmentsAvailable"] + hit["NumberOfAssignmentsPending"]
            yield HitId(hit["HITId"]), hit["MaxAssignments"] - elsewhere

    def in_one_call(self, slots: Mapping[HitId, int]) -> list[Mapping[HitId, int]]:
        """Split HITs into groups with assignments that one call can fetch."""
        if len(slots) <= 1 or not self._knows("list-together"):
            return [{hit_id: number} for hit_id, number in slots.items()]
        return listing.parts_of_a_page(slots)

    def assignments(self, slots: Mapping[HitId, int]) -> Mapping[HitId, Sequence[Assignment]]:
        """Return all submitted assignments of HITs, with any verdict.

        `slots` is one part of the result of `in_one_call`, with the slots of each HIT;
        once all have come, no more are looked for.
        """
        return listing.fetch(self._client, slots)

    def assignment_status(self, assignment_id: AssignmentId) -> AssignmentStatus:
        """Return the platform's status of the assignment."""
        reply = called(self._client.get_assignment, AssignmentId=assignment_id)
        return reply["Assignment"]["AssignmentStatus"]

    def feedback(self, assignment_id: AssignmentId) -> str:
        """Return what the worker reads about the verdict; "" if nothing was written."""
        reply = called(self._client.get_assignment, AssignmentId=assignment_id)
        return reply["Assignment"].get("RequesterFeedback", "")

    def prices(self) -> PriceList | None:
        """Return currency and fees as the platform itself states them, if it does.

        Without a price list, which is an extension of piecework, the currency is taken to
        be US dollars.
        """
        return extensions.ask_prices(self._client) if self._knows("prices") else None

    def live_site(self) -> LiveSite:
        """Return the site of real workers, if the platform states it; empty for a rehearsal's."""
        return extensions.ask_live_site(self._client) if self._knows("site") else LiveSite()

    def picture_addresses(self, names: Sequence[str]) -> Mapping[str, str] | None:
        """Return where browsers load pictures, by name; "" if it serves none.

        `None` without this extension of piecework.
        """
        if not names or not self._knows("pictures"):
            return None if names else {}
        return dict(zip(names, extensions.ask_pictures(self._client, names), strict=True))

    def approve(self, assignment_id: AssignmentId, message: str = "") -> None:
        """Pay the reward, once; the worker reads the message, if there is one."""
        self._judge(assignment_id, "Approved", self._client.approve_assignment, message)

    def reject(self, assignment_id: AssignmentId, because: str) -> None:
        """Refuse the reward; the worker reads the reason. A repeat changes nothing."""
        self._judge(assignment_id, "Rejected", self._client.reject_assignment, because)

    def _judge(
        self,
        assignment_id: AssignmentId,
        wanted: AssignmentStatus,
        call: Callable[..., object],
        feedback: str,
        **members: bool,
    ) -> None:
        try:
            called(call, AssignmentId=assignment_id, RequesterFeedback=feedback, **members)
        except PlatformRefused:
            # boto3 repeats a call whose reply was lost; the repeat is then refused
            # because the first one worked.
            if self.assignment_status(assignment_id) != wanted:
                raise

    def exclude(self, worker_id: WorkerId, qualification_type_id: QualificationTypeId) -> None:
        """Keep a worker out of later HITs, without a message; a repeat changes nothing."""
        called(
            self._client.associate_qualification_with_worker,
            QualificationTypeId=qualification_type_id,
            WorkerId=worker_id,
            IntegerValue=1,
            SendNotification=False,
        )

    def excluded(self, qualification_type_id: QualificationTypeId) -> set[WorkerId]:
        """Return who is kept out."""
        return {worker_id for worker_id, _ in self.scores(qualification_type_id)}

    def include(self, worker_id: WorkerId, qualification_type_id: QualificationTypeId) -> None:
        """Offer a worker later HITs again; no effect on workers not kept out."""
        because = "The requester offers you this kind of HIT again."
        take_back(self._client, qualification_type_id, worker_id, because)

    def revoke(self, worker_id: WorkerId, type_id: QualificationTypeId, because: str) -> None:
        """Take a qualification from a worker who has it; the worker reads the reason."""
        take_back(self._client, type_id, worker_id, because)

    def notify(self, worker_id: WorkerId, subject: str, text: str) -> bool:
        """Send a worker a message; return whether the platform will deliver it."""
        return notify(self._client, worker_id, subject, text)

    def scores(self, qualification_type_id: QualificationTypeId) -> Iterator[tuple[WorkerId, int]]:
        """Yield all workers who hold a qualification, with its value."""
        yield from holders(self._client, qualification_type_id)

    def block(self, worker_id: WorkerId, because: str) -> None:
        """Block the worker, which counts against their account; a repeat changes nothing."""
        called(self._client.create_worker_block, WorkerId=worker_id, Reason=because)

    def blocked(self) -> dict[WorkerId, str]:
        """Return whom this requester blocks, for any campaign, with the reason."""
        return dict(blocks(self._client))

    def unblock(self, worker_id: WorkerId) -> None:
        """Take back the block; no effect on workers who are not blocked."""
        called(
            self._client.delete_worker_block,
            WorkerId=worker_id,
            Reason="The requester offers you HITs again.",
        )

    def approve_rejected(self, assignment_id: AssignmentId, because: str) -> None:
        """Take a rejection back within 30 days, and pay; the worker reads the reason."""
        call = self._client.approve_assignment
        self._judge(assignment_id, "Approved", call, because, OverrideRejection=True)

    def bonus(self, bonus: Bonus, *, token: str) -> None:
        """Pay a bonus for an assignment; a repeated token is refused for 24 hours."""
        called(
            self._client.send_bonus,
            WorkerId=bonus.worker_id,
            AssignmentId=bonus.assignment_id,
            BonusAmount=cents_to_wire(bonus.cents),
            Reason=bonus.reason,
            UniqueRequestToken=token,
        )

    def bonuses(self, assignment_id: AssignmentId) -> Iterator[Bonus]:
        """Return all bonuses that were paid for an assignment."""
        yield from listing.paid_bonuses(self._client, AssignmentId=assignment_id)

    def bonuses_of_hit(self, hit_id: HitId) -> Iterator[Bonus]:
        """Return all bonuses that were paid for assignments of a HIT."""
        yield from listing.paid_bonuses(self._client, HITId=hit_id)

    def compensate(self, compensation: Compensation) -> None:
        """Pay a worker for no assignment, by an extension; a repeated name is refused."""
        if not self._knows("compensation"):
            raise PlatformRefused(
                "this marketplace pays bonuses only for assignments",
                code="NoCompensation",
                next_step="pay a bonus for other work of the worker: piecework pay "
                "CAMPAIGN --from FILE",
            )
        called(
            self._client.send_bonus,
            WorkerId=compensation.worker_id,
            AssignmentId=extensions.NO_ASSIGNMENT,
            BonusAmount=cents_to_wire(compensation.cents),
            Reason=compensation.reason,
            **{extensions.COMPENSATION: compensation.name},
        )

    def compensations(self, prefix: str) -> Iterator[Compensation]:
        """Return the paid compensations whose names have this prefix; an extension of piecework."""
        if self._knows("compensation"):
            yield from extensions.ask_compensations(self._client, prefix)

    def objections(self) -> dict[AssignmentId, str]:
        """Return what workers wrote about their rejections; an extension of piecework."""
        known = self._knows("objections")
        return dict(extensions.ask_objections(self._client)) if known else {}
