"""Read piecework's own Parquet datasets, to judge one campaign's work in another.

Texts are read as typed, before cleaning. Decisions in the first campaign are outcomes
here, like those of any other tool.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from piecework.domain.errors import ConfigError
from piecework.domain.tables import ORDER
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.moments import moment
from piecework.importing.readers.parquet_size import check_rows, check_size, texts_in
from piecework.importing.readers.rows import ImportedRow, Read, RowPart

NAME = "piecework dataset (Parquet)"

_AT_ONCE = 5_000
_ORIGINAL = "_original"
_OF_THE_ITEM = ("item_id", "url", "file_name")
_OF_THE_WORK = frozenset(
    {
        *("answer_id", *_OF_THE_ITEM, "split", "batch", "round", "position", "place"),
        *("problems", "worker", "shown_seconds", "submitted_at", "is_provisional"),
        *("is_rejected", "rejected_because", "is_surplus", "set_aside", "edits"),
        *("is_precanned", "outcome_elsewhere"),
    }
)
_RENAMED = {"text_detected": "has_text"}


def fits(head: Head) -> bool:
    """Recognise Parquet by its first bytes; reading checks who wrote it."""
    return head.magic == b"PAR1"


def read(path: Path, _head: Head) -> Iterator[Read]:
    """Yield a row per assignment with consecutive answers.

    Raises:
        ConfigError: piecework did not write it, or it is too large unpacked.
    """
    numbered = enumerate(_answers(path), start=1)
    for assignment, group in groupby(numbered, lambda pair: _assignment(pair[1])):
        yield _row(assignment, list(group))


def _answers(path: Path) -> Iterator[Mapping[str, object]]:
    try:
        with pq.ParquetFile(path) as file:
            texts = _texts(path, file)
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(_AT_ONCE):
                check_rows(path, batch)
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as fault:
        raise ConfigError([f"{path}: not valid Parquet ({fault})"]) from fault


def _texts(path: Path, file: pq.ParquetFile) -> list[str]:
    """Return the text columns of a file, after checking it."""
    missing = {"answer_id", "item_id", "worker"} - set(file.schema_arrow.names)
    if missing:
        raise ConfigError([f"{path}: not a piecework dataset; missing columns: {sorted(missing)}"])
    check_size(path, file.metadata)
    return texts_in(file)


def _assignment(cells: Mapping[str, object]) -> str:
    return str(cells["answer_id"]).rpartition(".")[0]


def _row(assignment: str, group: list[tuple[int, Mapping[str, object]]]) -> Read:
    line, first = group[0]
    sent_at = first.get("submitted_at")
    return ImportedRow(
        line=line,
        assignment_id=assignment,
        worker_id=str(first["worker"] or ""),
        submitted_at=moment("" if sent_at is None else str(sent_at)),
        parts=tuple(
            RowPart(
                {name: as_text(cells.get(name)) for name in _OF_THE_ITEM},
                _sent(cells),
                _measured(cells),
            )
            for _, cells in group
        ),
        outcomes={position: _outcome(cells) for position, (_, cells) in enumerate(group, 1)},
    )


def _sent(cells: Mapping[str, object]) -> dict[str, str]:
    sent = {}
    for name, cell in cells.items():
        if name in _OF_THE_WORK or name.startswith(ORDER.replace(".", "_")):
            continue
        if name.endswith(_ORIGINAL):
            sent[name.removesuffix(_ORIGINAL)] = as_text(cell)
        elif f"{name}{_ORIGINAL}" not in cells:
            sent[_RENAMED.get(name, name)] = as_text(cell)
    return sent


def _measured(cells: Mapping[str, object]) -> dict[str, str]:
    seconds = cells.get("shown_seconds")
    if isinstance(seconds, float):
        return {"shown_ms": str(round(seconds * 1000))}
    return {}


def _outcome(cells: Mapping[str, object]) -> str:
    return str(cells.get("set_aside") or "accepted")
