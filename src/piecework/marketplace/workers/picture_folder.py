"""Serves a folder of pictures without the files' metadata.

A picture's location may be a person's home. A copy without metadata is made at the
first request and kept while the marketplace runs. A picture without metadata is served
unchanged.
"""

import hashlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from threading import Lock, Semaphore

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from piecework.domain.picture_metadata.cleaning import is_known, without_metadata

_HEAD_BYTES = 256
_MOST_BYTES = 200_000_000
"""A larger file is not a picture for a page, and is not read completely."""

_AT_ONCE = 2
"""Turning a picture takes half a second of a core, and 300 MB."""

_MOST_KNOWN = 100_000


class PictureFolder(StaticFiles):
    """A folder of pictures; opened directly, they cannot run scripts (SVG could)."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder)
        self._copies = _CleanCopies()

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Return the path of the file or of its copy."""
        full, stat = super().lookup_path(path)
        if stat is None or not os.path.isfile(full):  # noqa: PTH113 - a text, as above
            return full, stat
        copy = self._copies.of(Path(full), stat)
        return (full, stat) if copy is None else (str(copy), copy.stat())

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file in a sandbox."""
        return in_sandbox(await super().get_response(path, scope))


def in_sandbox(reply: Response) -> Response:
    """Return a picture's response that a browser does not run scripts of."""
    reply.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    )
    reply.headers["X-Content-Type-Options"] = "nosniff"
    return reply


class _CleanCopies:
    """Copies without metadata, keyed by path, time and size of the picture."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="piecework-pictures-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._plain: set[str] = set()
        self._lock = Lock()
        self._turns = Semaphore(_AT_ONCE)

    def of(self, path: Path, stat: os.stat_result) -> Path | None:
        """Return the copy of a picture; `None` if it needs none."""
        version = f"{path}|{stat.st_mtime_ns}|{stat.st_size}"
        if version in self._plain or stat.st_size > _MOST_BYTES:
            return None
        name = hashlib.sha256(version.encode("utf-8", "surrogateescape")).hexdigest()
        copy = self._folder / f"{name}{path.suffix}"
        if copy.is_file():
            return copy
        with self._turns:
            return copy if copy.is_file() or self._make(path, copy, stat, version) else None

    def _make(self, path: Path, copy: Path, stat: os.stat_result, version: str) -> bool:
        """Make a copy atomically; return whether the picture has metadata."""
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            content = head + file.read() if is_known(head) else head
        made = without_metadata(content) if is_known(head) else content
        if made is content:
            with self._lock:
                if len(self._plain) >= _MOST_KNOWN:
                    self._plain.clear()
                self._plain.add(version)
            return False
        descriptor, partial = tempfile.mkstemp(dir=self._folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(made)
        os.utime(partial, ns=(stat.st_mtime_ns, stat.st_mtime_ns))
        Path(partial).replace(copy)
        return True
