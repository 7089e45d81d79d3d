"""How much of the requester API this marketplace does, as a page of the manual.

`python -m marketplace.coverage` writes docs/marketplace.md anew; a test holds the file
to what the code says, and the code to the service model.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from marketplace.requester.backend import OPERATIONS
from marketplace.requester.model import operation_names

PAGE = Path(__file__).parent.parent / "docs" / "marketplace.md"


@dataclass(frozen=True, slots=True)
class Note:
    """What is different about an operation, and why."""

    extent: Literal["simpler", "absent"]
    why: str


NOTES = {
    "CreateHIT": Note(
        "simpler",
        "HTMLQuestion and ExternalQuestion only: the house "
        "renders no forms of its own; review policies and HIT layouts are refused.",
    ),
    "CreateHITWithHITType": Note("simpler", "As CreateHIT."),
    "CreateQualificationType": Note(
        "simpler", "Without Test and AnswerKey, which are refused."
    ),
    "UpdateQualificationType": Note(
        "simpler", "Without Test and AnswerKey, which are refused."
    ),
    "DeleteQualificationType": Note(
        "simpler",
        "At once, where the service may take 48 hours; HIT types that require it stay.",
    ),
    "AssociateQualificationWithWorker": Note(
        "simpler",
        "SendNotification is taken and nothing is sent: workers have no mailbox here.",
    ),
    "GetFileUploadURL": Note(
        "absent", "Files in answers were retired by the service itself."
    ),
    "ListReviewPolicyResultsForHIT": Note(
        "absent", "There are no review policies; answers are judged by the requester."
    ),
    "NotifyWorkers": Note("absent", "Workers have no mailbox here."),
    "SendTestEventNotification": Note(
        "absent", "No queue of another service is reached from here."
    ),
    "UpdateNotificationSettings": Note(
        "absent", "No queue of another service is reached from here."
    ),
}
"""Operations that are not the same as the service's."""

_HEAD = """\
# The marketplace

A server that speaks the requester API of Amazon Mechanical Turk (2017-01-17) on one
side and shows HITs to workers on the other. It knows nothing of the pipeline: whoever
can talk to MTurk through boto3 or the AWS command line can talk to it, with another
`endpoint_url`. The service itself has closed to new HITs on 2026-09-30.

## Starting it

    python -m marketplace --database market.db --rehearsal --seed 7 \\
        --port 8700 --frames-port 8701

It prints one line with both addresses when it listens. The first is the *site*:
`POST /` is the requester API, `/worker/...` are the workers' pages. The second is for
*frames*: the pages of questions, on a port of their own, so that a question's script
has no access to a worker's session. Both are needed.

| option | meaning |
|---|---|
| `--database` | the SQLite file that holds everything; made if it is not there |
| `--rehearsal` | virtual time that only programs move, the same ids for the same \
seed, $10,000.00 for any access key, and the controls under `/rehearsal/` |
| `--seed`, `--start` | of a rehearsal: where ids come from, when time begins |
| `--pictures` | a folder served under `/pictures/` of the frames address |
| `--host` | address to bind; loopback only, unless it rehearses |

Live, an access key works only after `accounts.add_requester` opened an account for it,
and a worker comes in by the link `/worker/sign-in?token=...` with the token that
`accounts.add_worker` gave. Request signatures are not checked yet; therefore a live
marketplace refuses to bind to anything but loopback.

## What holds

- A reply that says "submitted", "created" or "approved" is on the disk before it is
  sent (write-ahead log, `synchronous=FULL`).
- Time is looked at on each call: whatever came due (expiry, abandonment at the
  deadline, auto-approval, disposal after 120 days) is done first, as of the moment it
  was due.
- For each HIT, reward and fee of every slot that may still be paid are held; a
  rejected, expired or deleted slot is released. Fees: 20 %, 40 % from ten assignments a
  HIT, at least one cent, halves rounded up. Surcharges for Masters are not taken.
- The books are kept by double entry and balance after each call.
- A worker does a HIT once. A HIT that was returned or lapsed is given to the same
  worker again only if it is asked for by its id.
- A worker's approval rate is approved by judged assignments, rounded down; under 100
  judged ones it counts as 100. Work that waits for judgement does not lower it.
- External pages must be on the same host as the marketplace (another port will do):
  browsers withhold the session's cookie from forms of other sites.

## Where the service was unclear

| question | here |
|---|---|
| last page of a list | a full page always carries NextToken; an empty one may follow |
| default MaxResults | 10 |
| ListHITs, ListReviewableHITs | newest first |
| ListAssignmentsForHIT | by submission time, oldest first |
| NumberOfAssignmentsPending | accepted ones; previews do not count |
| NumberOfAssignmentsAvailable of an expired HIT | 0 |
| a deleted HIT | GetHIT answers with Disposed, everything else refuses |
| DeleteHIT while Reviewing | refused; revert it first |
| shortening the expiry to a future time | allowed |
| a repeated CreateWorkerBlock | success; the reason is replaced |
| lacking a qualification | fails NotEqualTo and NotIn, meets only DoesNotExist |
| a request token | compared alone, per requester and operation, for 24 hours |

## The 39 operations

*same*: as documented. *simpler*: does what it says, with less. *absent*: refused by
name with a 400 `NotImplementedException`, never a silent success.

| operation | extent | difference and reason |
|---|---|---|
"""


def render() -> str:
    """The page."""
    rows = [
        f"| {name} | {_extent(name)} | {_why(name)} |" for name in operation_names()
    ]
    return _HEAD + "\n".join(rows) + "\n"


def _extent(name: str) -> str:
    if name in NOTES:
        return NOTES[name].extent
    return "same" if name in OPERATIONS else "absent"


def _why(name: str) -> str:
    return NOTES[name].why if name in NOTES else ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
