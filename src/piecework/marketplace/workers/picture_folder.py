"""Serves a folder of pictures without the files' metadata.

A picture's location may be a person's home. A copy without metadata is made at the
first request and kept while the marketplace runs. A picture without metadata is served
unchanged.
"""

import hashlib
import os
import re
import shutil
import tempfile
import weakref
from functools import lru_cache
from html import unescape
from pathlib import Path
from threading import Lock, Semaphore
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from piecework.domain.picture_metadata.cleaning import is_known, small_copy, without_metadata
from piecework.foundation.media_types import type_of

_HEAD_BYTES = 256
_MOST_BYTES = 200_000_000
"""A larger file is not a picture for a page, and is not read completely."""

_AT_ONCE = 2
"""Turning a picture takes half a second of a core, and 300 MB."""

_MOST_KNOWN = 100_000
_MOST_THUMBNAILS = 500
_PICTURES = {".avif", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff", ".webp"}
_OF_THE_FOLDER = re.compile(
    r"""["'>(]\s*(?:https?://[^/"'<>\s]*)?/pictures/([^"'<>\s\\?#)]{1,300})"""
)
"""An address that this marketplace serves, in a question."""


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
        return in_sandbox(typed(await super().get_response(path, scope), path))


class Thumbnails:
    """Small copies of a folder's pictures, for the list of HITs."""

    def __init__(self, folder: PictureFolder) -> None:
        self._folder = folder
        self._turns = Semaphore(_AT_ONCE)
        self._made = lru_cache(_MOST_THUMBNAILS)(self._make)

    def route(self) -> Route:
        """Return the route of the copies."""
        return Route("/thumbnails/{name:path}", self.serve)

    def address(self, question: str) -> str:
        """Return the address of the copy of a question's first picture; "" without one.

        Args:
            question: the question, or the values in it, as HTML or XML.
        """
        for match in _OF_THE_FOLDER.finditer(question):
            name = unquote(unescape(match[1]))
            if self._path(name) is not None:
                return f"/thumbnails/{quote(name)}"
        return ""

    async def serve(self, request: Request) -> Response:
        """Return the copy of a picture."""
        made = await run_in_threadpool(self._copy, request.path_params["name"])
        if made is None:
            raise HTTPException(404)
        headers = {"Cache-Control": "private, max-age=3600"}
        return in_sandbox(Response(made[1], media_type=made[0], headers=headers))

    def _path(self, name: str) -> tuple[Path, os.stat_result] | None:
        """Return the file of a name that the folder serves."""
        try:
            full, stat = StaticFiles.lookup_path(self._folder, name)
        except (OSError, ValueError):  # too long, or with a NUL
            return None
        path = Path(full)
        if stat is None or path.suffix.lower() not in _PICTURES or not path.is_file():
            return None
        return (path, stat) if stat.st_size <= _MOST_BYTES else None

    def _copy(self, name: str) -> tuple[str, bytes] | None:
        located = self._path(name)
        if located is None:
            return None
        with self._turns:
            return self._made(located[0], located[1].st_mtime_ns)

    @staticmethod
    def _make(path: Path, _changed_ns: int) -> tuple[str, bytes] | None:
        return small_copy(path.read_bytes(), is_svg=path.suffix.lower() == ".svg")


def typed(reply: Response, path: str) -> Response:
    """Return a file's response that names the type of this path."""
    if isinstance(reply, FileResponse):
        kind = type_of(path)
        is_text = kind.startswith("text/")
        reply.headers["Content-Type"] = f"{kind}; charset=utf-8" if is_text else kind
    return reply


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
