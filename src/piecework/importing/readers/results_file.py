"""The `.results` of MTurk's command line tools: tab separated, every field quoted.

`Answer.*` are the answers; an assignment a row. The original VizWiz pipeline packed the
answers of a HIT into one field a kind: images and their times are joined by `|`;
captions, text and flaws end with `|<END>` an image and are joined by `|`; several flaws
of one image are joined by `|` as well. A `<END>` that a worker typed was
percent-encoded, but only his first. -999 means that a time was never taken. Such a file
is taken apart into the fields of the task `caption`.
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
    """By the columns that each such file has."""
    return head.has("hitid", "assignmentid", "workerid", "assignmentsubmittime")


def read(path: Path, head: Head) -> Iterator[Read]:
    """A row an assignment that was submitted; HITs without one are left out."""
    for row in read_table(path, head, _row):
        # A HIT that nobody did has a row without an assignment.
        if not isinstance(row, ImportedRow) or row.assignment_id:
            yield row


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
    """The images of a HIT of the VizWiz pipeline, each with its answers.

    Raises:
        CellError: a field does not fall into as many parts as there are images, so that
            no part can be matched with its image.
    """
    images = cells["Answer.IMG"].split("|")

    def parts(column: str) -> Sequence[str]:
        texts = unpack(cells.get(column, ""))
        if not any(texts) and column == "Answer.Q_ISSUE_OTH":
            return [""] * len(images)
        if len(texts) != len(images):
            raise CellError(
                column, f"falls into {len(texts)} parts, for {len(images)} images"
            )
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
            }
            | ({"shown_ms": shown_ms[n]} if n in shown_ms else {}),
        )
        for n, image in enumerate(images)
    )


def _flaws(packed: str) -> tuple[str, ...]:
    """The flaws of one image; a code that is not known stays as it is."""
    return tuple(FLAWS.get(code, code) for code in packed.split("|") if code)


def _shown_ms(cells: Cells, images: int) -> Mapping[int, str]:
    """How long each image was on screen, as far as both of its times were taken."""
    starts = cells.get("Answer.IMG_ST_TIME", "").split("|")
    ends = cells.get("Answer.IMG_END_TIME", "").split("|")
    if len(starts) != images or len(ends) != images:
        return {}
    return {
        n: str(int(end) - int(start))
        for n, (start, end) in enumerate(zip(starts, ends, strict=True))
        if start.isdigit() and end.isdigit() and NEVER_SET not in (start, end)
    }
