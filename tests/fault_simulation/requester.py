"""A program of a requester's own: a plain boto3 client that judges in any order.

It knows no more than replies say. A call whose reply was lost is made again at once,
with the same token; later, when tokens are forgotten, it looks before it repeats.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from tests.fault_simulation.losses import SENT
from tests.fault_simulation.people import Record, WrongReplyError
from tests.marketplace.market import HIT_TYPE, QUESTION, Market
from tests.markets.prolific.bridge.long_campaign import REASON

if TYPE_CHECKING:
    from collections.abc import Callable

_DAY = 24 * 3600
_MOST_HITS = 9


@dataclass(slots=True)
class Bonus:
    """A bonus that the program wants to be paid once.

    Attributes:
        is_acknowledged: whether a reply said that it was.
    """

    token: str
    assignment_id: str
    worker_id: str
    cents: int
    is_acknowledged: bool = False


@dataclass(slots=True)
class Posting:
    """A HIT that the program wants to be there once."""

    token: str
    most: int
    hit_id: str = ""


@dataclass(slots=True)
class RequesterProgram:
    """A requester's program.

    Attributes:
        verdicts: what was acknowledged, by assignment.
        approvals: assignments that it ever asked to be approved.
        messages: that were acknowledged, by worker and subject.
        bonuses: all that it ever asked for.
        postings: likewise.
    """

    key: str
    market: Market
    rng: Random
    record: Record
    verdicts: dict[str, str] = field(default_factory=dict)
    bonuses: list[Bonus] = field(default_factory=list)
    postings: list[Posting] = field(default_factory=list)
    approvals: set[str] = field(default_factory=set)
    messages: Counter[tuple[str, str]] = field(default_factory=Counter)
    _type: str = ""
    _written: int = 0

    def act(self) -> None:
        """Do one thing."""
        acts: list[Callable[[], object]] = [
            *[self._post] * 3,
            *[self._judge] * 5,
            *[self._overturn] * 2,
            *[self._pay_a_bonus] * 3,
            self._more_places,
            self._expire,
            *[self._write] * 2,
            self._block,
        ]
        self._tried(self.rng.choice(acts))

    def finish(self) -> None:
        """Say again what may have been lost, and judge all that is left."""
        for posting in self.postings:
            if not posting.hit_id:
                self._tried(partial(self._find_or_create, posting))
        for bonus in self.bonuses:
            if not bonus.is_acknowledged:
                self._tried(partial(self._find_or_send, bonus))
        for posting in self.postings:
            for _ in range(posting.most + 4):
                self._tried(partial(self._judge_of, posting))

    def forget_what_is_lost(
        self, hits: set[str], paid: set[str], status: dict[str, str], sent: set[str]
    ) -> None:
        """The marketplace was put back to an older copy, which has these.

        Args:
            hits: ids of HITs.
            paid: reasons of bonuses.
            status: of assignments.
            sent: subjects of messages.
        """
        self._type = ""
        for posting in self.postings:
            posting.hit_id = posting.hit_id if posting.hit_id in hits else ""
        self.verdicts = {
            key: word for key, word in self.verdicts.items() if status.get(key) == word
        }
        # What it has paid and finds nothing of, it pays in the end.
        self.bonuses = [bonus for bonus in self.bonuses if status.get(bonus.assignment_id) in SENT]
        for bonus in self.bonuses:
            bonus.is_acknowledged &= bonus.token in paid
        self.messages = Counter(
            {key: count for key, count in self.messages.items() if key[1] in sent}
        )

    def _tried(self, act: "Callable[[], object]") -> None:
        try:
            act()
        except BotoCoreError as fault:
            self.record.tell(f"{self.key}: {type(fault).__name__}")
        except ClientError as fault:
            error = fault.response["Error"]
            status = fault.response["ResponseMetadata"]["HTTPStatusCode"]
            code = fault.response.get("TurkErrorCode", error["Code"])
            if status >= 500 and error["Code"] != "ServiceFault":
                raise WrongReplyError(str(fault)) from fault
            self.record.tell(f"{self.key}: {fault.operation_name} {code}")

    @property
    def _client(self) -> Any:  # noqa: ANN401 - boto3's
        return self.market.requester(self.key)

    def _post(self) -> None:
        for _ in range(self.rng.choice((1, 2, 3))):
            if len(self.postings) < _MOST_HITS:
                token = f"{self.key} HIT {len(self.postings)}"
                posting = Posting(token, most=self.rng.choice((1, 1, 2, 3)))
                self.postings.append(posting)
                self._create(posting)

    def _create(self, posting: Posting) -> None:
        if not self._type:
            delay = self.rng.choice((3, 20)) * _DAY
            kind = {**HIT_TYPE, "AutoApprovalDelayInSeconds": delay}
            self._type = self._client.create_hit_type(**kind)["HITTypeId"]
        made = self._again(
            self._client.create_hit_with_hit_type,
            HITTypeId=self._type,
            Question=QUESTION,
            MaxAssignments=posting.most,
            LifetimeInSeconds=30 * _DAY,
            UniqueRequestToken=posting.token,
            RequesterAnnotation=posting.token,
        )
        posting.hit_id = made["HIT"]["HITId"]
        self.record.tell(f"{self.key} posts {posting.hit_id[:6]} for {posting.most}")

    def _find_or_create(self, posting: Posting) -> None:
        pages = self._client.get_paginator("list_hits").paginate()
        for hit in (hit for page in pages for hit in page["HITs"]):
            if hit.get("RequesterAnnotation") == posting.token:
                posting.hit_id = hit["HITId"]
                return
        self._create(posting)

    def _posted(self) -> list[Posting]:
        return [posting for posting in self.postings if posting.hit_id]

    def _judge(self) -> None:
        posted = self._posted()
        for posting in self.rng.sample(posted, min(4, len(posted))):
            if self._judge_of(posting):
                return

    def _assignments(self, posting: Posting, status: str) -> list[dict[str, Any]]:
        listed = self._client.list_assignments_for_hit(
            HITId=posting.hit_id, AssignmentStatuses=[status]
        )
        return [dict(each) for each in listed["Assignments"]]

    def _judge_of(self, posting: Posting) -> bool:
        """Judge an assignment that waits, whichever; whether any did."""
        waiting = self._assignments(posting, "Submitted")
        if not waiting:
            return False
        assignment_id = self.rng.choice(waiting)["AssignmentId"]
        if self.rng.random() < 0.65:
            self.approvals.add(assignment_id)
            self._client.approve_assignment(AssignmentId=assignment_id)
            self.verdicts[assignment_id] = "Approved"
        else:
            self._client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=REASON)
            self.verdicts[assignment_id] = "Rejected"
        verdict = self.verdicts[assignment_id]
        self.record.tell(f"{self.key} says {assignment_id[:6]} is {verdict}")
        return True

    def _overturn(self) -> None:
        rejected = [key for key, word in self.verdicts.items() if word == "Rejected"]
        if rejected:
            assignment_id = self.rng.choice(rejected)
            # What the reply is, the verdict may have changed.
            self.verdicts.pop(assignment_id)
            self.approvals.add(assignment_id)
            self._client.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)
            self.verdicts[assignment_id] = "Approved"
            self.record.tell(f"{self.key} overturns the rejection of {assignment_id[:6]}")

    def _pay_a_bonus(self) -> None:
        done = self._done(self.rng.choice(("Approved", "Approved", "Rejected")))
        if done and len(self.bonuses) < 4:
            assignment = self.rng.choice(done)
            bonus = Bonus(
                f"{self.key} bonus {len(self.bonuses)}",
                assignment["AssignmentId"],
                assignment["WorkerId"],
                self.rng.choice((10, 10, 25)),
            )
            self.bonuses.append(bonus)
            self._send(bonus)

    def _find_or_send(self, bonus: Bonus) -> None:
        pages = self._client.get_paginator("list_bonus_payments").paginate(
            AssignmentId=bonus.assignment_id
        )
        paid = [each for page in pages for each in page["BonusPayments"]]
        if any(each["Reason"] == bonus.token for each in paid):
            bonus.is_acknowledged = True
        else:
            self._send(bonus)

    def _again(self, call: "Callable[..., Any]", **members: object) -> Any:  # noqa: ANN401 - boto3's
        """Make a call with a token, up to three times while no reply comes."""
        for _ in range(2):
            try:
                return call(**members)
            except BotoCoreError:
                continue
        return call(**members)

    def _send(self, bonus: Bonus) -> None:
        try:
            self._again(
                self._client.send_bonus,
                WorkerId=bonus.worker_id,
                AssignmentId=bonus.assignment_id,
                BonusAmount=f"0.{bonus.cents}",
                Reason=bonus.token,
                UniqueRequestToken=bonus.token,
            )
        except ClientError as fault:
            # A bonus that an earlier call has paid is refused, and named.
            if "already been processed" not in fault.response["Error"]["Message"]:
                raise
        bonus.is_acknowledged = True
        self.record.tell(f"{self.key} sends {bonus.cents} to {bonus.assignment_id[:6]}")

    def _done(self, status: str) -> list[dict[str, Any]]:
        """Assignments of this status, of the first HIT that has any."""
        posted = self._posted()
        for posting in self.rng.sample(posted, min(3, len(posted))):
            if done := self._assignments(posting, status):
                return done
        return []

    def _known_workers(self) -> list[str]:
        return sorted({assignment["WorkerId"] for assignment in self._done("Approved")})

    def _write(self) -> None:
        if (workers := self._known_workers()) and self._written < 4:
            subject = f"{self.key} message {self._written}"
            self._written += 1
            self._client.notify_workers(
                Subject=subject, MessageText="Thank you.", WorkerIds=workers
            )
            self.messages.update((worker, subject) for worker in workers)
            self.record.tell(f"{self.key} writes to {len(workers)} workers")

    def _block(self) -> None:
        workers = self._known_workers()
        if workers and self.rng.random() < 0.3:
            worker = self.rng.choice(workers)
            self._client.create_worker_block(WorkerId=worker, Reason="Enough")
            self.record.tell(f"{self.key} blocks {worker[:6]}")

    def _more_places(self) -> None:
        posted = self._posted()
        if posted and self.rng.random() < 0.5:
            posting = self.rng.choice(posted)
            self._client.create_additional_assignments_for_hit(
                HITId=posting.hit_id,
                NumberOfAdditionalAssignments=1,
                UniqueRequestToken=f"{posting.token} more",
            )
            posting.most += 1

    def _expire(self) -> None:
        posted = self._posted()
        if posted and self.rng.random() < 0.3:
            hit_id = self.rng.choice(posted).hit_id
            self._client.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
            self.record.tell(f"{self.key} ends {hit_id[:6]}")
