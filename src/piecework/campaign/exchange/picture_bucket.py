"""Pictures in a bucket: the rows of a growing campaign, and copies without metadata.

The bucket stays private: the program that shows a picture reads it with the user's
credentials, and sends a copy.
"""

import hashlib
import os
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from threading import Lock, Semaphore

from piecework.campaign.exchange.table_source import Directory, directory_at
from piecework.config.item_pictures import fault_of_picture
from piecework.config.sources import PictureRows
from piecework.domain.errors import ConfigError
from piecework.domain.growing import SourceRow
from piecework.domain.hit import is_picture_file
from piecework.domain.late_modules import fs, pa
from piecework.domain.picture_metadata.cleaning import without_metadata
from piecework.domain.pictures import is_plain_name
from piecework.domain.text import without_secrets

_LARGEST_BYTES = 200_000_000
"""A larger object is not a picture for a page."""

_KEPT_BYTES = 1_000_000_000
"""Copies that are kept; the picture that was shown longest ago goes first."""

_ASKED_AT_ONCE = 16
_AT_ONCE = 4
"""Turning a picture takes half a second of a core, and 300 MB."""


_LONGEST_ENDING = 10


class BucketUnreadableError(OSError):
    """The bucket does not answer, or refuses the credentials."""


class PictureBucket:
    """A bucket, or a prefix in it.

    Attributes:
        address: its address, such as `s3://bucket/photos`; may have `${VARIABLES}`.
    """

    def __init__(self, address: str) -> None:
        """Keep the address; nothing is asked yet."""
        self.address = address
        self._opened: Directory | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="piecework-pictures-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._copies: OrderedDict[Path, int] = OrderedDict()
        self._lock = Lock()
        self._turns = Semaphore(_AT_ONCE)

    def copies(self) -> Path:
        """Return the folder of the copies, which ends with this process."""
        return self._folder

    def check(self) -> None:
        """Check that the pictures can be listed.

        Raises:
            ConfigError: they cannot, or the address is one of this machine.
        """
        if self.address.startswith("file:"):
            raise ConfigError([f"{self.address}: write a folder of this machine without file://"])
        try:
            directory = self._directory()
            info = directory.files.get_file_info(directory.path)
        except (pa.ArrowException, OSError) as fault:
            raise ConfigError([str(self._unreadable(fault))]) from fault
        if info.type != fs.FileType.Directory:
            raise ConfigError([f"{self.address}: there is no such folder of pictures"])

    def names(self) -> list[str]:
        """Return the names of all pictures, sorted.

        Raises:
            BucketUnreadableError: the bucket cannot be listed.
        """
        directory = self._directory()
        selector = fs.FileSelector(directory.path, recursive=True)
        try:
            infos = directory.files.get_file_info(selector)
        except (pa.ArrowException, OSError) as fault:
            raise self._unreadable(fault) from fault
        names = (
            info.path.removeprefix(directory.path).lstrip("/") for info in infos if info.is_file
        )
        return sorted(name for name in names if is_picture_file(name) and is_plain_name(name))

    def changed_at(self, name: str) -> datetime | None:
        """Return when a picture was last written; `None` if there is no such picture.

        Raises:
            BucketUnreadableError: the bucket cannot be asked.
        """
        info = self._info(name)
        return None if info is None else info.mtime or datetime.fromtimestamp(0, UTC)

    def mark_of(self, name: str) -> str:
        """Return size and time of a picture; "" if it is not there.

        Raises:
            ConfigError: the bucket cannot be asked.
        """
        try:
            info = self._info(name)
        except BucketUnreadableError as fault:
            raise ConfigError([str(fault)]) from fault
        return "" if info is None else f"{info.size} {info.mtime_ns}"

    def faults_of(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return which of these are not there or not whole, each with why.

        Of a picture, only its beginning and its end are read, unless it has to be decoded.

        Raises:
            ConfigError: the bucket cannot be read.
        """
        listed = list(names)
        with ThreadPoolExecutor(_ASKED_AT_ONCE) as threads:
            try:
                faults = dict(zip(listed, threads.map(self._fault_of, listed), strict=True))
            except BucketUnreadableError as fault:
                raise ConfigError([str(fault)]) from fault
        return {name: fault for name, fault in faults.items() if fault}

    def _fault_of(self, name: str) -> str:
        info = self._info(name)
        if info is None:
            return f"{name} is not in {self.address}; it is taken in when it is there"
        try:
            with self._directory().files.open_input_file(info.path) as file:
                return fault_of_picture(file, name)
        except (pa.ArrowException, OSError) as fault:
            raise self._unreadable(fault) from fault

    def copy(self, name: str) -> Path | None:
        """Return the current picture without metadata; `None` if it does not exist.

        The copy has the picture's ending and time. It stays until others need its room.

        Raises:
            BucketUnreadableError: the bucket cannot be read.
        """
        info = self._info(name)
        if info is None or info.size > _LARGEST_BYTES:
            return None
        version = f"{name}|{info.mtime_ns}|{info.size}"
        ending = PurePosixPath(name).suffix
        copy = self._folder / hashlib.sha256(version.encode()).hexdigest()
        if len(ending) <= _LONGEST_ENDING:
            copy = copy.with_suffix(ending)
        with self._turns:
            if not copy.is_file():
                self._fetch(info, copy)
        self._make_room(copy)
        return copy

    def _info(self, name: str) -> "fs.FileInfo | None":
        if not is_plain_name(name):
            return None
        directory = self._directory()
        try:
            info = directory.files.get_file_info(directory.at(name))
        except (pa.ArrowException, OSError) as fault:
            raise self._unreadable(fault) from fault
        return info if info.is_file else None

    def _fetch(self, info: "fs.FileInfo", copy: Path) -> None:
        try:
            with self._directory().files.open_input_file(info.path) as file:
                content = file.read()
        except (pa.ArrowException, OSError) as fault:
            raise self._unreadable(fault) from fault
        descriptor, partial = tempfile.mkstemp(dir=self._folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(without_metadata(content))
        changed_ns = info.mtime_ns or 0
        os.utime(partial, ns=(changed_ns, changed_ns))
        Path(partial).replace(copy)

    def _make_room(self, copy: Path) -> None:
        with self._lock:
            self._copies[copy] = copy.stat().st_size
            self._copies.move_to_end(copy)
            while sum(self._copies.values()) > _KEPT_BYTES and len(self._copies) > 1:
                oldest, _ = self._copies.popitem(last=False)
                oldest.unlink(missing_ok=True)

    def _directory(self) -> Directory:
        with self._lock:
            if self._opened is None:
                try:
                    self._opened = directory_at(self.address, beside=Path())
                except ConfigError as fault:
                    raise BucketUnreadableError(str(fault)) from fault
            return self._opened

    def _unreadable(self, fault: Exception) -> BucketUnreadableError:
        if isinstance(fault, BucketUnreadableError):
            return fault
        first = str(fault).strip().partition("\n")[0]
        return BucketUnreadableError(f"{self.address}: cannot be read ({first})")


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturesInBucket(PictureRows):
    """All pictures under an address; one that is replaced stays the same item."""

    bucket: PictureBucket = field(compare=False)

    @property
    def name(self) -> str:
        """The address as the campaign file has it."""
        return without_secrets(self.bucket.address)

    def names(self) -> list[str]:
        """Return the names of all pictures, sorted.

        Raises:
            ConfigError: the bucket cannot be listed.
        """
        try:
            return self.bucket.names()
        except BucketUnreadableError as fault:
            raise ConfigError([str(fault)]) from fault

    def awaited(self, rows: Sequence[SourceRow]) -> Mapping[str, Mapping[str, str]]:
        """Return pictures that are gone or not whole, with why.

        Raises:
            ConfigError: the bucket cannot be read.
        """
        faults = self.bucket.faults_of([row.row_id for row in rows])
        return {name: {name: why} for name, why in faults.items()}

    def mark_of_picture(self, name: str) -> str:
        """Return size and time of a picture; "" if it is not there.

        Raises:
            ConfigError: the bucket cannot be asked.
        """
        return self.bucket.mark_of(name)
