"""Open an address of the user's: a folder, a bucket or a server of files.

pyarrow reads and writes Amazon S3 (`s3://`), Google (`gs://`) and Azure (`abfs://`)
itself, with the credentials of each vendor's own files and environment variables. Some
other schemes go through fsspec, if a package for them is installed. An address says
only where the files are: its options are in a list, because others send credentials to
another server than the address shows.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pyarrow import ArrowException, fs

from piecework.config.variables import with_secrets
from piecework.domain.errors import ConfigError

_OPTIONS: Mapping[str, frozenset[str]] = {
    "s3": frozenset({"region"}),
    **dict.fromkeys(("gs", "gcs", "abfs", "abfss", "file"), frozenset()),
}
"""Schemes that pyarrow opens, each with the options that its address may have."""

_BY_FSSPEC = frozenset(
    {
        *("http", "https", "ftp", "sftp", "ssh", "smb", "hdfs", "webhdfs", "webdav"),
        *("az", "adl", "oci", "oss", "memory"),
    }
)
_S3_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")


class Directory(NamedTuple):
    """A folder at an address.

    Attributes:
        files: the file system that has it.
        path: its path there.
    """

    files: fs.FileSystem
    path: str

    def at(self, name: str) -> str:
        """Return the path of something inside."""
        return f"{self.path}/{name}"


def directory_at(address: str, *, beside: Path) -> Directory:
    """Return the folder at an address, without looking whether it exists.

    Args:
        address: a path, or a URL such as `s3://bucket/folder`; may have `${VARIABLES}`.
        beside: the folder that relative paths start from.

    Raises:
        ConfigError: nothing that is installed can open it, or a variable is not set.
    """
    whole = with_secrets(address)
    scheme = urlsplit(whole).scheme if "://" in whole else ""
    if not scheme:
        return Directory(fs.LocalFileSystem(), str((beside / whole).resolve()))
    if scheme in _BY_FSSPEC and "::" not in whole:
        return _through_fsspec(whole, address)
    if scheme not in _OPTIONS:
        known = ", ".join(f"{name}://" for name in (*_OPTIONS, *sorted(_BY_FSSPEC)))
        raise ConfigError([f"{address}: cannot be opened; write a path, or {known}"])
    options = whole.partition("?")[2]
    for name in [pair.partition("=")[0] for pair in options.split("&") if options]:
        if name not in _OPTIONS[scheme]:
            raise ConfigError([f"{address}: the option {name!r} is not allowed in this address"])
    if scheme == "s3" and "?" not in whole and (endpoint := s3_endpoint()):
        bucket = whole.removeprefix("s3://").rstrip("/")
        # pyarrow does not read these variables (apache/arrow#49643).
        return Directory(fs.S3FileSystem(endpoint_override=endpoint), bucket)
    try:
        files, path = fs.FileSystem.from_uri(whole)
    except (ArrowException, OSError) as fault:
        why = str(fault).replace(whole, address)
        raise ConfigError([f"{address}: cannot be opened ({why})"]) from fault
    return Directory(files, path.rstrip("/"))


def s3_endpoint() -> str:
    """Return the address of another service with S3's interface; "" for Amazon."""
    return next(filter(None, map(os.environ.get, _S3_ENDPOINTS)), "")


def _through_fsspec(whole: str, address: str) -> Directory:
    import fsspec  # noqa: PLC0415 - only for rare schemes

    try:
        files, path = fsspec.url_to_fs(whole)
    except (ImportError, ValueError) as fault:
        why = str(fault).replace(whole, address)
        raise ConfigError([f"{address}: cannot be opened ({why})"]) from fault
    return Directory(fs.PyFileSystem(fs.FSSpecHandler(files)), path.rstrip("/"))
