"""Reconstruct what a power cut may leave of a folder, from a log of real processes.

`disk_log.c` writes the log. Data synced before the power cut is kept. Each later write
or truncation may be kept, lost, or kept in part, by sectors of 512 bytes. Files
created, removed or renamed since the folder's last sync are kept up to some moment.
"""

import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
_HEAD = struct.Struct("<cqqii")
_SOURCE = Path(__file__).with_name("disk_log.c")
COMPILER = shutil.which("cc") or shutil.which("gcc")


def can_log() -> bool:
    """Whether a process's writes can be logged here."""
    return sys.platform == "linux" and COMPILER is not None


def compiled(folder: Path) -> Path:
    """Return the library that logs, for LD_PRELOAD."""
    library = folder / "disk_log.so"
    subprocess.run(
        [str(COMPILER), "-shared", "-fPIC", "-O1", "-o", library, _SOURCE, "-ldl"], check=True
    )
    return library


def logging_environment(library: Path, folder: Path, log: Path) -> dict[str, str]:
    """Return the environment of a process with logged changes in the folder."""
    more = {"LD_PRELOAD": library, "POWER_FOLDER": folder, "POWER_LOG": log}
    return {**os.environ, **{name: str(value) for name, value in more.items()}}


@dataclass(frozen=True, slots=True)
class Change:
    """A change: C created, W wrote, T truncated, S synced, U removed, R renamed.

    Attributes:
        offset: offset of a write; for a truncation, the remaining length.
        content: content of a write; for a renaming, the new path.
    """

    kind: str
    moment_ns: int
    offset: int
    path: str
    content: bytes


def read_log(log: Path) -> list[Change]:
    """Return all changes in order."""
    raw, changes, at = log.read_bytes(), [], 0
    while at < len(raw):
        kind, moment_ns, offset, path_length, length = _HEAD.unpack_from(raw, at)
        at += _HEAD.size
        path, content = raw[at : at + path_length], raw[at + path_length :][:length]
        at += path_length + length
        changes.append(Change(kind.decode(), moment_ns, offset, path.decode(), content))
    return changes


@dataclass(slots=True, eq=False)
class _File:
    """The synced content of a file, and the changes since its last sync."""

    safe: bytearray = field(default_factory=bytearray)
    unsynced: list[Change] = field(default_factory=list)

    def sync(self) -> None:
        for change in self.unsynced:
            _apply(self.safe, change)
        self.unsynced.clear()

    def after_cut(self, chance: random.Random, *, all_lost: bool) -> bytearray:
        content = bytearray(self.safe)
        for change in () if all_lost else self.unsynced:
            fate = chance.choice(("kept", "lost", "torn"))
            if fate == "torn" and change.kind == "W":
                for part in _sectors(change):
                    if chance.random() < 0.5:
                        _apply(content, part)
            elif fate != "lost":
                _apply(content, change)
        return content


class Disk:
    """The files of a folder, initially empty, while changes are applied to them."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._now: dict[str, _File] = {}
        self._safe: dict[str, _File] = {}
        self._since_sync: list[dict[str, _File]] = []

    def change(self, change: Change) -> None:
        """Apply one change."""
        path = change.path
        if path.endswith("-shm"):
            return  # shared memory, which SQLite makes again
        if change.kind == "C":
            self._now[path] = _File()
            self._since_sync.append(dict(self._now))
        elif change.kind == "U":
            self._now.pop(path, None)
            self._since_sync.append(dict(self._now))
        elif change.kind == "R":
            self._now[change.content.decode()] = self._now.pop(path)
            self._since_sync.append(dict(self._now))
        elif path == self._folder:  # a sync of the list of files
            self._safe = dict(self._now)
            self._since_sync.clear()
        elif path not in self._now:
            return  # removed, and open still
        elif change.kind == "S":
            self._now[path].sync()
        else:
            self._now[path].unsynced.append(change)

    def cut(self, into: Path, chance: random.Random) -> None:
        """Write what a power cut now would leave into an empty folder."""
        all_lost = chance.random() < 0.3
        names = self._safe
        if not all_lost:
            names = chance.choice([self._safe, *self._since_sync])
        for path, file in names.items():
            content = file.after_cut(chance, all_lost=all_lost)
            (into / Path(path).name).write_bytes(content)


def cuts(
    folder: Path, changes: Sequence[Change], into: Path, *, seed: int, count: int
) -> Iterator[tuple[int, Path]]:
    """Simulate power cuts at random moments, including the last moment.

    Args:
        folder: the folder with the logged changes.
        changes: the log.
        into: where to write what is left, one cut after another.
        seed: the random seed.
        count: the most moments.

    Yields:
        The time of the cut, before which all reports had been made, and the folder with
        what is left.
    """
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    most = min(count, len(changes))
    moments = {*chance.sample(range(1, len(changes) + 1), most), len(changes)}
    disk = Disk(folder)
    for number, change in enumerate(changes, start=1):
        disk.change(change)
        if number in moments:
            left = into / f"cut-{seed}-{number}"
            left.mkdir()
            disk.cut(left, chance)
            is_last = number == len(changes)
            yield sys.maxsize if is_last else changes[number].moment_ns, left
            shutil.rmtree(left)


def _sectors(change: Change) -> Iterator[Change]:
    at, end = change.offset, change.offset + len(change.content)
    while at < end:
        then = min(end, (at // SECTOR + 1) * SECTOR)
        content = change.content[at - change.offset : then - change.offset]
        yield Change("W", change.moment_ns, at, change.path, content)
        at = then


def _apply(content: bytearray, change: Change) -> None:
    if change.kind == "T":
        del content[change.offset :]
    missing = change.offset - len(content)
    content.extend(bytes(max(0, missing)))
    if change.kind == "W":
        content[change.offset : change.offset + len(change.content)] = change.content
