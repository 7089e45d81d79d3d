"""Read CoNLL's columns: spans as tags of tokens, one text in each block of lines.

A line has a token first and its tag last: `B-Person`, `I-Person`, `O`, also with the letters
`E`, `S`, `L` and `U` of BIOES and BILOU. The text is the tokens with a space between them. The
file does not say who marked, so it counts as one worker.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from piecework.analyses.mark_texts import spans_text
from piecework.foundation.csv_text import LONGEST_CELL
from piecework.importing.readers.head import Head, is_comment, is_tagged
from piecework.importing.readers.rows import ImportedRow, Read, Unreadable, worker_of_file

NAME = "CoNLL"

_NAMED = re.compile(r"#\s*(?:item_id|sent_id|id)\s*=\s*(.+)")
_BETWEEN_DOCUMENTS = "-DOCSTART-"
_OUTSIDE = "O"
_CELLS = re.compile(r"[ \t]+")

_Span = tuple[str, Sequence[float]]


def fits(head: Head) -> bool:
    """Recognise lines that all end with a tag."""
    return is_tagged(head.text)


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per block of lines."""
    worker_id = worker_of_file(path)
    for begin, lines in _blocks(path, head):
        try:
            row = _row(begin, lines, worker_id)
        except ValueError as fault:
            yield Unreadable(line=begin, fault=str(fault), worker_id=worker_id)
            continue
        if row is not None:
            yield row


def _blocks(path: Path, head: Head) -> Iterator[tuple[int, list[str]]]:
    """Yield each block with the line where it begins; one that is too long without lines."""
    lines, begin, size = list[str](), 1, 0
    with path.open(encoding=head.encoding, errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                size += len(line)
                if size <= LONGEST_CELL:
                    lines.append(line.rstrip("\r\n"))
                else:
                    lines.clear()
                continue
            if size:
                yield begin, lines
            lines, begin, size = [], number + 1, 0
    if size:
        yield begin, lines


def _row(begin: int, lines: Sequence[str], worker_id: str) -> ImportedRow | None:
    """Return the text of a block with its spans; `None` if it has no tokens.

    Raises:
        ValueError: a line has no tag, or there are too many spans, as a clause.
    """
    if not lines:
        raise ValueError(f"is a text of more than {LONGEST_CELL >> 20} MB")
    item_id, tokens, tags = "", list[str](), list[str]()
    has_tabs = any("\t" in line for line in lines)
    for number, line in enumerate(lines, start=begin):
        if is_comment(line) or (line.startswith("# ") and has_tabs and "\t" not in line):
            if (match := _NAMED.fullmatch(line)) is not None:
                item_id = match[1].strip()
            continue
        cells = line.split("\t") if "\t" in line else _CELLS.split(line.strip())
        if cells[0] == _BETWEEN_DOCUMENTS:
            continue
        if len(cells) < len(("token", "tag")) or not _is_tag(cells[-1]):
            raise ValueError(f"line {number} does not end with a tag such as B-Person or O")
        tokens.append(cells[0])
        tags.append(cells[-1].strip())
    if not tokens:
        return None
    text = " ".join(tokens)
    return ImportedRow(
        line=begin,
        worker_id=worker_id,
        shown={**({"item_id": item_id} if item_id else {}), "text": text},
        sent={"spans": spans_text([*_spans(tokens, tags)], text)},
    )


def _is_tag(cell: str) -> bool:
    return is_tagged(f"token\t{cell.strip()}")


def _spans(tokens: Sequence[str], tags: Sequence[str]) -> Iterator[_Span]:
    """Yield the label of each span, and its start and end in characters."""
    label, begin, end, at = "", 0, 0, 0
    is_over = True
    for token, tag in zip(tokens, tags, strict=True):
        letter, _, own = tag.partition("-")
        begins = letter in {"B", "S", "U"} or own != label or is_over
        if label and (begins or letter == _OUTSIDE):
            yield label, (begin, end)
            label = ""
        if letter != _OUTSIDE:
            begin = begin if label else at
            label, end = own, at + len(token)
        is_over = letter in {"E", "L", "S", "U"}
        at += len(token) + 1
    if label:
        yield label, (begin, end)
