"""Where a replica is: a prefix in a bucket, or a folder.

Litestream writes the replica, and this package keeps a marker beside it. Both get the
same endpoint and take the same credentials from the environment or a profile.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from piecework.campaign.exchange.table_source import Directory, directory_at, s3_endpoint
from piecework.domain.errors import ConfigError

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
