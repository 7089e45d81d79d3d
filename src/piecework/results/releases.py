"""Releases of a dataset, and how they are delivered.

A release holds what changed since the one before, so a reader of release 3 reads the
changes of the first three:

    releases/000003/captions.parquet            rows that are new or different
                    captions_withdrawn.parquet  ids of rows that no longer count
                    manifest.json               counts, hashes, hash of manifest 2

The folder gets its name when all of it is on the disk. A release without a change is
not made.
"""

import hashlib
import json
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from piecework.campaign.exchange.sinks import SinkFailed
from piecework.domain.campaign import Campaign
from piecework.domain.dataset import Sink
from piecework.domain.errors import ConfigError, PieceworkError
from piecework.domain.text import did_you_mean, plural
from piecework.results.dataset_folder import gone_from
from piecework.store.files import sync

_MANIFEST = ".manifest"
_LOG = logging.getLogger(__name__)


def deliver(campaign: Campaign) -> None:
    """Write to each sink what it lacks; one that fails does not keep the others back.

    Raises:
        SinkFailed: a sink failed; it has the fault of each.
    """
    _of_each(campaign.sinks, lambda sink: _write_to_sink(campaign, sink))


def reach_sinks(campaign: Campaign) -> None:
    """Ask each sink for an answer, without writing.

    Raises:
        SinkFailed: a sink does not answer or refuses; it has the fault of each.
    """
    _of_each(campaign.sinks, lambda sink: _reach_sink(campaign, sink))


def _of_each(sinks: Iterable[Sink], act: Callable[[Sink], None]) -> None:
    faults = []
    for sink in sinks:
        try:
            act(sink)
        except PieceworkError as fault:
            faults.append(str(fault))
    if faults:
        raise SinkFailed(
            "\n".join(faults),
            next_step="correct it, and run the same command again: it writes to each "
            "sink only what is missing there",
        )


def _write_to_sink(campaign: Campaign, sink: Sink) -> None:
    # A database or a bucket is nothing that other campaigns wait for.
    from piecework.campaign.exchange.sinks import (  # noqa: PLC0415
        copy_releases,
        is_repository,
        write_files,
        write_release,
    )
    from piecework.campaign.exchange.table_sink import write_releases  # noqa: PLC0415

    releases = campaign.out / FOLDER
    if is_repository(sink.to):
        dataset = campaign.out / "dataset"
        number = write_release(dataset, releases, sink.to, gone=gone_from(dataset))
    elif sink.table:
        number = write_releases(
            releases,
            sink.to,
            sink.table,
            has_history=sink.has_history,
            beside=campaign.path.parent,
        )
    elif sink.is_manifest:
        number = write_files(
            sink.to,
            [f"{number:06}{_MANIFEST}" for number in range(1, latest_release(releases) + 1)],
            partial(_augmented, campaign, releases),
            beside=campaign.path.parent,
        )
    else:
        number = copy_releases(releases, sink.to, beside=campaign.path.parent)
    _LOG.info("wrote %s to %s", plural(number, "release"), sink.to)


def _augmented(campaign: Campaign, releases: Path, name: str) -> bytes:
    """Return SageMaker's manifest of a release, by the name of its file.

    Raises:
        ReleaseDamaged: a file of the release is missing or was changed.
    """
    from piecework.results.augmented_manifest import augmented_manifest  # noqa: PLC0415

    number = name.removesuffix(_MANIFEST)
    facts = json.loads((releases / number / "manifest.json").read_bytes())
    rows = read_release(releases, int(number), table="items").to_pylist()
    return augmented_manifest(campaign, rows, facts["released_at"])


def _reach_sink(campaign: Campaign, sink: Sink) -> None:
    from piecework.campaign.exchange.sinks import is_repository, reach_folder, reach_repository  # noqa: PLC0415
    from piecework.campaign.exchange.table_sink import reach_database  # noqa: PLC0415

    if is_repository(sink.to):
        reach_repository(sink.to)
    elif sink.table:
        reach_database(sink.to, sink.table, beside=campaign.path.parent)
    else:
        reach_folder(sink.to, beside=campaign.path.parent)


FOLDER = "releases"
MANIFEST = "manifest.json"
_FORMAT = "piecework release 1"
_WITHDRAWN = "_withdrawn"
_ROWS_AT_ONCE = 20_000

_KEYS = {
    "captions": "answer_id",
    "answers": "answer_id",
    "set_aside": "answer_id",
    "items": "item_id",
}
"""The tables of a dataset that are released, with the column that names a row."""


class ReleaseDamaged(PieceworkError):  # noqa: N818 - as the other errors here
    """A file of a release is missing or is not the file that was released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a release changes in a table, in rows; `rows` is how many it then has."""

    added: int
    changed: int
    withdrawn: int
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release.

    Attributes:
        number: 1 for the first.
        folder: where its files are.
        tables: the change of each table.
    """

    number: int
    folder: Path
    tables: Mapping[str, Change]


def release(
    dataset: Path, releases: Path, *, campaign: str, at: datetime, unfinished: str = ""
) -> Release | None:
    """Release what a dataset's Parquet files changed; return None if nothing changed.

    Args:
        dataset: the folder of the dataset's files.
        releases: the folder of all releases.
        campaign: the campaign's name.
        at: the time of the release.
        unfinished: what the campaign still lacks, as a sentence.

    Raises:
        ReleaseDamaged: an earlier release is not as it was released.
    """
    before = _manifests(releases)
    number = len(before) + 1
    partial = releases / f".{number:06}.partial"
    shutil.rmtree(partial, ignore_errors=True)  # of an export that was interrupted
    partial.mkdir(parents=True)
    changes: dict[str, Change] = {}
    files: list[dict[str, object]] = []
    for name, key in _KEYS.items():
        if not (path := dataset / f"{name}.parquet").exists():
            continue
        table = pq.read_table(path)
        old = _row_digests(_table_of(releases, before, name), key)
        new = _row_digests(table, key)
        added = sum(row not in old for row in new)
        different = [digest != old.get(row) for row, digest in new.items()]
        withdrawn = sorted(old.keys() - new.keys())
        changes[name] = Change(
            added=added, changed=sum(different) - added, withdrawn=len(withdrawn), rows=len(new)
        )
        if any(different):
            rows = table.filter(pa.array(different))
            files.append(_write(rows, partial / f"{name}.parquet", number))
        if withdrawn:
            ids = pa.table({key: pa.array(withdrawn, pa.string())})
            path = partial / f"{name}{_WITHDRAWN}.parquet"
            files.append(_write(ids, path, number))
    if not files:
        shutil.rmtree(partial)
        return None
    facts = {
        "format": _FORMAT,
        "release": number,
        "campaign": campaign,
        "released_at": at.isoformat(),
        "unfinished": unfinished,
        "manifest_before": before[-1].digest if before else None,
        "tables": {name: asdict(change) for name, change in changes.items()},
        "files": files,
    }
    _write_durably(partial / MANIFEST, json.dumps(facts, indent=2).encode())
    folder = releases / f"{number:06}"
    sync(partial)  # or the names of its files could be lost after the rename
    partial.rename(folder)
    sync(releases)
    return Release(number=number, folder=folder, tables=changes)


def latest_release(releases: Path) -> int:
    """Return the number of the latest release; 0 before the first.

    Raises:
        ReleaseDamaged: a manifest is not as it was released.
    """
    return len(_manifests(releases))


def read_release(folder: Path, number: int | None = None, *, table: str = "") -> pa.Table:
    """Return a table as it was in a release, in the order of its ids.

    Args:
        folder: the folder of all releases.
        number: the release; default: the latest.
        table: the table; default: the answers that count.

    Raises:
        ConfigError: there is no such release or table.
        ReleaseDamaged: a file is missing or differs from the one that was released.
    """
    manifests = _manifests(folder)
    if not manifests:
        raise ConfigError(
            [f"{folder}: has no releases"],
            next_step='write sink = "releases_of_birds/", any folder, and export the campaign',
        )
    number = len(manifests) if number is None else number
    if not 1 <= number <= len(manifests):
        raise ConfigError([f"{folder}: has no release {number}; it has 1 to {len(manifests)}"])
    names = list(manifests[number - 1].facts["tables"])
    name = table or names[0]
    if name not in names:
        listed = f"it has {', '.join(names)}"
        fault = (
            f"{folder}: release {number} has no table {name!r}"
            f"{did_you_mean(name, names, then=listed)}"
        )
        raise ConfigError([fault])
    return _table_of(folder, manifests[:number], name)


@dataclass(frozen=True, slots=True)
class _Manifest:
    facts: dict[str, Any]
    digest: str

    def path_of(self, folder: Path, name: str) -> Path | None:
        """Return a file of the release after checking it; None if it has none."""
        number = self.facts["release"]
        path = folder / f"{number:06}" / name
        for file in self.facts["files"]:
            if file["path"] == f"{number:06}/{name}":
                if not path.exists():
                    raise ReleaseDamaged(f"{path}: is missing from its release")
                if _digest_of(path) != file["sha256"]:
                    raise ReleaseDamaged(f"{path}: was changed after its release")
                return path
        return None


def _manifests(folder: Path) -> list[_Manifest]:
    """Return the manifests of all releases in order, after checking their chain."""
    manifests: list[_Manifest] = []
    while True:
        path = folder / f"{len(manifests) + 1:06}" / MANIFEST
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            break
        digest = hashlib.sha256(content).hexdigest()
        try:
            facts = json.loads(content)
            before, number = facts["manifest_before"], facts["release"]
        except (ValueError, LookupError, TypeError) as fault:
            raise ReleaseDamaged(f"{path}: is no manifest of a release") from fault
        expected = manifests[-1].digest if manifests else None
        if before != expected or number != len(manifests) + 1:
            raise ReleaseDamaged(
                f"{path}: does not follow the release before it, which was changed"
            )
        manifests.append(_Manifest(facts, digest))
    return manifests


def _table_of(folder: Path, manifests: list[_Manifest], name: str) -> pa.Table:
    """Return a table after the last of these releases, in the order of its ids."""
    key = _KEYS[name]
    parts: list[pa.Table] = []
    gone: set[str] = set()  # what later releases replace or withdraw
    for manifest in reversed(manifests):
        rows = manifest.path_of(folder, f"{name}.parquet")
        ids = manifest.path_of(folder, f"{name}{_WITHDRAWN}.parquet")
        part = None if rows is None else pq.read_table(rows)
        if part is not None:
            if gone:
                kept = pc.invert(pc.is_in(part[key], pa.array(gone, pa.string())))
                parts.append(part.filter(kept))
            else:
                parts.append(part)
            gone.update(part[key].to_pylist())
        if ids is not None:
            gone.update(pq.read_table(ids)[key].to_pylist())
    if not parts:
        return pa.table({key: pa.array([], pa.string())})
    whole = pa.concat_tables(parts, promote_options="permissive")
    return whole.sort_by(key).replace_schema_metadata(parts[0].schema.metadata)


def _row_digests(table: pa.Table, key: str) -> dict[str, bytes]:
    """Return a digest of each row by its id; columns without a value do not count."""
    digests: dict[str, bytes] = {}
    for row in _rows(table):
        cells = {name: cell for name, cell in row.items() if cell is not None}
        text = json.dumps(cells, sort_keys=True, default=str)
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        digests[str(row[key])] = digest
    return digests


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        yield from batch.to_pylist()


def _write(table: pa.Table, path: Path, number: int) -> dict[str, object]:
    """Write a table durably; return what the manifest says about it."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    content = sink.getvalue().to_pybytes()
    _write_durably(path, content)
    return {
        "path": f"{number:06}/{path.name}",
        "rows": table.num_rows,
        "size_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _write_durably(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    sync(path)


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
