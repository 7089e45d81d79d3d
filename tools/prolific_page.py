"""What MTurk's words become at Prolific, as a table of the manual.

`python -m tools.prolific_page` writes the last part of docs/how-to/prolific.md
anew and leaves what people wrote above it; a test holds the table to this list, and the
list to the operations of the requester API.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

PAGE = Path(__file__).resolve().parents[1] / "docs/how-to/prolific.md"


@dataclass(frozen=True, slots=True)
class Line:
    """A thing that requesters know from MTurk.

    Attributes:
        thing: in MTurk's words.
        operations: those that deal with it.
        becomes: what it is with Prolific's participants.
        extent: `same`, `near` or `absent`.
        why: what is different and why; "" where nothing is.
    """

    thing: str
    operations: tuple[str, ...]
    becomes: str
    extent: Literal["same", "near", "absent"]
    why: str = ""


LINES = (
    Line(
        "HIT type, its open HITs",
        ("CreateHITType", "CreateHIT", "CreateHITWithHITType", "UpdateHITTypeOfHIT"),
        "a study with as many places as can be filled",
        "near",
        "HITs that are posted close together become one study; its reward, filters and "
        "length are fixed once it is published, so another length is another study",
    ),
    Line(
        "more slots, a longer life",
        ("CreateAdditionalAssignmentsForHIT", "UpdateExpirationForHIT"),
        "more places of the study, or a new study",
        "same",
    ),
    Line(
        "expiry, all slots taken",
        ("UpdateExpirationForHIT", "DeleteHIT"),
        "the study is stopped, who is at work goes on",
        "same",
    ),
    Line(
        "assignment",
        ("ListAssignmentsForHIT", "GetAssignment"),
        "a part of a visit, which is a submission",
        "near",
        "several HITs are done in one visit and submitted together with its last "
        "answer; "
        "AcceptTime and SubmitTime give how long each took. A visit that is given up "
        "leaves nothing",
    ),
    Line(
        "assignment duration",
        (),
        "how long a visit may take: as long as its HITs together",
        "near",
        "less than 24 hours, since Prolific asks for that; an assignment's deadline is "
        "its visit's",
    ),
    Line(
        "worker",
        (),
        "participant; the worker id is MTurk-shaped, the participant's stays in the "
        "marketplace's database",
        "same",
    ),
    Line(
        "approve, auto-approval delay",
        ("ApproveAssignment",),
        "APPROVE, in bulk",
        "near",
        "a submission is paid whole once all of its HITs are decided, if one of them "
        "was approved; "
        "20 days is the longest delay, since Prolific approves by itself after 21. "
        "What was approved there by hand stays the requester's to decide here",
    ),
    Line(
        "reject",
        ("RejectAssignment",),
        "a request to return; after seven days REJECT, with a message of 100 "
        "characters "
        "and a category",
        "near",
        "only if all HITs of the visit were rejected. The category stands at the "
        "beginning of "
        "the feedback, as [LOW_EFFORT]; without one it is OTHER",
    ),
    Line(
        "reject, then approve",
        ("ApproveAssignment",),
        "UNREJECT, then APPROVE",
        "near",
        "where Prolific refuses that, a bonus of the same amount; `piecework "
        "prolific status` "
        "says so",
    ),
    Line(
        "bonus",
        ("SendBonus", "ListBonusPayments"),
        "a line of a batch of bonuses, which is made, looked at and paid once",
        "same",
    ),
    Line(
        "approvals and approval rate required",
        (),
        "filters approval_numbers and approval_rate, every comparator",
        "near",
        "counted by Prolific over all its studies; the rate is compared with the "
        "upper end of "
        "a confidence interval",
    ),
    Line(
        "locale required",
        (),
        "filter current-country-of-residence",
        "near",
        "countries only: Prolific has no filter by state",
    ),
    Line(
        "adult content",
        (),
        "met by everybody",
        "same",
        "Prolific admits nobody below 18",
    ),
    Line("Masters", (), "refused, and said in status", "absent", "Prolific has none"),
    Line(
        "own qualifications, every comparator",
        (
            "CreateQualificationType",
            "UpdateQualificationType",
            "DeleteQualificationType",
            "GetQualificationType",
            "ListQualificationTypes",
            "AssociateQualificationWithWorker",
            "DisassociateQualificationFromWorker",
            "GetQualificationScore",
            "ListWorkersWithQualificationType",
        ),
        "two participant groups of the study, who alone may come and who may not",
        "same",
        "kept in step while the study runs",
    ),
    Line(
        "a test that grants a qualification",
        (
            "ListQualificationRequests",
            "AcceptQualificationRequest",
            "RejectQualificationRequest",
        ),
        "a screening: a study that pays for taking the test",
        "near",
        "everybody who takes it is paid (`--screening-pay`), whatever comes of it",
    ),
    Line(
        "block",
        ("CreateWorkerBlock", "DeleteWorkerBlock", "ListWorkerBlocks"),
        "the study's keep-out group",
        "same",
    ),
    Line(
        "messages to workers",
        ("NotifyWorkers",),
        "messages on Prolific, the same text to many in one",
        "near",
        "sent once or not at all; one whose fate is not known is counted in status",
    ),
    Line(
        "balance",
        ("GetAccountBalance",),
        "the requester's account at the marketplace, within what the server may spend",
        "near",
        "in the workspace's currency; the API's amounts name none",
    ),
    Line(
        "fees",
        (),
        "what Prolific's calculator says, tax included",
        "near",
        "as a percentage in the price list; what rounding makes of it is booked "
        "when a visit "
        "or a batch is paid",
    ),
    Line(
        "preview before accepting",
        (),
        "title, description, length and consent",
        "absent",
        "a participant has taken the place before; who does not want it returns it",
    ),
    Line(
        "reading HITs and reviewing them",
        (
            "GetHIT",
            "ListHITs",
            "ListReviewableHITs",
            "ListHITsForQualificationType",
            "UpdateHITReviewStatus",
            "ListReviewPolicyResultsForHIT",
        ),
        "the same",
        "same",
    ),
    Line(
        "notifications, uploads",
        (
            "UpdateNotificationSettings",
            "SendTestEventNotification",
            "GetFileUploadURL",
        ),
        "as [without participants](../reference/marketplace.md)",
        "same",
    ),
)

HEADING = "## What MTurk's words become\n"
_HEAD = """
| at MTurk | at Prolific | extent | difference and reason |
|---|---|---|---|
"""


def render() -> str:
    """The page as it should be, from the page as it is."""
    written, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    rows = [
        f"| {line.thing}{_named(line)} | {line.becomes} | {line.extent} | {line.why} |"
        for line in LINES
    ]
    return written + HEADING + _HEAD + "\n".join(rows) + "\n"


def _named(line: Line) -> str:
    names = ", ".join(f"`{name}`" for name in line.operations)
    return f" ({names})" if names else ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
