"""How much of the requester API the marketplace offers, as a table of its page.

`python -m tools.marketplace_page` writes the table of operations between the two
markers of docs/reference/marketplace.md and leaves the rest of the page alone. A test
compares the table with the code, and the code with the service model.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from piecework.marketplace.requester.api import OPERATIONS
from piecework.marketplace.requester.wire import operation_names

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/marketplace.md"


@dataclass(frozen=True, slots=True)
class Note:
    """How an operation differs from MTurk's."""

    extent: Literal["simpler", "absent"]
    why: str


_LETTERBOX = "Puts the message into the worker's letterbox on the site; sends no mail."
_QUEUES = (
    "SQS and SNS only, sent to the `--notify-url` on this machine; without it messages "
    "wait. Email is refused."
)
_NO_FILES = "Refuses each call, because no form can ask for a file (FileUploadAnswer was retired)."

NOTES = {
    "AssociateQualificationWithWorker": Note("simpler", _LETTERBOX),
    "DisassociateQualificationFromWorker": Note("simpler", _LETTERBOX),
    "GetFileUploadURL": Note("simpler", _NO_FILES),
    "NotifyWorkers": Note(
        "simpler", f"{_LETTERBOX} A panel's people have no letterbox: `HardFailure`."
    ),
    "SendTestEventNotification": Note("simpler", _QUEUES),
    "UpdateNotificationSettings": Note("simpler", _QUEUES),
}
"""Operations that are not the same as the service's."""

BEGIN, END = "<!-- operations: begin -->\n", "<!-- operations: end -->\n"

_HEAD = """
## The 39 operations

- *same*: works as MTurk documents it.
- *simpler*: does the same with fewer features.
- *absent*: is refused with a 400 `NotImplementedException` that names it.

| operation | extent | difference |
|---|---|---|
"""


def render() -> str:
    """The page as it should be, from the page as it is."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    rows = [f"| {name} | {_extent(name)} | {_why(name)} |" for name in operation_names()]
    return before + BEGIN + _HEAD + "\n".join(rows) + "\n\n" + END + after


def _extent(name: str) -> str:
    if name in NOTES:
        return NOTES[name].extent
    return "same" if name in OPERATIONS else "absent"


def _why(name: str) -> str:
    return NOTES[name].why if name in NOTES else ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
