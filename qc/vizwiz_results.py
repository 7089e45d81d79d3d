"""The original VizWiz pipeline's `.results` files, so that they can be judged again.

The file is tab separated, every field quoted, one assignment a line. Answers of a HIT
are packed into one field a kind: images and their times are joined by `|`; captions,
text and flaws end with `|<END>` an image and are joined by `|`; several flaws of one
image are joined by `|` as well. A `<END>` that a worker typed was percent-encoded, but
only his first. -999 means that a time was never taken. Accepting and submitting are in
US Central time, `CST` or `CDT`, in English whatever the machine's language is.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone

import pandas as pd

from domain.errors import ConfigError
from domain.ids import AssignmentId, answer_id
from domain.tables import (
    COLLECTED,
    INDEX,
    ITEM_VALUE,
    Column,
    build,
    is_canned,
)

CANNED_TEXT = "Quality issues are too severe to recognize visual content."

NEVER_SET = "-999"

END = "|<END>"
ENCODED_END = "%3CEND%3E"

HAS_TEXT = {"Y": "yes", "N": "no"}
FLAWS = {
    "BLR": "blur",
    "BRT": "bright",
    "DRK": "dark",
    "OBS": "obscured",
    "FRM": "framing",
    "ROT": "rotation",
    "OTH": "other",
    "NONE": "none",
}

_TABLE = {
    **COLLECTED,
    f"{ITEM_VALUE}caption": Column("str", "answered as text"),
    f"{ITEM_VALUE}has_text": Column("str", "answered as choice"),
    f"{ITEM_VALUE}flaws": Column("object", "answered as choices"),
    f"{ITEM_VALUE}flaw_other": Column("str", "answered as text"),
}
"""The columns that a file gives."""

COLUMNS = (
    "hitid",
    "assignmentid",
    "workerid",
    "assignmentaccepttime",
    "assignmentsubmittime",
    "Answer.HIT_ST_TIME",
    "Answer.HIT_END_TIME",
    "Answer.IMG",
    "Answer.IMG_ST_TIME",
    "Answer.IMG_END_TIME",
    "Answer.IMG_CAPTION",
    "Answer.TEXT_DETECT",
    "Answer.Q_ISSUE",
    "Answer.Q_ISSUE_OTH",
)
"""What is read; other columns are left alone."""

OFFSET_HOURS = {"CST": -6, "CDT": -5, "PST": -8, "PDT": -7, "UTC": 0, "GMT": 0}
MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)


def read(payload: bytes, *, batch: int = 1) -> pd.DataFrame:
    """The table of answers (`domain.tables`) of one `.results` file.

    `page_seconds` is the original's own: the page's end minus its start, divided by the
    images, instead of the sum over the images. A packed field that does not fall into
    as many parts as there are images gives empty values and the problem
    `packing_<field>` on each of the assignment's rows, since no part can be matched
    with its image.

    Args:
        payload: the bytes of the file, in UTF-8 (perhaps with a mark) or Windows-1252.
        batch: the batch to put all rows into.

    Raises:
        ConfigError: columns are missing or a time cannot be read; all faults.
    """
    reader = csv.DictReader(io.StringIO(_decode(payload), newline=""), delimiter="\t")
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise ConfigError([f"The column {name!r} is missing." for name in missing])
    rows: list[dict[str, object]] = []
    faults: list[str] = []
    for line in reader:
        try:
            rows += _rows(line, batch=batch)
        except ValueError as fault:
            faults.append(f"line {reader.line_num}: {fault}")
    if faults:
        raise ConfigError(faults)
    cells = {name: [row[name] for row in rows] for name in _TABLE}
    return build([str(row[INDEX]) for row in rows], cells, _TABLE)


def moment(text: str) -> datetime:
    """A time such as `Sat Apr 20 16:20:50 CDT 2019`, in UTC.

    Raises:
        ValueError: it is not of this form, or the zone is not known.

    >>> moment("Sat Apr 20 16:20:50 CDT 2019").isoformat()
    '2019-04-20T21:20:50+00:00'
    """
    try:
        _, month, day, clock, zone, year = text.split()
        hour, minute, second = map(int, clock.split(":"))
        local = timezone(timedelta(hours=OFFSET_HOURS[zone]))
        local_time = datetime(
            int(year),
            MONTHS.index(month) + 1,
            int(day),
            hour,
            minute,
            second,
            tzinfo=local,
        )
    except (ValueError, KeyError) as fault:
        raise ValueError(
            f"found the time {text!r}; allowed is such as 'Sat Apr 20 16:20:50 CDT "
            f"2019' in a zone of {', '.join(OFFSET_HOURS)}"
        ) from fault
    return local_time.astimezone(UTC)


def unpack(packed: str) -> list[str]:
    """One text an image of a packed field.

    A bar belongs to the packing only next to `<END>`; others were typed.

    >>> unpack("a red|blue box|<END>|b|<END>")
    ['a red|blue box', 'b']
    """
    *parts, rest = packed.split(END)
    if rest:  # the last image's end is missing, so this is not a packed field
        parts.append(rest)
    return [
        (part if number == 0 else part.removeprefix("|")).replace(ENCODED_END, "<END>")
        for number, part in enumerate(parts)
    ]


def _rows(line: Mapping[str, str], *, batch: int) -> list[dict[str, object]]:
    """The rows of one assignment."""
    images = line["Answer.IMG"].split("|")
    accepted = moment(line["assignmentaccepttime"])
    submitted = moment(line["assignmentsubmittime"])
    problems: list[str] = []

    def parts(column: str) -> Sequence[str]:
        texts = unpack(line[column])
        if len(texts) == len(images):
            return texts
        problems.append("packing_" + column.removeprefix("Answer.").casefold())
        return [""] * len(images)

    captions = parts("Answer.IMG_CAPTION")
    has_text = parts("Answer.TEXT_DETECT")
    flaws = parts("Answer.Q_ISSUE")
    flaw_other = parts("Answer.Q_ISSUE_OTH")
    shown = _shown(line, n_items=len(images))
    page = _seconds(line["Answer.HIT_ST_TIME"], line["Answer.HIT_END_TIME"])
    assignment = AssignmentId(line["assignmentid"])
    return [
        {
            INDEX: str(answer_id(assignment, number + 1)),
            "assignment_id": str(assignment),
            "hit_id": line["hitid"],
            "batch": batch,
            "worker_id": line["workerid"],
            "item_id": image,
            "round": 0,
            "position": number + 1,
            "place": number + 1,
            "n_items": len(images),
            "text": captions[number],
            "is_canned": is_canned(captions[number], CANNED_TEXT),
            "shown_seconds": shown[number],
            "page_seconds": page / len(images),
            "market_seconds": (submitted - accepted).total_seconds() / len(images),
            "accepted_at": accepted,
            "submitted_at": submitted,
            "pastes": math.nan,
            "keystrokes": math.nan,
            "focus_losses": math.nan,
            "problems": tuple(problems),
            f"{ITEM_VALUE}caption": captions[number],
            f"{ITEM_VALUE}has_text": HAS_TEXT.get(has_text[number], has_text[number]),
            f"{ITEM_VALUE}flaws": _flaws(flaws[number]),
            f"{ITEM_VALUE}flaw_other": flaw_other[number],
        }
        for number, image in enumerate(images)
    ]


def _flaws(packed: str) -> tuple[str, ...]:
    """The flaws of one image; a code that is not known stays as it is."""
    return tuple(FLAWS.get(code, code) for code in packed.split("|") if code)


def _shown(line: Mapping[str, str], *, n_items: int) -> list[float]:
    starts = line["Answer.IMG_ST_TIME"].split("|")
    ends = line["Answer.IMG_END_TIME"].split("|")
    if len(starts) != n_items or len(ends) != n_items:
        return [math.nan] * n_items
    return [_seconds(start, end) for start, end in zip(starts, ends, strict=True)]


def _seconds(start: str, end: str) -> float:
    """Between two epoch milliseconds; NaN if one was never set."""
    if NEVER_SET in (start.strip(), end.strip()) or not (start and end):
        return math.nan
    return (int(end) - int(start)) / 1000


def _decode(payload: bytes) -> str:
    try:
        return payload.decode("utf-8-sig")
    except UnicodeDecodeError:
        return payload.decode("cp1252", errors="replace")
