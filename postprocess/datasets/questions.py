"""Read questions about images with their answers, as VizWiz-VQA publishes them.

A list of objects with `image`, `answers` (objects with `answer`), and if known
`answerable` and `answer_type`; or a CSV with an image id or `file_name`, `answer`, and
if known `answer_type`.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from piecework.analyses.corpus.answered import Question
from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.reading import LARGEST_BYTES
from piecework.postprocess.datasets.reading_faults import (
    UnreadableError,
    as_config_error,
    csv_cells_of_any_length,
    decoded,
)

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
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise UnreadableError(f"not JSON ({fault})") from fault
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
        reader = csv.DictReader(io.StringIO(text, newline=""))
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
