"""The table of what each MTurk term becomes at Prolific.

`python -m tools.prolific_page` rewrites the last part of docs/reference/prolific.md and
keeps the hand-written part above it. A test compares the table with this list, and the
list with the operations of the requester API.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/prolific.md"


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table: an MTurk term and its counterpart at Prolific.

    Attributes:
        thing: MTurk's term.
        operations: the operations that deal with it.
        becomes: what it is with Prolific's participants.
        extent: `same`, `near` or `absent`.
        why: the difference and its reason; "" if there is none.
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
        "a study with as many places as workers can fill",
        "near",
        "HITs posted close together become one study. Publishing fixes its reward, "
        "filters and length, so another length is another study",
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
        "the study is stopped; participants at work continue",
        "same",
    ),
    Line(
        "assignment",
        ("ListAssignmentsForHIT", "GetAssignment"),
        "part of a visit; the visit is a submission",
        "near",
        "the HITs of a visit are submitted with its last answer. AcceptTime and "
        "SubmitTime give each one's duration. An abandoned visit leaves nothing",
    ),
    Line(
        "assignment duration",
        (),
        "the time limit of a visit: that of its HITs together",
        "near",
        "less than 24 hours, as Prolific requires; an assignment has the deadline of its visit",
    ),
    Line(
        "worker",
        (),
        "participant; the worker id has MTurk's form, and the Prolific ID stays in the "
        "marketplace's database",
        "same",
    ),
    Line(
        "approve, auto-approval delay",
        ("ApproveAssignment",),
        "APPROVE, in bulk",
        "near",
        "a submission is paid in full once all its HITs are decided and one is "
        "approved. The delay is at most 20 days; see the notes",
    ),
    Line(
        "reject",
        ("RejectAssignment",),
        "a request to return; after seven days REJECT, with a message of 100 "
        "characters and a category",
        "near",
        "only if all HITs of the visit were rejected. The feedback begins with the "
        "category, such as [LOW_EFFORT]; without one it is OTHER",
    ),
    Line(
        "reject, then approve",
        ("ApproveAssignment",),
        "UNREJECT, then APPROVE",
        "near",
        "if Prolific refuses that, a bonus of the same amount; "
        "`piecework market prolific status` says so",
    ),
    Line(
        "bonus",
        ("SendBonus", "ListBonusPayments"),
        "a line of a batch of bonuses, which is created, checked and paid once",
        "same",
    ),
    Line(
        "approvals and approval rate required",
        (),
        "filters approval_numbers and approval_rate, every comparator",
        "near",
        "Prolific counts over all its studies, and compares the rate with the upper "
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
        "a qualification type such as PROLIFICFIRSTLANGUAGE required",
        (),
        "the filter first-language; so for every filter with choices or a range",
        "same",
        "MTurk has no such types; `piecework market prolific filters` lists them",
    ),
    Line(
        "adult content",
        (),
        "every participant qualifies",
        "same",
        "Prolific admits only people of 18 or older",
    ),
    Line("Masters", (), "refused; `status` says so", "absent", "Prolific has none"),
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
        "two participant groups of the study: allowed and excluded",
        "same",
        "updated while the study runs",
    ),
    Line(
        "a test that grants a qualification",
        ("ListQualificationRequests", "AcceptQualificationRequest", "RejectQualificationRequest"),
        "a screening: a study that pays for taking the test",
        "near",
        "everyone who takes it is paid (`--screening-pay`), pass or fail",
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
        "messages on Prolific; one bulk message for the same text to many",
        "near",
        "sent at most once; `status` counts those with an unknown outcome",
    ),
    Line(
        "balance",
        ("GetAccountBalance",),
        "the requester's account at the marketplace, within the server's cap",
        "near",
        "in the workspace's currency, which amounts of the API do not name",
    ),
    Line(
        "fees",
        (),
        "the result of Prolific's calculator, with tax",
        "near",
        "a percentage in the price list; rounding is booked when a visit or a batch is paid",
    ),
    Line(
        "preview before accepting",
        (),
        "title, description, length and consent",
        "absent",
        "the participant has already taken the place, and returns it if they do not want it",
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
        ("UpdateNotificationSettings", "SendTestEventNotification", "GetFileUploadURL"),
        "as [without participants](marketplace.md)",
        "same",
    ),
)

HEADING = "## MTurk's terms at Prolific\n"
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
    """Return the page with its generated section up to date."""
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
