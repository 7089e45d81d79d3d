"""Generate the table of supported requester API operations for the manual.

`python -m tools.marketplace_page` rewrites the last part of docs/marketplace.md, the
table of operations, and keeps the text above it. A test compares the table with the
code, and the code with the service model.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from piecework.marketplace.requester.model import operation_names
from piecework.marketplace.requester.operations import OPERATIONS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "marketplace.md"


@dataclass(frozen=True, slots=True)
class Note:
    """How an operation differs from the service's, and why."""

    extent: Literal["simpler", "absent"]
    why: str


_LETTERBOX = (
    "The message is put into the worker's letterbox on the site; no mail is sent."
)
_QUEUES = (
    "SQS and SNS, sent to the one address of this machine that `--notify-url` names; "
    "without it they wait. Email is refused: no mail leaves from here."
)

_NO_FILES = (
    "No form asks for a file (FileUploadAnswer was retired), so each call is refused: "
    "the question is of another kind."
)

NOTES = {
    "AssociateQualificationWithWorker": Note("simpler", _LETTERBOX),
    "DisassociateQualificationFromWorker": Note("simpler", _LETTERBOX),
    "GetFileUploadURL": Note("simpler", _NO_FILES),
    "NotifyWorkers": Note("simpler", _LETTERBOX),
    "SendTestEventNotification": Note("simpler", _QUEUES),
    "UpdateNotificationSettings": Note("simpler", _QUEUES),
}
"""The operations that differ from the service's."""

HEADING = "## The 39 operations\n"

_HEAD = """
*same*: as documented. *simpler*: does what it says, with less. *absent*: refused by
name with a 400 `NotImplementedException`, never a silent success.

| operation | extent | difference and reason |
|---|---|---|
"""


def render() -> str:
    """Return the updated page, based on the current one."""
    written, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    rows = [
        f"| {name} | {_extent(name)} | {_why(name)} |" for name in operation_names()
    ]
    return written + HEADING + _HEAD + "\n".join(rows) + "\n"


def _extent(name: str) -> str:
    if name in NOTES:
        return NOTES[name].extent
    return "same" if name in OPERATIONS else "absent"


def _why(name: str) -> str:
    return NOTES[name].why if name in NOTES else ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
