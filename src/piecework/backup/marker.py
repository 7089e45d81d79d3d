"""Whose a replica is, and where it is.

Litestream writes the replica, and this package keeps a marker beside it. Both get the
same endpoint and take the same credentials from the environment or a profile.

Two databases must not share a replica: Litestream would write one over the other. So a
process reads the marker before it writes, and again every minute. The marker is not a
lock, since not every bucket can write an object only if it is unchanged. Two processes
that start within the same second are noticed a minute later, and the first one stops.

The clocks of two machines may differ. So a marker is never compared with the time: a
process that does not know its writer watches for some minutes whether it is renewed.
"""

import json
import logging
import os
import secrets
import socket
import threading
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyarrow import ArrowException, fs

from piecework.backup.lag import Identity
from piecework.campaign.exchange.table_source import Directory, directory_at, s3_endpoint
from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.foundation.sqlitefile.files import FOR_OWNER

_LOG = logging.getLogger(__name__)

_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")


@dataclass(frozen=True, slots=True)
class ReplicaAddress:
    """The address of one database's replica.

    Attributes:
        text: as the user wrote it.
        bucket: the bucket's name; "" for a folder.
        path: the prefix in the bucket, or the absolute path of the folder.
    """

    text: str
    bucket: str
    path: str

    def settings(self) -> dict[str, object]:
        """Return the replica's part of Litestream's configuration."""
        if not self.bucket:
            return {"type": "file", "path": self.path}
        settings: dict[str, object] = {"type": "s3", "bucket": self.bucket, "path": self.path}
        if region := next(filter(None, map(os.environ.get, _REGIONS)), ""):
            settings["region"] = region
        if endpoint := s3_endpoint():
            settings |= {"endpoint": endpoint, "force-path-style": True}
        return settings

    def directory(self) -> Directory:
        """Return the folder that holds replica and marker.

        Raises:
            ConfigError: it cannot be opened.
        """
        if not self.bucket:
            return directory_at(self.path, beside=Path())
        return directory_at(f"s3://{self.bucket}/{self.path}", beside=Path())


def read_address(text: str) -> ReplicaAddress:
    """Read an address: `s3://bucket/prefix`, `file:///folder` or a folder's path.

    Raises:
        ConfigError: it is another kind of address, or names no prefix.
    """
    if "://" not in text:
        return ReplicaAddress(text, "", str(Path(text).absolute()))
    parts = urlsplit(text)
    path = unquote(parts.path)
    if parts.scheme == "file" and not parts.netloc and path.strip("/"):
        return ReplicaAddress(text, "", path)
    if parts.scheme == "s3" and parts.netloc and path.strip("/"):
        return ReplicaAddress(text, parts.netloc, path.strip("/"))
    raise ConfigError(
        [f"{text} is not the address of a replica"],
        next_step="give s3://BUCKET/PREFIX, file:///FOLDER or the path of a folder; "
        "each database has a prefix or folder of its own",
    )


FILE = "piecework.json"
RENEWED_EVERY = timedelta(minutes=1)
SILENT_AFTER = timedelta(minutes=3)
"""A process that has not renewed its marker for so long has ended; a bucket that does not
answer may delay it."""
_LOOKS = 36
_LOCAL = "writer"
_WORD_BYTES = 8
FOLDER_MODE = 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """What the marker says.

    Attributes:
        kind: what the database is.
        word: its identity.
        writer: the folder that backs it up, by a random word in it.
        session: the process that writes, by a random word.
        host: the machine's name, for people.
        at: when the process last renewed the marker.
        is_open: whether the process still runs, as far as it could say.
        commits: how many commits the replica has at least.
    """

    kind: str
    word: str
    writer: str
    session: str
    host: str
    at: str
    is_open: bool
    commits: int = 0


class TakenOverError(Exception):
    """Another process has begun to write the replica."""


class Claim:
    """A process's claim to a replica.

    Args:
        address: the replica's.
        folder: the private folder beside the database; it knows the claim again.
        silent_after: how long an unknown writer's marker is watched.
    """

    def __init__(
        self, address: ReplicaAddress, folder: Path, *, silent_after: timedelta = SILENT_AFTER
    ) -> None:
        self._address = address
        self._folder = folder
        self._silent_after = silent_after
        self._left: Marker | None = None
        self._session = secrets.token_hex(_WORD_BYTES)

    def check(self, identity: Identity | None, stopping: threading.Event) -> None:
        """Refuse a replica that this database may not write.

        It takes three minutes if an unknown writer has not said that it ended.

        Args:
            identity: the database's; `None` if it does not exist yet.
            stopping: ends the wait; the replica then counts as another process's.

        Raises:
            ConfigError: the address cannot be read.
            RefusedForSafety: it is another database's, another process writes it, or
                it belongs to a database that is missing here.
        """
        marker = read_marker(self._address)
        if marker is None:
            self._refuse_unmarked()
            return
        if identity is None:
            raise RefusedForSafety(
                f"{self._address.text} has the replica of a {marker.kind}, but there "
                "is no database here: a new one would replace it",
                next_step="restore it first (piecework store restore), or give a new "
                "database another address",
            )
        if (marker.kind, marker.word) != (identity.kind, identity.word):
            raise RefusedForSafety(
                f"{self._address.text} has the replica of another {marker.kind}, "
                f"written from {marker.host}",
                next_step="give each database an address of its own",
            )
        if self._is_held_by_another(marker, stopping):
            raise RefusedForSafety(
                f"{self._address.text}: another process on {marker.host} writes this replica",
                next_step="stop that process, then run the same command again",
            )

    def renew(
        self,
        identity: Identity,
        now: datetime,
        *,
        commits: int,
        is_first: bool,
        stopping: threading.Event,
    ) -> None:
        """Write the marker again.

        Args:
            identity: the database's.
            now: the time.
            commits: how many commits the replica has at least; 0 if that is not known.
            is_first: this process begins to write.
            stopping: as for `check`.

        Raises:
            TakenOverError: another process has written the marker since.
            ConfigError: the address cannot be read or written.
            RefusedForSafety: as `check`.
        """
        marker = read_marker(self._address)
        if is_first:
            self.check(identity, stopping)
        elif marker is not None and marker.session != self._session:
            raise TakenOverError(f"another process, on {marker.host}, writes this replica")
        # Until this process knows better, the replica has what it had before.
        commits = commits or (0 if marker is None else marker.commits)
        self._write(identity, now, commits=commits, is_open=True)

    def release(self, identity: Identity, now: datetime, *, commits: int) -> None:
        """Say that this process has ended, unless another has taken over."""
        marker = read_marker(self._address)
        if marker is not None and marker.session == self._session:
            commits = commits or marker.commits
            self._write(identity, now, commits=commits, is_open=False)

    def _refuse_unmarked(self) -> None:
        """Refuse an address with files that no marker explains."""
        directory = self._address.directory()
        selector = fs.FileSelector(directory.path, allow_not_found=True)
        try:
            names = directory.files.get_file_info(selector)
        except (ArrowException, OSError) as fault:
            raise _unusable(self._address, fault) from fault
        if names:
            raise RefusedForSafety(
                f"{self._address.text} has files that are not a replica of piecework, "
                f"such as {names[0].base_name}",
                next_step="give an empty prefix or folder",
            )

    def _is_held_by_another(self, marker: Marker, stopping: threading.Event) -> bool:
        """Whether another process writes the replica, and so renews its marker."""
        if not marker.is_open or marker.writer == self._known_writer() or marker == self._left:
            return False
        seconds = self._silent_after.total_seconds()
        _LOG.warning(
            "%s: the backup from %s has not said that it ended; waiting %.0f s to see "
            "whether it still writes",
            self._address.text,
            marker.host,
            seconds,
        )
        for _ in range(_LOOKS):
            if stopping.wait(seconds / _LOOKS):
                return True
            now_there = read_marker(self._address)
            if now_there != marker:
                return now_there is None or now_there.is_open
        self._left = marker
        return False

    def _known_writer(self) -> str | None:
        path = self._folder / _LOCAL
        return path.read_text(encoding="ascii") if path.is_file() else None

    def _writer(self) -> str:
        writer = self._known_writer()
        if writer is None:
            writer = secrets.token_hex(_WORD_BYTES)
            _keep_writer(self._folder, writer)
        return writer

    def _write(self, identity: Identity, now: datetime, *, commits: int, is_open: bool) -> None:
        marker = Marker(
            kind=identity.kind,
            word=identity.word,
            writer=self._writer(),
            session=self._session,
            host=socket.gethostname(),
            at=now.isoformat(timespec="seconds"),
            is_open=is_open,
            commits=commits,
        )
        directory = self._address.directory()
        content = json.dumps(asdict(marker), indent=1).encode()
        try:
            if isinstance(directory.files, fs.LocalFileSystem):
                directory.files.create_dir(directory.path)
            with directory.files.open_output_stream(directory.at(FILE)) as file:
                file.write(content)
        except (ArrowException, OSError) as fault:
            raise _unusable(self._address, fault) from fault


def take_over(marker: Marker, folder: Path) -> None:
    """Let a restored database continue its replica at once.

    A person who restores it says that the machine with the earlier file is gone. If it
    still runs, it notices the new process within a minute, and stops writing.

    Args:
        marker: the replica's.
        folder: the private folder beside the restored database; created.
    """
    folder.mkdir(mode=FOLDER_MODE)
    _keep_writer(folder, marker.writer)


def _keep_writer(folder: Path, writer: str) -> None:
    path = folder / _LOCAL
    path.touch(mode=FOR_OWNER)
    path.write_text(writer, encoding="ascii")


def read_marker(address: ReplicaAddress) -> Marker | None:
    """Return the marker at an address; `None` if it has none.

    Raises:
        ConfigError: the address cannot be read, or the marker is damaged.
    """
    directory = address.directory()
    try:
        info = directory.files.get_file_info(directory.at(FILE))
        if not info.is_file:
            _check_bucket(address, directory.files)
            return None
        with directory.files.open_input_file(info.path) as file:
            content = file.read()
    except (ArrowException, OSError) as fault:
        raise _unusable(address, fault) from fault
    try:
        return Marker(**json.loads(content))
    except (ValueError, TypeError) as fault:
        raise ConfigError(
            [f"{address.text}: the file {FILE} there is damaged"], next_step="give another address"
        ) from fault


def _check_bucket(address: ReplicaAddress, files: fs.FileSystem) -> None:
    """Notice a missing bucket: a missing file there looks like any other."""
    if address.bucket:
        info = files.get_file_info(address.bucket)
        if info.type != fs.FileType.Directory:
            raise ConfigError([f"{address.text}: there is no bucket {address.bucket}"])


def _unusable(address: ReplicaAddress, fault: Exception) -> ConfigError:
    first = str(fault).strip().partition("\n")[0]
    return ConfigError(
        [f"{address.text}: cannot be used ({first})"],
        next_step="check the address, the credentials and AWS_ENDPOINT_URL_S3",
    )
