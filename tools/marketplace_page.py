"""How the operations of the requester API differ from MTurk's, as a part of its page.

`python -m tools.marketplace_page` writes the operations between the two markers of
docs/reference/marketplace.md and leaves the rest of the page alone. A test compares them
with the code, and the code with the service model.
"""

import textwrap
from pathlib import Path

from piecework.marketplace.requester.wire import operation_names

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/marketplace.md"


_LETTERBOX = "Puts the message into the worker's letterbox on the site; sends no mail."
_QUEUES = (
    "SQS and SNS only, sent to the `--notify-url` on this machine; without it messages "
    "wait. Email is refused."
)
_NO_FILES = "Refuses each call, because no form can ask for a file (FileUploadAnswer was retired)."

DIFFERENCES = {
    "AssociateQualificationWithWorker": _LETTERBOX,
    "DisassociateQualificationFromWorker": _LETTERBOX,
    "GetFileUploadURL": _NO_FILES,
    "NotifyWorkers": f"{_LETTERBOX} A panel's people have no letterbox: `HardFailure`.",
    "SendTestEventNotification": _QUEUES,
    "UpdateNotificationSettings": _QUEUES,
}
"""What operations do that are not the same as the service's."""

BEGIN, END = "<!-- operations: begin -->\n", "<!-- operations: end -->\n"

_HEAD = """
## The 39 operations

All are served. These do the same as at MTurk with fewer features:

| operation | difference |
|---|---|
"""

_WIDTH = 120


def render() -> str:
    """The page as it should be, from the page as it is."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    names = {
        difference: ", ".join(name for name in DIFFERENCES if DIFFERENCES[name] == difference)
        for difference in DIFFERENCES.values()
    }
    rows = [f"| {joined} | {difference} |" for difference, joined in names.items()]
    same = [name for name in operation_names() if name not in DIFFERENCES]
    others = f"The others work as MTurk documents them: {', '.join(same)}."
    text = textwrap.fill(others, _WIDTH, break_long_words=False)
    return before + BEGIN + _HEAD + "\n".join(rows) + f"\n\n{text}\n\n" + END + after


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
