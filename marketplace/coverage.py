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


_LETTERBOX = (
    "The message is put into the worker's letterbox on the site; no mail is sent."
)
_QUEUES = (
    "SQS and SNS, sent to the one address of this machine that `--notify-url` names; "
    "without it they wait. Email is refused: no mail leaves from here."
)

NOTES = {
    "AssociateQualificationWithWorker": Note("simpler", _LETTERBOX),
    "DisassociateQualificationFromWorker": Note("simpler", _LETTERBOX),
    "NotifyWorkers": Note("simpler", _LETTERBOX),
    "SendTestEventNotification": Note("simpler", _QUEUES),
    "UpdateNotificationSettings": Note("simpler", _QUEUES),
}
"""Operations that are not the same as the service's."""

_HEAD = """\
# The marketplace

A server that speaks the requester API of Amazon Mechanical Turk (2017-01-17) on one
side and shows HITs to workers on the other. It knows nothing of the pipeline: whoever
can talk to MTurk through boto3 or the AWS command line can talk to it, with another
`endpoint_url`. The service itself has closed to new HITs on 2026-09-30.

## Starting it

    piecework requester add "Vision lab" --balance 500
    piecework serve --port 8080 --frames-port 8081

The first prints a key and its secret, once. The second prints one line with both
addresses when it listens. The first address is the *site*: `POST /` is the requester
API, `/worker/...` are the workers' pages. The second is for *frames*: the pages of
questions, on a port of their own, so that a question's script has no access to a
worker's session. Both are needed. With the key in the environment, AWS clients work:

    export AWS_DEFAULT_REGION=us-east-1
    aws mturk get-account-balance --endpoint-url http://127.0.0.1:8080

| option | meaning |
|---|---|
| `--database` | the SQLite file that holds everything; made, if it is not there, for \
its owner alone |
| `--rehearsal` | virtual time that only programs move, the same ids for the same \
seed, $10,000.00 for any access key, and the controls under `/rehearsal/` |
| `--seed` | of a rehearsal: where ids come from |
| `--pictures` | a folder served under `/pictures/` of the frames address |
| `--host` | address to bind; all (`0.0.0.0`, `::`) only with the two URLs below |
| `--site-url`, `--frames-url` | the two addresses as browsers reach them, if they are \
others (a name, a proxy in front) |
| `--tls CERTIFICATE KEY` | PEM files; site and frames then speak HTTPS |
| `--trust-local` | no signature is checked; it then binds to loopback only |
| `--notify-url` | a queue or topic server on this machine that gets notifications |
| `--as-aws`, `--aws-port`, `--proxy-port` | answer old programs as Amazon's hosts: \
see below |

`python -m marketplace` starts the same without the command line's comforts. People
come in by links that `piecework worker invite NAME` prints; see
[the worker site](worker-site.md).

## Who may call

Each call must carry a signature version 4 (service `mturk-requester`, region
`us-east-1`, or `sandbox` as botocore signs its pseudo-region), made with a key that is
in use, at most 15 minutes ago or ahead by the machine's real clock, over the body, the
host and every `x-amz-` header. Presigned addresses, unsigned bodies and session tokens
are refused. With `--trust-local` only the key's name is checked, in a rehearsal not
even that. A proxy in front of the marketplace must leave `Host` alone.

| refused because | HTTP 400 with |
|---|---|
| no signature | `MissingAuthenticationTokenException` |
| parts or the date are missing | `IncompleteSignatureException` |
| wrong secret, changed request, clock, region, service | `InvalidSignatureException` |
| unknown or revoked key, session token | `UnrecognizedClientException` |
| the same signed request again | `AccessDeniedException` |

A signature does something once. AWS itself does not look; here, whoever gets hold of a
signed request cannot repeat it. Signatures name whole seconds and carry no nonce, so an
honest loop that posts one HIT twice within a second sends the same signature twice.
Therefore it is taken again within five seconds of its first use, unless the client
numbers its attempts (`amz-sdk-invocation-id`, `amz-sdk-request`) and the number is the
same; later it is refused. `Get...` and `List...` may be repeated freely, and so may
what was refused, since neither did anything. What was spent is written in the same
transaction as what it did and dropped when the signature is too old anyway. SDKs sign
their retries anew; a request token is what keeps those from being done twice.

`piecework requester add NAME` opens an account, or gives the account of that name one
more key; `list` shows keys and balances; `revoke KEY` ends a key with the next call.
They work on the file while the server runs. Secrets are kept in the clear, because
whoever checks such a signature must be able to make it: the file has mode 0600, and
copies of it deserve the same care.

## Old programs that cannot be changed

    piecework serve --as-aws

Amazon's hosts are closed, but many programs have their names built in. With `--as-aws`
the marketplace makes a private certificate authority in the folder `NAME-aws` beside
the database `NAME.db`, answers as `mturk-requester.us-east-1.amazonaws.com` and
`mturk-requester-sandbox.us-east-1.amazonaws.com` over TLS, and opens a proxy that leads
these two hosts there. It prints `export` lines; paste them into the shell that starts
the program, and into no other, since everything else that this shell asks for over HTTP
is refused with 403 and a line in the log. A program that heeds them cannot reach
Amazon, or anybody. Proxy and TLS listener are on loopback and offer the requester API
alone; signatures are checked there as everywhere (a rehearsal takes any key).
Production and sandbox are one here.

- boto3, the AWS command line and curl were tried; whatever takes its proxy and its
  certificates from these variables will do. Java and the SDK for JavaScript take their
  proxy from their own settings: without those they are neither led here nor held back.
- A newer SDK needs none of this: `AWS_ENDPOINT_URL_MTURK=http://127.0.0.1:8080`.
- The authority's key has mode 0600 and may sign for the two hosts only (name
  constraints). It is never installed in the system. A program of another user needs a
  copy of `authority.pem`.
- To remove it: stop the marketplace, close those shells, delete the folder.

## What holds

- A reply that says "submitted", "created" or "approved" is on the disk before it is
  sent (write-ahead log, `synchronous=FULL`).
- Time is looked at on each call: whatever came due (expiry, abandonment at the
  deadline, auto-approval, disposal after 120 days) is done first, as of the moment it
  was due.
- For each HIT, reward and fee of every slot that may still be paid are held; a
  rejected, expired or deleted slot is released. Fees: 20 %, 40 % from ten assignments a
  HIT, 5 % more where masters are required, at least one cent, halves rounded up.
- The books are kept by double entry and balance after each call.
- A worker does a HIT once. A HIT that was returned or lapsed is given to the same
  worker again only if it is asked for by its id.
- A worker's approval rate is approved by judged assignments, rounded down; under 100
  judged ones it counts as 100. Work that waits for judgement does not lower it.
- External pages may be on any host; their forms come by POST or GET and are sent on
  from a page of the site: see [the worker site](worker-site.md).

## Forms and tests

A `QuestionForm` (2005-10-01 or 2017-11-06) may be the question of a HIT or the `Test`
of a qualification type. It is held to the schema, each fault with its line and column;
document types are refused before anything in them is read. `FileUploadAnswer` and
`Application` were retired by the service and are refused in words. `FormattedContent`
is held to the service's table of tags and attributes and written anew: what is shown is
never what was sent. Pictures, sounds and films come from where the form says, over http
or https; nothing else does, and no script runs.

The page is plain HTML: labels and legends, `required`, `min`, `max`, `maxlength`,
`pattern`. The server holds all of it again, answers 422 with a complaint for each
question (`complaints` in JSON), and shows the form with everything that was typed. A
field is named after its `QuestionIdentifier`; a worker's own selection is
`IDENTIFIER.OtherSelectionText`. An `AnswerFormatRegex` that takes longer than a tenth
of a second is given up in the worker's favour.

| address | what it does |
|---|---|
| `GET /worker/qualifications` | what the worker has and may ask for (`q`, `before`) |
| `POST /worker/qualifications/ID/request` | asks: `Granted`, `Pending`, or `Testing`, \
with the address of the test, which begins then |
| `GET /worker/qualifications/ID/test` | the test that was begun, and until when |
| `POST /worker/qualifications/ID/test` | its answers: `Granted` with `value`, \
or `Pending` |

A test counts from its beginning by the site's clock. What comes later than its duration
is refused and was an attempt. It is graded by the key that it was begun with, even if
the requester has changed it since.

## Review policies and notifications

`ScoreMyKnownAnswers` runs on each submission, `SimplePlurality` whenever a HIT becomes
Reviewable: before anybody's next call, as of that moment, and before auto-approval. An
action that cannot be done (no funds, a tenth assignment, wrong state) is `Failed` in
the report and leaves nothing behind.

Every event is written down; in a rehearsal `GET /rehearsal/events?after=NUMBER` shows
them with what became of their messages. Messages are written in the same transaction as
what they tell. With `--notify-url` they are posted there as SQS `SendMessage` or SNS
`Publish`, at least once, in the background; failures are logged and tried again, ten
times at most. Nothing is sent to another machine.

## Where the service was unclear

| question | here |
|---|---|
| last page of a list | empty: every page that shows a row carries NextToken |
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
| the key of another requester's test | not shown |
| a percentage or a scaled score that ends in a half | rounded up, -2.5 to -2 |
| the name of a deleted qualification type | free when the last HIT that requires it \
is gone |
| a notification specification without Active | active, or as the one before it was |
| an answer key for a test with a field to write in | refused |
| QuestionAgreementThreshold | agreement must be above it; with 100, all must agree |
| two answers that are equally common | no agreement |
| an answer that was left out | no values; several who leave it out agree |
| several values of one field, joined with a bar | compared as a set |

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
