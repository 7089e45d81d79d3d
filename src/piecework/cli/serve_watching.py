"""What `serve` opens for an operator who watches: metrics and the access log."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from piecework.cli.serve_options import WatchingOptions
from piecework.domain.errors import ConfigError

if TYPE_CHECKING:
    from piecework.marketplace.watching.access_log import AccessLog
    from piecework.marketplace.watching.metrics import MetricsPort
    from piecework.marketplace.watching.replica import Replica

_FILES_OF_DATABASE = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Watched:
    """The metrics, the access log and the backup, as far as they are wanted."""

    metrics: "MetricsPort | None" = None
    access_log: "AccessLog | None" = None
    replica: "Replica | None" = None
    replica_limit_seconds: int = 0


def watched_parts(
    options: WatchingOptions,
    database: Path,
    *,
    has_bridge: bool,
    replica: "Replica | None" = None,
    replica_limit_seconds: int = 0,
) -> Watched:
    """Return what the operator watches.

    Args:
        options: what is wanted.
        database: the marketplace's file.
        has_bridge: whether a bridge to another market runs in this process.
        replica: the continuous backup of the database, if there is one.
        replica_limit_seconds: how far it may be behind before `/readyz` says so.

    Raises:
        ConfigError: the access log would be written into the database.
    """
    metrics = access_log = count_lost = None
    if options.metrics_port is not None:
        from piecework.marketplace.watching.metrics import Metrics, MetricsPort

        metrics = MetricsPort(Metrics(has_bridge=has_bridge, replica=replica), options.metrics_port)
        count_lost = metrics.metrics.count_lost_lines
    if options.access_log is not None:
        from piecework.marketplace.watching.access_log import AccessLog

        path = None if options.access_log == "-" else Path(options.access_log)
        if path is not None and _is_of_database(path, database):
            raise ConfigError([f"--access-log: {path} belongs to the marketplace's database"])
        access_log = AccessLog(path, count_lost)
    return Watched(metrics, access_log, replica, replica_limit_seconds)


def _is_of_database(path: Path, database: Path) -> bool:
    files = [database.with_name(f"{database.name}{end}").resolve() for end in _FILES_OF_DATABASE]
    return path.resolve() in files
