"""Generate the table of MTurk concepts and their equivalents at Prolific.

`python -m tools.prolific_page` rewrites the last part of docs/prolific.md and keeps the
text above it. A test compares the table with this list, and the list with the
operations of the requester API.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/prolific.md"


@dataclass(frozen=True, slots=True)
class Line:
    """A concept that requesters know from MTurk.

    Attributes:
        thing: MTurk's term.
        operations: the API operations for it.
        becomes: its equivalent with Prolific's participants.
        extent: `same`, `near` or `absent`.
        why: what differs and why; "" if nothing does.
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
        "a study with as many places as the HITs can fill",
        "near",
        "HITs posted close together become one study. Its reward, filters and length "
        "are fixed once it is published, so HITs of another length need another study",
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
        "the study is stopped; participants at work can finish",
        "same",
    ),
    Line(
        "assignment",
        ("ListAssignmentsForHIT", "GetAssignment"),
        "part of a visit; the visit is a submission",
        "near",
        "participants do several HITs in one visit and submit them together with the "
        "last answer. AcceptTime and SubmitTime show how long each took. An abandoned "
        "visit leaves no answers",
    ),
    Line(
        "assignment duration",
        (),
        "the time limit of a visit: the sum of its HITs' durations",
        "near",
        "less than 24 hours, as Prolific requires; an assignment's deadline is that "
        "of its visit",
    ),
    Line(
        "worker",
        (),
        "participant; worker ids look like MTurk's, and participant ids stay in the "
        "marketplace's database",
        "same",
    ),
    Line(
        "approve, auto-approval delay",
        ("ApproveAssignment",),
        "APPROVE, in bulk",
        "near",
        "a submission is paid in full once all of its HITs are decided and at least "
        "one is approved. 20 days is the longest delay, because Prolific approves "
        "automatically after 21. HITs of a submission approved by hand at Prolific "
        "are still decided here by the requester",
    ),
    Line(
        "reject",
        ("RejectAssignment",),
        "a request to return; after seven days REJECT, with a message of at least 100 "
        "characters and a category",
        "near",
        "only if all HITs of the visit were rejected. The feedback may begin with a "
        "category, such as [LOW_EFFORT]; the default is OTHER",
    ),
    Line(
        "reject, then approve",
        ("ApproveAssignment",),
        "UNREJECT, then APPROVE",
        "near",
        "if Prolific refuses, a bonus of the same amount; `piecework prolific status` "
        "reports it",
    ),
    Line(
        "bonus",
        ("SendBonus", "ListBonusPayments"),
        "a line in a batch of bonuses, which is created, checked and paid once",
        "same",
    ),
    Line(
        "approvals and approval rate required",
        (),
        "filters approval_numbers and approval_rate, every comparator",
        "near",
        "Prolific counts over all its studies and compares the rate with the upper "
        "end of a confidence interval",
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
        "all participants qualify",
        "same",
        "all participants are at least 18",
    ),
    Line(
        "Masters",
        (),
        "refused, and reported in status",
        "absent",
        "Prolific has no equivalent",
    ),
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
        "two participant groups of the study: those let in and those kept out",
        "same",
        "updated while the study runs",
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
        "all who take it are paid (`--screening-pay`), whatever the result",
    ),
    Line(
        "block",
        ("CreateWorkerBlock", "DeleteWorkerBlock", "ListWorkerBlocks"),
        "the study's group of excluded participants",
        "same",
    ),
    Line(
        "messages to workers",
        ("NotifyWorkers",),
        "messages on Prolific; the same text to many goes out in one call",
        "near",
        "sent at most once; status counts messages with an unknown outcome",
    ),
    Line(
        "balance",
        ("GetAccountBalance",),
        "the requester's account at the marketplace, within the server's cap",
        "near",
        "in the workspace's currency; amounts in the API have no currency",
    ),
    Line(
        "fees",
        (),
        "the result of Prolific's calculator, including tax",
        "near",
        "a percentage in the price list; rounding differences are booked when a visit "
        "or a batch is paid",
    ),
    Line(
        "preview before accepting",
        (),
        "title, description, length and consent",
        "absent",
        "a participant takes the place first, and returns it if they do not want it",
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
        "as [without participants](marketplace.md)",
        "same",
    ),
)

HEADING = "## How MTurk concepts map to Prolific\n"
_HEAD = """
`python -m tools.prolific_page` writes this section. The extent says how much of
MTurk's behaviour remains.

| at MTurk | at Prolific | extent | difference and reason |
|---|---|---|---|
"""


_NOTES = """
Notes on approval: Prolific approves automatically after 21 days, so 20 days is the
longest auto-approval delay. If someone approves a submission by hand at Prolific, the
requester still decides its HITs here.
"""


def render() -> str:
    """Return the updated page, based on the current one."""
    written, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    rows = [
        f"| {line.thing}{_named(line)} | {line.becomes} | {line.extent} | {line.why} |"
        for line in LINES
    ]
    return written + HEADING + _HEAD + "\n".join(rows) + "\n" + _NOTES


def _named(line: Line) -> str:
    names = ", ".join(f"`{name}`" for name in line.operations)
    return f" ({names})" if names else ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
