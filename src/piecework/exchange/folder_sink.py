"""Copy releases to a folder elsewhere: a bucket, a shared disk.

A release is there when its manifest is: the manifest is written last, and each file
whole. What is there is never written again, so a copy that was interrupted goes on.
"""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from pyarrow import ArrowException

from piecework.exchange.addresses import Directory, directory_at
from piecework.exchange.sink_failed import SinkFailed

_MANIFEST = "manifest.json"
_AT_ONCE = 1 << 20
_BUCKETS = frozenset({"s3", "gcs", "abfs"})


def copy_releases(releases: Path, address: str, *, beside: Path) -> int:
    """Copy the releases that an address lacks; return how many.

    Args:
        releases: the folder of all releases.
        address: the folder to copy them to, as in the campaign file.
        beside: the folder that relative paths start from.

    Raises:
        ConfigError: nothing that is installed can open the address.
        SinkFailed: a file could not be written, or the folder has other releases.
    """
    directory = directory_at(address, beside=beside)
    folders = sorted(releases.glob("[0-9]*"))
    try:
        return sum(_copy(folder, directory, address) for folder in folders)
    except (ArrowException, OSError) as fault:
        raise SinkFailed(f"{address}: {fault}") from fault


def _copy(folder: Path, directory: Directory, address: str) -> bool:
    """Copy a release; return whether it was missing."""
    manifest = (folder / _MANIFEST).read_bytes()
    there = _content(directory, f"{folder.name}/{_MANIFEST}")
    if there is not None and there != manifest:
        raise SinkFailed(
            f"{address}: its release {int(folder.name)} is another one; name a folder "
            "that no other campaign writes to"
        )
    if there is not None:
        return False
    if not _is_bucket(directory):  # a bucket has no folders
        directory.files.create_dir(directory.at(folder.name), recursive=True)
    for file in sorted(folder.iterdir()):
        if file.name != _MANIFEST:
            with file.open("rb") as source:
                _write(directory, f"{folder.name}/{file.name}", source)
    _write(directory, f"{folder.name}/{_MANIFEST}", io.BytesIO(manifest))
    return True


def write_files(
    address: str, names: Sequence[str], content: Callable[[str], bytes], *, beside: Path
) -> int:
    """Write the files that an address lacks, each whole; return how many.

    Args:
        address: the folder, as in the campaign file.
        names: the names of all files, oldest first.
        content: returns a file's content by its name; called for missing ones.
        beside: the folder that relative paths start from.

    Raises:
        ConfigError: nothing that is installed can open the address.
        SinkFailed: a file could not be written, or the folder has other files of these
            names.
    """
    directory = directory_at(address, beside=beside)
    written = 0
    try:
        if not _is_bucket(directory):
            directory.files.create_dir(directory.path, recursive=True)
        if names and _content(directory, names[0]) not in {None, content(names[0])}:
            raise SinkFailed(
                f"{address}: its {names[0]} is another one; name a folder that no "
                "other campaign writes to"
            )
        for name in names:
            if not directory.files.get_file_info(directory.at(name)).is_file:
                _write(directory, name, io.BytesIO(content(name)))
                written += 1
    except (ArrowException, OSError) as fault:
        raise SinkFailed(f"{address}: {fault}") from fault
    return written


def reach_folder(address: str, *, beside: Path) -> None:
    """Ask for what is at an address, without writing.

    Raises:
        ConfigError: nothing that is installed can open the address.
        SinkFailed: there is no answer, or it is a refusal.
    """
    directory = directory_at(address, beside=beside)
    try:
        directory.files.get_file_info(directory.path)
    except (ArrowException, OSError) as fault:
        raise SinkFailed(f"{address}: {fault}") from fault


def _content(directory: Directory, name: str) -> bytes | None:
    """Return the content of a file; None if it does not exist."""
    try:
        with directory.files.open_input_stream(directory.at(name)) as file:
            content: bytes = file.read()
    except FileNotFoundError:
        return None
    return content


def _write(directory: Directory, name: str, source: BinaryIO) -> None:
    """Write a file that appears under its name only when it is complete."""
    path = directory.at(name)
    # An object in a bucket appears when it is closed; elsewhere renaming does that.
    partial = path if _is_bucket(directory) else f"{path}.partial"
    with directory.files.open_output_stream(partial) as out:
        while part := source.read(_AT_ONCE):
            out.write(part)
    if partial != path:
        directory.files.move(partial, path)


def _is_bucket(directory: Directory) -> bool:
    return directory.files.type_name in _BUCKETS
