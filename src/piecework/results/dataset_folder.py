"""The folder of a dataset: files of an earlier export that are written no more go.

A worker's data may have been deleted since, so an old file is not fit to be published. A
file beside the folder records what exports wrote; a user's own files in the folder are in
no record, and stay.
"""

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from piecework.domain.pictures import is_plain_name
from piecework.postprocess.datasets.files import CARD, CROISSANT
from piecework.store.files import write_whole_text

_RECORD = "dataset-files.json"
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What reading a file raises that is missing, no JSON, or JSON of another shape."""


@dataclass(frozen=True, slots=True)
class _Record:
    """What exports wrote into a folder, by path in it.

    Attributes:
        written: what may be there.
        gone: what was there and is written no more.
    """

    written: frozenset[str]
    gone: frozenset[str]


@contextmanager
def replacing(folder: Path, names: Collection[str]) -> Iterator[None]:
    """Delete what earlier exports wrote, and this one did not, after the block has written.

    Args:
        folder: of the dataset.
        names: the paths in it that the block writes, or that an item of the dataset has.
    """
    before, now = _read(folder), frozenset(names)
    # First, so that the files of an export that ends early are known as well.
    _keep(folder, _Record(before.written | now, before.gone - now))
    yield
    stale = before.written - now
    for name in sorted(stale):
        path, parents = folder / name, [folder / up for up in PurePosixPath(name).parents[:-1]]
        # A link may lead out of the folder, and a folder with a file's name is a user's own.
        if any(map(Path.is_symlink, parents)) or (path.is_dir() and not path.is_symlink()):
            continue
        with suppress(NotADirectoryError):
            path.unlink(missing_ok=True)
        for above in parents:
            with suppress(OSError):  # it has other files, or is gone
                above.rmdir()
    _keep(folder, _Record(now, (before.gone | stale) - now))


def gone_from(folder: Path) -> frozenset[str]:
    """Return the paths that an export once wrote into a folder, and the last one did not."""
    return _read(folder).gone


def _read(folder: Path) -> _Record:
    """Return the record, without names that lead out of the folder; if unreadable, as if absent."""
    try:
        facts: Any = json.loads((folder.parent / _RECORD).read_bytes())
        written, gone = (
            frozenset(filter(is_plain_name, facts[key])) for key in ("written", "gone")
        )
    except _UNREADABLE:
        return _Record(frozenset(_listed(folder)), frozenset())
    return _Record(written, gone)


def _listed(folder: Path) -> Iterator[str]:
    """Yield the files that the folder's Croissant names."""
    try:
        document: Any = json.loads((folder / CROISSANT).read_bytes())
        names = [entry.get("contentUrl", "") for entry in document["distribution"]]
        yield from [*filter(is_plain_name, names), CARD, CROISSANT]
    except _UNREADABLE:
        return


def _keep(folder: Path, record: _Record) -> None:
    facts = {"written": sorted(record.written), "gone": sorted(record.gone)}
    write_whole_text(folder.parent / _RECORD, f"{json.dumps(facts, ensure_ascii=False)}\n")
