"""Submissions, bonuses and messages: what participants sent, and what they get."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import AliasChoices, Field, RootModel

from piecework.foundation.client.calls import (
    CURRENCIES,
    Moment,
    Money,
    Request,
    Value,
    Whole,
    checked_id,
    get_request,
    value_of,
)
from piecework.foundation.client.errors import Unusable
from piecework.foundation.client.transport import Transport
from piecework.markets.prolific.calling import listed

SubmissionAction = Literal[
    "APPROVE", "COMPLETE", "RETURN", "START", "SCREEN_OUT", "UNREJECT", "UNRETURN"
]
"""All transitions except REJECT, which needs a reason."""
RejectionCategory = Literal[
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
]

LEAST_REJECTION_LETTERS = 100
"""The shortest rejection message that Prolific accepts."""
MOST_SUBMISSIONS_AT_ONCE = 1000
"""The most that Prolific recommends for one call of `bulk_approve`."""

_PAGE = 100


class Submission(Value):
    """One participant's visit to a study; the session id in the study's link is its id.

    Attributes:
        status: RESERVED, ACTIVE, TIMED-OUT, AWAITING REVIEW, APPROVED, PARTIALLY
            APPROVED, REJECTED, RETURNED, SCREENED OUT, or a new value.
        participant_id: the participant's id, which must stay private.
        study_id: the study's id; missing in listings, which cover one study.
        code: the code as entered; may be wrong, NOCODE or missing.
        bonuses_minor: the bonuses paid so far, in minor units; missing in listings.
        return_requested_at: when the participant was asked to return it.
    """

    id: str
    status: str
    participant_id: str | None = Field(
        default=None, validation_alias=AliasChoices("participant_id", "participant"), repr=False
    )
    study_id: str | None = None
    code: str | None = Field(
        default=None, validation_alias=AliasChoices("study_code", "entered_code")
    )
    started_at: Moment | None = None
    completed_at: Moment | None = None
    return_requested_at: Moment | None = Field(default=None, alias="return_requested")
    bonuses_minor: tuple[Whole, ...] = Field(default=(), alias="bonus_payments")


class ReturnRequest(Value):
    """A request to a participant to return a submission."""

    return_requested_at: Moment | None = Field(default=None, alias="return_requested")


class _Counts(RootModel[dict[str, Whole]]):
    pass


class Submissions:
    """Operations on submissions."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def of_study(self, study_id: str) -> Iterator[Submission]:
        """Yield all submissions of a study."""
        request = get_request("submissions/", {"study": checked_id(study_id), "page_size": _PAGE})
        return listed(self._call, request, Submission)

    def get(self, submission_id: str) -> Submission:
        """Return one submission, with its study and its bonuses."""
        request = get_request(_path(submission_id))
        return value_of(Submission, self._call(request), request)

    def counts(self, study_id: str) -> Mapping[str, int]:
        """Return the number of submissions of a study by status, including `TOTAL`."""
        request = get_request(f"studies/{checked_id(study_id)}/submissions/counts/")
        return value_of(_Counts, self._call(request), request).root

    def approve(self, submission_id: str) -> Submission:
        """Approve a submission, which pays its reward; Prolific ignores repeats."""
        return self._transition(submission_id, {"action": "APPROVE"})

    def reject(
        self, submission_id: str, *, category: RejectionCategory, message: str
    ) -> Submission:
        """Reject a submission, with a reason that the participant reads.

        Raises:
            Unusable: the reason is shorter than Prolific requires.
        """
        if len(message.strip()) < LEAST_REJECTION_LETTERS:
            raise Unusable(
                f"a rejection message needs at least {LEAST_REJECTION_LETTERS} "
                f"characters; this one has {len(message.strip())}",
                next_step="tell the participant what was asked and what was done",
            )
        wire = {"action": "REJECT", "message": message, "rejection_category": category}
        return self._transition(submission_id, wire)

    def transition(
        self, submission_id: str, action: SubmissionAction, *, code: str = ""
    ) -> Submission:
        """Make any transition except a rejection; Prolific ignores repeats.

        Args:
            submission_id: the submission's id.
            action: the transition.
            code: for COMPLETE, a completion code of the study with the researcher as
                its actor.
        """
        wire: dict[str, object] = {"action": action}
        if code:
            wire["completion_code"] = code
        return self._transition(submission_id, wire)

    def request_return(self, submission_id: str, reasons: Sequence[str]) -> ReturnRequest:
        """Ask the participant to return a submission, at no cost to either side.

        Raises:
            Lost: the participant may have been asked; the submission shows it.
        """
        request = Request(
            method="POST",
            path=f"{_path(submission_id)}request-return/",
            body={"request_return_reasons": list(reasons)},
        )
        return value_of(ReturnRequest, self._call(request), request)

    def bulk_approve(self, submission_ids: Sequence[str]) -> None:
        """Start approving many submissions; their status shows when it is done.

        Raises:
            Unusable: there are none, or more than Prolific recommends.
        """
        if not 1 <= len(submission_ids) <= MOST_SUBMISSIONS_AT_ONCE:
            raise Unusable(f"bulk_approve takes 1 to {MOST_SUBMISSIONS_AT_ONCE} submissions")
        body = {"submission_ids": [checked_id(each) for each in submission_ids]}
        self._call(Request(method="POST", path="submissions/bulk-approve/", body=body))

    def _transition(self, submission_id: str, wire: Mapping[str, object]) -> Submission:
        request = Request(
            method="POST", path=f"{_path(submission_id)}transition/", body=wire, may_repeat=True
        )
        return value_of(Submission, self._call(request), request)


def _path(submission_id: str) -> str:
    return f"submissions/{checked_id(submission_id)}/"


MOST_BONUSES_AT_ONCE = 200
"""The most lines that Prolific recommends for one batch."""


class BonusBatch(Value):
    """A batch of unpaid bonuses; amounts in minor units of the study's currency.

    Attributes:
        total_minor: what paying takes from the balance, with fees and VAT.
    """

    id: str
    total_minor: Whole = Field(alias="total_amount")


class Bonuses:
    """Operations on bonuses."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def create(self, study_id: str, amounts: Mapping[str, Money]) -> BonusBatch:
        """Create a batch, which pays nothing yet. This call is never retried.

        Args:
            study_id: the study of all the submissions.
            amounts: positive amounts by submission id, in the study's currency.

        Raises:
            Unusable: an amount could pay something other than intended.
        """
        request = Request(
            method="POST",
            path="submissions/bonus-payments/",
            body={"study_id": checked_id(study_id), "csv_bonuses": csv_bonuses(amounts)},
        )
        return value_of(BonusBatch, self._call(request), request)

    def pay(self, batch_id: str) -> None:
        """Pay a batch; the money moves within minutes. This call is never retried.

        Raises:
            Lost: it may have been paid; read the submissions' bonuses.
        """
        path = f"bulk-bonus-payments/{checked_id(batch_id)}/pay/"
        self._call(Request(method="POST", path=path))


def csv_bonuses(amounts: Mapping[str, Money]) -> str:
    """Return the lines of a batch, the only amounts Prolific takes in major units.

    Raises:
        Unusable: as for `Bonuses.create`.

    >>> csv_bonuses({"60ffe5c8371090c7041d43f8": Money(minor=5, currency="GBP")})
    '60ffe5c8371090c7041d43f8,0.05'
    """
    if not 1 <= len(amounts) <= MOST_BONUSES_AT_ONCE:
        raise Unusable(
            f"a batch has 1 to {MOST_BONUSES_AT_ONCE} bonuses; this one has {len(amounts)}"
        )
    currencies = {money.currency for money in amounts.values()}
    if len(currencies) != 1 or not currencies <= CURRENCIES:
        raise Unusable(
            "the bonuses of a batch must all be in GBP or all in USD, not in "
            f"{', '.join(sorted(currencies))}"
        )
    if any(money.minor <= 0 for money in amounts.values()):
        raise Unusable("a bonus must be above zero")
    return "\n".join(
        f"{checked_id(each)},{money.minor // 100}.{money.minor % 100:02d}"
        for each, money in amounts.items()
    )


class Message(Value):
    """A message between the account and a participant."""

    id: str
    sender_id: str = Field(repr=False)
    body: str


class Messages:
    """Operations on messages; sending is never retried."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def with_participant(self, participant_id: str) -> Iterator[Message]:
        """Yield all messages between the account and a participant."""
        request = get_request("messages/", {"user_id": checked_id(participant_id)})
        return listed(self._call, request, Message)

    def send(self, participant_id: str, body: str, *, study_id: str) -> None:
        """Send a message to one participant of a study.

        Raises:
            Lost: the message may have been sent.
        """
        wire = {"recipient_id": participant_id, "body": body, "study_id": checked_id(study_id)}
        self._call(Request(method="POST", path="messages/", body=wire))

    def send_bulk(self, participant_ids: Sequence[str], body: str, *, study_id: str) -> None:
        """Send the same message to many participants of a study.

        Raises:
            Lost: the message may have been sent.
        """
        wire = {"ids": list(participant_ids), "body": body, "study_id": checked_id(study_id)}
        self._call(Request(method="POST", path="messages/bulk/", body=wire))
