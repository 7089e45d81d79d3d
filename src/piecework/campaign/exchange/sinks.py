"""Places that releases are copied to: a folder elsewhere, or the Hugging Face Hub.

A folder is a bucket or a shared disk. A release is there when its manifest is: the manifest
is written last, and each file whole. What is there is never written again, so a copy that
was interrupted goes on. At the Hub a release is a commit, so readers see all of it or
nothing, and a tag, so they can read it forever; the repository's `manifest.json` says which
release it has.
"""

import io
import os
import tempfile
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

from pyarrow import ArrowException
from pyarrow.fs import FileType

from piecework.campaign.exchange.table_source import Directory, directory_at
from piecework.domain.errors import ConfigError, PieceworkError, load_extra


class SinkFailed(PieceworkError):  # noqa: N818 - as the other errors here
    """Results could not be written to a place of the user's; the next pass tries."""


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
    if why := _why_not_written(directory):
        raise SinkFailed(f"{address}: {why}")


def _why_not_written(directory: Directory) -> str:
    """Return what a folder lacks that the first release would not make, or ""."""
    kind = directory.files.type_name
    if kind == "local":
        folder = Path(directory.path)
        there = next(above for above in (folder, *folder.parents) if above.exists())
        is_writable = there.is_dir() and os.access(there, os.W_OK)
        return "" if is_writable else f"{there} is no folder to write to"
    if kind in _BUCKETS:
        bucket = directory.path.partition("/")[0]
        # Who may only write below a prefix may not ask.
        with suppress(ArrowException, OSError):
            if directory.files.get_file_info(bucket).type == FileType.NotFound:
                return f"there is no bucket {bucket}"
    return ""


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


PREFIX = "hf://datasets/"


def is_repository(address: str) -> bool:
    """Return whether a sink is a repository of the Hub."""
    return address.startswith("hf://")


def write_release(
    dataset: Path, releases: Path, address: str, *, gone: Collection[str] = ()
) -> int:
    """Commit the dataset and tag it, if the repository lacks the latest release.

    Args:
        dataset: the folder of the dataset, as it was when it was last released.
        releases: the folder of all releases.
        address: `hf://datasets/OWNER/NAME`; created as a private one if missing.
        gone: paths in the dataset that are written no more; the commit deletes them.

    Returns:
        1, or 0 if the repository has this release.

    Raises:
        ConfigError: huggingface_hub is not installed.
        SinkFailed: the Hub refuses, does not answer, or has another campaign's
            releases.
    """
    number, manifest, is_known = _latest(releases)
    if not number:
        return 0
    name = _name_of(address)
    with _Hub(address) as hub:
        api = hub.api
        api.create_repo(name, repo_type="dataset", private=True, exist_ok=True)
        repository = api.repo_info(name, repo_type="dataset")
        head = repository.sha
        there = hub.manifest(name, head)
        if there is not None and there not in is_known:
            raise SinkFailed(
                f"{address}: its {_MANIFEST} is of no release of this campaign; name "
                "a repository that no other campaign writes to"
            )
        is_new = there != manifest
        if is_new:
            library = load_extra("huggingface_hub", extra="huggingface", use=address)
            add, delete = library.CommitOperationAdd, library.CommitOperationDelete
            paths = sorted(path for path in dataset.rglob("*") if path.is_file())
            files = {path.relative_to(dataset).as_posix(): path for path in paths}
            listed = {entry.rfilename for entry in repository.siblings or ()}
            stale = sorted(listed & {*gone} - files.keys())
            head = api.create_commit(
                name,
                [
                    *(delete(path_in_repo=at) for at in stale),
                    *(add(path_in_repo=at, path_or_fileobj=path) for at, path in files.items()),
                    add(path_in_repo=_MANIFEST, path_or_fileobj=io.BytesIO(manifest)),
                ],
                commit_message=f"Release {number}",
                repo_type="dataset",
                # Refused if somebody else has committed since the look above.
                parent_commit=head,
            ).oid
        api.create_tag(
            name, tag=f"release-{number}", revision=head, repo_type="dataset", exist_ok=True
        )
    return int(is_new)


def reach_repository(address: str) -> None:
    """Ask the Hub whether it knows the token, without writing.

    Raises:
        ConfigError: huggingface_hub is not installed.
        SinkFailed: there is no answer, or it is a refusal.
    """
    _name_of(address)
    with _Hub(address) as hub:
        hub.api.whoami()


class _Hub:
    """The Hub's client; what it raises inside the block becomes `SinkFailed`."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._library = load_extra("huggingface_hub", extra="huggingface", use=address)
        self._errors = load_extra("huggingface_hub.errors", extra="huggingface", use=address)
        # The library reads the variable only when it is imported.
        endpoint = os.environ.get("HF_ENDPOINT")
        self.api: Any = self._library.HfApi(endpoint, library_name="piecework")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> None:
        is_http = fault is not None and type(fault).__module__.startswith("httpx")
        if is_http or isinstance(fault, OSError | ValueError):
            words = " ".join(str(fault).split()) or type(fault).__name__
            raise SinkFailed(f"{self._address}: {words}") from fault

    def manifest(self, name: str, revision: str) -> bytes | None:
        """Return the manifest in a repository; None if it has none."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                path = self.api.hf_hub_download(
                    name, _MANIFEST, repo_type="dataset", revision=revision, local_dir=folder
                )
            except self._errors.RemoteEntryNotFoundError:
                return None
            return Path(path).read_bytes()


def _name_of(address: str) -> str:
    """Return OWNER/NAME.

    Raises:
        ConfigError: the address has another form.
    """
    name = address.removeprefix(PREFIX)
    if not address.startswith(PREFIX) or name.count("/") != 1 or not all(name.split("/")):
        raise ConfigError(
            [f"{address}: is not a dataset of the Hugging Face Hub"],
            next_step=f"write {PREFIX}OWNER/NAME",
        )
    return name


def _latest(releases: Path) -> tuple[int, bytes, set[bytes]]:
    """Return the number and manifest of the latest release, and all manifests."""
    manifests = {
        int(path.parent.name): path.read_bytes() for path in releases.glob(f"[0-9]*/{_MANIFEST}")
    }
    number = max(manifests, default=0)
    return number, manifests.get(number, b""), set(manifests.values())
