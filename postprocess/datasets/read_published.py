"""Read captions in the formats in which well-known datasets are published.

Tables name an image and a caption in each row: Kaggle's Flickr8k `captions.txt`
(`image,caption`), Flickr30k's `results.csv` (`image_name| comment_number| comment`). Most are
CSV. In others, captions hold separators without quotation marks, because the caption is the
last column, and one row of Flickr30k's lacks a separator. JSON comes as COCO's results, as
Karpathy's splits, as lines, or as lists of captions by image.

JSON of VizWiz-Captions, COCO and piecework has `images` and `annotations` with integer ids;
the keys specific to VizWiz (`is_precanned`, `is_rejected`, `text_detected`) may be missing.
A list of objects with `image`, `unrecognizable` and `flaws` is a file of votes on quality
(VizWiz-QualityIssues).
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from piecework.analyses.corpus.captions import ANSWERS_OF_QUALITY_FILES, Caption, Corpus, Quality
from piecework.domain.text import lines_in
from piecework.foundation.csv_text import rows_in
from piecework.postprocess.datasets.reading_faults import UnreadableError, decoded

IMAGES = (
    *("image_id", "image", "image_name", "img", "img_id", "imgid", "filename"),
    *("file_name", "image_file", "image_path", "file", "cocoid", "item_id"),
)
"""Names of the column or member with an image's id, the likeliest first."""

CAPTIONS = (
    *("caption", "captions", "comment", "raw", "sentence", "sentences"),
    *("description", "text"),
)
"""Names of the column or member with a caption, the likeliest first."""

_SEPARATORS = ("\t", "|", ",", ";")
_CELLS = {
    separator: re.compile(rf' *"(?:[^"]|"")*" *(?=[{separator}]|\Z)|[^{separator}]*')
    for separator in _SEPARATORS
}
"""A cell in quotation marks, else what stands before the next separator."""

_NUMBER_FIRST = re.compile(r"\s*\d+\s+(?P<caption>\S.*)")
_PICTURE = re.compile(r"\"?[^\s,;|]+\.(?:jpe?g|png|gif|webp|bmp)\b", re.IGNORECASE)
"""How most rows begin."""

_MOST_LINES = 20
_MOST_LEFT_OUT = 0.01
"""If more than this share of a file cannot be read, it has another format."""

Document = Mapping[str, object]


class _Columns(NamedTuple):
    separator: str
    names: tuple[str, ...]
    image: int
    caption: int

    @property
    def most_splits(self) -> int:
        """How often a line is split: a caption at its end may hold separators."""
        last = len(self.names) - 1
        return last if self.caption == last else -1


_Row = tuple[int, str, Iterable[str] | None]
"""Number, image and captions; `None` if it cannot be read."""


def has_header(text: str) -> bool:
    """Return whether the first line names an image and a caption."""
    return _columns(text) is not None


def from_rows(text: str) -> Corpus:
    """Return the captions of a table whose first line names an image and a caption.

    Raises:
        UnreadableError: more than a few rows cannot be read.
    """
    columns = _columns(text)
    if columns is None:
        line = text.split("\n", 1)[0].strip()[:100]
        raise UnreadableError(
            f"line 1: names no image and no caption (found: {line!r}); allowed are "
            f"{', '.join(IMAGES)} and {', '.join(CAPTIONS)}"
        )
    lines = lines_in(text)
    rows = _cells(lines, columns) if _is_csv(lines, columns) else _lines(lines, columns)
    return _corpus(rows, "line")


def from_entries(entries: Sequence[object]) -> Corpus:
    """Return the captions of a list of objects, each with an image and captions.

    Raises:
        UnreadableError: more than a few entries have neither.
    """

    def rows() -> Iterator[_Row]:
        for number, entry in enumerate(entries):
            yield number, *_entry(entry)

    return _corpus(rows(), "entry")


def from_json_lines(text: str) -> Corpus:
    """Return the captions of lines of JSON objects.

    Raises:
        UnreadableError: more than a few lines are unreadable.
    """

    def rows() -> Iterator[_Row]:
        for number, line in enumerate(lines_in(text), start=1):
            if line.strip():
                try:
                    entry = json.loads(line)
                except (ValueError, RecursionError):
                    entry = None
                yield number, *_entry(entry)

    return _corpus(rows(), "line")


def is_list_of_captions(entries: Sequence[object]) -> bool:
    """Return whether the first entry has an image and a caption, as COCO's results."""
    return bool(entries) and _entry(entries[0])[1] is not None


def by_image(document: Document) -> Sequence[object] | None:
    """Return entries for an object of captions by image, or Karpathy's images.

    `None`: it is neither.
    """
    images = document.get("images")
    if "annotations" in document:
        return None
    if isinstance(images, list):
        return images if is_list_of_captions(images) else None
    if document and all(_texts(value) is not None for value in document.values()):
        return [{"image": name, "captions": value} for name, value in document.items()]
    return None


def _columns(text: str) -> _Columns | None:
    line = lines_in(text.lstrip("\ufeff"))[0]
    for separator in _SEPARATORS:
        cells = _split(line, separator, -1)
        names = tuple(cell.strip().strip('"').strip().casefold() for cell in cells)
        image = next((name for name in IMAGES if name in names), None)
        caption = next((name for name in CAPTIONS if name in names), None)
        if image is not None and caption is not None:
            return _Columns(separator, names, names.index(image), names.index(caption))
    return None


def _split(line: str, separator: str, most: int) -> list[str]:
    """Return the cells of a line, with their quotation marks; at most one more than `most`."""
    cells, start = [], 0
    while len(cells) != most:
        match = _CELLS[separator].match(line, start)
        if match is None or match.end() == len(line):
            break
        cells.append(match[0])
        start = match.end() + 1
    return [*cells, line[start:]]


def _csv_rows(
    lines: Sequence[str], columns: _Columns
) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Yield the rows after the header with their lines, and faults in place of rows."""
    rows = rows_in((f"{line}\n" for line in lines), columns.separator)
    next(rows, None)
    for number, cells in rows:
        if isinstance(cells, csv.Error) or any(cell.strip() for cell in cells):
            yield number, cells


def _is_csv(lines: Sequence[str], columns: _Columns) -> bool:
    """Return whether nearly all rows have the header's cells, and none swallows others."""
    count = faults = 0
    for _, cells in _csv_rows(lines, columns):
        is_fault = isinstance(cells, csv.Error)
        if not is_fault and any(_is_row(line, columns) for line in _more_lines(cells)):
            return False
        count += 1
        faults += is_fault or len(cells) != len(columns.names)
    return faults <= _MOST_LEFT_OUT * count


def _more_lines(cells: Iterable[str]) -> Iterator[str]:
    return (line for cell in cells if "\n" in cell for line in cell.split("\n")[1:])


def _is_row(line: str, columns: _Columns) -> bool:
    """Return whether a line within a cell is a row, so that a mark of the text opened the cell."""
    has_all = line.count(columns.separator) >= len(columns.names) - 1
    return has_all and _PICTURE.match(line) is not None


def _cells(lines: Sequence[str], columns: _Columns) -> Iterator[_Row]:
    """Yield the rows of CSV; a row with a fault as a line, if only one reading of it fits."""
    for number, cells in _csv_rows(lines, columns):
        if isinstance(cells, csv.Error):
            yield _row(number, lines[number - 1], columns, is_csv=True)
        elif len(cells) == len(columns.names):
            yield number, cells[columns.image].strip(), (_caption_in(cells[columns.caption]),)
        elif any(_more_lines(cells)):
            yield number, "", None
        else:
            yield _row(number, lines[number - 1], columns, is_csv=True)


def _caption_in(cell: str) -> str:
    # Flickr30k has a space before the marks, so they are a part of the cell.
    return _unquoted(cell) if cell[:1].isspace() else cell.strip()


def _lines(lines: Sequence[str], columns: _Columns) -> Iterator[_Row]:
    """Yield rows whose last cell may be a caption that holds separators."""
    number = 1
    while number < len(lines):
        start, more = number, _goes_on(lines, number, columns)
        line = "\n".join(lines[number : number + more])
        number += more
        if line.strip():
            yield _row(start + 1, line, columns)


def _row(number: int, line: str, columns: _Columns, *, is_csv: bool = False) -> _Row:
    """Return a row that is not CSV.

    Args:
        number: of its first line.
        line: its lines.
        columns: the columns.
        is_csv: whether the other rows are CSV. Then a separator too many may belong to any
            cell but a number.
    """
    wanted = len(columns.names)
    cells = _split(line, columns.separator, columns.most_splits)
    image = _unquoted(cells[min(columns.image, len(cells) - 1)])
    is_last = columns.most_splits > 0
    if len(cells) == wanted:
        places = {*range(wanted)} - {columns.image, columns.caption}
        are_numbers = all(cells[place].strip().isdigit() for place in places)
        if is_csv and not are_numbers and line.count(columns.separator) >= wanted:
            return number, "", None
        return number, image, (_unquoted(cells[columns.caption]),)
    if is_last and len(cells) == wanted - 1 and (match := _NUMBER_FIRST.fullmatch(cells[-1])):
        return number, image, (match["caption"].strip(),)
    return number, "", None


def _goes_on(lines: Sequence[str], number: int, columns: _Columns) -> int:
    """Return the lines of a row: a caption in quotation marks at its end may have several.

    A mark that nothing closes is a part of the caption.
    """
    caption = _split(lines[number], columns.separator, columns.most_splits)[-1]
    if columns.most_splits < 0 or not caption.lstrip().startswith('"'):
        return 1
    marks = 0
    for more, line in enumerate(lines[number : number + _MOST_LINES], start=1):
        if more > 1 and _PICTURE.match(line):
            return 1
        marks += (caption if more == 1 else line).count('"')
        if marks % 2 == 0:
            return more
    return 1


def _unquoted(cell: str) -> str:
    text = cell.strip()
    inside = text[1:-1].replace('""', "")
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"' and '"' not in inside
    return text[1:-1].replace('""', '"').strip() if is_quoted else text


def _entry(entry: object) -> tuple[str, Iterable[str] | None]:
    """Return the image and the captions of an object; `None` if it has none."""
    if not isinstance(entry, dict):
        return "", None
    names = {str(name).casefold(): value for name, value in entry.items()}
    # Karpathy's images have a number and a file name; others name the file.
    order = ("filename", *IMAGES) if "sentences" in names else IMAGES
    image = next((text for name in order if (text := _id(names.get(name)))), "")
    texts = next(
        (texts for name in CAPTIONS if (texts := _texts(names.get(name))) is not None), None
    )
    return image, texts if image else None


def _id(value: object) -> str:
    is_id = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value).strip() if is_id else ""


def _texts(value: object) -> list[str] | None:
    """Return captions: a text, a list of texts, or of objects with one."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        return None
    parts = [
        next((part[name] for name in CAPTIONS if isinstance(part.get(name), str)), None)
        if isinstance(part, dict)
        else part
        for part in value
    ]
    texts = [part for part in parts if isinstance(part, str)]
    return texts if texts and len(texts) == len(parts) else None


def _corpus(rows: Iterable[_Row], place: str) -> Corpus:
    """Return the captions of rows; a few rows that cannot be read are left out."""
    captions: list[Caption] = []
    faults: list[str] = []
    count = 0
    for number, image, texts in rows:
        count += 1
        if texts is None or not image:
            faults.append(f"{place} {number}: has no image with a caption")
            continue
        captions += [Caption(image=image, text=text) for text in texts if text.strip()]
    if len(faults) > max(1, _MOST_LEFT_OUT * count) or not captions:
        raise UnreadableError(*(faults or ["contains no captions"]))
    return Corpus(
        source="",
        captions=captions,
        holds_canned=False,
        images=[*dict.fromkeys(caption.image for caption in captions)],
        remarks=[f"Left out: {fault}." for fault in faults],
    )


_REHEARSAL = "REHEARSAL: all answers come from simulated workers."

_TRUTH = {True: "yes", False: "no", None: ""}


def from_json(content: bytes) -> Corpus:
    """Return the captions or votes of a document.

    Raises:
        UnreadableError: it has another format; the message lists all faults with
            places.
    """
    try:
        document: object = json.loads(decoded(content))
    except json.JSONDecodeError as fault:
        raise UnreadableError(f"line {fault.lineno}: not JSON ({fault.msg})") from fault
    except RecursionError as fault:
        raise UnreadableError("cannot be read: the JSON is nested too deeply") from fault
    except ValueError as fault:
        words = "cannot be read: a number has thousands of digits"
        raise UnreadableError(words) from fault
    if isinstance(document, dict):
        entries = by_image(document)
        return _captions(document) if entries is None else from_entries(entries)
    if not isinstance(document, list):
        raise UnreadableError("neither an object nor a list of captions or votes")
    if is_list_of_captions(document):
        return from_entries(document)
    return _votes(document)


def _captions(document: Mapping[str, object]) -> Corpus:
    images = document.get("images", [])
    annotations = document.get("annotations")
    if not isinstance(annotations, list) or not isinstance(images, list):
        keys = ", ".join(map(repr, [*document][:12])) or "none"
        raise UnreadableError(
            f"the lists 'images' and 'annotations' of captions are missing (keys found: {keys})"
        )
    faults = [
        f"images[{n}]: {fault}" for n, image in enumerate(images) for fault in _image_faults(image)
    ]
    faults += [
        f"annotations[{n}]: {fault}"
        for n, annotation in enumerate(annotations)
        for fault in _annotation_faults(annotation)
    ]
    if faults:
        raise UnreadableError(*faults)
    about = _about(document)
    ids = {str(image["id"]): image.get("text_detected") for image in images}
    captions = [
        _caption(annotation)
        for annotation in annotations
        if annotation.get("set_aside") not in {"surplus", "undecided"}
    ]
    return Corpus(
        source="",
        captions=captions,
        images=[*dict.fromkeys([*ids, *(caption.image for caption in captions)])],
        files={
            str(image["id"]): image["file_name"]
            for image in images
            if isinstance(image.get("file_name"), str)
        },
        shows_text={
            image: _TRUTH[shows_text]
            for image, shows_text in ids.items()
            if isinstance(shows_text, bool)
        },
        # piecework's own file, which names the campaign, has canned answers in another
        # one.
        holds_canned="campaign" not in about
        and any("is_precanned" in annotation for annotation in annotations),
        remarks=[_REHEARSAL] if about.get("is_rehearsal") is True else [],
    )


def _about(document: Mapping[str, object]) -> Mapping[str, object]:
    about = document.get("info")
    return about if isinstance(about, dict) else {}


def _image_faults(entry: object) -> list[str]:
    if not isinstance(entry, dict) or not _is_id(entry.get("id")):
        return ["not an object with an 'id'"]
    return []


def _annotation_faults(entry: object) -> list[str]:
    if not isinstance(entry, dict):
        return ["not an object"]
    faults = [] if _is_id(entry.get("image_id")) else ["'image_id' is missing"]
    if not isinstance(entry.get("caption"), str):
        faults.append("'caption' is missing or not text")
    return faults + [
        f"{name!r} must be true or false"
        for name in ("is_precanned", "is_rejected", "text_detected")
        if not isinstance(entry.get(name), bool | None)
    ]


def _caption(annotation: Mapping[str, object]) -> Caption:
    shows_text = annotation.get("text_detected")
    return Caption(
        image=str(annotation["image_id"]),
        text=str(annotation["caption"]),
        is_canned=bool(annotation.get("is_precanned")),
        is_rejected=bool(annotation.get("is_rejected")),
        shows_text=_TRUTH[shows_text] if isinstance(shows_text, bool) else "",
    )


def _votes(entries: Sequence[object]) -> Corpus:
    faults = [
        f"entry {n}: {fault}" for n, entry in enumerate(entries) for fault in _vote_faults(entry)
    ]
    if faults:
        raise UnreadableError(*faults)
    quality = {
        str(entry["image"]): Quality(
            unrecognizable=entry["unrecognizable"], flaws=entry.get("flaws", {})
        )
        for entry in entries
        if isinstance(entry, dict)
    }
    return Corpus(source="", images=[*quality], quality=quality)


def _vote_faults(entry: object) -> list[str]:
    if not isinstance(entry, dict) or "unrecognizable" not in entry:
        captions = "a caption ('image_id', 'caption')"
        return [f"neither {captions} nor votes ('image', 'unrecognizable', 'flaws')"]
    flaws = entry.get("flaws", {})
    votes = [entry["unrecognizable"], *(flaws.values() if _is_object(flaws) else ["?"])]
    faults = [] if _is_id(entry.get("image")) else ["'image' is missing"]
    if not all(_is_vote(vote) for vote in votes):
        faults.append(f"votes must be whole numbers from 0 to {ANSWERS_OF_QUALITY_FILES}")
    return faults


def _is_vote(vote: object) -> bool:
    return (
        isinstance(vote, int)
        and not isinstance(vote, bool)
        and 0 <= vote <= ANSWERS_OF_QUALITY_FILES
    )


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool) and value != ""
