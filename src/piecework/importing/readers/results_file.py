"""Read `.results` of MTurk's command line tools: tab-separated, all fields quoted.

`Answer.*` are the answers; each row is an assignment. The original VizWiz pipeline
packed the answers of a HIT into one field per kind. Images and their times are joined
by `|`. Captions, text and flaws end with `|<END>` for each image and are joined by `|`.
Several flaws of one image are also joined by `|`. Only the first `<END>` that a worker
typed was percent-encoded. -999 means that a time was not measured. Such a file is split
into the fields of the task `caption`.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from piecework.importing.readers.head import Head
from piecework.importing.readers.rows import ImportedRow, Read, RowPart
from piecework.importing.readers.tables import (
    CellError,
    Cells,
    cents_in,
    filled,
    read_table,
    time_in,
)

NAME = "MTurk command line tools (.results)"

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
_ANSWER = "Answer."
_PACKED = ("Answer.IMG", "Answer.IMG_CAPTION", "Answer.TEXT_DETECT", "Answer.Q_ISSUE")


def fits(head: Head) -> bool:
    """Recognise the columns that each such file has."""
    return head.has("hitid", "assignmentid", "workerid", "assignmentsubmittime")


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per submitted assignment; skip HITs without one."""
    for row in read_table(path, head, _row, worker="workerid"):
        # A HIT without assignments has a row without an assignment.
        if not isinstance(row, ImportedRow) or row.assignment_id:
            yield row


def unpack(packed: str) -> list[str]:
    """Return one text per image of a packed field.

    A bar is a separator only next to `<END>`; workers typed the others.

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


def _row(line: int, cells: Cells) -> Read:
    parts = _images(cells) if set(_PACKED) <= cells.keys() else ()
    return ImportedRow(
        line=line,
        hit_id=cells["hitid"].strip(),
        assignment_id=cells["assignmentid"].strip(),
        worker_id=cells["workerid"].strip(),
        accepted_at=time_in(cells, "assignmentaccepttime"),
        submitted_at=time_in(cells, "assignmentsubmittime"),
        outcome=cells.get("assignmentstatus", "").strip(),
        feedback=cells.get("feedback", ""),
        reward_cents=cents_in(cells, "reward"),
        sent={}
        if parts
        else {
            name.removeprefix(_ANSWER): cell
            for name, cell in filled(cells).items()
            if name.startswith(_ANSWER)
        },
        parts=parts,
    )


def _images(cells: Cells) -> tuple[RowPart, ...]:
    """Return the images of a HIT of the VizWiz pipeline, each with its answers.

    Raises:
        CellError: a field does not have as many parts as there are images, so they
            cannot be matched.
    """
    images = cells["Answer.IMG"].split("|")

    def parts(column: str) -> Sequence[str]:
        texts = unpack(cells.get(column, ""))
        if not any(texts) and column == "Answer.Q_ISSUE_OTH":
            return [""] * len(images)
        if len(texts) != len(images):
            raise CellError(column, f"has {len(texts)} parts for {len(images)} images")
        return texts

    captions = parts("Answer.IMG_CAPTION")
    has_text = parts("Answer.TEXT_DETECT")
    flaws = parts("Answer.Q_ISSUE")
    others = parts("Answer.Q_ISSUE_OTH")
    shown_ms = _shown_ms(cells, len(images))
    return tuple(
        RowPart(
            {"image_id": image},
            {
                "caption": captions[n],
                "has_text": HAS_TEXT.get(has_text[n], has_text[n]),
                "flaws": "|".join(_flaws(flaws[n])),
                "flaw_other": others[n],
            },
            {"shown_ms": shown_ms[n]} if n in shown_ms else {},
        )
        for n, image in enumerate(images)
    )


def _flaws(packed: str) -> tuple[str, ...]:
    """Return the flaws of one image; an unknown code is kept."""
    return tuple(FLAWS.get(code, code) for code in packed.split("|") if code)


def _shown_ms(cells: Cells, images: int) -> Mapping[int, str]:
    """Return how long each image was shown, if both of its times were measured."""
    starts = cells.get("Answer.IMG_ST_TIME", "").split("|")
    ends = cells.get("Answer.IMG_END_TIME", "").split("|")
    if len(starts) != images or len(ends) != images:
        return {}
    return {
        n: str(int(end) - int(start))
        for n, (start, end) in enumerate(zip(starts, ends, strict=True))
        if start.isdecimal() and end.isdecimal() and NEVER_SET not in (start, end)
    }
