"""Write the latest release to a dataset repository of the Hugging Face Hub.

A release is a commit, so readers see all of it or nothing, and a tag, so they can read
it forever. The repository's `manifest.json` says which release it has.
"""

import io
import os
import tempfile
from pathlib import Path
from typing import Any, Self

from piecework.domain.errors import ConfigError
from piecework.domain.extras import load_extra
from piecework.exchange.sink_failed import SinkFailed

PREFIX = "hf://datasets/"
_MANIFEST = "manifest.json"


def is_repository(address: str) -> bool:
    """Return whether a sink is a repository of the Hub."""
    return address.startswith("hf://")


def write_release(dataset: Path, releases: Path, address: str) -> int:
    """Commit the dataset and tag it, if the repository lacks the latest release.

    Args:
        dataset: the folder of the dataset, as it was when it was last released.
        releases: the folder of all releases.
        address: `hf://datasets/OWNER/NAME`; created as a private one if missing.

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
        head = api.repo_info(name, repo_type="dataset").sha
        there = hub.manifest(name, head)
        if there is not None and there not in is_known:
            raise SinkFailed(
                f"{address}: its {_MANIFEST} is of no release of this campaign; name "
                "a repository that no other campaign writes to"
            )
        is_new = there != manifest
        if is_new:
            add = load_extra("huggingface_hub", extra="huggingface", use=address).CommitOperationAdd
            paths = sorted(path for path in dataset.rglob("*") if path.is_file())
            files = {path.relative_to(dataset).as_posix(): path for path in paths}
            head = api.create_commit(
                name,
                [
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
