"""Made-up batch results of MTurk, for tests of importing."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

HEADER = (
    *("HITId", "HITTypeId", "Title", "Reward", "AssignmentId", "WorkerId"),
    *("AssignmentStatus", "AcceptTime", "SubmitTime", "RequesterFeedback"),
    *("WorkTimeInSeconds", "LifetimeApprovalRate"),
)


def row(
    number: int,
    worker: str,
    *,
    shown: Mapping[str, str],
    sent: Mapping[str, str],
    status: str = "Submitted",
    hit: str = "HIT1",
    seconds: int = 60,
) -> dict[str, str]:
    """One assignment of a batch: accepted at 8 o'clock, Pacific summer time."""
    minute, second = divmod(seconds, 60)
    return {
        "HITId": hit,
        "HITTypeId": "TYPE",
        "Title": "A stance",
        "Reward": "$0.10",
        "AssignmentId": f"ASSIGNMENT{number}",
        "WorkerId": worker,
        "AssignmentStatus": status,
        "AcceptTime": "Mon Apr 03 08:00:00 PDT 2017",
        "SubmitTime": f"Mon Apr 03 08:{minute:02}:{second:02} PDT 2017",
        "RequesterFeedback": "thanks" if status == "Approved" else "",
        "WorkTimeInSeconds": str(seconds),
        "LifetimeApprovalRate": "0% (0/0)",
        **{f"Input.{name}": cell for name, cell in shown.items()},
        **{f"Answer.{name}": cell for name, cell in sent.items()},
    }


def stances(*, status: str = "Submitted") -> list[dict[str, str]]:
    """Three workers on two items each in one HIT; W3 disagrees, and one is empty."""
    shown = {"text1": "Rain tomorrow", "text2": "Sun at noon", "source": "paper"}
    answers = [("yes", "no"), ("yes", "no"), ("no", "{}")]
    return [
        row(
            number,
            f"W{number}",
            shown=shown,
            sent={"stance1": first, "stance2": second, "note": "fine"},
            status=status,
        )
        for number, (first, second) in enumerate(answers, start=1)
    ]


def write(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    """A CSV file as MTurk writes it, every cell quoted."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path
