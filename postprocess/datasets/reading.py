"""Read captions and questions from piecework's own files, VizWiz's, or plain tables.

Such files are untrusted, so everything is checked before anything is computed. Each fault
names the file and the place; at most twenty are reported. Tables are CSV, Parquet or plain
lines.

Questions about images with their answers come as VizWiz-VQA publishes them: a list of
objects with `image`, `answers` (objects with `answer`), and if known `answerable` and
`answer_type`; or a CSV with an image id or `file_name`, `answer`, and if known
`answer_type`.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from piecework.analyses.corpus.captions import Caption, Corpus, Question
from piecework.domain.column_names import ORIGINAL
from piecework.domain.errors import ConfigError
from piecework.domain.text import lines_in, shell_word
from piecework.postprocess.datasets.file_table import plain
from piecework.postprocess.datasets.published_tables import has_header
from piecework.postprocess.datasets.read_published import from_json, from_json_lines, from_rows
from piecework.postprocess.datasets.reading_faults import (
    UnreadableError,
    as_config_error,
    csv_cells_of_any_length,
    decoded,
    parsed_json,
)

_IDS = ("item_id", "image_id")
_TRUTHS = ("is_precanned", "is_rejected", "text_detected")
_WANTED = (*_IDS, "file_name", "caption", *_TRUTHS, "is_surplus", "set_aside")
_TRUE = frozenset({"1", "true", "yes"})
_FALSE = frozenset({"", "0", "false", "no"})
_FLICKR = re.compile(r"([^\t#]+)#\w+\t(.*)")

Row = Mapping[str, str]


def from_csv(content: bytes) -> Corpus:
    """Read a CSV table with a header, removing apostrophes against formulas.

    Raises:
        UnreadableError: it is not such a table, or has unusable rows.
    """
    # A cell may be as long as the file: huge captions are cut later.
    text = decoded(content)
    with csv_cells_of_any_length(text):
        return _csv_corpus(text)


def _csv_corpus(text: str) -> Corpus:
    if not _is_known(text) and has_header(text):
        return from_rows(text)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        header = list(reader.fieldnames or ())
        is_ours = _check_columns(header)
        rows = [(f"line {reader.line_num}", _csv_row(row, is_ours=is_ours)) for row in reader]
    except csv.Error as fault:
        place = f"line {reader.line_num}"
        raise UnreadableError(f"{place}: not CSV ({fault})") from fault
    return _corpus(rows, is_ours=is_ours, holds_canned="is_precanned" in header)


def from_parquet(content: bytes) -> Corpus:
    """Read a Parquet table with the same columns.

    Raises:
        UnreadableError: it is not such a table, or has unusable rows.
    """
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        header = list(file.schema_arrow.names)
        is_ours = _check_columns(header)
        columns = [name for name in _WANTED if name in header]
        values = file.read(columns=columns).to_pylist()
    except pa.ArrowException as fault:
        first = str(fault).splitlines()[0]
        raise UnreadableError(f"not a Parquet file ({first})") from fault
    rows = [
        (f"row {number}", {name: _word(value) for name, value in row.items()})
        for number, row in enumerate(values, start=1)
    ]
    corpus = _corpus(rows, is_ours=is_ours, holds_canned="is_precanned" in header)
    warning = (file.schema_arrow.metadata or {}).get(b"warning", b"")
    return replace(corpus, remarks=[warning.decode(errors="replace")] * bool(warning))


def from_lines(content: bytes) -> Corpus:
    """Read a caption per line; `image#number<TAB>caption` also names the image.

    A first line such as `image,caption` makes it a table.

    Raises:
        UnreadableError: it is not UTF-8, or a table with unusable rows.
    """
    text = decoded(content)
    if has_header(text):
        with csv_cells_of_any_length(text):
            return from_rows(text)
    captions = [Caption(image=image, text=line) for image, line in _lines(text)]
    return Corpus(source="", captions=captions, holds_canned=False, images=_images(captions))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines_in(text), start=1):
        match = _FLICKR.fullmatch(line.strip())
        if match:
            yield match[1], match[2]
        elif line.strip():
            yield f"line {number}", line.strip()


def _is_known(text: str) -> bool:
    """Return whether the first line has the columns that piecework writes."""
    first = next(csv.reader(io.StringIO(text, newline="")), [])
    return "caption" in first and any(name in first for name in _IDS)


def _check_columns(header: Sequence[str]) -> bool:
    """Return whether piecework wrote the table.

    Raises:
        UnreadableError: required columns are missing.
    """
    names = ", ".join(map(repr, header[:12])) or "none"
    faults = [f"no column 'caption' (found: {names})"] if "caption" not in header else []
    if not any(name in header for name in _IDS):
        faults.append(f"no column 'item_id' or 'image_id' (found: {names})")
    if faults:
        raise UnreadableError(*faults)
    return "item_id" in header and "answer_id" in header


def _csv_row(row: Mapping[str, str | None], *, is_ours: bool) -> Row:
    cells = {name: row.get(name) for name in _WANTED if name in row}
    # DictReader uses None for missing cells, and the key None for extra ones.
    if None in row or None in cells.values():
        return {}
    known = {name: cell or "" for name, cell in cells.items()}
    return {name: plain(cell) for name, cell in known.items()} if is_ours else known


def _word(value: object) -> str:
    return "" if value is None else str(value)


def _corpus(rows: Iterable[tuple[str, Row]], *, is_ours: bool, holds_canned: bool) -> Corpus:
    faults: list[str] = []
    captions = []
    files = {}
    for place, row in rows:
        wrong = _row_faults(row)
        faults += [f"{place}: {fault}" for fault in wrong]
        is_open = row.get("set_aside") == "undecided"
        if not (wrong or is_open or row.get("is_surplus", "").lower() in _TRUE):
            captions.append(_caption(row))
            if name := row.get("file_name"):
                files[_id(row)] = name
    if faults:
        raise UnreadableError(*faults)
    return Corpus(
        source="",
        captions=captions,
        # For piecework's own tables, set_aside.* completes the list of images.
        images=() if is_ours else _images(captions),
        files=files,
        holds_canned=holds_canned and not is_ours,
    )


def _row_faults(row: Row) -> list[str]:
    if not row:
        return ["the number of cells differs from the header"]
    faults = [
        f"{name} is {row[name][:40]!r}; allowed are 0, 1, true, false, yes, no"
        for name in _TRUTHS
        if row.get(name, "").lower() not in _TRUE | _FALSE
    ]
    return faults if _id(row) else ["the image id is missing", *faults]


def _caption(row: Row) -> Caption:
    shows_text = row.get("text_detected", "").lower()
    return Caption(
        image=_id(row),
        text=row["caption"],
        is_canned=row.get("is_precanned", "").lower() in _TRUE,
        is_rejected=row.get("is_rejected", "").lower() in _TRUE,
        shows_text="" if not shows_text else "yes" if shows_text in _TRUE else "no",
    )


def _id(row: Row) -> str:
    return row.get("item_id") or row.get("image_id") or ""


def _images(captions: Iterable[Caption]) -> list[str]:
    return [*dict.fromkeys(caption.image for caption in captions)]


LARGEST_BYTES = 512 * 2**20
"""Ten times the size of MSCOCO's training captions; a larger file is a mistake."""

_READERS: Mapping[str, Callable[[bytes], Corpus]] = {
    ".csv": from_csv,
    ".json": from_json,
    ".jsonl": lambda content: from_json_lines(decoded(content)),
    ".parquet": from_parquet,
    ".token": from_lines,
    ".tsv": from_lines,
    ".txt": from_lines,
}

LONGEST_CHARACTERS = 2000
"""The longest caption; the rest is cut, because a huge one would take minutes."""

_FOLDER_ORDER = ("captions.parquet", "captions.csv", "captions.json")
"""Tables first: unlike the JSON, they mark canned answers that are surplus."""


def read_captions(path: Path) -> Corpus:
    """Read the captions of a file, or of a folder with a piecework dataset.

    Args:
        path: `.json` as VizWiz-Captions or COCO publish it, or a list of votes as
            VizWiz-QualityIssues; `.csv` or `.parquet` with a column `caption` and one
            of `item_id`, `image_id`; `.txt` with one caption per line, Flickr8k's
            `image#number<TAB>caption` included; or as `read_published` says. With
            `captions.*` of piecework, `set_aside.*` in the same format is read too,
            because it contains canned and rejected answers.

    Raises:
        ConfigError: the file cannot be read or used; the message lists the faults.
    """
    path = _file_of(path)
    corpus = _whole(path)
    if not (corpus.captions or corpus.quality):
        raise ConfigError([f"{path}: contains no captions"])
    return completed(corpus, path)


def completed(corpus: Corpus, path: Path) -> Corpus:
    """Return a corpus with the name of its file, and with long captions cut."""
    return _shortened(replace(corpus, source=_name(path)))


def has_columns_of_datasets(header: Collection[str]) -> bool:
    """Return whether a table has captions and what else only `read_captions` reads."""
    others = {"answer_id", *_WANTED} - {"caption", *_IDS}
    return (
        "caption" in header
        and any(name in header for name in _IDS)
        and any(name in header for name in others)
    )


def _whole(path: Path) -> Corpus:
    corpus = _read(path)
    aside = path.with_name(f"set_aside{path.suffix}")
    if corpus.holds_canned or path == aside or not aside.is_file():
        return corpus
    is_part = path.suffix.lower() == ".json"
    return _together(corpus, _read(aside), is_part=is_part)


def _together(kept: Corpus, aside: Corpus, *, is_part: bool) -> Corpus:
    # A split's JSON lists its images; a table does not, and is the whole dataset.
    listed = frozenset(kept.images)
    added = [caption for caption in aside.captions if caption.image in listed or not is_part]
    captions = [*kept.captions, *added]
    images = kept.images or [*dict.fromkeys(caption.image for caption in captions)]
    return replace(
        kept,
        captions=captions,
        images=images,
        files={**aside.files, **kept.files},
        holds_canned=True,
    )


def _shortened(corpus: Corpus) -> Corpus:
    long = sum(len(caption.text) > LONGEST_CHARACTERS for caption in corpus.captions)
    if not long:
        return corpus
    return replace(
        corpus,
        captions=[
            replace(caption, text=caption.text[:LONGEST_CHARACTERS]) for caption in corpus.captions
        ],
        remarks=[
            *corpus.remarks,
            f"Captions cut after {LONGEST_CHARACTERS:,} characters: {long:,}.",
        ],
    )


def _name(path: Path) -> str:
    """Return a name for people, with folders: every campaign has a captions.csv."""
    is_ours = path.name.startswith("captions")
    return "/".join(path.resolve().parts[-3:]) if is_ours else path.name


def captions_file_of(path: Path) -> Path:
    """Return the file of a folder that is read; a path without such files as it is."""
    files = (path / name for name in _FOLDER_ORDER)
    return next((file for file in files if file.is_file()), path)


def _file_of(path: Path) -> Path:
    file = captions_file_of(path)
    if file.is_dir():
        fault = f"{path}: a folder without {' or '.join(_FOLDER_ORDER)}"
        if not any(path.glob("answers.*")):
            raise ConfigError([fault], next_step="name the table with the captions")
        raise ConfigError(
            [f"{fault}; it contains the answers of a task without captions"],
            next_step=f"piecework data analyse {shell_word(path / 'answers.csv')} --label COLUMN",
        )
    return file


def answers_in(folder: Path) -> tuple[Path, str] | None:
    """Return the table of a dataset of answers, and the column of its main text.

    Beside the main text stands the original, as the worker wrote it. `None`: the folder
    has captions, no dataset of answers, or answers without a text.
    """
    if any((folder / name).is_file() for name in _FOLDER_ORDER):
        return None
    for table in (folder / "answers.parquet", folder / "answers.csv"):
        if table.is_file():
            names = _columns_of(table)
            originals = [name for name in names if name.endswith(ORIGINAL)]
            texts = [name.removesuffix(ORIGINAL) for name in originals]
            return next(((table, text) for text in texts if text in names), None)
    return None


def _columns_of(table: Path) -> list[str]:
    try:
        if table.suffix == ".parquet":
            return list(pq.read_schema(table).names)
        with table.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, ValueError, csv.Error, pa.ArrowException):
        return []  # the reader of the table says what is wrong


def _read(path: Path) -> Corpus:
    read = _READERS.get(path.suffix.lower())
    if read is None:
        kinds = ", ".join(sorted(_READERS))
        raise ConfigError([f"{path}: captions are read from files that end in {kinds}"])
    with as_config_error(path):
        return read(_content(path))


def refuse_large(path: Path) -> None:
    """Refuse a file that is too large for memory.

    Raises:
        ConfigError: with its size and the limit, or because it cannot be read.
    """
    try:
        size = path.stat().st_size
    except OSError as fault:
        raise ConfigError([f"{path}: cannot be read ({fault.strerror})"]) from fault
    if size > LARGEST_BYTES:
        limit = f"at most {LARGEST_BYTES:,} are read; describe a part of it"
        raise ConfigError([f"{path}: {size:,} bytes; {limit}"])


def _content(path: Path) -> bytes:
    refuse_large(path)
    try:
        content = path.read_bytes()
    except OSError as fault:
        raise ConfigError([f"{path}: cannot be read ({fault.strerror})"]) from fault
    if not content.strip():
        raise ConfigError([f"{path}: the file is empty"])
    return content


_IMAGES = ("item_id", "image_id", "file_name", "image")
_SHAPE = '[{"image": "a.jpg", "answers": [{"answer": "tea"}, ...]}, ...]'


def read_questions(path: Path, files: Mapping[str, str]) -> list[Question]:
    """Return the answerable questions, each with its most popular answer.

    Of equally popular answers the first in the file counts.

    Args:
        path: `.json` or `.csv`.
        files: the name of the picture's file by image, to find images by it.

    Raises:
        ConfigError: the file cannot be read or used.
    """
    image_of = {name: image for image, name in files.items()}
    with as_config_error(path):
        try:
            if path.stat().st_size > LARGEST_BYTES:
                raise UnreadableError(f"at most {LARGEST_BYTES:,} bytes are read")
            text = decoded(path.read_bytes())
        except OSError as fault:
            raise ConfigError([f"{path}: cannot be read ({fault.strerror})"]) from fault
        read = _of_csv if path.suffix.lower() == ".csv" else _of_json
        questions = [
            Question(
                image=image_of.get(question.image, question.image),
                answer=question.answer,
                kind=question.kind,
            )
            for question in read(text)
        ]
        if not questions:
            raise UnreadableError("the file holds no answerable questions")
    return questions


def _of_json(text: str) -> Iterator[Question]:
    document = parsed_json(text)
    if not isinstance(document, list):
        raise UnreadableError(f"not a list of questions; VizWiz-VQA is {_SHAPE}")
    for number, entry in enumerate(document):
        answers = entry.get("answers") if isinstance(entry, dict) else None
        if not isinstance(answers, list) or not isinstance(entry.get("image"), str):
            raise UnreadableError(f"entry {number}: no 'image' and 'answers'")
        texts = [
            str(answer["answer"])
            for answer in answers
            if isinstance(answer, dict) and "answer" in answer
        ]
        if texts and entry.get("answerable", 1) != 0:
            yield Question(
                image=entry["image"],
                answer=Counter(texts).most_common(1)[0][0],
                kind=str(entry.get("answer_type") or ""),
            )


def _of_csv(text: str) -> Iterator[Question]:
    with csv_cells_of_any_length(text):
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        header = reader.fieldnames or ()
        key = next((name for name in _IMAGES if name in header), None)
        if key is None or "answer" not in header:
            names = ", ".join(map(repr, header[:12])) or "none"
            raise UnreadableError(
                f"questions need an image id or 'file_name', and 'answer'; the columns are {names}"
            )
        rows = [*reader]
    for row in rows:
        if row[key] and row["answer"]:
            yield Question(image=row[key], answer=row["answer"], kind=row.get("answer_type") or "")
