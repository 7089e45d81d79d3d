"""Open an address of the user's: a folder, a bucket or anything that fsspec knows.

pyarrow reads and writes Amazon S3 (`s3://`), Google (`gs://`) and Azure (`abfs://`)
itself, with the credentials of each vendor's own files and environment variables. Other
schemes go through fsspec, if a package for them is installed.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from pyarrow import ArrowException, fs

from piecework.domain.errors import ConfigError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_BY_PYARROW = frozenset({"s3", "gs", "gcs", "abfs", "abfss", "file"})
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


def with_secrets(address: str) -> str:
    """Return an address with the values of its `${VARIABLES}`.

    User name and password are quoted for the URL, so they may have any character.
    Messages show the address as it was written.

    Raises:
        ConfigError: a variable is not set.
    """

    def value(variable: re.Match[str]) -> str:
        name = variable[1]
        if not (setting := os.environ.get(name)):
            raise ConfigError(
                [f"{address}: the environment variable {name} is not set"]
            )
        return quote(setting, safe="") if _is_credential(variable) else setting

    return _VARIABLE.sub(value, address)


def _is_credential(variable: re.Match[str]) -> bool:
    """Return whether a variable is user name or password: `://` before, `@` after."""
    _, marks, host = variable.string[: variable.start()].partition("://")
    rest = variable.string[variable.end() :].partition("/")[0]
    return bool(marks) and "/" not in host and "@" in rest


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
    if scheme not in _BY_PYARROW:
        return _through_fsspec(whole, address)
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
